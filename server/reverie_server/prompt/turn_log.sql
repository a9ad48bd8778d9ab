-- lock: the memory that turns of an owner (null: the team) were made of; who forgets in it is waited for
SELECT slice_id FROM slices
WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND (owner_key = %(owner_key)s::text OR %(owner_key)s::text IS NULL AND owner_key IS NULL) AND NOT past
FOR SHARE;

-- add: turns of one memory
INSERT INTO turns (tenant_id, turn_id, slice_id, agent_id, owner_key, session_id, kind, at, asked, sections, tokens,
                   memories, match_count, top_score, outcome, model, milliseconds, answer)
VALUES (%(tenant_id)s, %(turn_id)s, %(slice_id)s, %(agent_id)s, %(owner_key)s, %(session_id)s, %(kind)s, %(at)s, %(asked)s,
        %(sections)s, %(tokens)s, %(memories)s, %(match_count)s, %(top_score)s, %(outcome)s, %(model)s, %(milliseconds)s,
        %(answer)s)
ON CONFLICT DO NOTHING;

-- prune_removed: remove what kept turns of that time from being written
DELETE FROM removed_turns WHERE said_before < %(before)s;

-- end: what became of the answer to a turn
UPDATE turns SET answer = %(answer)s WHERE tenant_id = %(tenant_id)s AND turn_id = %(turn_id)s;

-- prune: remove turns that are kept no longer
DELETE FROM turns t
USING (SELECT tenant_id, turn_id FROM turns WHERE at < %(before)s ORDER BY at LIMIT %(limit)s) old
WHERE t.tenant_id = old.tenant_id AND t.turn_id = old.turn_id;
