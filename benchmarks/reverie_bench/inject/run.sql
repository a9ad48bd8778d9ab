-- passages: each passage of an agent's memory as it is written, with where it stands
SELECT c.chunk_id, d.path, c.start_line, c.end_line, c.text
FROM chunks c
JOIN documents d ON d.tenant_id = c.tenant_id AND d.document_id = c.document_id
JOIN slices s ON s.tenant_id = c.tenant_id AND s.slice_id = c.slice_id
WHERE c.tenant_id = %(tenant_id)s AND s.agent_id = %(agent_id)s AND c.valid_to IS NULL
ORDER BY c.chunk_id;
