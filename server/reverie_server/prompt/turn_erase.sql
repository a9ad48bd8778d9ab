-- holding: turns of some memories in which a text may stand: its longest word does. `is_spared`: one of some messages of the
-- conversation, given as (session, number) in two arrays, is what was asked
SELECT t.turn_id, t.asked, EXISTS (
           SELECT FROM unnest(%(session_keys)s::bigint[], %(seqs)s::int[]) AS u(session_key, seq)
           JOIN sessions s ON s.tenant_id = %(tenant_id)s AND s.session_key = u.session_key
           JOIN messages m ON m.tenant_id = %(tenant_id)s AND m.session_key = u.session_key AND m.seq = u.seq
           WHERE s.session_id = t.session_id AND m.content = t.asked) AS is_spared
FROM turns t
WHERE t.tenant_id = %(tenant_id)s AND t.slice_id = ANY(%(slice_ids)s::bigint[])
  AND EXISTS (SELECT FROM unnest(%(anchors)s::text[]) AS a(word)
              WHERE strpos(lower(normalize(translate(t.asked, %(invisible)s::text, ''), NFKD)), a.word) > 0)
ORDER BY t.turn_id;

-- set_asked: what is left of what was asked
UPDATE turns SET asked = %(asked)s WHERE tenant_id = %(tenant_id)s AND turn_id = %(turn_id)s;

-- session: whose session it is, and its id
SELECT agent_id, owner_key, session_id FROM sessions
WHERE tenant_id = %(tenant_id)s AND session_key = %(session_key)s;

-- of_session: the turns of a session that is deleted or emptied
DELETE FROM turns USING sessions s
WHERE s.tenant_id = %(tenant_id)s AND s.session_key = %(session_key)s AND turns.tenant_id = s.tenant_id
  AND turns.agent_id = s.agent_id AND turns.owner_key IS NOT DISTINCT FROM s.owner_key AND turns.session_id = s.session_id;

-- clear: turns older than some days, and of sessions whose path begins so, as messages are cleared
DELETE FROM turns
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s
  AND (%(days)s::float8 IS NULL OR at < now() - make_interval(secs => 86400 * %(days)s::float8))
  AND (%(prefix)s::text IS NULL OR starts_with('sessions/' || session_id, %(prefix)s::text));
