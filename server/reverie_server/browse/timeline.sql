-- days: the days on which anything happened to a memory, the newest first; days are those of a time zone
-- Messages are many, the rest is few: of messages each day is looked up by the one after it, in an index. In a memory that
-- several people share, the owner's are told apart by their sessions. Many facts of a file have one time: `date_trunc`, which
-- looks up the zone, is asked once for each time.
WITH RECURSIVE talk AS (
    (SELECT m.at FROM messages m
     WHERE 'conversation' = ANY(%(kinds)s::text[])
       AND m.tenant_id = %(tenant_id)s AND m.slice_id = %(own_id)s::bigint AND m.tokens >= 0
       AND m.at >= %(since)s::timestamptz AND m.at < %(before)s::timestamptz
       AND (NOT %(is_shared)s::boolean OR EXISTS (
            SELECT FROM sessions s WHERE s.tenant_id = %(tenant_id)s AND s.session_key = m.session_key
              AND (s.owner_key = %(owner_key)s::text OR %(owner_key)s::text IS NULL AND s.owner_key IS NULL)))
     ORDER BY m.at DESC LIMIT 1)
    UNION ALL
    SELECT last.at FROM talk t, LATERAL (
        SELECT m.at FROM messages m
        WHERE m.tenant_id = %(tenant_id)s AND m.slice_id = %(own_id)s::bigint AND m.tokens >= 0
          AND m.at >= %(since)s::timestamptz AND m.at < date_trunc('day', t.at, %(zone)s)
          AND (NOT %(is_shared)s::boolean OR EXISTS (
               SELECT FROM sessions s WHERE s.tenant_id = %(tenant_id)s AND s.session_key = m.session_key
                 AND (s.owner_key = %(owner_key)s::text OR %(owner_key)s::text IS NULL AND s.owner_key IS NULL)))
        ORDER BY m.at DESC LIMIT 1) last
), talks AS (
    SELECT date_trunc('day', at, %(zone)s) AS day FROM talk LIMIT %(limit)s
), days AS MATERIALIZED (
    SELECT day FROM talks
    UNION
    SELECT date_trunc('day', ended_at, %(zone)s) FROM episodes
    WHERE 'episode' = ANY(%(kinds)s::text[]) AND tenant_id = %(tenant_id)s AND slice_id = ANY(%(slice_ids)s::bigint[])
      AND (owner_key = %(owner_key)s::text OR %(owner_key)s::text IS NULL AND owner_key IS NULL) AND ended_at < %(before)s::timestamptz
    UNION
    SELECT date_trunc('day', started_at, %(zone)s) FROM reports
    WHERE 'night' = ANY(%(kinds)s::text[]) AND tenant_id = %(tenant_id)s AND slice_id = %(own_id)s::bigint
      AND started_at < %(before)s::timestamptz
    UNION
    SELECT date_trunc('day', learned.at, %(zone)s) FROM (
        SELECT DISTINCT said_at AS at FROM facts
        WHERE 'learned' = ANY(%(kinds)s::text[]) AND tenant_id = %(tenant_id)s AND slice_id = ANY(%(slice_ids)s::bigint[])
          AND said_at >= %(since)s::timestamptz AND said_at < %(before)s::timestamptz
    ) learned
    UNION
    SELECT date_trunc('day', valid_to, %(zone)s) FROM facts
    WHERE 'ended' = ANY(%(kinds)s::text[]) AND tenant_id = %(tenant_id)s AND slice_id = ANY(%(slice_ids)s::bigint[])
      AND valid_to >= %(since)s::timestamptz AND valid_to < %(before)s::timestamptz
    UNION
    SELECT date_trunc('day', at, %(zone)s) FROM receipts
    WHERE 'forgotten' = ANY(%(kinds)s::text[]) AND tenant_id = %(tenant_id)s AND slice_id = ANY(%(slice_ids)s::bigint[])
      AND at < %(before)s::timestamptz
)
SELECT day AS starts, (day AT TIME ZONE %(zone)s)::date AS day FROM days
WHERE day >= %(since)s::timestamptz ORDER BY day DESC LIMIT %(limit)s;

-- counts: how much of each kind happened on each day between two times; of conversations also how many messages
SELECT date_trunc('day', h.at, %(zone)s) AS starts, h.kind, sum(h.count)::integer AS count, sum(h.total)::integer AS total
FROM (
    SELECT 'conversation' AS kind, min(m.at) AS at, 1 AS count, count(*) AS total
    FROM messages m JOIN sessions s ON s.tenant_id = m.tenant_id AND s.session_key = m.session_key
    WHERE 'conversation' = ANY(%(kinds)s::text[]) AND m.tenant_id = %(tenant_id)s AND m.slice_id = %(own_id)s::bigint AND m.tokens >= 0
      AND m.at >= %(since)s::timestamptz AND m.at < %(before)s::timestamptz
      AND (s.owner_key = %(owner_key)s::text OR %(owner_key)s::text IS NULL AND s.owner_key IS NULL)
    GROUP BY s.session_key, date_trunc('day', m.at, %(zone)s)
    UNION ALL
    SELECT 'episode', ended_at, 1, 1 FROM episodes
    WHERE 'episode' = ANY(%(kinds)s::text[]) AND tenant_id = %(tenant_id)s AND slice_id = ANY(%(slice_ids)s::bigint[])
      AND (owner_key = %(owner_key)s::text OR %(owner_key)s::text IS NULL AND owner_key IS NULL)
      AND ended_at >= %(since)s::timestamptz AND ended_at < %(before)s::timestamptz
    UNION ALL
    SELECT 'night', started_at, 1, 1 FROM reports
    WHERE 'night' = ANY(%(kinds)s::text[]) AND tenant_id = %(tenant_id)s AND slice_id = %(own_id)s::bigint
      AND started_at >= %(since)s::timestamptz AND started_at < %(before)s::timestamptz
    UNION ALL
    SELECT 'learned', said_at, count(*), count(*) FROM facts
    WHERE 'learned' = ANY(%(kinds)s::text[]) AND tenant_id = %(tenant_id)s AND slice_id = ANY(%(slice_ids)s::bigint[])
      AND said_at >= %(since)s::timestamptz AND said_at < %(before)s::timestamptz
    GROUP BY said_at
    UNION ALL
    SELECT 'ended', valid_to, 1, 1 FROM facts
    WHERE 'ended' = ANY(%(kinds)s::text[]) AND tenant_id = %(tenant_id)s AND slice_id = ANY(%(slice_ids)s::bigint[])
      AND valid_to >= %(since)s::timestamptz AND valid_to < %(before)s::timestamptz
    UNION ALL
    SELECT 'forgotten', at, 1, 1 FROM receipts
    WHERE 'forgotten' = ANY(%(kinds)s::text[]) AND tenant_id = %(tenant_id)s AND slice_id = ANY(%(slice_ids)s::bigint[])
      AND at >= %(since)s::timestamptz AND at < %(before)s::timestamptz
) h
GROUP BY 1, h.kind
ORDER BY 1 DESC, h.kind;

-- entries: what happened between two times: the first of each kind and day, by time
WITH happened AS (
    SELECT 'conversation' AS kind, s.session_id AS id, min(m.at) AS at, count(*)::integer AS amount, NULL AS status,
           s.session_id, s.session_key, min(m.seq) FILTER (WHERE m.role = 'user') AS seq
    FROM messages m JOIN sessions s ON s.tenant_id = m.tenant_id AND s.session_key = m.session_key
    WHERE 'conversation' = ANY(%(kinds)s::text[]) AND m.tenant_id = %(tenant_id)s AND m.slice_id = %(own_id)s::bigint AND m.tokens >= 0
      AND m.at >= %(since)s::timestamptz AND m.at < %(before)s::timestamptz
      AND (s.owner_key = %(owner_key)s::text OR %(owner_key)s::text IS NULL AND s.owner_key IS NULL)
    GROUP BY s.session_id, s.session_key, date_trunc('day', m.at, %(zone)s)
    UNION ALL
    SELECT 'episode', 'ep-' || episode_id, ended_at, through_seq - from_seq + 1, method, session_id, episode_id, NULL
    FROM episodes
    WHERE 'episode' = ANY(%(kinds)s::text[]) AND tenant_id = %(tenant_id)s AND slice_id = ANY(%(slice_ids)s::bigint[])
      AND (owner_key = %(owner_key)s::text OR %(owner_key)s::text IS NULL AND owner_key IS NULL)
      AND ended_at >= %(since)s::timestamptz AND ended_at < %(before)s::timestamptz
    UNION ALL
    SELECT 'night', report_id, started_at, jsonb_array_length(promoted), status, NULL, NULL, NULL FROM reports
    WHERE 'night' = ANY(%(kinds)s::text[]) AND tenant_id = %(tenant_id)s AND slice_id = %(own_id)s::bigint
      AND started_at >= %(since)s::timestamptz AND started_at < %(before)s::timestamptz
    UNION ALL
    SELECT 'learned', 'fact-' || fact_id, said_at, 1, state, NULL, fact_id, NULL FROM facts
    WHERE 'learned' = ANY(%(kinds)s::text[]) AND tenant_id = %(tenant_id)s AND slice_id = ANY(%(slice_ids)s::bigint[])
      AND said_at >= %(since)s::timestamptz AND said_at < %(before)s::timestamptz
    UNION ALL
    SELECT 'ended', 'fact-' || fact_id, valid_to, 1, state, NULL, fact_id, NULL FROM facts
    WHERE 'ended' = ANY(%(kinds)s::text[]) AND tenant_id = %(tenant_id)s AND slice_id = ANY(%(slice_ids)s::bigint[])
      AND valid_to >= %(since)s::timestamptz AND valid_to < %(before)s::timestamptz
    UNION ALL
    SELECT 'forgotten', 'rcp-' || receipt_id, at, statements, kind, NULL, NULL, NULL FROM receipts
    WHERE 'forgotten' = ANY(%(kinds)s::text[]) AND tenant_id = %(tenant_id)s AND slice_id = ANY(%(slice_ids)s::bigint[])
      AND at >= %(since)s::timestamptz AND at < %(before)s::timestamptz
), placed AS (
    SELECT h.*, row_number() OVER (PARTITION BY h.kind, h.starts ORDER BY h.at, h.id) AS number
    FROM (SELECT *, date_trunc('day', at, %(zone)s) AS starts FROM happened) h
)
SELECT p.starts, p.kind, p.id, p.at, p.amount, p.status, p.session_id,
       CASE p.kind
           WHEN 'conversation' THEN (SELECT left(m.content, %(characters)s) FROM messages m
               WHERE m.tenant_id = %(tenant_id)s AND m.session_key = p.session_key AND m.seq = p.seq)
           WHEN 'episode' THEN (SELECT left(e.abstract, %(characters)s) FROM episodes e
               WHERE e.tenant_id = %(tenant_id)s AND e.episode_id = p.session_key)
           WHEN 'night' THEN (SELECT left(r.reason, %(characters)s) FROM reports r
               WHERE r.tenant_id = %(tenant_id)s AND r.report_id = p.id)
           WHEN 'forgotten' THEN ''
           ELSE (SELECT left(f.text, %(characters)s) FROM facts f
               WHERE f.tenant_id = %(tenant_id)s AND f.fact_id = p.session_key)
       END AS text
FROM placed p
WHERE p.number <= %(each)s
ORDER BY p.starts DESC, p.at, p.kind, p.id;
