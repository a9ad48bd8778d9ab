-- The audit: who did what, when, by which key.
CREATE TABLE audit (
    tenant_id  text COLLATE "C" NOT NULL,
    at         timestamptz NOT NULL,
    audit_id   bigint GENERATED ALWAYS AS IDENTITY,
    action     text NOT NULL CHECK (action IN ('read', 'write', 'forget', 'export', 'keys', 'settings')),
    outcome    text NOT NULL CHECK (outcome IN ('ok', 'denied', 'refused', 'failed')),
    key_id     text COLLATE "C",
    key_name   text,
    agent_id   text COLLATE "C",
    owner_key  text COLLATE "C",
    count      integer NOT NULL CHECK (count >= 0),
    requests   integer NOT NULL CHECK (requests > 0),
    request_id text COLLATE "C",
    PRIMARY KEY (tenant_id, at, audit_id)
);
CREATE INDEX audit_to_prune ON audit (at);
ALTER TABLE audit ENABLE ROW LEVEL SECURITY;
ALTER TABLE audit FORCE ROW LEVEL SECURITY;
CREATE POLICY visible ON audit FOR SELECT TO reverie_app USING (tenant_id = (SELECT current_setting('reverie.tenant', true)));
CREATE POLICY added ON audit FOR INSERT TO reverie_app
    WITH CHECK (tenant_id = (SELECT current_setting('reverie.tenant', true)));
CREATE POLICY maintenance ON audit TO CURRENT_USER USING ((SELECT current_setting('reverie.maintenance', true)) = 'on');
GRANT SELECT, INSERT ON audit TO reverie_app;
