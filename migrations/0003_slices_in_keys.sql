-- The slice is part of the keys that rest on sessions, episodes, relations and reports.
--
-- Row-level security goes by slice_id alone, and each table has its own: a foreign key without it let the two disagree.
ALTER TABLE sessions ADD UNIQUE (tenant_id, session_key, slice_id);
ALTER TABLE relations ADD UNIQUE (tenant_id, relation_id, slice_id);
ALTER TABLE reports ADD UNIQUE (tenant_id, report_id, slice_id);
DROP INDEX episodes_of_slice;
CREATE UNIQUE INDEX episodes_of_slice ON episodes (tenant_id, slice_id, episode_id);
ALTER TABLE messages DROP CONSTRAINT messages_tenant_id_session_key_fkey,
    ADD FOREIGN KEY (tenant_id, session_key, slice_id)
        REFERENCES sessions (tenant_id, session_key, slice_id) ON DELETE CASCADE;
ALTER TABLE compactions DROP CONSTRAINT compactions_tenant_id_session_key_fkey,
    ADD FOREIGN KEY (tenant_id, session_key, slice_id)
        REFERENCES sessions (tenant_id, session_key, slice_id) ON DELETE CASCADE;
ALTER TABLE window_summaries DROP CONSTRAINT window_summaries_tenant_id_session_key_fkey,
    ADD FOREIGN KEY (tenant_id, session_key, slice_id)
        REFERENCES sessions (tenant_id, session_key, slice_id) ON DELETE CASCADE;
ALTER TABLE extraction_retries DROP CONSTRAINT extraction_retries_tenant_id_session_key_fkey,
    ADD FOREIGN KEY (tenant_id, session_key, slice_id)
        REFERENCES sessions (tenant_id, session_key, slice_id) ON DELETE CASCADE;
ALTER TABLE episodes DROP CONSTRAINT episodes_tenant_id_session_key_fkey,
    ADD FOREIGN KEY (tenant_id, session_key, slice_id)
        REFERENCES sessions (tenant_id, session_key, slice_id) ON DELETE CASCADE;
ALTER TABLE documents DROP CONSTRAINT documents_tenant_id_session_key_fkey,
    ADD FOREIGN KEY (tenant_id, session_key, slice_id)
        REFERENCES sessions (tenant_id, session_key, slice_id) ON DELETE CASCADE;
-- That an episode's slice exists follows from its session's.
ALTER TABLE episodes DROP CONSTRAINT episodes_tenant_id_slice_id_fkey;
ALTER TABLE documents DROP CONSTRAINT documents_tenant_id_episode_id_fkey,
    ADD FOREIGN KEY (tenant_id, slice_id, episode_id)
        REFERENCES episodes (tenant_id, slice_id, episode_id) ON DELETE CASCADE;
ALTER TABLE statements DROP CONSTRAINT statements_tenant_id_relation_id_fkey,
    ADD FOREIGN KEY (tenant_id, relation_id, slice_id)
        REFERENCES relations (tenant_id, relation_id, slice_id) ON DELETE SET NULL (relation_id);
ALTER TABLE report_views DROP CONSTRAINT report_views_tenant_id_report_id_fkey,
    ADD FOREIGN KEY (tenant_id, report_id, slice_id)
        REFERENCES reports (tenant_id, report_id, slice_id) ON DELETE CASCADE;
