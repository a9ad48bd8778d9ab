-- add: the tombstones of texts; a text that is forgotten again is forgotten from now on
WITH added AS (
    INSERT INTO tombstones (tenant_id, slice_id, text_hmac, word_count, at)
    SELECT %(tenant_id)s, %(slice_id)s, b.text_hmac, b.word_count, coalesce(%(at)s::timestamptz, clock_timestamp())
    FROM unnest(%(hmacs)s::bytea[], %(word_counts)s::smallint[]) AS b(text_hmac, word_count)
    ON CONFLICT (tenant_id, slice_id, text_hmac) DO UPDATE SET at = greatest(tombstones.at, excluded.at)
    RETURNING xmax = 0 AS is_new
)
SELECT count(*) FILTER (WHERE is_new) AS count FROM added;

-- lift: what is said anew is forgotten no longer
DELETE FROM tombstones
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND text_hmac = ANY(%(hmacs)s::bytea[]);

-- tombstones: the tombstones of a place
SELECT text_hmac, word_count, at FROM tombstones
WHERE tenant_id = %(tenant_id)s AND slice_id = ANY(%(slice_ids)s::bigint[])
ORDER BY text_hmac;

-- mark: a value that changes with every tombstone of a place: the time of the newest, and their number
SELECT max(at) || ' ' || count(*) AS at FROM tombstones
WHERE tenant_id = %(tenant_id)s AND slice_id = ANY(%(slice_ids)s::bigint[]);

-- secret: the key of the hashes
SELECT secret FROM tombstone_key;
