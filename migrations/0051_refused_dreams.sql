-- How often dreaming refused what a model said of an episode; after two it is taken without the model.
ALTER TABLE episodes ADD COLUMN promotion_refusals integer NOT NULL DEFAULT 0;
