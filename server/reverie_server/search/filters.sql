-- front_matters: the beginnings of the visible files that begin with front matter: now, or at `as_of`; a daily note is
-- searched as it is now at every time
SELECT d.document_id, left(v.content, %(max_chars)s) AS content
FROM documents d
CROSS JOIN LATERAL (
    SELECT content FROM versions
    WHERE tenant_id = %(tenant_id)s AND document_id = d.document_id
      AND (%(as_of)s::timestamptz IS NULL OR d.note_day IS NOT NULL OR at <= %(as_of)s::timestamptz)
    ORDER BY version DESC LIMIT 1
) v
WHERE d.tenant_id = %(tenant_id)s AND d.slice_id = ANY(%(slice_ids)s::bigint[]) AND d.session_key IS NULL
  AND (d.deleted_at IS NULL OR %(as_of)s::timestamptz IS NOT NULL) AND starts_with(v.content, %(mark)s)
ORDER BY d.document_id;

-- passages_within: the ids of the passages that pass the filters of a request, whatever the query
-- A daily note is of its whole day, any other file of the time of its writing, and what was said of the time when it was.
-- With `as_of` a passage of a file is of the time since which it stands there: the file may be written again later.
-- A tag stands as `#tag` in a passage or its headings, or it is one of its file's front matter (`tagged_documents` and
-- `document_tags`, in pairs), a key topic of its episode or the category of its fact.
WITH sought AS MATERIALIZED (
    SELECT tag, pattern FROM unnest(%(tags)s::text[], %(patterns)s::text[]) AS t(tag, pattern)
), tagged AS MATERIALIZED (
    SELECT document_id, tag FROM unnest(%(tagged_documents)s::bigint[], %(document_tags)s::text[]) AS t(document_id, tag)
), passages AS (
    SELECT c.chunk_id, c.text, c.heading_path, d.path, d.document_id, d.note_day, e.key_topics AS topics,
           CASE WHEN c.tier = 'document' AND %(as_of)s::timestamptz IS NULL THEN d.updated_at ELSE c.valid_from END AS at
    FROM documents d
    CROSS JOIN LATERAL (
        SELECT chunk_id, tier, text, heading_path, valid_from
        FROM chunks WHERE tenant_id = %(tenant_id)s AND document_id = d.document_id OFFSET 0
    ) c
    LEFT JOIN LATERAL (
        SELECT key_topics FROM episodes WHERE tenant_id = %(tenant_id)s AND episode_id = d.episode_id LIMIT 1
    ) e ON true
    WHERE d.tenant_id = %(tenant_id)s AND d.slice_id = ANY(%(slice_ids)s::bigint[])
      AND (d.deleted_at IS NULL OR %(as_of)s::timestamptz IS NOT NULL)
      AND (%(path_prefix)s::text IS NULL OR starts_with(d.path, %(path_prefix)s::text))
    UNION ALL
    SELECT f.chunk_id, f.text, '{}'::text[], 'facts/fact-' || f.fact_id, NULL, NULL, ARRAY[f.category], c.valid_from
    FROM facts f
    CROSS JOIN LATERAL (
        SELECT valid_from FROM chunks WHERE tenant_id = %(tenant_id)s AND chunk_id = f.chunk_id LIMIT 1
    ) c
    WHERE f.tenant_id = %(tenant_id)s AND f.slice_id = ANY(%(slice_ids)s::bigint[]) AND f.chunk_id IS NOT NULL
      AND (%(path_prefix)s::text IS NULL OR starts_with('facts/fact-' || f.fact_id, %(path_prefix)s::text))
)
SELECT coalesce(array_agg(p.chunk_id), '{}') AS chunk_ids FROM passages p
WHERE CASE WHEN p.note_day IS NULL
      THEN (%(since)s::timestamptz IS NULL OR p.at >= %(since)s::timestamptz)
           AND (%(until)s::timestamptz IS NULL OR p.at <= %(until)s::timestamptz)
      ELSE (%(since_day)s::date IS NULL OR p.note_day >= %(since_day)s::date)
           AND (%(until_day)s::date IS NULL OR p.note_day <= %(until_day)s::date) END
  AND NOT EXISTS (
      SELECT FROM sought s
      WHERE NOT (s.tag = ANY(SELECT lower(topic) FROM unnest(p.topics) AS topic)
                 OR concat_ws(' ', array_to_string(p.heading_path, ' '), p.text) ~* s.pattern
                 OR EXISTS (SELECT FROM tagged t WHERE t.document_id = p.document_id AND t.tag = s.tag)));
