-- files: the files of an owner that are there, as they are now
SELECT d.path, v.content FROM slices s
JOIN documents d ON d.tenant_id = s.tenant_id AND d.slice_id = s.slice_id
JOIN versions v ON v.tenant_id = d.tenant_id AND v.document_id = d.document_id AND v.version = d.version
WHERE s.tenant_id = %(tenant_id)s AND s.agent_id = %(agent_id)s AND s.owner_key = %(owner_key)s
  AND NOT s.past AND d.deleted_at IS NULL AND d.session_key IS NULL
ORDER BY d.path;

-- reports: how many reports there are of an agent's nights
SELECT count(*) AS count FROM reports r
JOIN slices s ON s.tenant_id = r.tenant_id AND s.slice_id = r.slice_id
WHERE s.tenant_id = %(tenant_id)s AND s.agent_id = %(agent_id)s;

-- failed_jobs: how many jobs failed for good
SELECT count(*) AS count FROM procrastinate_jobs WHERE status = 'failed';

-- most_calls: the calls of the model on the day with the most
SELECT coalesce(max(calls), 0) AS count FROM model_calls;
