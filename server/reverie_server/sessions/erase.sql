-- holding_messages: the messages of some slices that may hold a text: its longest word stands in them, or they carry more
SELECT m.session_key, s.session_id, s.compacted_through, m.seq, m.role, m.content, m.extra, m.tokens, m.at
FROM sessions s
JOIN messages m ON m.tenant_id = s.tenant_id AND m.session_key = s.session_key
WHERE s.tenant_id = %(tenant_id)s AND s.slice_id = ANY(%(slice_ids)s::bigint[])
  AND (m.extra <> '{}' OR EXISTS (
      SELECT FROM unnest(%(anchors)s::text[]) AS a(word)
      WHERE strpos(lower(normalize(translate(m.content, %(invisible)s::text, ''), NFKD)), a.word) > 0))
ORDER BY m.session_key, m.seq;

-- short_messages: the short messages of users and assistants in some sessions, each with the number of the one before it, with
-- what the user said last before it, and with the first words that an assistant says behind it
SELECT m.session_key, s.session_id, s.compacted_through, m.seq, m.role, m.content, m.extra, m.tokens, m.at,
       (SELECT max(n.seq) FROM messages n
        WHERE n.tenant_id = %(tenant_id)s AND n.session_key = m.session_key AND n.seq < m.seq
          AND n.role IN ('user', 'assistant')) AS previous_seq,
       coalesce((SELECT left(n.content, %(chars)s) FROM messages n
                 WHERE n.tenant_id = %(tenant_id)s AND n.session_key = m.session_key AND n.seq < m.seq AND n.role = 'user'
                 ORDER BY n.seq DESC LIMIT 1), '') AS asked,
       coalesce((SELECT left(n.content, %(chars)s) FROM messages n
                 WHERE n.tenant_id = %(tenant_id)s AND n.session_key = m.session_key AND n.seq > m.seq
                   AND n.role = 'assistant' AND n.content <> ''
                 ORDER BY n.seq LIMIT 1), '') AS answered
FROM sessions s
JOIN messages m ON m.tenant_id = s.tenant_id AND m.session_key = s.session_key
WHERE s.tenant_id = %(tenant_id)s AND s.session_key = ANY(%(session_keys)s::bigint[])
  AND m.role IN ('user', 'assistant') AND char_length(m.content) BETWEEN 1 AND %(chars)s
ORDER BY m.session_key, m.seq;

-- holding_passages: the passages of messages of some slices that may hold a text, each with its message
SELECT d.session_key, c.start_line AS seq, c.text
FROM documents d
JOIN chunks c ON c.tenant_id = d.tenant_id AND c.document_id = d.document_id
WHERE d.tenant_id = %(tenant_id)s AND d.slice_id = ANY(%(slice_ids)s::bigint[]) AND d.session_key IS NOT NULL
  AND d.episode_id IS NULL AND EXISTS (SELECT FROM unnest(%(anchors)s::text[]) AS a(word)
              WHERE strpos(lower(normalize(translate(c.text, %(invisible)s::text, ''), NFKD)), a.word) > 0)
ORDER BY c.chunk_id;

-- rewrite_message: a message without what was forgotten
UPDATE messages SET content = %(content)s, extra = %(extra)s, tokens = %(tokens)s
WHERE tenant_id = %(tenant_id)s AND session_key = %(session_key)s AND seq = %(seq)s;

-- correct_tokens: of the session of a message that was rewritten
UPDATE sessions SET tokens = tokens + %(difference)s
WHERE tenant_id = %(tenant_id)s AND session_key = %(session_key)s;

-- holding_sessions: the sessions of a slice whose summary may hold a text, or that carry something of the caller's
SELECT session_key, summary, metadata FROM sessions
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s
  AND (metadata <> '{}' OR EXISTS (
      SELECT FROM unnest(%(anchors)s::text[]) AS a(word)
      WHERE strpos(lower(normalize(translate(summary, %(invisible)s::text, ''), NFKD)), a.word) > 0))
ORDER BY session_key;

-- rewrite_session: what stands for messages, without what was forgotten
UPDATE sessions SET summary = %(summary)s, metadata = %(metadata)s
WHERE tenant_id = %(tenant_id)s AND session_key = %(session_key)s;

-- holding_compactions: the compactions of a slice whose summary may hold a text
SELECT session_key, number, summary FROM compactions
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s
  AND EXISTS (SELECT FROM unnest(%(anchors)s::text[]) AS a(word)
              WHERE strpos(lower(normalize(translate(summary, %(invisible)s::text, ''), NFKD)), a.word) > 0)
ORDER BY session_key, number;

-- rewrite_compaction: what a compaction left, without what was forgotten
UPDATE compactions SET summary = %(summary)s
WHERE tenant_id = %(tenant_id)s AND session_key = %(session_key)s AND number = %(number)s;

-- drop_window_summaries: the prompts' summaries of sessions that were changed, and those that may hold a text
DELETE FROM window_summaries
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s
  AND (session_key = ANY(%(session_keys)s::bigint[]) OR EXISTS (
      SELECT FROM unnest(%(anchors)s::text[]) AS a(word)
      WHERE strpos(lower(normalize(translate(summary, %(invisible)s::text, ''), NFKD)), a.word) > 0));

-- drop_summary: what stands for messages of which one was told anew
UPDATE sessions SET summary = '' WHERE tenant_id = %(tenant_id)s AND session_key = %(session_key)s;

-- drop_compactions: what its compactions left
DELETE FROM compactions WHERE tenant_id = %(tenant_id)s AND session_key = %(session_key)s;

-- said_in: what users said in some sessions, in order
SELECT content
FROM messages
WHERE tenant_id = %(tenant_id)s AND session_key = ANY(%(session_keys)s::bigint[]) AND role = 'user'
ORDER BY session_key, seq;
