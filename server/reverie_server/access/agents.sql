-- lock_agent: until the transaction ends, the agent gets no new slice, no new leader and no new member
SELECT agent_id FROM agents WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s FOR UPDATE;

-- agents: the tenant's agents, or those of a key's list, by id after a cursor; with a part, those whose id or name has it
SELECT agent_id, name, leader_agent_id, settings, created_at, updated_at
FROM agents
WHERE tenant_id = %(tenant_id)s
  AND (%(agent_ids)s::text[] IS NULL OR agent_id = ANY(%(agent_ids)s::text[]))
  AND (%(after)s::text IS NULL OR agent_id > %(after)s::text)
  AND (%(part)s::text IS NULL OR strpos(lower(agent_id), lower(%(part)s::text)) > 0 OR strpos(lower(name), lower(%(part)s::text)) > 0)
ORDER BY agent_id LIMIT %(limit)s;

-- update_agent: replace name, leader and settings
UPDATE agents SET name = %(name)s, leader_agent_id = %(leader_agent_id)s, settings = %(settings)s, updated_at = now()
WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s;

-- members: the agents that an agent leads
SELECT agent_id FROM agents WHERE tenant_id = %(tenant_id)s AND leader_agent_id = %(agent_id)s ORDER BY agent_id;

-- lock_agent_slices: keep all writers out while the agent is deleted
WITH locked AS MATERIALIZED (
    SELECT slice_id FROM slices
    WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s ORDER BY slice_id FOR UPDATE
)
UPDATE slices s SET revision = s.revision + 1 FROM locked l
WHERE s.tenant_id = %(tenant_id)s AND s.slice_id = l.slice_id
RETURNING s.slice_id, s.partition_id;

-- other_slice: whether the agent has a slice that is not among these
SELECT 1 FROM slices
WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND slice_id <> ALL(%(slice_ids)s::bigint[]) LIMIT 1;

-- forget_cache: delete the cached vectors of texts that no other agent of the tenant has
DELETE FROM embedding_cache e
WHERE e.tenant_id = %(tenant_id)s
  AND e.passage_sha256 IN (SELECT c.passage_sha256 FROM chunks c
                           WHERE c.tenant_id = %(tenant_id)s AND c.slice_id = ANY(%(slice_ids)s::bigint[]))
  AND NOT EXISTS (SELECT FROM chunks o WHERE o.tenant_id = %(tenant_id)s AND o.passage_sha256 = e.passage_sha256
                  AND o.slice_id <> ALL(%(slice_ids)s::bigint[]));

-- delete_postings: the text index of an agent's slices
DELETE FROM postings WHERE tenant_id = %(tenant_id)s AND slice_id = ANY(%(slice_ids)s::bigint[]);

-- delete_vectors: the vectors of an agent's slices
DELETE FROM vectors v USING chunks c
WHERE c.tenant_id = %(tenant_id)s AND c.slice_id = ANY(%(slice_ids)s::bigint[])
  AND v.tenant_id = c.tenant_id AND v.chunk_id = c.chunk_id;

-- delete_fact_chunks: the passages of facts of an agent's slices, which go with no document
DELETE FROM chunks c USING facts f
WHERE f.tenant_id = %(tenant_id)s AND f.slice_id = ANY(%(slice_ids)s::bigint[])
  AND c.tenant_id = f.tenant_id AND c.chunk_id = f.chunk_id;

-- delete_jobs: the jobs of an agent; last, since deferring a job locks its row after the slice's and the session's
DELETE FROM procrastinate_jobs
WHERE queue_name IN ('reverie', 'reverie-quarantine') AND args ->> 'tenant_id' = %(tenant_id)s AND args ->> 'agent_id' = %(agent_id)s;

-- delete_agent: the agent; slices, files, versions and chunks go with it
DELETE FROM agents WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s;
