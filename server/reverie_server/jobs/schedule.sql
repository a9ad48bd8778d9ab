-- zones: the time zones that agents live in
SELECT DISTINCT coalesce(settings ->> 'time_zone', %(time_zone)s) AS zone FROM agents ORDER BY zone;

-- emergence: slices with memory whose night has begun, now marked as begun; of one that was never looked at the first
-- night is the one that began after its first file was there. `has_ended`: a fact of it that counts as one that holds has
-- come to its end
WITH due AS (
    SELECT l.tenant_id, l.slice_id, l.agent_id, l.owner_key, z.day, s.nightly_on IS NOT NULL OR EXISTS (
               SELECT FROM documents d
               WHERE d.tenant_id = l.tenant_id AND d.slice_id = l.slice_id AND d.created_at < z.begun_at) AS is_due,
           EXISTS (SELECT FROM facts f WHERE f.tenant_id = l.tenant_id AND f.slice_id = l.slice_id AND f.state = 'current'
                     AND f.valid_to <= %(now)s AND f.closed_by IS DISTINCT FROM 'person') AS has_ended
    FROM slices l
    JOIN agents a ON a.tenant_id = l.tenant_id AND a.agent_id = l.agent_id
    JOIN unnest(%(zones)s::text[], %(days)s::date[], %(begun)s::timestamptz[]) AS z (zone, day, begun_at)
      ON z.zone = coalesce(a.settings ->> 'time_zone', %(time_zone)s)
    LEFT JOIN stages s ON s.tenant_id = l.tenant_id AND s.slice_id = l.slice_id AND s.stage = 'emergence'
    WHERE NOT l.past AND l.chunk_count > 0 AND a.leader_agent_id IS NULL
      AND coalesce((a.settings ->> 'memory_enabled')::boolean, %(memory_enabled)s)
      AND coalesce((a.settings ->> 'emergence_enabled')::boolean, %(emergence_enabled)s)
      AND (s.nightly_on IS NULL OR s.nightly_on < z.day)
    ORDER BY l.tenant_id, l.slice_id LIMIT %(limit)s
), marked AS (
    INSERT INTO stages (tenant_id, slice_id, stage, nightly_on)
    SELECT tenant_id, slice_id, 'emergence', day FROM due
    ON CONFLICT (tenant_id, slice_id, stage) DO UPDATE SET nightly_on = excluded.nightly_on
    WHERE stages.nightly_on IS NULL OR stages.nightly_on < excluded.nightly_on
    RETURNING tenant_id, slice_id
)
SELECT d.tenant_id, d.agent_id, d.owner_key, d.is_due AND m.slice_id IS NOT NULL AS is_due,
       d.has_ended AND m.slice_id IS NOT NULL AS has_ended
FROM due d LEFT JOIN marked m USING (tenant_id, slice_id)
ORDER BY d.tenant_id, d.slice_id;

-- compaction: slices whose MEMORY.md is long and was changed since its last compaction, and was not looked at today
WITH due AS (
    SELECT l.tenant_id, l.slice_id, l.agent_id, l.owner_key, z.day
    FROM slices l
    JOIN agents a ON a.tenant_id = l.tenant_id AND a.agent_id = l.agent_id
    JOIN unnest(%(zones)s::text[], %(days)s::date[]) AS z (zone, day)
      ON z.zone = coalesce(a.settings ->> 'time_zone', %(time_zone)s)
    LEFT JOIN stages s ON s.tenant_id = l.tenant_id AND s.slice_id = l.slice_id AND s.stage = 'compaction'
    WHERE NOT l.past AND l.chunk_count > 0 AND a.leader_agent_id IS NULL
      AND coalesce((a.settings ->> 'memory_enabled')::boolean, %(memory_enabled)s)
      AND coalesce((a.settings ->> 'compaction_enabled')::boolean, %(compaction_enabled)s)
      AND (s.nightly_on IS NULL OR s.nightly_on < z.day)
      AND EXISTS (
          SELECT FROM documents d
          JOIN versions v ON v.tenant_id = d.tenant_id AND v.document_id = d.document_id AND v.version = d.version
          WHERE d.tenant_id = l.tenant_id AND d.slice_id = l.slice_id AND d.path IN ('MEMORY.md', 'memory.md')
            AND d.session_key IS NULL AND d.deleted_at IS NULL
            AND v.size >= %(from_chars)s AND char_length(v.content) >= %(from_chars)s
            AND (s.last_success_at IS NULL OR d.updated_at > s.last_success_at))
    ORDER BY l.tenant_id, l.slice_id LIMIT %(limit)s
), marked AS (
    INSERT INTO stages (tenant_id, slice_id, stage, nightly_on)
    SELECT tenant_id, slice_id, 'compaction', day FROM due
    ON CONFLICT (tenant_id, slice_id, stage) DO UPDATE SET nightly_on = excluded.nightly_on
    WHERE stages.nightly_on IS NULL OR stages.nightly_on < excluded.nightly_on
    RETURNING tenant_id, slice_id
)
SELECT d.tenant_id, d.agent_id, d.owner_key, m.slice_id IS NOT NULL AS is_due
FROM due d LEFT JOIN marked m USING (tenant_id, slice_id)
ORDER BY d.tenant_id, d.slice_id;
