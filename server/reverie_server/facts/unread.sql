-- spoken: what users said in a slice with some words, of each word the newest messages; not what scheduled jobs wrote
WITH heard AS MATERIALIZED (
    SELECT m.session_key, m.slice_id, s.session_id, m.seq, m.role, m.content, m.at, m.tokens, m.message_id, m.extra,
           replace(translate(lower(m.content), 'áéíóú', 'aeiou'), 'ß', 'ss') AS plain
    FROM sessions s
    JOIN messages m ON m.tenant_id = s.tenant_id AND m.session_key = s.session_key AND m.slice_id = s.slice_id
    WHERE s.tenant_id = %(tenant_id)s AND s.slice_id = ANY(%(slice_ids)s::bigint[]) AND m.role = 'user'
      AND octet_length(m.content) <= %(bytes)s
      AND NOT EXISTS (SELECT FROM events e WHERE e.tenant_id = %(tenant_id)s AND e.slice_id = s.slice_id
                      AND e.payload ->> 'trigger_source' = 'cron' AND e.kind = 'session.completed'
                      AND e.payload ->> 'session_key' = s.session_key::text
                      AND m.seq BETWEEN (e.payload ->> 'from_seq')::integer AND (e.payload ->> 'through_seq')::integer)
    ORDER BY m.at DESC, m.session_key, m.seq LIMIT %(messages)s
)
SELECT DISTINCT ON (f.at, f.session_key, f.seq) f.session_key, f.slice_id, f.session_id, f.seq, f.role, f.content, f.at,
       f.tokens, f.message_id, f.extra
FROM unnest(%(words)s::text[]) AS w(word)
CROSS JOIN LATERAL (
    SELECT * FROM heard WHERE strpos(heard.plain, w.word) > 0 ORDER BY heard.at DESC LIMIT %(of_word)s
) AS f
ORDER BY f.at, f.session_key, f.seq;

-- facts_of: what patterns read in some sentences
SELECT k.sentence_sha256, f.object
FROM fact_sentences k
JOIN facts f ON f.tenant_id = k.tenant_id AND f.fact_id = k.fact_id
WHERE k.tenant_id = %(tenant_id)s AND k.slice_id = ANY(%(slice_ids)s::bigint[])
  AND k.sentence_sha256 = ANY(%(keys)s::bytea[])
  AND (f.method = 'llm' OR f.model IS NULL);
