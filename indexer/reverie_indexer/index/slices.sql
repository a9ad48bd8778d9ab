-- create_slice: make a slice at its first write, or its twin at the first passage that its files no longer have
INSERT INTO slices (tenant_id, agent_id, owner_key, past)
VALUES (%(tenant_id)s, %(agent_id)s, %(owner_key)s, %(past)s)
ON CONFLICT (tenant_id, agent_id, owner_key, past) DO NOTHING;

-- lock_slice: order the writers of one slice until the transaction ends, and give it its next revision
UPDATE slices SET revision = revision + 1
WHERE tenant_id = %(tenant_id)s AND past = %(past)s
  AND (agent_id = %(agent_id)s::text OR %(agent_id)s::text IS NULL AND agent_id IS NULL) AND (owner_key = %(owner_key)s::text OR %(owner_key)s::text IS NULL AND owner_key IS NULL)
RETURNING slice_id, agent_id, owner_key, past, chunk_count, term_total, partition_id, revision;
