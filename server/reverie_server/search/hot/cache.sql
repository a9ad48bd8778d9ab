-- revisions: at which revisions some slices of any tenants are, each by its tenant and id
SELECT s.tenant_id, s.slice_id, s.revision
FROM unnest(%(tenant_ids)s::text[], %(slice_ids)s::bigint[]) AS k(tenant_id, slice_id)
JOIN slices s ON s.tenant_id = k.tenant_id AND s.slice_id = k.slice_id
ORDER BY s.tenant_id, s.slice_id;
