-- repeats: how often a message was recorded in a session, under its id or that of a repetition, and the time of the last
SELECT count(*) AS times, max(at) AS last_at
FROM messages
WHERE tenant_id = %(tenant_id)s AND session_key = %(session_key)s
  AND message_id >= %(message_id)s AND message_id < %(message_id)s || '/'
  AND (message_id = %(message_id)s OR message_id ~ '\.[0-9]+$');
