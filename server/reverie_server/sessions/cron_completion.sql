-- said: the messages of a session from one number on through another, in order
SELECT seq, role, content, at, tokens, message_id, extra FROM messages
WHERE tenant_id = %(tenant_id)s AND session_key = %(session_key)s AND slice_id = %(slice_id)s
  AND seq > %(after)s AND seq <= %(through)s
ORDER BY seq;
