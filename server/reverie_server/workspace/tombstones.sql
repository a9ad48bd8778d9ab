-- bury: what may not come back by itself
INSERT INTO tombstones (tenant_id, slice_id, text_hmac)
SELECT %(tenant_id)s, %(slice_id)s, h FROM unnest(%(hmacs)s::bytea[]) AS h
ON CONFLICT (tenant_id, slice_id, text_hmac) DO NOTHING;

-- buried: the tombstones of a place
SELECT text_hmac FROM tombstones
WHERE tenant_id = %(tenant_id)s AND slice_id = ANY(%(slice_ids)s::bigint[])
ORDER BY text_hmac;

-- secret: what the hashes are keyed with
SELECT secret FROM tombstone_key;
