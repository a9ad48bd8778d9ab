-- to_remake: the episodes of a session that a model is to make again, those with the fewest attempts first
SELECT episode_id FROM episodes
WHERE tenant_id = %(tenant_id)s AND slice_id = ANY(%(slice_ids)s::bigint[]) AND session_key = %(session_key)s
  AND fallback IS NOT NULL AND attempts < %(most)s AND expires_at > %(now)s
ORDER BY attempts, episode_id
LIMIT %(limit)s;

-- failed_again: note that the model failed once more
UPDATE episodes SET attempts = attempts + 1, fallback = %(fallback)s
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND episode_id = %(episode_id)s AND attempts = %(attempts)s
  AND fallback IS NOT NULL;
