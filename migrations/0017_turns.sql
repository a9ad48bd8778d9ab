-- The prompts that were made: what the user said, what the parts took, and which memories were put in or nearly were. The
-- memories are ids of passages, whose texts are looked up where they are shown: what was forgotten is not here. `asked`
-- is forgotten as messages are. They are noted beside the answers, and kept for some days.
CREATE TABLE turns (
    tenant_id    text COLLATE "C" NOT NULL,
    turn_id      text COLLATE "C" NOT NULL,
    slice_id     bigint NOT NULL,
    agent_id     text COLLATE "C" NOT NULL,
    owner_key    text COLLATE "C",
    session_id   text COLLATE "C",
    kind         text NOT NULL CHECK (kind IN ('context', 'inject', 'chat')),
    at           timestamptz NOT NULL,
    asked        text NOT NULL,
    sections     jsonb NOT NULL,
    tokens       integer NOT NULL,
    memories     jsonb NOT NULL,
    match_count  integer NOT NULL,
    top_score    real NOT NULL,
    outcome      text NOT NULL,
    model        text,
    milliseconds integer NOT NULL,
    PRIMARY KEY (tenant_id, turn_id),
    FOREIGN KEY (tenant_id, slice_id) REFERENCES slices (tenant_id, slice_id) ON DELETE CASCADE
);
CREATE INDEX turns_newest ON turns (tenant_id, agent_id, owner_key, at DESC, turn_id DESC);
CREATE INDEX turns_of_slice ON turns (tenant_id, slice_id);
CREATE INDEX turns_old ON turns (at);

ALTER TABLE turns ENABLE ROW LEVEL SECURITY;
ALTER TABLE turns FORCE ROW LEVEL SECURITY;
CREATE POLICY visible ON turns TO reverie_app USING (tenant_id = (SELECT current_setting('reverie.tenant', true))
    AND slice_id = ANY ((SELECT string_to_array(nullif(current_setting('reverie.slices', true), ''), ','))::bigint[]));
CREATE POLICY maintenance ON turns TO CURRENT_USER USING ((SELECT current_setting('reverie.maintenance', true)) = 'on');
GRANT SELECT, INSERT, UPDATE, DELETE ON turns TO reverie_app;
