-- holding_versions: the versions of a place's files that may hold a text: they have its longest word, or are read for their lines
SELECT d.document_id, d.path, d.deleted_at IS NULL AND v.version = d.version AS is_present, v.version, v.content
FROM documents d
JOIN versions v ON v.tenant_id = d.tenant_id AND v.document_id = d.document_id
WHERE d.tenant_id = %(tenant_id)s AND d.slice_id = ANY(%(slice_ids)s::bigint[])
  AND (d.path = ANY(%(paths)s::text[]) OR d.path ~ %(backups)s::text OR EXISTS (
      SELECT FROM unnest(%(anchors)s::text[]) AS a(word)
      WHERE strpos(lower(normalize(translate(v.content, %(invisible)s::text, ''), NFKD)), a.word) > 0))
ORDER BY d.path, d.document_id, v.version;

-- cut_lines: the lines of the diary and its archives with an ellipsis, in all versions of some slices
SELECT DISTINCT l.line
FROM documents d
JOIN versions v ON v.tenant_id = d.tenant_id AND v.document_id = d.document_id
CROSS JOIN LATERAL unnest(string_to_array(v.content, E'\n')) AS l(line)
WHERE d.tenant_id = %(tenant_id)s AND d.slice_id = ANY(%(slice_ids)s::bigint[]) AND d.session_key IS NULL
  AND (d.path = 'DREAMS.md' OR d.path LIKE 'memory/dreams/%%') AND strpos(v.content, '…') > 0 AND strpos(l.line, '…') > 0
ORDER BY l.line;

-- rewrite_version: an old text without what was forgotten
UPDATE versions SET content = %(content)s, size = %(size)s, sha256 = %(sha256)s
WHERE tenant_id = %(tenant_id)s AND document_id = %(document_id)s AND version = %(version)s;

-- holding_chunks: the passages of the files of a place, of now or of the past, that may hold a text, in themselves or their headings
SELECT d.path, c.chunk_id, c.slice_id, c.term_count, c.passage_sha256, c.valid_to, c.text,
       array_to_string(c.heading_path, E'\n') || E'\n' || c.context AS above
FROM documents d
JOIN chunks c ON c.tenant_id = d.tenant_id AND c.document_id = d.document_id
WHERE d.tenant_id = %(tenant_id)s AND d.slice_id = ANY(%(slice_ids)s::bigint[]) AND d.session_key IS NULL
  AND (d.path = ANY(%(paths)s::text[]) OR EXISTS (
      SELECT FROM unnest(%(anchors)s::text[]) AS a(word)
      WHERE strpos(lower(normalize(translate(
          array_to_string(c.heading_path || c.context || c.text, E'\n'), %(invisible)s::text, ''), NFKD)), a.word) > 0))
ORDER BY c.chunk_id;

-- sharing_files: shared files that a person sees and that may hold a text
SELECT d.path, s.agent_id IS NULL AS is_global, v.content
FROM documents d
JOIN slices s ON s.tenant_id = d.tenant_id AND s.slice_id = d.slice_id
JOIN versions v ON v.tenant_id = d.tenant_id AND v.document_id = d.document_id AND v.version = d.version
WHERE d.tenant_id = %(tenant_id)s AND d.slice_id = ANY(%(slice_ids)s::bigint[]) AND d.deleted_at IS NULL
  AND EXISTS (SELECT FROM unnest(%(anchors)s::text[]) AS a(word) WHERE strpos(lower(normalize(translate(v.content, %(invisible)s::text, ''), NFKD)), a.word) > 0)
ORDER BY d.path, d.document_id;

-- clearable: the files of a slice to clear, deleted ones with a history too; a daily note is as old as its day
SELECT d.document_id FROM documents d
WHERE d.tenant_id = %(tenant_id)s AND d.slice_id = %(slice_id)s AND d.session_key IS NULL
  AND (%(path_prefix)s::text IS NULL OR starts_with(d.path, %(path_prefix)s::text))
  AND (%(older_than_days)s::float8 IS NULL
       OR coalesce(d.note_day + time '24:00', greatest(d.updated_at, d.deleted_at)) < now() - make_interval(secs => 86400 * %(older_than_days)s::float8))
  AND (d.path <> ALL(%(kept)s::text[]) OR starts_with(d.path, %(path_prefix)s::text))
ORDER BY d.document_id;
