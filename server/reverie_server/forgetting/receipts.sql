-- add: a receipt
INSERT INTO receipts (tenant_id, slice_id, at, by, kind, statements, removed, places, embeddings, tombstones)
VALUES (%(tenant_id)s, %(slice_id)s, %(at)s, %(by)s, %(kind)s, %(statements)s, %(removed)s, %(places)s, %(embeddings)s,
        %(tombstones)s)
RETURNING receipt_id;

-- paths: the places that the receipts of a slice name
SELECT DISTINCT place->>'path' AS path
FROM receipts r CROSS JOIN LATERAL jsonb_array_elements(r.places) AS place
WHERE r.tenant_id = %(tenant_id)s AND r.slice_id = %(slice_id)s;

-- hide: receipts without some of the paths; what was forgotten there is counted as before
UPDATE receipts r SET places = (
    SELECT jsonb_agg(
        CASE WHEN place->>'path' = ANY(%(paths)s::text[]) THEN jsonb_set(place, '{path}', '""') ELSE place END
        ORDER BY number)
    FROM jsonb_array_elements(r.places) WITH ORDINALITY AS each(place, number))
WHERE r.tenant_id = %(tenant_id)s AND r.slice_id = %(slice_id)s
  AND EXISTS (SELECT FROM jsonb_array_elements(r.places) AS place WHERE place->>'path' = ANY(%(paths)s::text[]));

-- page: receipts of some slices, newest first
SELECT r.receipt_id, r.at, r.by, r.kind, r.statements, r.removed, r.places, r.embeddings, r.tombstones, s.owner_key
FROM receipts r JOIN slices s ON s.tenant_id = r.tenant_id AND s.slice_id = r.slice_id
WHERE r.tenant_id = %(tenant_id)s AND r.slice_id = ANY(%(slice_ids)s::bigint[])
  AND (%(before)s::bigint IS NULL OR r.receipt_id < %(before)s::bigint)
ORDER BY r.receipt_id DESC LIMIT %(limit)s;

-- one: a receipt of some slices
SELECT r.receipt_id, r.at, r.by, r.kind, r.statements, r.removed, r.places, r.embeddings, r.tombstones, s.owner_key
FROM receipts r JOIN slices s ON s.tenant_id = r.tenant_id AND s.slice_id = r.slice_id
WHERE r.tenant_id = %(tenant_id)s AND r.slice_id = ANY(%(slice_ids)s::bigint[]) AND r.receipt_id = %(receipt_id)s;
