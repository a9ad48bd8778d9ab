-- hnsw_settings: scan until enough rows of the slice are found; candidates need no strict order
SELECT set_config('hnsw.iterative_scan', 'relaxed_order', true),
       set_config('hnsw.ef_search', %(ef_search)s, true),
       set_config('hnsw.max_scan_tuples', '200000', true);

-- owner_names, prepared: what the owner is called by, as they said themselves, where that is sure; by the index facts_of_names
SELECT f.object FROM slices s
CROSS JOIN LATERAL (
    SELECT object, said_at, fact_id FROM facts
    WHERE tenant_id = %(tenant_id)s AND slice_id = s.slice_id
      AND subject = 'user' AND predicate IN ('name', 'nickname') AND state = 'current' AND confidence > 0.69 OFFSET 0
) f
WHERE s.tenant_id = %(tenant_id)s AND s.owner_key = %(owner_key)s AND NOT s.past
ORDER BY f.said_at DESC, f.fact_id
LIMIT 4;

-- namesakes: the names of which facts of somebody else are known
SELECT n.name FROM unnest(%(names)s::text[]) AS n(name)
WHERE EXISTS (
    SELECT FROM slices s
    JOIN facts f ON f.tenant_id = s.tenant_id AND f.slice_id = s.slice_id
    WHERE s.tenant_id = %(tenant_id)s AND s.owner_key = %(owner_key)s AND NOT s.past AND f.state = 'current'
      AND (lower(f.subject) = n.name OR starts_with(lower(f.subject), n.name || ' ')));

-- expired: the documents of some slices that have expired and are not pruned yet
SELECT document_id FROM documents
WHERE tenant_id = %(tenant_id)s AND slice_id = ANY(%(slice_ids)s::bigint[])
  AND expires_at IS NOT NULL AND expires_at <= %(now)s
ORDER BY document_id;

-- term_frequencies: the number of passages of the visible slices that have each term of the query
SELECT p.term, count(*) AS df
FROM postings p
WHERE p.tenant_id = %(tenant_id)s AND p.slice_id = ANY(%(slice_ids)s::bigint[]) AND p.term = ANY(%(terms)s::text[])
  AND (p.document_id IS NULL OR p.document_id <> ALL(ARRAY(
      SELECT document_id FROM documents
      WHERE tenant_id = %(tenant_id)s AND slice_id = ANY(%(slice_ids)s::bigint[])
        AND expires_at IS NOT NULL AND expires_at <= %(now)s)))
GROUP BY p.term;

-- join_by_hash: no nested loops until the end of the transaction. The planner takes the matches of a query for one row,
-- and would compare each of hundreds with each. Rows that are to be looked up one by one are, by LATERAL with LIMIT or
-- OFFSET.
SELECT set_config('enable_nestloop', 'off', true);

-- candidates: the best of each channel over the visible slices, and their neighbours, with both scores for each
-- `producers` are the terms that yield candidates; `others`, too frequent for that, only add to scores. `matched` has
-- the numbers of both in `terms`, from 1. A row of chunks or documents is looked up by its key (LIMIT 1), whatever the
-- planner thinks of the tables' sizes. With `as_of` the slices include their past twins, and the passages are those of
-- that time (in_time). A neighbour of a candidate is evidence for it and no result: it has no path. The distances of the
-- exact scan are kept and not computed again. A message has the time at which it was said, an episode that of its last
-- message. Expired episodes are left out by their documents (`expired`), which the covering indexes have. `within` are the
-- passages that other filters leave, null without any.
WITH weights AS MATERIALIZED (
    SELECT term, idf, place::smallint
    FROM unnest(%(terms)s::text[], %(idfs)s::float8[]) WITH ORDINALITY AS w(term, idf, place)
), in_prefix AS MATERIALIZED (
    SELECT d.document_id FROM documents d
    WHERE %(path_prefix)s::text IS NOT NULL
      AND d.tenant_id = %(tenant_id)s AND d.slice_id = ANY(%(slice_ids)s::bigint[])
      AND (d.deleted_at IS NULL OR %(as_of)s::timestamptz IS NOT NULL)
      AND starts_with(d.path, %(path_prefix)s::text)
), in_time AS MATERIALIZED (
    SELECT c.chunk_id FROM documents d
    CROSS JOIN LATERAL (
        SELECT chunk_id, valid_from, valid_to
        FROM chunks WHERE tenant_id = %(tenant_id)s AND document_id = d.document_id OFFSET 0
    ) c
    WHERE %(as_of)s::timestamptz IS NOT NULL
      AND d.tenant_id = %(tenant_id)s AND d.slice_id = ANY(%(slice_ids)s::bigint[])
      AND CASE WHEN d.note_day IS NULL
          THEN c.valid_from <= %(as_of)s::timestamptz
               AND (c.valid_to IS NULL OR c.valid_to > %(as_of)s::timestamptz)
          ELSE c.valid_to IS NULL AND d.note_day <= %(as_of_day)s::date END
    UNION ALL
    SELECT f.chunk_id FROM facts f
    WHERE %(as_of)s::timestamptz IS NOT NULL
      AND f.tenant_id = %(tenant_id)s AND f.slice_id = ANY(%(slice_ids)s::bigint[])
      AND f.valid_from <= %(as_of)s::timestamptz
      AND (f.valid_to IS NULL OR f.valid_to > %(as_of)s::timestamptz)
), produced AS MATERIALIZED (
    SELECT p.chunk_id,
           sum(w.idf * p.tf * (1 + %(k1)s::float8)
               / (p.tf + %(k1)s::float8 * (1 - %(b)s::float8 + %(b)s::float8 * p.length / %(mean_length)s::float8))) AS bm25,
           array_agg(w.place) AS matched
    FROM postings p
    JOIN weights w ON w.term = p.term
    WHERE p.tenant_id = %(tenant_id)s AND p.slice_id = ANY(%(slice_ids)s::bigint[])
      AND p.term = ANY(%(producers)s::text[])
      AND p.tier = ANY(%(tiers)s::memory_tier[])
      AND (p.document_id IS NULL OR p.document_id <> ALL(%(expired)s::bigint[]))
      AND (%(path_prefix)s::text IS NULL OR p.document_id IN (SELECT document_id FROM in_prefix))
      AND (%(as_of)s::timestamptz IS NULL OR p.chunk_id IN (SELECT chunk_id FROM in_time))
      AND (%(within)s::bigint[] IS NULL OR p.chunk_id = ANY(%(within)s::bigint[]))
    GROUP BY p.chunk_id
), scanned AS MATERIALIZED (
    SELECT v.chunk_id, v.embedding <=> %(embedding)s::halfvec AS distance
    FROM vectors v
    WHERE v.tenant_id = %(tenant_id)s AND v.slice_id = ANY(%(exact_slice_ids)s::bigint[])
      AND v.model_id = %(model_id)s::smallint AND v.partition_id = 0 AND v.covered = %(covered)s::boolean
      AND v.tier = ANY(%(tiers)s::memory_tier[])
      AND (v.document_id IS NULL OR v.document_id <> ALL(%(expired)s::bigint[]))
      AND (%(path_prefix)s::text IS NULL OR v.document_id IN (SELECT document_id FROM in_prefix))
      AND (%(as_of)s::timestamptz IS NULL OR v.chunk_id IN (SELECT chunk_id FROM in_time))
      AND (%(within)s::bigint[] IS NULL OR v.chunk_id = ANY(%(within)s::bigint[]))
), candidates AS MATERIALIZED (
    (SELECT chunk_id FROM produced ORDER BY bm25 DESC, chunk_id DESC LIMIT %(text_limit)s)
    UNION (SELECT chunk_id FROM scanned ORDER BY distance, chunk_id DESC LIMIT %(vector_limit)s)
    UNION SELECT unnest(%(nearest_of_large)s::bigint[])
), proposed AS MATERIALIZED (
    SELECT c.chunk_id, c.slice_id, c.document_id, c.ordinal, c.tier::text AS tier, c.start_line, c.end_line,
           hashtextextended(lower(c.text), 0) AS text_key, c.text,
           CASE WHEN %(with_context)s THEN
               left(CASE WHEN c.tier = 'message' THEN concat_ws(' ', nullif(c.context, ''), c.text) ELSE c.text END,
                    %(label_chars)s) END AS label,
           %(with_context)s AND c.text ~ '[?？؟]\W*$' AS asks,
           coalesce(d.path, 'facts/fact-' || f.fact_id) AS path,
           extract(epoch FROM CASE WHEN c.tier = 'document'
                                        AND (%(as_of)s::timestamptz IS NULL OR d.note_day IS NOT NULL)
                                   THEN d.updated_at ELSE c.valid_from END)::float8 AS updated_at
    FROM candidates k
    CROSS JOIN LATERAL (
        SELECT chunk_id, slice_id, document_id, ordinal, tier, start_line, end_line, text, context, valid_from
        FROM chunks WHERE tenant_id = %(tenant_id)s AND chunk_id = k.chunk_id LIMIT 1
    ) c
    LEFT JOIN LATERAL (
        SELECT path, note_day, updated_at FROM documents
        WHERE tenant_id = %(tenant_id)s AND document_id = c.document_id LIMIT 1
    ) d ON true
    LEFT JOIN LATERAL (
        SELECT fact_id FROM facts
        WHERE c.tier = 'fact' AND tenant_id = %(tenant_id)s AND chunk_id = c.chunk_id LIMIT 1
    ) f ON true
    WHERE coalesce(d.path, 'facts/fact-' || f.fact_id) IS NOT NULL
), neighbours AS MATERIALIZED (
    SELECT n.chunk_id, n.slice_id, a.document_id, a.ordinal FROM (
        SELECT document_id, ordinal + step AS ordinal FROM proposed, (VALUES (-2), (-1), (1), (2)) AS steps(step)
        WHERE %(with_context)s AND document_id IS NOT NULL
        EXCEPT SELECT document_id, ordinal FROM proposed
    ) a
    CROSS JOIN LATERAL (
        SELECT chunk_id, slice_id FROM chunks
        WHERE tenant_id = %(tenant_id)s AND document_id = a.document_id AND ordinal = a.ordinal AND valid_to IS NULL
          AND (%(as_of)s::timestamptz IS NULL OR chunk_id IN (SELECT chunk_id FROM in_time))
        LIMIT 1
    ) n
), proposed_and_neighbours AS MATERIALIZED (
    SELECT chunk_id, slice_id, document_id, ordinal, tier, start_line, end_line, text_key, text, label, asks, path,
           updated_at
    FROM proposed
    UNION ALL SELECT chunk_id, slice_id, document_id, ordinal, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
    FROM neighbours
)
SELECT k.chunk_id, k.slice_id, k.document_id, k.ordinal, k.tier, k.start_line, k.end_line, k.text_key, k.text, k.label,
       k.asks, k.path, k.updated_at,
       coalesce(p.bm25, 0) + coalesce(f.bm25, 0) AS bm25,
       CASE WHEN f.matched IS NULL THEN p.matched ELSE p.matched || f.matched END AS matched,
       1 - coalesce(near.distance, CASE WHEN k.slice_id <> ALL(%(exact_slice_ids)s::bigint[]) THEN (
           SELECT far.embedding <=> %(embedding)s::halfvec FROM vectors far
           WHERE far.tenant_id = %(tenant_id)s AND far.chunk_id = k.chunk_id
             AND far.model_id = %(model_id)s::smallint AND far.partition_id = ANY(%(partition_ids)s::bigint[])
       ) END) AS similarity
FROM proposed_and_neighbours k
LEFT JOIN produced p ON p.chunk_id = k.chunk_id
LEFT JOIN scanned near ON near.chunk_id = k.chunk_id
LEFT JOIN LATERAL (
    SELECT sum(w.idf * o.tf * (1 + %(k1)s::float8)
               / (o.tf + %(k1)s::float8 * (1 - %(b)s::float8 + %(b)s::float8 * o.length / %(mean_length)s::float8))) AS bm25,
           array_agg(w.place) AS matched
    FROM postings o
    JOIN weights w ON w.term = o.term
    WHERE o.tenant_id = %(tenant_id)s AND o.slice_id = k.slice_id
      AND o.term = ANY(%(others)s::text[]) AND o.chunk_id = k.chunk_id
) f ON cardinality(%(others)s::text[]) > 0;

-- passages, prepared: where passages stand, their text, headings and time, and the episode of each passage of a summary
SELECT c.chunk_id, c.slice_id, c.tier::text AS tier, c.start_line, c.end_line,
       coalesce(d.path, 'facts/fact-' || f.fact_id) AS path, c.text, c.heading_path,
       e.episode_id, e.abstract, e.session_id, e.from_seq, e.through_seq,
       CASE WHEN c.tier = 'document' AND (%(as_of)s::timestamptz IS NULL OR d.note_day IS NOT NULL)
            THEN d.updated_at ELSE c.valid_from END AS updated_at
FROM unnest(%(chunk_ids)s::bigint[]) AS k(chunk_id)
CROSS JOIN LATERAL (
    SELECT chunk_id, slice_id, document_id, tier, start_line, end_line, text, heading_path, valid_from
    FROM chunks WHERE tenant_id = %(tenant_id)s AND chunk_id = k.chunk_id LIMIT 1
) c
LEFT JOIN LATERAL (
    SELECT path, note_day, updated_at, episode_id FROM documents
    WHERE tenant_id = %(tenant_id)s AND document_id = c.document_id LIMIT 1
) d ON true
LEFT JOIN LATERAL (
    SELECT fact_id FROM facts
    WHERE c.tier = 'fact' AND tenant_id = %(tenant_id)s AND chunk_id = c.chunk_id LIMIT 1
) f ON true
LEFT JOIN LATERAL (
    SELECT episode_id, abstract, session_id, from_seq, through_seq FROM episodes
    WHERE tenant_id = %(tenant_id)s AND episode_id = d.episode_id LIMIT 1
) e ON true;

-- under_path: the number of passages under a path of one large slice, counted up to `most` + 1, and, if that is at most
-- `most`, the nearest of them. An index of the whole slice finds few of a small part of it; so each is compared.
WITH inside AS MATERIALIZED (
    SELECT c.chunk_id FROM documents d
    CROSS JOIN LATERAL (
        SELECT chunk_id FROM chunks
        WHERE tenant_id = %(tenant_id)s AND document_id = d.document_id AND valid_to IS NULL OFFSET 0
    ) c
    WHERE d.tenant_id = %(tenant_id)s AND d.slice_id = %(slice_id)s AND d.deleted_at IS NULL
      AND starts_with(d.path, %(path_prefix)s::text) AND d.document_id <> ALL(%(expired)s::bigint[])
    LIMIT %(most)s::bigint + 1
), counted AS MATERIALIZED (
    SELECT count(*) AS count FROM inside
)
SELECT counted.count, ARRAY(
    SELECT i.chunk_id FROM inside i
    CROSS JOIN LATERAL (
        SELECT embedding FROM vectors
        WHERE tenant_id = %(tenant_id)s AND chunk_id = i.chunk_id AND model_id = %(model_id)s::smallint
          AND partition_id = %(partition_id)s AND tier = ANY(%(tiers)s::memory_tier[]) LIMIT 1
    ) v
    WHERE counted.count <= %(most)s::bigint
    ORDER BY v.embedding <=> %(embedding)s::halfvec, i.chunk_id DESC
    LIMIT %(vector_limit)s
) AS chunk_ids
FROM counted;

-- nearest_within: the passages of one large slice, of those `within` the filters of a request, that are nearest to the query
SELECT v.chunk_id FROM vectors v
WHERE v.tenant_id = %(tenant_id)s AND v.chunk_id = ANY(%(within)s::bigint[]) AND v.model_id = %(model_id)s::smallint
  AND v.partition_id = %(partition_id)s AND v.slice_id = %(slice_id)s AND v.tier = ANY(%(tiers)s::memory_tier[])
  AND (v.document_id IS NULL OR v.document_id <> ALL(%(expired)s::bigint[]))
ORDER BY v.embedding <=> %(embedding)s::halfvec, v.chunk_id DESC
LIMIT %(vector_limit)s;

-- hnsw_candidates: the passages of one large slice nearest to the query, from the HNSW index of its own partition
SELECT v.chunk_id
FROM vectors v
WHERE v.tenant_id = %(tenant_id)s AND v.slice_id = %(slice_id)s
  AND v.partition_id = %(partition_id)s AND v.model_id = %(model_id)s::smallint
  AND v.tier = ANY(%(tiers)s::memory_tier[])
  AND (v.document_id IS NULL OR v.document_id <> ALL(%(expired)s::bigint[]))
  AND (%(within)s::bigint[] IS NULL OR v.chunk_id = ANY(%(within)s::bigint[]))
  AND (%(path_prefix)s::text IS NULL OR v.document_id IN (
      SELECT d.document_id FROM documents d
      WHERE d.tenant_id = %(tenant_id)s AND d.slice_id = %(slice_id)s
        AND (d.deleted_at IS NULL OR %(as_of)s::timestamptz IS NOT NULL)
        AND starts_with(d.path, %(path_prefix)s::text)))
  AND (%(as_of)s::timestamptz IS NULL OR v.chunk_id IN (
      SELECT c.chunk_id FROM documents d
      JOIN chunks c ON c.tenant_id = d.tenant_id AND c.document_id = d.document_id
      WHERE d.tenant_id = %(tenant_id)s AND d.slice_id = %(slice_id)s AND c.valid_to IS NULL
        AND CASE WHEN d.note_day IS NULL THEN c.valid_from <= %(as_of)s::timestamptz
            ELSE d.note_day <= %(as_of_day)s::date END))
ORDER BY (v.embedding::halfvec({dimension})) <=> %(embedding)s::halfvec({dimension})
LIMIT %(vector_limit)s;

-- active_model_id: the model whose vectors a query's vector is compared with
SELECT model_id FROM models WHERE active;

-- end: nothing more is read
COMMIT;
