-- Sessions of people in the Memory Browser, and conversations listed by when they last changed.
CREATE TABLE browser_sessions (
    session_sha256 bytea PRIMARY KEY,
    key_id         text COLLATE "C" NOT NULL REFERENCES keys (key_id) ON DELETE CASCADE,
    created_at     timestamptz NOT NULL DEFAULT now(),
    expires_at     timestamptz NOT NULL
);
CREATE INDEX browser_sessions_of_key ON browser_sessions (key_id);
CREATE INDEX sessions_newest ON sessions (tenant_id, agent_id, owner_key, updated_at DESC, session_key DESC);
