-- let_owner_load: COPY refuses where row-level security applies, and forced it applies to the owner too
ALTER TABLE agents NO FORCE ROW LEVEL SECURITY;
ALTER TABLE slices NO FORCE ROW LEVEL SECURITY;
ALTER TABLE documents NO FORCE ROW LEVEL SECURITY;
ALTER TABLE versions NO FORCE ROW LEVEL SECURITY;
ALTER TABLE chunks NO FORCE ROW LEVEL SECURITY;
ALTER TABLE postings NO FORCE ROW LEVEL SECURITY;
ALTER TABLE vectors_0 NO FORCE ROW LEVEL SECURITY;
ALTER TABLE embedding_cache NO FORCE ROW LEVEL SECURITY;
SET synchronous_commit = off;
SET statement_timeout = 0;

-- guard_again: as schema.sql has it; a partition of its own is guarded by its parent
ALTER TABLE agents FORCE ROW LEVEL SECURITY;
ALTER TABLE slices FORCE ROW LEVEL SECURITY;
ALTER TABLE documents FORCE ROW LEVEL SECURITY;
ALTER TABLE versions FORCE ROW LEVEL SECURITY;
ALTER TABLE chunks FORCE ROW LEVEL SECURITY;
ALTER TABLE postings FORCE ROW LEVEL SECURITY;
ALTER TABLE embedding_cache FORCE ROW LEVEL SECURITY;

-- first_free: the numbers from which on everything is new
SELECT (SELECT coalesce(max(slice_id), 0) + 1 FROM slices) AS slice_id,
       (SELECT coalesce(max(document_id), 0) + 1 FROM documents) AS document_id,
       (SELECT coalesce(max(chunk_id), 0) + 1 FROM chunks) AS chunk_id;

-- move_sequences: what is written from now on gets numbers after these
SELECT setval(pg_get_serial_sequence('slices', 'slice_id'), %(slice_id)s),
       setval(pg_get_serial_sequence('documents', 'document_id'), %(document_id)s),
       setval(pg_get_serial_sequence('chunks', 'chunk_id'), %(chunk_id)s);

-- add_agent: the agent of an owner, known or new
INSERT INTO agents (tenant_id, agent_id, name) VALUES (%(tenant_id)s, %(agent_id)s, %(agent_id)s)
ON CONFLICT (tenant_id, agent_id) DO NOTHING;

-- copy_slices: whose memory it is
COPY slices (tenant_id, slice_id, agent_id, owner_key, chunk_count, term_total) FROM STDIN;

-- copy_documents: files
COPY documents (tenant_id, document_id, slice_id, path, enabled, sort_order, version) FROM STDIN;

-- copy_versions: their texts
COPY versions (tenant_id, slice_id, document_id, version, content, size, sha256, by, reason) FROM STDIN;

-- copy_chunks: their passages
COPY chunks (tenant_id, chunk_id, slice_id, tier, document_id, ordinal, start_line, end_line, char_start, char_end,
             heading_path, text, context, passage_sha256, terms, term_count, embedded) FROM STDIN;

-- copy_postings: the terms of the passages, in the order of the primary key
COPY postings (tenant_id, slice_id, chunk_id, document_id, term, tf, length, tier) FROM STDIN;

-- copy_vectors: the vectors of the passages
COPY vectors_0 (tenant_id, slice_id, chunk_id, document_id, partition_id, model_id, tier, covered, embedding)
FROM STDIN (FORMAT binary);

-- copy_cache: what the model is to have said
COPY embedding_cache (tenant_id, model_id, passage_sha256, embedding) FROM STDIN (FORMAT binary);
