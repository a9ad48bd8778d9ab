-- as_owner: sees every row, in this session, and may read a table from end to end where that is less work
SELECT set_config('reverie.maintenance', 'on', false), set_config('enable_seqscan', 'on', false);

-- round_trip: the least that a statement costs
SELECT 1;

-- exact_scan: the nearest of some slices by reading all of their vectors, and nothing else
SELECT v.chunk_id FROM vectors v
WHERE v.tenant_id = %(tenant_id)s AND v.slice_id = ANY(%(slice_ids)s::bigint[])
  AND v.partition_id = ANY(%(partition_ids)s::bigint[]) AND v.model_id = %(model_id)s::smallint
  AND v.covered = %(covered)s::boolean
ORDER BY (v.embedding <=> %(embedding)s::halfvec) + 0, v.chunk_id DESC
LIMIT %(limit)s;

-- as_owner_for_now: the same until the transaction ends
SELECT set_config('reverie.maintenance', 'on', true), set_config('enable_seqscan', 'on', true);
