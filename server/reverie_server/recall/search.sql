-- hnsw_settings: keep scanning until enough rows of the slice are found; candidates need no strict order
SELECT set_config('hnsw.iterative_scan', 'relaxed_order', true),
       set_config('hnsw.ef_search', %(ef_search)s, true),
       set_config('hnsw.max_scan_tuples', '200000', true);

-- term_frequencies: in how many passages of the visible slices each term of the query stands
SELECT p.term, count(*) AS df
FROM postings p
WHERE p.tenant_id = %(tenant_id)s AND p.slice_id = ANY(%(slice_ids)s::bigint[]) AND p.term = ANY(%(terms)s::text[])
GROUP BY p.term;

-- candidates: the best of each channel over the visible slices, and the passages beside them, with both scores for each
-- `producers` are the terms that yield candidates; `others`, too frequent for that, only add to scores. A row of
-- chunks or documents is looked up by its key (LIMIT 1), whatever the planner thinks of the tables' sizes. With
-- `as_of` the slices include their past twins, and the passages are those of then: in_time. What stands beside a
-- candidate is evidence for it and no result (is_candidate false).
WITH weights AS MATERIALIZED (
    SELECT term, idf FROM unnest(%(terms)s::text[], %(idfs)s::float8[]) AS w(term, idf)
), in_prefix AS MATERIALIZED (
    SELECT d.document_id FROM documents d
    WHERE %(path_prefix)s::text IS NOT NULL
      AND d.tenant_id = %(tenant_id)s AND d.slice_id = ANY(%(slice_ids)s::bigint[])
      AND (d.deleted_at IS NULL OR %(as_of)s::timestamptz IS NOT NULL)
      AND starts_with(d.path, %(path_prefix)s::text)
), in_time AS MATERIALIZED (
    SELECT c.chunk_id FROM documents d
    JOIN chunks c ON c.tenant_id = d.tenant_id AND c.document_id = d.document_id
    WHERE %(as_of)s::timestamptz IS NOT NULL
      AND d.tenant_id = %(tenant_id)s AND d.slice_id = ANY(%(slice_ids)s::bigint[])
      AND CASE WHEN d.note_day IS NULL
          THEN c.valid_from <= %(as_of)s::timestamptz
               AND (c.valid_to IS NULL OR c.valid_to > %(as_of)s::timestamptz)
          ELSE c.valid_to IS NULL AND d.note_day <= %(as_of_day)s::date END
), produced AS MATERIALIZED (
    SELECT p.chunk_id,
           sum(w.idf * p.tf * 2.2 / (p.tf + 1.2 * (0.25 + 0.75 * p.length / %(mean_length)s::float8))) AS bm25,
           array_agg(p.term) AS matched
    FROM postings p
    JOIN weights w ON w.term = p.term
    WHERE p.tenant_id = %(tenant_id)s AND p.slice_id = ANY(%(slice_ids)s::bigint[])
      AND p.term = ANY(%(producers)s::text[])
      AND p.tier = ANY(%(tiers)s::memory_tier[])
      AND (%(path_prefix)s::text IS NULL OR p.document_id IN (SELECT document_id FROM in_prefix))
      AND (%(as_of)s::timestamptz IS NULL OR p.chunk_id IN (SELECT chunk_id FROM in_time))
    GROUP BY p.chunk_id
), by_text AS MATERIALIZED (
    SELECT chunk_id FROM produced
    ORDER BY bm25 DESC, chunk_id DESC
    LIMIT %(text_limit)s
), by_vector AS MATERIALIZED (
    SELECT v.chunk_id
    FROM vectors v
    WHERE v.tenant_id = %(tenant_id)s AND v.slice_id = ANY(%(exact_slice_ids)s::bigint[])
      AND v.model_id = %(model_id)s::smallint AND v.partition_id = 0 AND v.covered = %(covered)s::boolean
      AND v.tier = ANY(%(tiers)s::memory_tier[])
      AND (%(path_prefix)s::text IS NULL OR v.document_id IN (SELECT document_id FROM in_prefix))
      AND (%(as_of)s::timestamptz IS NULL OR v.chunk_id IN (SELECT chunk_id FROM in_time))
    ORDER BY (v.embedding <=> %(embedding)s::halfvec) + 0, v.chunk_id DESC
    LIMIT %(vector_limit)s
), candidates AS MATERIALIZED (
    SELECT chunk_id FROM by_text
    UNION SELECT chunk_id FROM by_vector
    UNION SELECT unnest(%(hnsw_chunk_ids)s::bigint[])
), placed AS MATERIALIZED (
    SELECT c.document_id, c.ordinal FROM candidates k
    CROSS JOIN LATERAL (
        SELECT document_id, ordinal FROM chunks WHERE tenant_id = %(tenant_id)s AND chunk_id = k.chunk_id LIMIT 1
    ) c
    WHERE %(with_context)s
), beside AS MATERIALIZED (
    SELECT n.chunk_id FROM (
        SELECT document_id, ordinal + step AS ordinal FROM placed, (VALUES (-1), (1)) AS steps(step)
        EXCEPT SELECT document_id, ordinal FROM placed
    ) a
    CROSS JOIN LATERAL (
        SELECT chunk_id FROM chunks
        WHERE tenant_id = %(tenant_id)s AND document_id = a.document_id AND ordinal = a.ordinal AND valid_to IS NULL
          AND (%(as_of)s::timestamptz IS NULL OR chunk_id IN (SELECT chunk_id FROM in_time))
        LIMIT 1
    ) n
), pool AS MATERIALIZED (
    -- Grouped and not joined: the planner takes `produced` for one row and would compare each with each.
    SELECT chunk_id, bool_or(is_candidate) AS is_candidate, max(bm25) AS bm25, max(matched) AS matched
    FROM (
        SELECT chunk_id, true AS is_candidate, true AS is_wanted, NULL::float8 AS bm25, NULL::text[] AS matched
        FROM candidates
        UNION ALL SELECT chunk_id, false, true, NULL, NULL FROM beside
        UNION ALL SELECT chunk_id, false, false, bm25, matched FROM produced
    ) AS parts
    GROUP BY chunk_id
    HAVING bool_or(is_wanted)
)
SELECT c.chunk_id, k.is_candidate, c.tier::text AS tier, c.document_id,
       c.ordinal, d.path, c.start_line, c.end_line, c.text, s.agent_id, s.owner_key,
       CASE WHEN %(as_of)s::timestamptz IS NULL OR d.note_day IS NOT NULL THEN d.updated_at ELSE c.valid_from END
           AS updated_at,
       coalesce(k.bm25, 0) + coalesce(f.bm25, 0) AS bm25,
       coalesce(k.matched, '{}') || coalesce(f.matched, '{}') AS matched,
       (SELECT 1 - (v.embedding <=> %(embedding)s::halfvec) FROM vectors v
        WHERE v.tenant_id = c.tenant_id AND v.chunk_id = c.chunk_id
          AND v.model_id = %(model_id)s::smallint AND v.partition_id = s.partition_id) AS similarity
FROM pool k
CROSS JOIN LATERAL (
    SELECT chunk_id, tenant_id, slice_id, document_id, ordinal, tier, start_line, end_line, text, valid_from
    FROM chunks WHERE tenant_id = %(tenant_id)s AND chunk_id = k.chunk_id LIMIT 1
) c
JOIN slices s ON s.tenant_id = c.tenant_id AND s.slice_id = c.slice_id
CROSS JOIN LATERAL (
    SELECT path, note_day, updated_at FROM documents
    WHERE tenant_id = c.tenant_id AND document_id = c.document_id LIMIT 1
) d
LEFT JOIN LATERAL (
    SELECT sum(w.idf * p.tf * 2.2 / (p.tf + 1.2 * (0.25 + 0.75 * p.length / %(mean_length)s::float8))) AS bm25,
           array_agg(p.term) AS matched
    FROM postings p
    JOIN weights w ON w.term = p.term
    WHERE p.tenant_id = c.tenant_id AND p.slice_id = c.slice_id
      AND p.term = ANY(%(others)s::text[]) AND p.chunk_id = c.chunk_id
) f ON cardinality(%(others)s::text[]) > 0;

-- hnsw_candidates: the nearest of one large slice, from the HNSW index of its own partition
SELECT v.chunk_id
FROM vectors v
WHERE v.tenant_id = %(tenant_id)s AND v.slice_id = %(slice_id)s
  AND v.partition_id = %(partition_id)s AND v.model_id = %(model_id)s::smallint
  AND v.tier = ANY(%(tiers)s::memory_tier[])
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

-- active_model_id: the model whose vectors may be compared with a query's
SELECT model_id FROM models WHERE active;
