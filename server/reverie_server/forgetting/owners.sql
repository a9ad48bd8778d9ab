-- homes: counts of an owner's data with each agent, in the owner's memory or, without isolation, in the team's
WITH own AS MATERIALIZED (
    SELECT slice_id, agent_id FROM slices WHERE tenant_id = %(tenant_id)s AND owner_key = %(owner_key)s
), talks AS MATERIALIZED (
    SELECT agent_id, session_key, message_count FROM sessions
    WHERE tenant_id = %(tenant_id)s AND owner_key = %(owner_key)s
), homes AS (
    SELECT agent_id FROM own UNION SELECT agent_id FROM talks
    UNION SELECT agent_id FROM turns WHERE tenant_id = %(tenant_id)s AND owner_key = %(owner_key)s
)
SELECT h.agent_id,
       (SELECT count(*) FROM documents d JOIN own o USING (slice_id)
        WHERE d.tenant_id = %(tenant_id)s AND o.agent_id = h.agent_id AND d.session_key IS NULL)::integer AS files,
       (SELECT count(*) FROM talks t WHERE t.agent_id = h.agent_id)::integer AS sessions,
       (SELECT coalesce(sum(t.message_count), 0) FROM talks t WHERE t.agent_id = h.agent_id)::integer AS messages,
       (SELECT count(*) FROM episodes e
        WHERE e.tenant_id = %(tenant_id)s AND e.agent_id = h.agent_id AND e.owner_key = %(owner_key)s)::integer AS episodes,
       (SELECT count(*) FROM facts f JOIN own o USING (slice_id)
        WHERE f.tenant_id = %(tenant_id)s AND o.agent_id = h.agent_id)::integer AS facts,
       (SELECT count(*) FROM entities e JOIN own o USING (slice_id)
        WHERE e.tenant_id = %(tenant_id)s AND o.agent_id = h.agent_id)::integer AS entities,
       (SELECT count(*) FROM relations r JOIN own o USING (slice_id)
        WHERE r.tenant_id = %(tenant_id)s AND o.agent_id = h.agent_id)::integer AS relations,
       (SELECT count(*) FROM reports r JOIN own o USING (slice_id)
        WHERE r.tenant_id = %(tenant_id)s AND o.agent_id = h.agent_id)::integer AS reports
FROM homes h ORDER BY h.agent_id;

-- of_keys: how many valid keys are bound to an owner
SELECT count(*)::integer AS keys FROM keys
WHERE tenant_id = %(tenant_id)s AND owner_key = %(owner_key)s AND revoked_at IS NULL;

-- shared_sessions: an owner's sessions in the memory of teams
SELECT s.agent_id, s.session_id FROM sessions s JOIN slices l USING (tenant_id, slice_id)
WHERE s.tenant_id = %(tenant_id)s AND s.owner_key = %(owner_key)s AND l.owner_key IS NULL
ORDER BY s.agent_id, s.session_id;

-- delete_origins: the provenance of a team's lines from an owner's conversations, whose ids may name the owner
DELETE FROM derivations d
USING sessions s JOIN slices l USING (tenant_id, slice_id)
WHERE s.tenant_id = %(tenant_id)s AND s.owner_key = %(owner_key)s AND l.owner_key IS NULL
  AND d.tenant_id = s.tenant_id AND d.slice_id = s.slice_id
  AND EXISTS (SELECT FROM jsonb_array_elements(d.sources) source WHERE source ->> 'session_id' = s.session_id);

-- wait_for_teams: until those who write into the memory of teams now have done so
SELECT slice_id FROM slices WHERE tenant_id = %(tenant_id)s AND owner_key IS NULL AND NOT past
ORDER BY slice_id FOR NO KEY UPDATE;

-- lock_slices: lock an owner's memory with all agents; writers wait until the transaction ends
WITH locked AS MATERIALIZED (
    SELECT slice_id FROM slices
    WHERE tenant_id = %(tenant_id)s AND owner_key = %(owner_key)s AND NOT past ORDER BY slice_id FOR UPDATE
)
UPDATE slices s SET revision = s.revision + 1 FROM locked l
WHERE s.tenant_id = %(tenant_id)s AND s.slice_id = l.slice_id
RETURNING s.slice_id, s.agent_id, s.partition_id;

-- lock_past_slices: the past twins of locked slices. By a statement of their own: a writer for whom the lock above waited
-- may have made one that the snapshot above does not show.
WITH locked AS MATERIALIZED (
    SELECT slice_id FROM slices
    WHERE tenant_id = %(tenant_id)s AND owner_key = %(owner_key)s AND past AND agent_id = ANY(%(agent_ids)s::text[])
    ORDER BY slice_id FOR UPDATE
)
UPDATE slices s SET revision = s.revision + 1 FROM locked l
WHERE s.tenant_id = %(tenant_id)s AND s.slice_id = l.slice_id
RETURNING s.slice_id, s.agent_id, s.partition_id;

-- without_limit: no statement of the transaction is ended by the clock: a person may have more than one has time for
SELECT set_config('statement_timeout', '0', true);

-- delete_slices: the locked slices of an owner; files, sessions, episodes, graph and reports go with them
-- What was begun since is new, and its index was not removed here.
DELETE FROM slices WHERE tenant_id = %(tenant_id)s AND slice_id = ANY(%(slice_ids)s::bigint[]);

-- delete_turns: what an owner asked, in the memory of teams too
DELETE FROM turns WHERE tenant_id = %(tenant_id)s AND owner_key = %(owner_key)s;

-- delete_views: the marks of the reports of a team that an owner has seen
DELETE FROM report_views WHERE tenant_id = %(tenant_id)s AND viewer = %(owner_key)s;

-- delete_events: the events of an owner in the memory of a team
DELETE FROM events WHERE tenant_id = %(tenant_id)s AND payload ->> 'owner_key' = %(owner_key)s;

-- close_keys: revoke the keys of an owner and unbind them
UPDATE keys SET revoked_at = coalesce(revoked_at, now()), owner_key = NULL
WHERE tenant_id = %(tenant_id)s AND owner_key = %(owner_key)s;

-- delete_jobs: the jobs for an owner; last, since who defers one holds its row after the slice's and the session's
DELETE FROM procrastinate_jobs
WHERE queue_name IN ('reverie', 'reverie-quarantine') AND args ->> 'tenant_id' = %(tenant_id)s
  AND args ->> 'owner_key' = %(owner_key)s;

-- files: the files of some slices
SELECT d.path, v.content
FROM documents d JOIN versions v USING (tenant_id, document_id, version)
WHERE d.tenant_id = %(tenant_id)s AND d.slice_id = ANY(%(slice_ids)s::bigint[]) AND d.session_key IS NULL
  AND d.deleted_at IS NULL
ORDER BY d.path, d.document_id;

-- sessions: an owner's conversations with an agent
SELECT session_key, session_id, state, metadata, summary, created_at, updated_at FROM sessions
WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND owner_key = %(owner_key)s
ORDER BY session_id, session_key;

-- messages: the messages of a conversation
SELECT seq, message_id AS id, role, content, extra, at FROM messages
WHERE tenant_id = %(tenant_id)s AND session_key = %(session_key)s ORDER BY seq;

-- episodes: the episodes of an owner's conversations with an agent
SELECT session_id, from_seq, through_seq, summary, abstract, key_topics, method, started_at, ended_at, created_at,
       expires_at
FROM episodes
WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND owner_key = %(owner_key)s ORDER BY episode_id;

-- entities: the graph of some slices
SELECT entity_id AS id, type, name, description, aliases, properties, confidence, since, merged_into FROM entities
WHERE tenant_id = %(tenant_id)s AND slice_id = ANY(%(slice_ids)s::bigint[]) ORDER BY entity_id;

-- relations: the relations of the graph of some slices, with their periods
SELECT source_id, name, target_id, confidence, valid_from, valid_to FROM relations
WHERE tenant_id = %(tenant_id)s AND slice_id = ANY(%(slice_ids)s::bigint[]) ORDER BY relation_id;

-- facts: the facts of some slices, each with where it was stated
SELECT 'fact-' || f.fact_id AS id, f.subject, f.predicate, f.object, f.text, f.category, f.confidence, f.state, f.said_at,
       f.valid_from, f.valid_to, 'fact-' || f.superseded_by AS superseded_by, f.helpful, f.unhelpful, f.use_count,
       f.last_used_at, f.last_confirmed_at, f.confirmed_by, f.method, f.prompt, f.model,
       (SELECT jsonb_agg(jsonb_strip_nulls(jsonb_build_object('path', s.path, 'start_line', s.start_line, 'end_line', s.end_line,
                         'session_id', s.session_id, 'messages', s.seqs)) ORDER BY s.source_id)
        FROM fact_sources s WHERE s.tenant_id = %(tenant_id)s AND s.fact_id = f.fact_id) AS sources
FROM facts f
WHERE f.tenant_id = %(tenant_id)s AND f.slice_id = ANY(%(slice_ids)s::bigint[])
ORDER BY f.fact_id;

-- turns: the log of an owner's turns with an agent
SELECT turn_id AS id, session_id, kind, at, asked, sections, tokens, memories, match_count, top_score, outcome, model, milliseconds
FROM turns
WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND owner_key = %(owner_key)s
ORDER BY at, turn_id;

-- reports: what the nights of some slices saw, concluded and changed, the archive's, too
SELECT report_id AS id, mode, topic, trigger, night, started_at, ended_at, status, reason, seen, promoted, rejected, diff, path,
       version_before, version_after, method, prompt, prompt_version, model, fallback
FROM reports
WHERE tenant_id = %(tenant_id)s AND slice_id = ANY(%(slice_ids)s::bigint[])
ORDER BY started_at, report_id;
