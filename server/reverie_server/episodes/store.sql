-- add: an episode
INSERT INTO episodes (tenant_id, slice_id, agent_id, owner_key, session_key, session_id, from_seq, through_seq, compactions,
                      summary, abstract, key_topics, method, prompt, prompt_version, model, fallback, started_at, ended_at,
                      created_at, expires_at)
VALUES (%(tenant_id)s, %(slice_id)s, %(agent_id)s, %(owner_key)s, %(session_key)s, %(session_id)s, %(from_seq)s,
        %(through_seq)s, %(compactions)s, %(summary)s, %(abstract)s, %(key_topics)s, %(method)s, %(prompt)s,
        %(prompt_version)s, %(model)s, %(fallback)s, %(started_at)s, %(ended_at)s, %(created_at)s, %(expires_at)s)
RETURNING episode_id;

-- rewrite: an episode made again, if it still is what it was when that began; the graph is to take it anew
UPDATE episodes
SET summary = %(summary)s, abstract = %(abstract)s, key_topics = %(key_topics)s, method = %(method)s, prompt = %(prompt)s,
    prompt_version = %(prompt_version)s, model = %(model)s, fallback = %(fallback)s, attempts = %(attempts)s,
    semantic_at = NULL
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND episode_id = %(episode_id)s AND summary = %(was)s
RETURNING episode_id;

-- episodes: those of some slices that have not expired, newest first, before a number, of one conversation, or by their
-- numbers
SELECT episode_id, slice_id, agent_id, owner_key, session_key, session_id, from_seq, through_seq, compactions, summary,
       abstract, key_topics, method, prompt, prompt_version, model, fallback, attempts, started_at, ended_at, created_at,
       expires_at, semantic_at, promoted_at, promoted_to
FROM episodes
WHERE tenant_id = %(tenant_id)s AND slice_id = ANY(%(slice_ids)s::bigint[]) AND expires_at > %(now)s
  AND (%(before)s::bigint IS NULL OR episode_id < %(before)s::bigint)
  AND (%(session_id)s::text IS NULL OR session_id = %(session_id)s::text)
  AND (%(episode_ids)s::bigint[] IS NULL OR episode_id = ANY(%(episode_ids)s::bigint[]))
ORDER BY episode_id DESC
LIMIT %(limit)s;

-- unpromoted: those of a slice that dreaming did not take yet and that have not expired, oldest first
SELECT episode_id, slice_id, agent_id, owner_key, session_key, session_id, from_seq, through_seq, compactions, summary,
       abstract, key_topics, method, prompt, prompt_version, model, fallback, attempts, started_at, ended_at, created_at,
       expires_at, semantic_at, promoted_at, promoted_to
FROM episodes
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND promoted_at IS NULL AND expires_at > %(now)s
ORDER BY ended_at, episode_id
LIMIT %(limit)s;

-- count_unpromoted: how many they are
SELECT count(*) AS count FROM episodes
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND promoted_at IS NULL AND expires_at > %(now)s;

-- mark_promoted: that dreaming took them into a file; those that it has not taken before
UPDATE episodes SET promoted_at = %(at)s, promoted_to = %(path)s
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND episode_id = ANY(%(episode_ids)s::bigint[])
  AND promoted_at IS NULL;

-- mark_refused: that dreaming refused what a model said of them, and how often it did by now
UPDATE episodes SET promotion_refusals = promotion_refusals + 1
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND episode_id = ANY(%(episode_ids)s::bigint[])
RETURNING episode_id, promotion_refusals;

-- mark_semantic: that the graph took what an episode says, if it still says so and nobody was faster
UPDATE episodes SET semantic_at = %(at)s
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND episode_id = %(episode_id)s AND summary = %(summary)s
  AND semantic_at IS NULL;

-- sources: the messages that episodes were made of, as far as they are there still
SELECT e.episode_id, e.session_id, e.from_seq, e.through_seq,
       ARRAY(SELECT m.seq FROM messages m
             WHERE m.tenant_id = %(tenant_id)s AND m.session_key = e.session_key
               AND m.seq BETWEEN e.from_seq AND e.through_seq ORDER BY m.seq) AS seqs,
       ARRAY(SELECT m.message_id FROM messages m
             WHERE m.tenant_id = %(tenant_id)s AND m.session_key = e.session_key
               AND m.seq BETWEEN e.from_seq AND e.through_seq ORDER BY m.seq) AS message_ids
FROM episodes e
WHERE e.tenant_id = %(tenant_id)s AND e.episode_id = ANY(%(episode_ids)s::bigint[])
ORDER BY e.episode_id;

-- of_session: the episodes of a session, expired ones too
SELECT episode_id FROM episodes
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND session_key = %(session_key)s
ORDER BY episode_id;

-- has_episodes: whether a session has an episode
SELECT EXISTS (SELECT FROM episodes WHERE tenant_id = %(tenant_id)s AND session_key = %(session_key)s) AS found;

-- clearable: the episodes of a slice under a path prefix that ended more than some days ago; NULL: any
SELECT episode_id FROM episodes
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s
  AND (%(older_than_days)s::float8 IS NULL OR ended_at < now() - make_interval(secs => 86400 * %(older_than_days)s::float8))
  AND (%(path_prefix)s::text IS NULL
       OR starts_with('episodes/' || session_id || '/' || through_seq, %(path_prefix)s::text))
ORDER BY episode_id;

-- remove: episodes
DELETE FROM episodes
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND episode_id = ANY(%(episode_ids)s::bigint[]);

-- expired: a page of the episodes of all tenants whose time is over, those of longest ago first
SELECT e.tenant_id, e.slice_id, s.agent_id, s.owner_key, e.episode_id
FROM episodes e
JOIN slices s ON s.tenant_id = e.tenant_id AND s.slice_id = e.slice_id
WHERE e.expires_at <= %(now)s
ORDER BY e.expires_at, e.tenant_id, e.episode_id
LIMIT %(limit)s;

-- still_expired: those of some episodes of a slice whose time is over
SELECT episode_id FROM episodes
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND episode_id = ANY(%(episode_ids)s::bigint[])
  AND expires_at <= %(now)s
ORDER BY episode_id;

-- to_remake: the sessions of all tenants that have episodes which a model was to make, those asked least often first
SELECT e.tenant_id, e.agent_id, s.owner_key, e.session_key
FROM episodes e
JOIN slices s ON s.tenant_id = e.tenant_id AND s.slice_id = e.slice_id
WHERE e.fallback IS NOT NULL AND e.created_at > %(since)s AND e.expires_at > %(now)s
  AND EXISTS (SELECT FROM messages m WHERE m.tenant_id = e.tenant_id AND m.session_key = e.session_key AND m.seq = e.from_seq)
GROUP BY e.tenant_id, e.agent_id, s.owner_key, e.session_key
ORDER BY min(e.attempts), e.tenant_id, e.session_key
LIMIT %(limit)s;
