-- facts: facts of some slices by trust, the newest of equal ones first, after a cursor; with the newest source of each
WITH rated AS NOT MATERIALIZED (
    SELECT f.*, greatest(0, least(1, 0.5::float8 + 0.1::float8 * f.helpful - 0.2::float8 * f.unhelpful)) AS base,
           date_part('epoch', greatest(f.created_at, f.said_at, f.last_confirmed_at, f.last_used_at)) / 86400 AS since,
           CASE WHEN f.state = 'current' AND f.valid_to <= %(now)s THEN 'superseded' ELSE f.state END AS state_now
    FROM facts f
    WHERE f.tenant_id = %(tenant_id)s AND f.slice_id = ANY(%(slice_ids)s::bigint[])
      AND (%(fact_ids)s::bigint[] IS NULL OR f.fact_id = ANY(%(fact_ids)s::bigint[]))
), ordered AS NOT MATERIALIZED (
    SELECT r.*,
           CASE WHEN %(half_life)s::float8 > 0
                THEN r.base * power(2, -greatest(0, date_part('epoch', %(now)s::timestamptz) / 86400 - r.since)
                                        / %(half_life)s::float8)
                ELSE r.base END::float8 AS trust,
           CASE WHEN r.base <= 0 THEN -1e9
                WHEN %(half_life)s::float8 > 0 THEN ln(r.base) / ln(2.0) + r.since / %(half_life)s::float8
                ELSE r.base END::float8 AS order_key
    FROM rated r
), page AS MATERIALIZED (
    -- Sources are looked up for a page alone, and trust too. A fact whose sources are gone is not there; that is looked at
    -- in order.
    SELECT o.* FROM (SELECT o.tenant_id, o.fact_id, o.order_key FROM ordered o
    WHERE (%(category)s::text IS NULL OR o.category = %(category)s::text)
      AND (%(state)s::text IS NULL OR o.state_now = %(state)s::text)
      AND (%(min_trust)s::float8 IS NULL OR o.trust >= %(min_trust)s::float8)
      AND (%(as_of)s::timestamptz IS NULL
           OR (o.valid_from <= %(as_of)s::timestamptz AND (o.valid_to IS NULL OR o.valid_to > %(as_of)s::timestamptz)
               AND o.state_now <> 'retracted'))
      -- A sentence that is a fact only because another says otherwise is none to list: who looks for its words finds it.
      AND (o.category <> 'general' OR o.predicate <> 'is' OR o.confidence > 0.5 OR o.method <> 'extractive'
           OR o.confirmed_by IS NOT NULL OR o.closed_by = 'person' OR cardinality(%(words)s::text[]) > 0 OR %(fact_ids)s::bigint[] IS NOT NULL)
      AND NOT EXISTS (SELECT FROM unnest(%(words)s::text[]) AS w(word)
                      WHERE strpos(lower(normalize(concat_ws(' ', o.subject, o.predicate, o.object, o.text), NFKC)), w.word) = 0)
      AND (%(after_key)s::float8 IS NULL
           OR o.order_key < %(after_key)s::float8
           OR (o.order_key = %(after_key)s::float8 AND o.fact_id < %(after_id)s::bigint))
    ORDER BY o.order_key DESC, o.fact_id DESC OFFSET 0) o
    WHERE (SELECT true FROM fact_sources s WHERE s.tenant_id = %(tenant_id)s AND s.fact_id = o.fact_id LIMIT 1)
    ORDER BY o.order_key DESC, o.fact_id DESC
    LIMIT %(limit)s
)
-- What says that something is over says so in its predicate, if that does not by itself: "i lost the baby" is no
-- `is pregnant`.
SELECT f.fact_id, f.slice_id, f.subject,
       CASE WHEN f.change ->> 'kind' = 'ends' AND f.predicate NOT IN ('quit', 'left', 'ended', 'moved_out')
            THEN left('no_longer_' || f.predicate, 256) ELSE f.predicate END AS predicate,
       f.object, f.text, f.category, f.confidence, f.trust, f.helpful,
       f.unhelpful, f.use_count, f.last_used_at, f.last_confirmed_at, f.confirmed_by, f.said_at, f.valid_from, f.valid_to,
       f.superseded_by, f.state_now AS state, f.method, f.prompt, f.prompt_version, f.model, o.order_key, l.agent_id,
       l.owner_key, s.path, s.start_line, s.end_line, s.session_id, s.message_ids, s.seqs
FROM page o
JOIN ordered f ON f.tenant_id = o.tenant_id AND f.fact_id = o.fact_id
JOIN slices l ON l.tenant_id = f.tenant_id AND l.slice_id = f.slice_id
CROSS JOIN LATERAL (
    SELECT path, start_line, end_line, session_id, message_ids, seqs FROM fact_sources
    WHERE tenant_id = %(tenant_id)s AND fact_id = o.fact_id
    ORDER BY said_at DESC, source_id DESC LIMIT 1
) s
ORDER BY o.order_key DESC, o.fact_id DESC;

-- contradictions: pairs of some slices of one state, or of all, the newest first, before a cursor
SELECT contradiction_id, first_id, second_id, state, kept, found_at, resolved_at, resolved_by FROM contradictions
WHERE tenant_id = %(tenant_id)s AND slice_id = ANY(%(slice_ids)s::bigint[])
  AND (%(state)s::text IS NULL OR state = %(state)s::text)
  AND (%(contradiction_id)s::bigint IS NULL OR contradiction_id = %(contradiction_id)s::bigint)
  AND (%(before)s::bigint IS NULL OR contradiction_id < %(before)s::bigint)
ORDER BY contradiction_id DESC LIMIT %(limit)s;

-- chain: a fact with those that it replaced, those that these replaced, and what replaced it, at most so many
WITH RECURSIVE before AS (
    SELECT fact_id FROM facts
    WHERE tenant_id = %(tenant_id)s AND slice_id = ANY(%(slice_ids)s::bigint[]) AND fact_id = %(fact_id)s::bigint
    UNION
    SELECT f.fact_id FROM before b JOIN facts f ON f.tenant_id = %(tenant_id)s AND f.superseded_by = b.fact_id
    WHERE f.slice_id = ANY(%(slice_ids)s::bigint[])
), after AS (
    SELECT superseded_by AS fact_id FROM facts
    WHERE tenant_id = %(tenant_id)s AND slice_id = ANY(%(slice_ids)s::bigint[]) AND fact_id = %(fact_id)s::bigint
    UNION
    SELECT f.superseded_by FROM after a JOIN facts f ON f.tenant_id = %(tenant_id)s AND f.fact_id = a.fact_id
    WHERE f.slice_id = ANY(%(slice_ids)s::bigint[])
)
(SELECT fact_id FROM before LIMIT %(limit)s)
UNION
(SELECT fact_id FROM after WHERE fact_id IS NOT NULL LIMIT %(limit)s);
