-- Count what comes of the uses of the language model, by tenant, day and outcome.
CREATE TABLE model_outcomes (
    tenant_id text COLLATE "C" NOT NULL,
    day       date NOT NULL,
    outcome   text COLLATE "C" NOT NULL,
    uses      integer NOT NULL,
    last_at   timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, day, outcome)
);
ALTER TABLE model_outcomes ENABLE ROW LEVEL SECURITY;
ALTER TABLE model_outcomes FORCE ROW LEVEL SECURITY;
CREATE POLICY visible ON model_outcomes TO reverie_app
    USING (tenant_id = (SELECT current_setting('reverie.tenant', true)));
CREATE POLICY maintenance ON model_outcomes TO CURRENT_USER
    USING ((SELECT current_setting('reverie.maintenance', true)) = 'on');
GRANT SELECT, INSERT, UPDATE, DELETE ON model_outcomes TO reverie_app;
