-- attempts: how often a configured model failed to read an episode that still says so and is to be read
SELECT semantic_attempts FROM episodes
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND episode_id = %(episode_id)s AND summary = %(summary)s
  AND semantic_at IS NULL
FOR NO KEY UPDATE;

-- failed_again: that it did once more
UPDATE episodes SET semantic_attempts = semantic_attempts + 1
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND episode_id = %(episode_id)s;
