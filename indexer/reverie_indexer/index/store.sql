-- create_agent: make an unknown agent; a row only when this call made it
INSERT INTO agents (tenant_id, agent_id, name) VALUES (%(tenant_id)s, %(agent_id)s, %(agent_id)s)
ON CONFLICT (tenant_id, agent_id) DO NOTHING
RETURNING agent_id;

-- agent: one agent
SELECT agent_id, name, leader_agent_id, settings, created_at, updated_at
FROM agents WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s;

-- document: one file of one slice, deleted ones too, with the size and hash of its current version
-- A session's transcript has no version, here and wherever versions are joined.
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
  AND NOT d.path = ANY(%(hidden)s::text[])
  AND (%(after_sort_order)s::int IS NULL
       OR (d.sort_order, d.path, d.document_id)
          > (%(after_sort_order)s::int, %(after_path)s::text, %(after_id)s::bigint))
ORDER BY d.sort_order, d.path, d.document_id
LIMIT %(limit)s;

-- count_documents: how many living files there are under a prefix
SELECT count(*) AS count FROM documents d
WHERE d.tenant_id = %(tenant_id)s AND d.slice_id = ANY(%(slice_ids)s::bigint[]) AND d.deleted_at IS NULL
  AND d.session_key IS NULL
  AND (%(prefix)s::text IS NULL OR starts_with(d.path, %(prefix)s::text))
  AND NOT d.path = ANY(%(hidden)s::text[]);

-- paths: which living files there are in some slices
SELECT DISTINCT path FROM documents
WHERE tenant_id = %(tenant_id)s AND slice_id = ANY(%(slice_ids)s::bigint[]) AND deleted_at IS NULL
  AND session_key IS NULL
ORDER BY path;

-- create_document: a new file at version 1
INSERT INTO documents (tenant_id, slice_id, path, enabled, sort_order, version, note_day, created_at, updated_at)
SELECT %(tenant_id)s, %(slice_id)s, %(path)s, %(enabled)s, %(sort_order)s, 1, %(note_day)s, clock.at, clock.at
FROM clock_timestamp() AS clock(at)
RETURNING document_id;

-- update_document: move a file to its next version, or back to life
UPDATE documents
SET version = %(version)s, enabled = %(enabled)s, sort_order = %(sort_order)s,
    updated_at = clock_timestamp(), deleted_at = CASE WHEN %(deleted)s THEN clock_timestamp() END
WHERE tenant_id = %(tenant_id)s AND document_id = %(document_id)s;

-- add_version: what a file holds from the moment of its update on
INSERT INTO versions AS v (tenant_id, slice_id, document_id, version, content, size, sha256, deleted, at, by, reason)
SELECT d.tenant_id, d.slice_id, d.document_id, %(version)s, %(content)s, %(size)s, %(sha256)s,
       %(deleted)s, d.updated_at, %(by)s, %(reason)s
FROM documents d WHERE d.tenant_id = %(tenant_id)s AND d.document_id = %(document_id)s
RETURNING v.at;

-- versions: the history of a file, newest first, before a cursor
SELECT version, at, by, reason, size, deleted FROM versions
WHERE tenant_id = %(tenant_id)s AND document_id = %(document_id)s
  AND (%(before)s::int IS NULL OR version < %(before)s::int)
ORDER BY version DESC LIMIT %(limit)s;

-- version: one version of a file with its content
SELECT version, at, by, reason, size, deleted, content FROM versions
WHERE tenant_id = %(tenant_id)s AND document_id = %(document_id)s AND version = %(version)s;
