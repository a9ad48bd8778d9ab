-- silent_from: when the last long silence of a slice began; null where there was none. From the newest message on `talk` goes
-- back by a silence at a time: between `began` and the end of the talk there is none.
WITH RECURSIVE talk AS (
    SELECT max(m.at) AS began, NULL::timestamptz AS silent_from FROM messages m
    WHERE m.tenant_id = %(tenant_id)s AND m.slice_id = %(slice_id)s AND m.tokens >= 0
    UNION ALL
    SELECT after.at, CASE WHEN after.at - before.at >= %(silence)s THEN before.at END
    FROM talk t
    CROSS JOIN LATERAL (
        SELECT max(m.at) AS at FROM messages m
        WHERE m.tenant_id = %(tenant_id)s AND m.slice_id = %(slice_id)s AND m.tokens >= 0
          AND m.at <= t.began - %(silence)s
    ) before
    CROSS JOIN LATERAL (
        SELECT min(m.at) AS at FROM messages m
        WHERE m.tenant_id = %(tenant_id)s AND m.slice_id = %(slice_id)s AND m.tokens >= 0 AND m.at > before.at
    ) after
    WHERE t.silent_from IS NULL AND before.at IS NOT NULL
)
SELECT max(silent_from) AS silent_from FROM talk;

-- newest: the newest facts of a slice, or of some of it those that hold, with the newest time each was said and holds, and its passage. `outlived_at`: when the
-- last silence began, for what was said before it alone, in conversations that were imported.
SELECT f.fact_id, f.subject, f.predicate, f.object, f.text, f.category, f.confidence, f.is_functional, f.is_request,
       f.about_user, f.change, f.method, f.model, f.confirmed_by IS NOT NULL AS is_confirmed, f.state, f.valid_from, f.valid_to, f.superseded_by, f.closed_by, f.said_at, f.chunk_id,
       c.valid_to IS NULL AND c.chunk_id IS NOT NULL AS is_present, s.times,
       CASE WHEN s.is_imported AND s.last_said_at <= %(silent_from)s::timestamptz THEN %(silent_from)s::timestamptz END AS outlived_at
FROM facts f
CROSS JOIN LATERAL (
    SELECT jsonb_agg(jsonb_build_object('said_at', o.said_at, 'valid_from', o.valid_from, 'valid_to', o.valid_to,
                     'operation', o.operation, 'of_fact_id', o.of_fact_id) ORDER BY o.said_at, o.source_id) AS times,
           max(o.said_at) AS last_said_at, bool_or(n.created_at - o.said_at >= %(silence)s) AS is_imported
    FROM fact_sources o
    -- With a null in place of the time the planner would drop the join, and Citus refuses what is left.
    LEFT JOIN sessions n ON n.tenant_id = o.tenant_id
        AND n.session_key = CASE WHEN o.said_at <= coalesce(%(silent_from)s::timestamptz, '-infinity') THEN o.session_key END
    WHERE o.tenant_id = %(tenant_id)s AND o.fact_id = f.fact_id
) s
LEFT JOIN chunks c ON c.tenant_id = f.tenant_id AND c.chunk_id = f.chunk_id
WHERE f.tenant_id = %(tenant_id)s AND f.slice_id = %(slice_id)s
  AND (%(fact_ids)s::bigint[] IS NULL OR (f.fact_id = ANY(%(fact_ids)s::bigint[]) AND f.state = 'current'))
ORDER BY f.said_at DESC, f.fact_id DESC LIMIT %(limit)s;

-- older: of the facts that hold and were said before the newest ones, the newest of each subject and predicate,
-- those that were said last first
SELECT o.subject, o.predicate, o.is_functional, array_agg(o.fact_id ORDER BY o.said_at DESC, o.fact_id DESC) AS fact_ids
FROM (SELECT f.subject, f.predicate, f.is_functional, f.fact_id, f.said_at, f.valid_to,
             row_number() OVER (PARTITION BY f.subject, f.predicate, f.is_functional
                                ORDER BY f.said_at DESC, f.fact_id DESC) AS place
      FROM facts f
      WHERE f.tenant_id = %(tenant_id)s AND f.slice_id = %(slice_id)s AND f.state = 'current'
        AND (f.said_at, f.fact_id) < (%(said_at)s::timestamptz, %(fact_id)s::bigint)) AS o
WHERE o.place <= %(each)s
GROUP BY o.subject, o.predicate, o.is_functional
ORDER BY max(o.said_at) DESC, max(o.fact_id) DESC LIMIT %(limit)s;

-- ended_before: facts of a slice that count as ones that hold and have come to their end, said before the newest ones
SELECT f.fact_id FROM facts f
WHERE f.tenant_id = %(tenant_id)s AND f.slice_id = %(slice_id)s AND f.state = 'current' AND f.valid_to <= %(at)s
  AND f.closed_by IS DISTINCT FROM 'person' AND (f.said_at, f.fact_id) < (%(said_at)s::timestamptz, %(fact_id)s::bigint)
ORDER BY f.valid_to, f.fact_id LIMIT %(limit)s;

-- of_one_sentence: facts that are recognised by a sentence of some others, at most `limit` for each of these sentences
SELECT DISTINCT a.fact_id, b.fact_id AS other_id
FROM fact_sentences a
CROSS JOIN LATERAL (SELECT s.fact_id FROM fact_sentences s
                    WHERE s.tenant_id = %(tenant_id)s AND s.slice_id = a.slice_id AND s.sentence_sha256 = a.sentence_sha256
                    ORDER BY s.fact_id LIMIT %(limit)s) b
WHERE a.tenant_id = %(tenant_id)s AND a.slice_id = %(slice_id)s AND a.fact_id = ANY(%(fact_ids)s::bigint[])
  AND b.fact_id <> a.fact_id
ORDER BY a.fact_id, b.fact_id;

-- write: what holds of facts, from a JSON array
UPDATE facts f
SET said_at = r.said_at, valid_from = r.valid_from, valid_to = r.valid_to, state = r.state,
    superseded_by = r.superseded_by, closed_by = r.closed_by, updated_at = %(at)s
FROM jsonb_to_recordset(%(rows)s) AS r(fact_id bigint, said_at timestamptz, valid_from timestamptz, valid_to timestamptz,
     state text, superseded_by bigint, closed_by text)
WHERE f.tenant_id = %(tenant_id)s AND f.slice_id = %(slice_id)s AND f.fact_id = r.fact_id;

-- open_contradictions: pairs that cannot both hold, as (first, second) in two arrays; one that is there keeps its state
INSERT INTO contradictions (tenant_id, slice_id, first_id, second_id, found_at)
SELECT %(tenant_id)s, %(slice_id)s, p.first_id, p.second_id, %(at)s
FROM unnest(%(first_ids)s::bigint[], %(second_ids)s::bigint[]) AS p(first_id, second_id)
ON CONFLICT (tenant_id, first_id, second_id) DO UPDATE SET state = 'open', resolved_at = NULL
WHERE contradictions.state = 'closed';

-- close_contradictions: pairs that nobody decided and that can both hold by now, as far as both were looked at, or of which
-- one holds no longer
UPDATE contradictions c SET state = 'closed', resolved_at = %(at)s
WHERE c.tenant_id = %(tenant_id)s AND c.slice_id = %(slice_id)s AND c.state = 'open'
  AND NOT EXISTS (SELECT FROM unnest(%(first_ids)s::bigint[], %(second_ids)s::bigint[]) AS p(first_id, second_id)
                  WHERE p.first_id = c.first_id AND p.second_id = c.second_id)
  AND ((c.first_id = ANY(%(fact_ids)s::bigint[]) AND c.second_id = ANY(%(fact_ids)s::bigint[]))
       OR EXISTS (SELECT FROM facts f WHERE f.tenant_id = %(tenant_id)s AND f.fact_id IN (c.first_id, c.second_id)
                  AND f.state <> 'current'));

-- decided: the pairs that a person decided on, with what their facts state
SELECT jsonb_build_object('fact_id', a.fact_id, 'subject', a.subject, 'predicate', a.predicate, 'object', a.object,
                          'is_functional', a.is_functional) AS first,
       jsonb_build_object('fact_id', b.fact_id, 'subject', b.subject, 'predicate', b.predicate, 'object', b.object,
                          'is_functional', b.is_functional) AS second,
       c.state = 'ignored' AS is_ignored, c.found_at, c.resolved_at, c.resolved_by
FROM contradictions c
JOIN facts a ON a.tenant_id = c.tenant_id AND a.fact_id = c.first_id
JOIN facts b ON b.tenant_id = c.tenant_id AND b.fact_id = c.second_id
WHERE c.tenant_id = %(tenant_id)s AND c.slice_id = %(slice_id)s AND c.state IN ('ignored', 'resolved')
ORDER BY c.contradiction_id;

-- inherit_ignored: pairs, in arrays, for which a decision about other wordings holds that are gone
INSERT INTO contradictions (tenant_id, slice_id, first_id, second_id, state, kept, found_at, resolved_at, resolved_by)
SELECT %(tenant_id)s, %(slice_id)s, p.first_id, p.second_id, 'ignored', 'ignore', p.found_at, p.resolved_at, p.resolved_by
FROM unnest(%(first_ids)s::bigint[], %(second_ids)s::bigint[], %(found_at)s::timestamptz[], %(resolved_at)s::timestamptz[],
            %(resolved_by)s::text[]) AS p(first_id, second_id, found_at, resolved_at, resolved_by)
ON CONFLICT (tenant_id, first_id, second_id) DO UPDATE
SET state = 'ignored', kept = 'ignore', resolved_at = excluded.resolved_at, resolved_by = excluded.resolved_by
WHERE contradictions.state IN ('open', 'closed');

-- set_chunks: the passages of facts, as (fact, passage) in two arrays
UPDATE facts f SET chunk_id = p.chunk_id
FROM unnest(%(fact_ids)s::bigint[], %(chunk_ids)s::bigint[]) AS p(fact_id, chunk_id)
WHERE f.tenant_id = %(tenant_id)s AND f.slice_id = %(slice_id)s AND f.fact_id = p.fact_id;

-- added_chunks: the passages that facts of this transaction got, by their place in it
SELECT chunk_id, ordinal FROM chunks
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND tier = 'fact' AND chunk_id = ANY(%(chunk_ids)s::bigint[])
ORDER BY ordinal;

-- has_ended: whether a fact of a slice that counts as one that holds has come to its end
SELECT EXISTS (SELECT FROM facts f WHERE f.tenant_id = %(tenant_id)s AND f.slice_id = %(slice_id)s
               AND f.state = 'current' AND f.valid_to <= %(at)s AND f.closed_by IS DISTINCT FROM 'person') AS has_ended;
