-- limit_time: what this transaction may take
SELECT set_config('statement_timeout', %(timeout_ms)s, true);

-- term_frequencies: by how many entities of the visible slices each term of the query is held, and how many there are
SELECT t.term, count(*) AS df,
       (SELECT count(*) FROM entities
        WHERE tenant_id = %(tenant_id)s AND slice_id = ANY(%(slice_ids)s::bigint[]) AND merged_into IS NULL) AS total
FROM entity_terms t
WHERE t.tenant_id = %(tenant_id)s AND t.slice_id = ANY(%(slice_ids)s::bigint[]) AND t.term = ANY(%(terms)s::text[])
GROUP BY t.term;

-- active_model_id: the model whose vectors may be compared with a query's
SELECT model_id FROM models WHERE active;

-- starts: entities that a query may mean: those it names, those that share a word with it, and the nearest by meaning
WITH named AS MATERIALIZED (
    SELECT DISTINCT entity_id FROM entity_names
    WHERE tenant_id = %(tenant_id)s AND slice_id = ANY(%(slice_ids)s::bigint[])
      AND name_key = ANY(%(name_keys)s::text[])
), matched AS MATERIALIZED (
    SELECT t.entity_id, sum(t.weight * w.idf) AS text
    FROM unnest(%(terms)s::text[], %(idfs)s::float8[]) AS w(term, idf)
    JOIN entity_terms t ON t.tenant_id = %(tenant_id)s AND t.slice_id = ANY(%(slice_ids)s::bigint[]) AND t.term = w.term
    GROUP BY t.entity_id
), near AS MATERIALIZED (
    SELECT v.entity_id
    FROM entity_vectors v
    WHERE v.tenant_id = %(tenant_id)s AND v.slice_id = ANY(%(slice_ids)s::bigint[]) AND v.model_id = %(model_id)s
      AND %(embedding)s::halfvec IS NOT NULL AND (%(type)s::text IS NULL OR v.type = %(type)s)
    ORDER BY v.embedding <=> %(embedding)s::halfvec, v.entity_id
    LIMIT %(limit)s
), proposed AS (
    SELECT entity_id FROM named
    UNION SELECT entity_id FROM (SELECT entity_id FROM matched ORDER BY text DESC, entity_id LIMIT %(limit)s) AS best
    UNION SELECT entity_id FROM near
)
SELECT e.entity_id, n.entity_id IS NOT NULL AS is_named, coalesce(m.text, 0) AS text,
       (SELECT 1 - (v.embedding <=> %(embedding)s::halfvec) FROM entity_vectors v
        WHERE v.tenant_id = %(tenant_id)s AND v.entity_id = e.entity_id AND v.model_id = %(model_id)s) AS cosine
FROM proposed p
JOIN entities e ON e.tenant_id = %(tenant_id)s AND e.entity_id = p.entity_id
LEFT JOIN named n ON n.entity_id = p.entity_id
LEFT JOIN matched m ON m.entity_id = p.entity_id
WHERE e.merged_into IS NULL AND (%(type)s::text IS NULL OR e.type = %(type)s)
  AND e.since <= %(as_of)s
ORDER BY e.entity_id;

-- newest: the entities of a type that were learned of last
SELECT entity_id FROM entities
WHERE tenant_id = %(tenant_id)s AND slice_id = ANY(%(slice_ids)s::bigint[]) AND merged_into IS NULL
  AND type = %(type)s AND since <= %(as_of)s
ORDER BY updated_at DESC, entity_id DESC
LIMIT %(limit)s;

-- root: the visible entity of an id, or what it was merged into
WITH RECURSIVE up AS (
    SELECT entity_id, merged_into FROM entities
    WHERE tenant_id = %(tenant_id)s AND slice_id = ANY(%(slice_ids)s::bigint[]) AND entity_id = %(entity_id)s
    UNION
    SELECT e.entity_id, e.merged_into FROM up JOIN entities e ON e.tenant_id = %(tenant_id)s AND e.entity_id = up.merged_into
)
SELECT entity_id FROM up WHERE merged_into IS NULL;

-- walk: what is reached from some entities, breadth first, a row for each hop
-- `seen` is all that was reached before, which is reached once only (no cycles, and the shortest way). Of an entity the
-- newest `fanout` of what is valid is read by the index from either end, and of a walk `max_rows` altogether; the bounds
-- are in the order of `frontier`, the best first. `parents` and `via` say whence and by which relation each entity of
-- `frontier` was reached; `relation_ids` are all that were read.
WITH RECURSIVE walk AS (
    SELECT 0 AS depth, %(start_ids)s::bigint[] AS frontier, %(start_ids)s::bigint[] AS seen, '{}'::bigint[] AS parents,
           '{}'::bigint[] AS via, '{}'::bigint[] AS relation_ids, 0::bigint AS visited, false AS is_cut
    UNION ALL
    SELECT w.depth + 1, s.frontier, w.seen || s.frontier, s.parents, s.via, s.relation_ids, w.visited + s.visited, s.is_cut
    FROM walk w
    CROSS JOIN LATERAL (
        WITH edges AS MATERIALIZED (
            SELECT f.place, f.entity_id AS parent, x.other, x.relation_id, x.rank
            FROM unnest(w.frontier) WITH ORDINALITY AS f(entity_id, place)
            CROSS JOIN LATERAL (
                (SELECT target_id AS other, relation_id, row_number() OVER () AS rank FROM (
                    SELECT target_id, relation_id FROM relations
                    WHERE tenant_id = %(tenant_id)s AND source_id = f.entity_id AND valid_from <= %(as_of)s
                      AND coalesce(valid_to, 'infinity'::timestamptz) > %(as_of)s
                    ORDER BY coalesce(valid_to, 'infinity'::timestamptz) DESC, valid_from DESC, relation_id DESC
                    LIMIT %(fanout)s) AS leading_out)
                UNION ALL
                (SELECT source_id, relation_id, row_number() OVER () AS rank FROM (
                    SELECT source_id, relation_id FROM relations
                    WHERE tenant_id = %(tenant_id)s AND target_id = f.entity_id AND valid_from <= %(as_of)s
                      AND coalesce(valid_to, 'infinity'::timestamptz) > %(as_of)s
                    ORDER BY coalesce(valid_to, 'infinity'::timestamptz) DESC, valid_from DESC, relation_id DESC
                    LIMIT %(fanout)s) AS leading_in)
            ) x
            LIMIT %(max_rows)s - w.visited
        ), reached AS (
            SELECT DISTINCT ON (e.other) e.other, e.parent, e.relation_id, e.place, e.rank
            FROM edges e LEFT JOIN unnest(w.seen) AS k(entity_id) ON k.entity_id = e.other
            WHERE k.entity_id IS NULL
            ORDER BY e.other, e.place, e.rank, e.relation_id
        )
        SELECT coalesce((SELECT array_agg(other ORDER BY place, rank, relation_id) FROM reached), '{}') AS frontier,
               coalesce((SELECT array_agg(parent ORDER BY place, rank, relation_id) FROM reached), '{}') AS parents,
               coalesce((SELECT array_agg(relation_id ORDER BY place, rank, relation_id) FROM reached), '{}') AS via,
               coalesce((SELECT array_agg(DISTINCT relation_id) FROM edges), '{}') AS relation_ids,
               (SELECT count(*) FROM edges) AS visited,
               coalesce((SELECT max(rank) = %(fanout)s FROM edges), false) AS is_cut
    ) s
    WHERE w.depth < %(max_depth)s AND w.visited < %(max_rows)s AND cardinality(w.frontier) > 0
)
SELECT depth, frontier, parents, via, relation_ids, visited, is_cut OR visited >= %(max_rows)s AS is_cut
FROM walk ORDER BY depth;
