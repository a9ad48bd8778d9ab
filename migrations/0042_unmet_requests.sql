-- What was asked in conversations to forget, and nothing was found for: the message that asks, and no text.
CREATE TABLE unmet_requests (
    tenant_id   text COLLATE "C" NOT NULL,
    request_id  bigint GENERATED ALWAYS AS IDENTITY,
    slice_id    bigint NOT NULL,
    session_key bigint NOT NULL,
    seq         integer NOT NULL,
    asked_at    timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, request_id),
    UNIQUE (tenant_id, session_key, seq),
    FOREIGN KEY (tenant_id, session_key, seq) REFERENCES messages (tenant_id, session_key, seq) ON DELETE CASCADE
);
CREATE INDEX unmet_requests_of_slice ON unmet_requests (tenant_id, slice_id, request_id);

ALTER TABLE unmet_requests ENABLE ROW LEVEL SECURITY;
ALTER TABLE unmet_requests FORCE ROW LEVEL SECURITY;
CREATE POLICY visible ON unmet_requests TO reverie_app USING (tenant_id = (SELECT current_setting('reverie.tenant', true))
    AND slice_id = ANY ((SELECT string_to_array(nullif(current_setting('reverie.slices', true), ''), ','))::bigint[]));
CREATE POLICY maintenance ON unmet_requests TO CURRENT_USER USING ((SELECT current_setting('reverie.maintenance', true)) = 'on');
GRANT SELECT, INSERT, UPDATE, DELETE ON unmet_requests TO reverie_app;
