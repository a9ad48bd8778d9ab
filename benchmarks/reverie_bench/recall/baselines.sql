-- create: the units as the plain recipe stores them; gone with the connection
CREATE TEMPORARY TABLE recipe_units (
    collection int NOT NULL,
    unit int NOT NULL,
    words tsvector NOT NULL,
    embedding vector NOT NULL,
    PRIMARY KEY (collection, unit)
);

-- insert: one unit
INSERT INTO recipe_units (collection, unit, words, embedding)
VALUES (%(collection)s::int, %(unit)s::int, to_tsvector('simple', %(text)s::text), %(embedding)s::vector);

-- analyse: so that the plans are those of a table that is there
ANALYZE recipe_units;

-- search: all words must occur; the best 50 of each channel; one that did not fetch a unit counts 0 for it
WITH query AS MATERIALIZED (
    SELECT plainto_tsquery('simple', %(query)s::text) AS words, %(embedding)s::vector AS embedding
), by_text AS (
    SELECT u.unit, ts_rank(u.words, q.words) AS score
    FROM recipe_units u, query q
    WHERE u.collection = %(collection)s::int AND u.words @@ q.words
    ORDER BY score DESC, u.unit DESC
    LIMIT 50
), by_vector AS (
    SELECT u.unit, 1 - (u.embedding <=> q.embedding) AS score
    FROM recipe_units u, query q
    WHERE u.collection = %(collection)s::int
    ORDER BY score DESC, u.unit DESC
    LIMIT 50
)
SELECT unit, 0.3 * coalesce(t.score, 0) + 0.7 * coalesce(v.score, 0) AS score
FROM by_text t FULL JOIN by_vector v USING (unit)
ORDER BY score DESC, unit DESC;
