-- Since when a message that may ask to forget something waits for being heard; null: it was.
ALTER TABLE unmet_requests ADD COLUMN unheard_since timestamptz;
