-- count: add writes of memory files to those of a slice, or begin anew where they are enough; 0 where they are. The caller holds
-- the lock of the slice, so that no writer waits for another one here.
UPDATE slices SET memory_writes = CASE WHEN memory_writes + %(writes)s::int < %(every)s::int THEN memory_writes + %(writes)s::int ELSE 0 END
WHERE tenant_id = %(tenant_id)s AND NOT past
  AND (agent_id = %(agent_id)s::text OR %(agent_id)s::text IS NULL AND agent_id IS NULL) AND (owner_key = %(owner_key)s::text OR %(owner_key)s::text IS NULL AND owner_key IS NULL)
RETURNING memory_writes;
