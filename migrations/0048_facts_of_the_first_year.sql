-- What a heading states with its line holds since it was said: such facts had the year 1, and were known at every time.
SET LOCAL reverie.maintenance = 'on';
UPDATE slices l SET revision = l.revision + 1
FROM (SELECT DISTINCT tenant_id, slice_id FROM facts WHERE valid_from = '0001-01-01 00:00:00+00') f
WHERE l.tenant_id = f.tenant_id AND l.slice_id = f.slice_id;
UPDATE fact_sources SET valid_from = said_at WHERE valid_from = '0001-01-01 00:00:00+00';
UPDATE facts f SET valid_from = s.valid_from
FROM (SELECT tenant_id, fact_id, min(valid_from) AS valid_from FROM fact_sources GROUP BY tenant_id, fact_id) s
WHERE f.valid_from = '0001-01-01 00:00:00+00' AND s.tenant_id = f.tenant_id AND s.fact_id = f.fact_id;
UPDATE chunks c SET valid_from = f.valid_from
FROM facts f
WHERE c.tier = 'fact' AND c.valid_from = '0001-01-01 00:00:00+00' AND f.tenant_id = c.tenant_id AND f.chunk_id = c.chunk_id;
