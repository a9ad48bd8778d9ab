-- in_index_order: read documents in the order of the index that has their slice, and do not sort them: without statistics
-- the planner takes the index of the tenant's, and reads them all
SELECT set_config('enable_sort', 'off', true);

-- in_any_order: what follows in the transaction may be sorted again
SELECT set_config('enable_sort', 'on', true);

-- places: the passages of a slice, by id, and where they stand; `embedded`: it has a vector of the active model
SELECT array_agg(chunk_id) AS chunk_id, array_agg(document_id) AS document_id, array_agg(ordinal) AS ordinal,
       array_agg(start_line) AS start_line, array_agg(end_line) AS end_line, array_agg(fact_id) AS fact_id,
       array_agg(embedded) AS embedded
FROM (
    SELECT c.chunk_id, c.document_id, c.ordinal::bigint AS ordinal, c.start_line::bigint AS start_line,
           c.end_line::bigint AS end_line, 0::bigint AS fact_id, c.embedded::int::bigint AS embedded
    FROM (
        SELECT document_id FROM documents WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s
        ORDER BY slice_id, path, session_key OFFSET 0
    ) d
    CROSS JOIN LATERAL (
        SELECT chunk_id, slice_id, document_id, ordinal, start_line, end_line, embedded
        FROM chunks WHERE tenant_id = %(tenant_id)s AND document_id = d.document_id OFFSET 0
    ) c
    WHERE c.slice_id = %(slice_id)s
    UNION ALL
    SELECT c.chunk_id, -1, c.ordinal, c.start_line, c.end_line, f.fact_id, c.embedded::int
    FROM facts f
    CROSS JOIN LATERAL (
        SELECT chunk_id, slice_id, ordinal, start_line, end_line, embedded
        FROM chunks WHERE tenant_id = %(tenant_id)s AND chunk_id = f.chunk_id LIMIT 1
    ) c
    WHERE f.tenant_id = %(tenant_id)s AND f.slice_id = %(slice_id)s AND c.slice_id = %(slice_id)s
    ORDER BY chunk_id
) AS placed;

-- documents: the documents of a slice, by id
SELECT array_agg(document_id) AS document_id, array_agg(path) AS path, array_agg(updated_at) AS updated_at,
       array_agg(expires_at) AS expires_at
FROM (
    SELECT document_id, path, extract(epoch FROM updated_at)::float8 AS updated_at,
           extract(epoch FROM coalesce(expires_at, 'infinity'))::float8 AS expires_at
    FROM (
        SELECT document_id, path, updated_at, expires_at
        FROM documents WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s
        ORDER BY slice_id, path, session_key OFFSET 0
    ) AS of_slice
    ORDER BY document_id
) AS d;

-- traits: what some passages are made of, by id. The label is of LABEL_CHARS, as candidates have it.
SELECT array_agg(chunk_id) AS chunk_id, array_agg(tier) AS tier, array_agg(text_key) AS text_key,
       array_agg(asks) AS asks, array_agg(valid_from) AS valid_from, array_agg(length) AS length,
       array_agg(label) AS label
FROM (
    SELECT c.chunk_id, array_position(%(tiers)s::text[], c.tier::text)::bigint - 1 AS tier,
           hashtextextended(lower(c.text), 0) AS text_key, (c.text ~ '[?？؟]\W*$')::int::bigint AS asks,
           extract(epoch FROM c.valid_from)::float8 AS valid_from, c.term_count::bigint AS length,
           left(CASE WHEN c.tier = 'message' THEN concat_ws(' ', nullif(c.context, ''), c.text) ELSE c.text END,
                %(label_chars)s) AS label
    FROM unnest(%(chunk_ids)s::bigint[]) AS k(chunk_id)
    CROSS JOIN LATERAL (
        SELECT chunk_id, tier, text, context, valid_from, term_count
        FROM chunks WHERE tenant_id = %(tenant_id)s AND chunk_id = k.chunk_id LIMIT 1
    ) c
    ORDER BY c.chunk_id
) AS t;

-- postings: the postings of a slice, list by list, and the terms with the lengths of their lists
WITH p AS MATERIALIZED (
    SELECT term, chunk_id, tf::bigint AS tf FROM postings
    WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s
    ORDER BY term, chunk_id
)
SELECT (SELECT array_agg(chunk_id) FROM p) AS chunk_id, (SELECT array_agg(tf) FROM p) AS tf, array_agg(term) AS term,
       array_agg(count) AS count
FROM (SELECT term, count(*) AS count FROM p GROUP BY term ORDER BY term) AS lists;

-- postings_of_chunks: the postings of some passages of a slice, in the same form
WITH p AS MATERIALIZED (
    SELECT p.term, p.chunk_id, p.tf::bigint AS tf
    FROM unnest(%(chunk_ids)s::bigint[]) AS k(chunk_id)
    CROSS JOIN LATERAL (
        SELECT chunk_id, terms FROM chunks WHERE tenant_id = %(tenant_id)s AND chunk_id = k.chunk_id LIMIT 1
    ) h
    CROSS JOIN LATERAL (SELECT h.chunk_id, unnest(h.terms) AS term) c
    CROSS JOIN LATERAL (
        SELECT term, chunk_id, tf FROM postings
        WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND term = c.term AND chunk_id = c.chunk_id LIMIT 1
    ) p
    ORDER BY p.term, p.chunk_id
)
SELECT (SELECT array_agg(chunk_id) FROM p) AS chunk_id, (SELECT array_agg(tf) FROM p) AS tf, array_agg(term) AS term,
       array_agg(count) AS count
FROM (SELECT term, count(*) AS count FROM p GROUP BY term ORDER BY term) AS lists;

-- vectors: the vectors of some passages, by id, as PostgreSQL sends them, one after the other
SELECT array_agg(chunk_id) AS chunk_id, string_agg(halfvec_send(embedding), '' ORDER BY chunk_id) AS embedding
FROM (
    SELECT v.chunk_id, v.embedding FROM unnest(%(chunk_ids)s::bigint[]) AS k(chunk_id)
    CROSS JOIN LATERAL (
        SELECT chunk_id, embedding FROM vectors
        WHERE tenant_id = %(tenant_id)s AND chunk_id = k.chunk_id AND model_id = %(model_id)s::smallint
          AND partition_id = %(partition_id)s AND slice_id = %(slice_id)s LIMIT 1
    ) v
    ORDER BY v.chunk_id
) AS embedded;
