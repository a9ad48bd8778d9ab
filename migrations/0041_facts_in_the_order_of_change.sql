-- Facts are read first in what was changed first: what is written all the time waits last.
DROP INDEX sessions_of_new_facts;
CREATE INDEX sessions_of_new_facts ON sessions (tenant_id, slice_id, updated_at, session_key)
    WHERE facts_through < last_seq;
DROP INDEX documents_of_new_facts;
CREATE INDEX documents_of_new_facts ON documents (tenant_id, slice_id, updated_at, document_id)
    WHERE facts_version < version AND session_key IS NULL;
