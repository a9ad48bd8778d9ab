-- Relevance by embedding models without constants: what such a model makes of the labelled messages, and how near each
-- memory comes to messages that it has nothing for.
CREATE TABLE model_relevance (
    model_id         smallint PRIMARY KEY REFERENCES models (model_id) ON DELETE CASCADE,
    messages_sha256  bytea NOT NULL,
    usual_similarity real NOT NULL,
    direction        bytea NOT NULL,
    direction_offset real NOT NULL,
    neutral          bytea NOT NULL
);

CREATE TABLE slice_nearness (
    tenant_id   text COLLATE "C" NOT NULL,
    slice_id    bigint NOT NULL,
    model_id    smallint NOT NULL REFERENCES models (model_id) ON DELETE CASCADE,
    nearness    real NOT NULL,
    chunk_count bigint NOT NULL,
    PRIMARY KEY (tenant_id, slice_id),
    FOREIGN KEY (tenant_id, slice_id) REFERENCES slices (tenant_id, slice_id) ON DELETE CASCADE
);

ALTER TABLE slice_nearness ENABLE ROW LEVEL SECURITY;
ALTER TABLE slice_nearness FORCE ROW LEVEL SECURITY;
CREATE POLICY visible ON slice_nearness TO reverie_app USING (tenant_id = (SELECT current_setting('reverie.tenant', true))
    AND slice_id = ANY ((SELECT string_to_array(nullif(current_setting('reverie.slices', true), ''), ','))::bigint[]));
CREATE POLICY maintenance ON slice_nearness TO CURRENT_USER USING ((SELECT current_setting('reverie.maintenance', true)) = 'on');
GRANT SELECT, INSERT, UPDATE, DELETE ON slice_nearness TO reverie_app;
GRANT SELECT ON model_relevance TO reverie_app;
