-- holding: facts of some slices that may hold a text: its longest word stands in what they say
SELECT fact_id, slice_id, subject, predicate, object, text FROM facts
WHERE tenant_id = %(tenant_id)s AND slice_id = ANY(%(slice_ids)s::bigint[])
  AND EXISTS (SELECT FROM unnest(%(anchors)s::text[]) AS a(word)
              WHERE strpos(lower(normalize(translate(concat_ws(E'\n', subject, predicate, object, text),
                  %(invisible)s::text, ''), NFKD)), a.word) > 0)
ORDER BY fact_id;

-- naming: facts of some slices that may name, as what they replace, a text of which the longest word stands in it
SELECT fact_id, change ->> 'old_object' AS replaced FROM facts
WHERE tenant_id = %(tenant_id)s AND slice_id = ANY(%(slice_ids)s::bigint[]) AND change ->> 'old_object' <> '…'
  AND EXISTS (SELECT FROM unnest(%(anchors)s::text[]) AS a(word)
              WHERE strpos(lower(normalize(translate(change ->> 'old_object', %(invisible)s::text, ''), NFKD)), a.word) > 0)
ORDER BY fact_id;

-- unname: what some facts replace is not said any more, but that it was
UPDATE facts SET change = change || '{"old_object": "…"}', updated_at = %(at)s
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND fact_id = ANY(%(fact_ids)s::bigint[]);

-- stated_by: facts of some slices that are recognised by sentences; by one that is not a `whole` text only where no message
-- states them but some that change, given as (session, number) in two arrays
SELECT DISTINCT f.fact_id, f.slice_id, f.subject, f.predicate, f.object, f.text
FROM fact_sentences s
JOIN facts f ON f.tenant_id = s.tenant_id AND f.fact_id = s.fact_id
WHERE s.tenant_id = %(tenant_id)s AND s.slice_id = ANY(%(slice_ids)s::bigint[])
  AND s.sentence_sha256 = ANY(%(hashes)s::bytea[])
  AND (s.sentence_sha256 = ANY(%(whole)s::bytea[]) OR NOT EXISTS (
      SELECT FROM fact_sources o
      WHERE o.tenant_id = %(tenant_id)s AND o.fact_id = f.fact_id AND o.session_key IS NOT NULL
        AND NOT EXISTS (SELECT FROM unnest(%(session_keys)s::bigint[], %(seqs)s::int[]) AS m(session_key, seq)
                        WHERE m.session_key = o.session_key AND o.seqs @> ARRAY[m.seq])))
ORDER BY f.fact_id;

-- read_in_lines: what was read in lines that repeat some messages, given as (session, number) in two arrays; what is left
-- of the message, and by which sentences the fact is recognised
SELECT s.source_id, m.content,
       ARRAY(SELECT k.sentence_sha256 FROM fact_sentences k
             WHERE k.tenant_id = %(tenant_id)s AND k.slice_id = s.slice_id AND k.fact_id = s.fact_id) AS keys
FROM unnest(%(session_keys)s::bigint[], %(seqs)s::int[]) AS u(session_key, seq)
JOIN fact_sources s ON s.tenant_id = %(tenant_id)s AND s.slice_id = %(slice_id)s AND s.session_key = u.session_key
                   AND s.seqs @> ARRAY[u.seq] AND s.line_sha256 IS NOT NULL
JOIN messages m ON m.tenant_id = %(tenant_id)s AND m.session_key = u.session_key AND m.seq = u.seq
ORDER BY s.source_id;

-- drop_sources: what was read in some messages, as (session, number) in two arrays, but for some sources
DELETE FROM fact_sources s
USING unnest(%(session_keys)s::bigint[], %(seqs)s::int[]) AS m(session_key, seq)
WHERE s.tenant_id = %(tenant_id)s AND s.slice_id = %(slice_id)s AND s.session_key = m.session_key
  AND s.seqs @> ARRAY[m.seq] AND s.source_id <> ALL(%(kept)s::bigint[]);

-- read_again: the rest of changed messages is read anew, with what was said after them
UPDATE sessions s SET facts_through = least(s.facts_through, m.seq - 1)
FROM (SELECT session_key, min(seq) AS seq FROM unnest(%(session_keys)s::bigint[], %(seqs)s::int[]) AS u(session_key, seq)
      GROUP BY session_key) AS m
WHERE s.tenant_id = %(tenant_id)s AND s.slice_id = %(slice_id)s AND s.session_key = m.session_key;

-- of_session_alone: facts of some slices that one session states and no other
SELECT DISTINCT s.fact_id FROM fact_sources s
WHERE s.tenant_id = %(tenant_id)s AND s.slice_id = ANY(%(slice_ids)s::bigint[]) AND s.session_key = %(session_key)s
  AND NOT EXISTS (SELECT FROM fact_sources o
                  WHERE o.tenant_id = %(tenant_id)s AND o.fact_id = s.fact_id AND o.session_key <> %(session_key)s)
ORDER BY s.fact_id;

-- of_session: what was read in a session
DELETE FROM fact_sources
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND session_key = %(session_key)s;

-- selected: facts of a slice that were last said before a time, all of whose sources lie below a prefix
SELECT f.fact_id FROM facts f
WHERE f.tenant_id = %(tenant_id)s AND f.slice_id = %(slice_id)s
  AND (%(days)s::float8 IS NULL OR f.said_at < now() - make_interval(secs => %(days)s::float8 * 86400))
  AND (%(prefix)s::text IS NULL
       OR NOT EXISTS (SELECT FROM fact_sources s WHERE s.tenant_id = %(tenant_id)s AND s.fact_id = f.fact_id
                      AND NOT starts_with(coalesce(s.path, 'sessions/' || s.session_id), %(prefix)s::text)))
ORDER BY f.fact_id;
