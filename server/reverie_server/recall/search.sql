-- hnsw_settings: keep scanning until enough rows of the slice are found; candidates need no strict order
SELECT set_config('hnsw.iterative_scan', 'relaxed_order', true),
       set_config('hnsw.ef_search', %(ef_search)s, true),
       set_config('hnsw.max_scan_tuples', '200000', true);

-- candidates: the best of each channel over the visible slices, with both scores for every one of them
-- Terms with df over frequent_df produce no candidates when rarer terms exist: they only add to scores.
WITH term_df AS MATERIALIZED (
    SELECT p.term, count(*) AS df
    FROM postings p
    WHERE p.tenant_id = %(tenant_id)s AND p.slice_id = ANY(%(slice_ids)s::bigint[])
      AND p.term = ANY(%(terms)s::text[])
    GROUP BY p.term
), weights AS MATERIALIZED (
    SELECT term, df, ln(1 + (%(chunk_count)s::float8 - df + 0.5) / (df + 0.5)) AS idf,
           df <= greatest(%(frequent_df)s::bigint, (SELECT min(df) FROM term_df)) AS produces
    FROM term_df
), in_prefix AS MATERIALIZED (
    SELECT d.document_id FROM documents d
    WHERE %(path_prefix)s::text IS NOT NULL
      AND d.tenant_id = %(tenant_id)s AND d.slice_id = ANY(%(slice_ids)s::bigint[])
      AND d.deleted_at IS NULL AND starts_with(d.path, %(path_prefix)s::text)
), produced AS MATERIALIZED (
    SELECT p.chunk_id,
           sum(w.idf * p.tf * 2.2 / (p.tf + 1.2 * (0.25 + 0.75 * p.length / %(mean_length)s::float8))) AS bm25,
           sum(w.idf) AS matched_idf
    FROM weights w
    JOIN postings p ON p.tenant_id = %(tenant_id)s AND p.slice_id = ANY(%(slice_ids)s::bigint[]) AND p.term = w.term
    WHERE w.produces
      AND p.tier = ANY(%(tiers)s::memory_tier[])
      AND (%(path_prefix)s::text IS NULL OR p.document_id IN (SELECT document_id FROM in_prefix))
    GROUP BY p.chunk_id
), by_text AS (
    SELECT chunk_id FROM produced
    ORDER BY bm25 DESC, chunk_id DESC
    LIMIT %(text_limit)s
), by_vector AS MATERIALIZED (
    SELECT v.chunk_id, 1 - (v.embedding <=> %(embedding)s::halfvec) AS similarity
    FROM vectors v
    WHERE v.tenant_id = %(tenant_id)s AND v.slice_id = ANY(%(exact_slice_ids)s::bigint[])
      AND v.model_id = %(model_id)s::smallint AND v.partition_id = 0 AND v.covered = %(covered)s::boolean
      AND v.tier = ANY(%(tiers)s::memory_tier[])
      AND (%(path_prefix)s::text IS NULL OR v.document_id IN (SELECT document_id FROM in_prefix))
    ORDER BY (v.embedding <=> %(embedding)s::halfvec) + 0, v.chunk_id DESC
    LIMIT %(vector_limit)s
), candidates AS MATERIALIZED (
    SELECT chunk_id FROM by_text
    UNION SELECT chunk_id FROM by_vector
    UNION SELECT unnest(%(hnsw_chunk_ids)s::bigint[])
)
SELECT c.chunk_id, c.tier::text AS tier, c.document_id, d.path, c.start_line, c.end_line, c.text, c.context,
       s.agent_id, s.owner_key, d.updated_at, q.known_terms, q.query_idf,
       coalesce(r.bm25, 0) + coalesce(f.bm25, 0) AS bm25,
       coalesce(r.matched_idf, 0) + coalesce(f.matched_idf, 0) AS matched_idf,
       coalesce(n.similarity, (
           SELECT 1 - (v.embedding <=> %(embedding)s::halfvec) FROM vectors v
           WHERE v.tenant_id = c.tenant_id AND v.slice_id = c.slice_id AND v.model_id = %(model_id)s::smallint
             AND v.chunk_id = c.chunk_id AND v.partition_id = s.partition_id)) AS similarity
FROM candidates k
CROSS JOIN (
    SELECT count(*) AS known_terms,
           coalesce(sum(idf), 0) + (cardinality(%(terms)s::text[]) - count(*))
               * ln(1 + (%(chunk_count)s::float8 + 0.5) / 0.5) AS query_idf
    FROM weights
) q
JOIN chunks c ON c.tenant_id = %(tenant_id)s AND c.chunk_id = k.chunk_id
JOIN slices s ON s.tenant_id = c.tenant_id AND s.slice_id = c.slice_id
JOIN documents d ON d.tenant_id = c.tenant_id AND d.document_id = c.document_id
LEFT JOIN produced r ON r.chunk_id = c.chunk_id
LEFT JOIN by_vector n ON n.chunk_id = c.chunk_id
LEFT JOIN LATERAL (
    SELECT sum(w.idf * p.tf * 2.2 / (p.tf + 1.2 * (0.25 + 0.75 * p.length / %(mean_length)s::float8))) AS bm25,
           sum(w.idf) AS matched_idf
    FROM weights w
    JOIN postings p ON p.tenant_id = c.tenant_id AND p.slice_id = c.slice_id AND p.term = w.term AND p.chunk_id = c.chunk_id
    WHERE NOT w.produces
) f ON true;

-- hnsw_candidates: the nearest of one large slice, from the HNSW index of its own partition
SELECT v.chunk_id
FROM vectors v
WHERE v.tenant_id = %(tenant_id)s AND v.slice_id = %(slice_id)s
  AND v.partition_id = %(partition_id)s AND v.model_id = %(model_id)s::smallint
  AND v.tier = ANY(%(tiers)s::memory_tier[])
  AND (%(path_prefix)s::text IS NULL OR v.document_id IN (
      SELECT d.document_id FROM documents d
      WHERE d.tenant_id = %(tenant_id)s AND d.slice_id = %(slice_id)s AND d.deleted_at IS NULL
        AND starts_with(d.path, %(path_prefix)s::text)))
ORDER BY (v.embedding::halfvec({dimension})) <=> %(embedding)s::halfvec({dimension})
LIMIT %(vector_limit)s;

-- active_model_id: the model whose vectors may be compared with a query's
SELECT model_id FROM models WHERE active;
