-- chunks_of_document: what the index holds of a file's present text
SELECT chunk_id, passage_sha256, ordinal, start_line, end_line, char_start, char_end, term_count, embedded
FROM chunks WHERE tenant_id = %(tenant_id)s AND document_id = %(document_id)s AND valid_to IS NULL
ORDER BY ordinal, chunk_id;

-- known_passages: the passages of some files' present texts by hash, and those without a vector
SELECT document_id, array_agg(passage_sha256) AS hashes,
       array_agg(passage_sha256) FILTER (WHERE NOT embedded) AS waiting
FROM chunks WHERE tenant_id = %(tenant_id)s AND document_id = ANY(%(document_ids)s::bigint[]) AND valid_to IS NULL
GROUP BY document_id ORDER BY document_id;

-- add_chunks: the new passages of a file, from a JSON array, each with the vector that the cache has from the active model
-- In one statement, so that a chunk is marked as embedded exactly where it gets its vector. The cache is asked by key
-- (ORDER BY keeps that) and not joined: without statistics the planner would read all of it for every passage. The tenant
-- of a vector is that of a row: on several nodes the rows go to its node alone then, which a LIMIT would prevent.
WITH added AS (
    INSERT INTO chunks (tenant_id, slice_id, tier, document_id, ordinal, start_line, end_line, char_start, char_end,
                        heading_path, text, context, passage_sha256, terms, term_count, embedded, valid_from)
    SELECT %(tenant_id)s, %(slice_id)s, %(tier)s::memory_tier, %(document_id)s::bigint, r.ordinal, r.start_line, r.end_line,
           r.char_start, r.char_end, r.heading_path, r.text, r.context, decode(r.sha256, 'hex'), r.terms, r.term_count,
           coalesce((SELECT m.active FROM embedding_cache e JOIN models m ON m.model_id = e.model_id
                     WHERE e.tenant_id = %(tenant_id)s AND e.model_id = %(model_id)s::smallint
                       AND e.passage_sha256 = decode(r.sha256, 'hex') LIMIT 1), false),
           coalesce(r.at, clock_timestamp())
    FROM jsonb_to_recordset(%(rows)s) AS r(ordinal int, start_line int, end_line int, char_start int, char_end int,
         heading_path text[], text text, context text, sha256 text, terms text[], term_count int, at timestamptz)
    RETURNING chunk_id, ordinal, passage_sha256, embedded
), given AS (
    INSERT INTO vectors (tenant_id, slice_id, chunk_id, document_id, partition_id, model_id, tier, covered, embedding)
    SELECT e.tenant_id, %(slice_id)s, a.chunk_id, %(document_id)s::bigint, %(partition_id)s, %(model_id)s::smallint,
           %(tier)s::memory_tier, vector_dims(e.embedding) <= %(max_covered_dimension)s, e.embedding
    FROM added a
    CROSS JOIN LATERAL (
        SELECT tenant_id, embedding FROM embedding_cache
        WHERE tenant_id = %(tenant_id)s AND model_id = %(model_id)s::smallint
          AND passage_sha256 = a.passage_sha256 ORDER BY passage_sha256
    ) e
    WHERE a.embedded
    RETURNING 1
)
SELECT chunk_id, ordinal, embedded FROM added;

-- chunks_of_documents: all that the index holds of some files, of now and of the past
SELECT chunk_id, slice_id, term_count, passage_sha256 FROM chunks
WHERE tenant_id = %(tenant_id)s AND document_id = ANY(%(document_ids)s::bigint[])
ORDER BY chunk_id;

-- remove_documents: files with their versions
DELETE FROM documents WHERE tenant_id = %(tenant_id)s AND document_id = ANY(%(document_ids)s::bigint[]);

-- forget_embeddings: what models said of passages
DELETE FROM embedding_cache WHERE tenant_id = %(tenant_id)s AND passage_sha256 = ANY(%(hashes)s::bytea[]);

-- move_chunks: passages that are the same but stand elsewhere in the file
UPDATE chunks c
SET ordinal = r.ordinal, start_line = r.start_line, end_line = r.end_line, char_start = r.char_start, char_end = r.char_end
FROM jsonb_to_recordset(%(rows)s) AS r(chunk_id bigint, ordinal int, start_line int, end_line int, char_start int, char_end int)
WHERE c.tenant_id = %(tenant_id)s AND c.chunk_id = r.chunk_id;

-- retire_chunks: passages that their file no longer has move to the past twin of their slice, with all they have
WITH retired AS (
    UPDATE chunks SET slice_id = %(past_slice_id)s, valid_to = coalesce(%(at)s::timestamptz, clock_timestamp())
    WHERE tenant_id = %(tenant_id)s AND chunk_id = ANY(%(chunk_ids)s::bigint[])
    RETURNING chunk_id, terms
)
UPDATE postings p SET slice_id = %(past_slice_id)s
FROM (SELECT chunk_id, unnest(terms) AS term FROM retired) AS r
WHERE p.tenant_id = %(tenant_id)s AND p.slice_id = %(slice_id)s AND p.term = r.term AND p.chunk_id = r.chunk_id;

-- retire_vectors: the vectors of passages that were retired
UPDATE vectors SET slice_id = %(past_slice_id)s, partition_id = %(past_partition_id)s
WHERE tenant_id = %(tenant_id)s AND chunk_id = ANY(%(chunk_ids)s::bigint[]);

-- remove_chunks: passages that are gone, with their postings; before their vectors, so that a back-fill in flight ends before or finds nothing
WITH gone AS (
    DELETE FROM chunks WHERE tenant_id = %(tenant_id)s AND chunk_id = ANY(%(chunk_ids)s::bigint[])
    RETURNING chunk_id, terms
)
DELETE FROM postings p
USING (SELECT chunk_id, unnest(terms) AS term FROM gone) AS g
WHERE p.tenant_id = %(tenant_id)s AND p.slice_id = %(slice_id)s AND p.term = g.term AND p.chunk_id = g.chunk_id;

-- remove_vectors: the vectors, of any model, of passages that are gone
DELETE FROM vectors
WHERE tenant_id = %(tenant_id)s AND chunk_id = ANY(%(chunk_ids)s::bigint[]);

-- add_postings: the terms of new passages of a file, with the passages' lengths
INSERT INTO postings (tenant_id, slice_id, chunk_id, document_id, term, tf, length, tier)
SELECT %(tenant_id)s, %(slice_id)s, p.chunk_id, %(document_id)s::bigint, p.term, p.tf, p.length, %(tier)s::memory_tier
FROM unnest(%(chunk_ids)s::bigint[], %(terms)s::text[], %(tfs)s::int[], %(lengths)s::int[])
     AS p(chunk_id, term, tf, length)
RETURNING 1;

-- count_slice: keep N and the total length of the slice, at its next revision
UPDATE slices SET chunk_count = chunk_count + %(chunks)s, term_total = term_total + %(terms)s, revision = revision + 1
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s;
