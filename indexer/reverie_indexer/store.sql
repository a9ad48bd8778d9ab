-- create_agent: make an unknown agent; a row only when this call made it
INSERT INTO agents (tenant_id, agent_id, name) VALUES (%(tenant_id)s, %(agent_id)s, %(agent_id)s)
ON CONFLICT (tenant_id, agent_id) DO NOTHING
RETURNING agent_id;

-- agent: one agent
SELECT agent_id, name, leader_agent_id, settings, created_at, updated_at
FROM agents WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s;

-- create_slice: make a slice at its first write
INSERT INTO slices (tenant_id, agent_id, owner_key) VALUES (%(tenant_id)s, %(agent_id)s, %(owner_key)s)
ON CONFLICT (tenant_id, agent_id, owner_key) DO NOTHING;

-- lock_slice: order the writers of one slice until the transaction ends
SELECT slice_id, agent_id, owner_key, chunk_count, term_total, partition_id
FROM slices
WHERE tenant_id = %(tenant_id)s
  AND agent_id IS NOT DISTINCT FROM %(agent_id)s AND owner_key IS NOT DISTINCT FROM %(owner_key)s
FOR NO KEY UPDATE;

-- document: one file of one slice, deleted ones too, with the size and hash of its current version
SELECT d.document_id, d.slice_id, d.path, s.agent_id, s.owner_key, d.enabled, d.sort_order, d.version,
       v.size, v.sha256, d.created_at, d.updated_at, d.deleted_at, v.content
FROM documents d
JOIN slices s ON s.tenant_id = d.tenant_id AND s.slice_id = d.slice_id
JOIN versions v ON v.tenant_id = d.tenant_id AND v.document_id = d.document_id AND v.version = d.version
WHERE d.tenant_id = %(tenant_id)s AND d.slice_id = ANY(%(slice_ids)s::bigint[]) AND d.path = ANY(%(paths)s::text[])
ORDER BY d.slice_id, d.path;

-- documents: the living files of some slices under a prefix, by sort order and path, after a cursor
SELECT d.document_id, d.slice_id, d.path, s.agent_id, s.owner_key, d.enabled, d.sort_order, d.version,
       v.size, v.sha256, d.created_at, d.updated_at, d.deleted_at
FROM documents d
JOIN slices s ON s.tenant_id = d.tenant_id AND s.slice_id = d.slice_id
JOIN versions v ON v.tenant_id = d.tenant_id AND v.document_id = d.document_id AND v.version = d.version
WHERE d.tenant_id = %(tenant_id)s AND d.slice_id = ANY(%(slice_ids)s::bigint[]) AND d.deleted_at IS NULL
  AND (%(prefix)s::text IS NULL OR starts_with(d.path, %(prefix)s::text))
  AND (%(after_sort_order)s::int IS NULL
       OR (d.sort_order, d.path, d.document_id)
          > (%(after_sort_order)s::int, %(after_path)s::text, %(after_id)s::bigint))
ORDER BY d.sort_order, d.path, d.document_id
LIMIT %(limit)s;

-- count_documents: how many living files there are under a prefix
SELECT count(*) AS count FROM documents d
WHERE d.tenant_id = %(tenant_id)s AND d.slice_id = ANY(%(slice_ids)s::bigint[]) AND d.deleted_at IS NULL
  AND (%(prefix)s::text IS NULL OR starts_with(d.path, %(prefix)s::text));

-- create_document: a new file at version 1
INSERT INTO documents (tenant_id, slice_id, path, enabled, sort_order, version)
VALUES (%(tenant_id)s, %(slice_id)s, %(path)s, %(enabled)s, %(sort_order)s, 1)
RETURNING document_id;

-- update_document: move a file to its next version, or back to life
UPDATE documents
SET version = %(version)s, enabled = %(enabled)s, sort_order = %(sort_order)s,
    updated_at = clock_timestamp(), deleted_at = CASE WHEN %(deleted)s THEN clock_timestamp() END
WHERE tenant_id = %(tenant_id)s AND document_id = %(document_id)s;

-- add_version: what a file holds from now on
INSERT INTO versions (tenant_id, slice_id, document_id, version, content, size, sha256, deleted, at, by, reason)
VALUES (%(tenant_id)s, %(slice_id)s, %(document_id)s, %(version)s, %(content)s, %(size)s, %(sha256)s,
        %(deleted)s, clock_timestamp(), %(by)s, %(reason)s);

-- versions: the history of a file, newest first, before a cursor
SELECT version, at, by, reason, size, deleted FROM versions
WHERE tenant_id = %(tenant_id)s AND document_id = %(document_id)s
  AND (%(before)s::int IS NULL OR version < %(before)s::int)
ORDER BY version DESC LIMIT %(limit)s;

-- version: one version of a file with its content
SELECT version, at, by, reason, size, deleted, content FROM versions
WHERE tenant_id = %(tenant_id)s AND document_id = %(document_id)s AND version = %(version)s;

-- chunks_of_document: what the index holds of a file
SELECT chunk_id, passage_sha256, ordinal, start_line, end_line, char_start, char_end, term_count, embedded
FROM chunks WHERE tenant_id = %(tenant_id)s AND document_id = %(document_id)s
ORDER BY ordinal, chunk_id;

-- add_chunks: the new passages of a file, from a JSON array
INSERT INTO chunks (tenant_id, slice_id, tier, document_id, ordinal, start_line, end_line, char_start, char_end,
                    heading_path, text, context, passage_sha256, terms, term_count, embedded)
SELECT %(tenant_id)s, %(slice_id)s, %(tier)s::memory_tier, %(document_id)s, r.ordinal, r.start_line, r.end_line,
       r.char_start, r.char_end, r.heading_path, r.text, r.context, decode(r.sha256, 'hex'), r.terms, r.term_count, false
FROM jsonb_to_recordset(%(rows)s) AS r(ordinal int, start_line int, end_line int, char_start int, char_end int,
     heading_path text[], text text, context text, sha256 text, terms text[], term_count int)
RETURNING chunk_id, ordinal;

-- move_chunks: passages that are the same but stand elsewhere in the file
UPDATE chunks c
SET ordinal = r.ordinal, start_line = r.start_line, end_line = r.end_line, char_start = r.char_start, char_end = r.char_end
FROM jsonb_to_recordset(%(rows)s) AS r(chunk_id bigint, ordinal int, start_line int, end_line int, char_start int, char_end int)
WHERE c.tenant_id = %(tenant_id)s AND c.chunk_id = r.chunk_id;

-- remove_chunks: passages that are gone, with their postings; before their vectors, so that a back-fill in flight ends before or finds nothing
WITH gone AS (
    DELETE FROM chunks WHERE tenant_id = %(tenant_id)s AND chunk_id = ANY(%(chunk_ids)s::bigint[])
    RETURNING chunk_id, terms
)
DELETE FROM postings p
USING (SELECT chunk_id, unnest(terms) AS term FROM gone) AS g
WHERE p.tenant_id = %(tenant_id)s AND p.slice_id = %(slice_id)s AND p.term = g.term AND p.chunk_id = g.chunk_id;

-- remove_vectors: the vectors, of any model, of passages that are gone
DELETE FROM vectors
WHERE tenant_id = %(tenant_id)s AND chunk_id = ANY(%(chunk_ids)s::bigint[]);

-- add_postings: the terms of new passages
INSERT INTO postings (tenant_id, slice_id, chunk_id, document_id, term, tf, length, tier)
SELECT c.tenant_id, c.slice_id, c.chunk_id, c.document_id, p.term, p.tf, c.term_count, c.tier
FROM unnest(%(chunk_ids)s::bigint[], %(terms)s::text[], %(tfs)s::int[]) AS p(chunk_id, term, tf)
JOIN chunks c ON c.tenant_id = %(tenant_id)s AND c.chunk_id = p.chunk_id;

-- count_slice: keep N and the total length of the slice
UPDATE slices SET chunk_count = chunk_count + %(chunks)s, term_total = term_total + %(terms)s
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s;
