-- What was removed from the log of turns, so that one that still waits is not written afterwards.
CREATE TABLE removed_turns (
    tenant_id      text COLLATE "C" NOT NULL,
    subject_sha256 bytea NOT NULL,
    said_before    timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, subject_sha256)
);
CREATE INDEX removed_turns_newest ON removed_turns (tenant_id, said_before);
CREATE INDEX removed_turns_old ON removed_turns (said_before);

ALTER TABLE removed_turns ENABLE ROW LEVEL SECURITY;
ALTER TABLE removed_turns FORCE ROW LEVEL SECURITY;
CREATE POLICY visible ON removed_turns TO reverie_app USING (tenant_id = (SELECT current_setting('reverie.tenant', true)));
CREATE POLICY maintenance ON removed_turns TO CURRENT_USER USING ((SELECT current_setting('reverie.maintenance', true)) = 'on');
GRANT SELECT, INSERT, UPDATE, DELETE ON removed_turns TO reverie_app;
