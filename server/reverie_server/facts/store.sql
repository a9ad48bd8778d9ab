-- upsert: facts by their words, from a JSON array; a fact that is there keeps its row, its dates and what people said of it
INSERT INTO facts (tenant_id, slice_id, fact_sha256, subject, predicate, object, text, category, confidence, is_functional,
                   is_request, about_user, change, said_at, valid_from, valid_to, method, prompt, prompt_version, model,
                   created_at, updated_at)
SELECT %(tenant_id)s, %(slice_id)s, decode(r.sha256, 'hex'), r.subject, r.predicate, r.object, r.text, r.category,
       r.confidence, r.is_functional, r.is_request, r.about_user, r.change, r.said_at, r.valid_from, r.valid_to, r.method,
       r.prompt, r.prompt_version, r.model, %(at)s, %(at)s
FROM jsonb_to_recordset(%(rows)s) AS r(sha256 text, subject text, predicate text, object text, text text, category text,
     confidence real, is_functional boolean, is_request boolean, about_user boolean, change jsonb, said_at timestamptz,
     valid_from timestamptz, valid_to timestamptz, method text, prompt text, prompt_version text, model text)
ON CONFLICT (tenant_id, slice_id, fact_sha256) DO UPDATE
SET category = excluded.category, confidence = greatest(facts.confidence, excluded.confidence),
    is_functional = excluded.is_functional, is_request = facts.is_request OR excluded.is_request,
    change = coalesce(excluded.change, facts.change), updated_at = excluded.updated_at,
    -- What patterns read as well is not of marks alone.
    model = CASE WHEN facts.method = 'llm' OR excluded.method = 'llm' OR excluded.model IS NOT NULL THEN facts.model END
RETURNING fact_id, fact_sha256;

-- spoken: the facts that messages state and that are recognised by one of some sentences, as each was last said in one
SELECT s.sentence_sha256, f.fact_id, f.subject, f.predicate, f.object, said.said_at, said.valid_from, said.valid_to
FROM fact_sentences s
JOIN facts f ON f.tenant_id = s.tenant_id AND f.fact_id = s.fact_id
CROSS JOIN LATERAL (SELECT o.said_at, o.valid_from, o.valid_to FROM fact_sources o
                    WHERE o.tenant_id = %(tenant_id)s AND o.fact_id = f.fact_id AND o.session_key IS NOT NULL
                    ORDER BY o.said_at DESC, o.source_id DESC LIMIT 1) said
WHERE s.tenant_id = %(tenant_id)s AND s.slice_id = %(slice_id)s AND s.sentence_sha256 = ANY(%(hashes)s::bytea[])
ORDER BY s.sentence_sha256, f.fact_id;

-- twins: facts of a slice that say the same of the same, by (subject, predicate, object) folded; the oldest of each, and
-- when and of what time a message last said it
SELECT DISTINCT ON (w.place) w.place, f.fact_id, said.said_at, said.valid_from, said.valid_to
FROM unnest(%(subjects)s::text[], %(predicates)s::text[], %(objects)s::text[]) WITH ORDINALITY
     AS w(subject, predicate, object, place)
JOIN facts f ON f.tenant_id = %(tenant_id)s AND f.slice_id = %(slice_id)s AND lower(f.subject) = lower(w.subject)
            AND lower(f.predicate) = lower(w.predicate) AND lower(f.object) = lower(w.object)
LEFT JOIN LATERAL (SELECT o.said_at, o.valid_from, o.valid_to FROM fact_sources o
                   WHERE o.tenant_id = %(tenant_id)s AND o.fact_id = f.fact_id AND o.session_key IS NOT NULL
                   ORDER BY o.said_at DESC, o.source_id DESC LIMIT 1) said ON true
ORDER BY w.place, f.fact_id;

-- behind: what users said in the messages that lines were made of, the newest first, at most `limit` messages of a line
SELECT w.document_id, w.line_sha256, f.session_key, f.session_id, f.seq, f.message_id, f.at, f.content
FROM unnest(%(document_ids)s::bigint[], %(lines)s::bytea[]) AS w(document_id, line_sha256)
CROSS JOIN LATERAL (
    SELECT m.session_key, s.session_id, m.seq, m.message_id, m.at, left(m.content, %(chars)s) AS content
    FROM derivations r
    CROSS JOIN LATERAL jsonb_array_elements(r.sources) AS o
    JOIN sessions s ON s.tenant_id = r.tenant_id AND s.slice_id = r.slice_id AND s.session_id = o ->> 'session_id'
    CROSS JOIN LATERAL jsonb_array_elements(o -> 'messages') AS e
    JOIN messages m ON m.tenant_id = s.tenant_id AND m.session_key = s.session_key AND m.seq = (e ->> 'seq')::int
                   AND m.role = 'user'
    WHERE r.tenant_id = %(tenant_id)s AND r.slice_id = %(slice_id)s AND r.document_id = w.document_id
      AND r.line_sha256 = w.line_sha256 AND o ->> 'kind' = 'messages'
    ORDER BY m.at DESC, m.session_key, m.seq DESC LIMIT %(limit)s) AS f;

-- stated_behind: the facts that the messages state of which the server made some lines
SELECT DISTINCT w.document_id, w.line_sha256, f.fact_id
FROM unnest(%(document_ids)s::bigint[], %(lines)s::bytea[]) AS w(document_id, line_sha256)
JOIN derivations r ON r.tenant_id = %(tenant_id)s AND r.slice_id = %(slice_id)s AND r.document_id = w.document_id
                  AND r.line_sha256 = w.line_sha256
CROSS JOIN LATERAL jsonb_array_elements(r.sources) AS o
JOIN sessions s ON s.tenant_id = r.tenant_id AND s.slice_id = r.slice_id AND s.session_id = o ->> 'session_id'
CROSS JOIN LATERAL jsonb_array_elements(o -> 'messages') AS e
JOIN fact_sources f ON f.tenant_id = s.tenant_id AND f.slice_id = s.slice_id AND f.session_key = s.session_key
                   AND f.seqs @> ARRAY[(e ->> 'seq')::int]
WHERE o ->> 'kind' = 'messages'
ORDER BY w.document_id, w.line_sha256, f.fact_id;

-- add_sources: where facts are stated, from a JSON array
INSERT INTO fact_sources (tenant_id, slice_id, fact_id, document_id, path, start_line, end_line, line_sha256, session_key,
                          session_id, seqs, message_ids, said_at, valid_from, valid_to, operation, of_fact_id, method,
                          prompt, prompt_version, model)
SELECT %(tenant_id)s, %(slice_id)s, r.fact_id, r.document_id, r.path, r.start_line, r.end_line,
       decode(r.line_sha256, 'hex'), r.session_key, r.session_id, r.seqs, r.message_ids, r.said_at, r.valid_from, r.valid_to,
       r.operation, r.of_fact_id, r.method, r.prompt, r.prompt_version, r.model
FROM jsonb_to_recordset(%(rows)s) AS r(fact_id bigint, document_id bigint, path text, start_line int, end_line int,
     line_sha256 text, session_key bigint, session_id text, seqs int[], message_ids text[], said_at timestamptz,
     valid_from timestamptz, valid_to timestamptz, operation text, of_fact_id bigint, method text, prompt text,
     prompt_version text, model text)
RETURNING 1;

-- add_sentences: by which sentences facts are recognised
INSERT INTO fact_sentences (tenant_id, slice_id, sentence_sha256, fact_id)
SELECT %(tenant_id)s, %(slice_id)s, r.sentence_sha256, r.fact_id
FROM unnest(%(hashes)s::bytea[], %(fact_ids)s::bigint[]) AS r(sentence_sha256, fact_id)
ON CONFLICT DO NOTHING;

-- drop_document_sources: what was read in some files before
DELETE FROM fact_sources
-- Not of a line in which a person said what a fact is, as long as it stands.
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND document_id = ANY(%(document_ids)s::bigint[])
  AND NOT (method = 'extractive' AND operation IS NOT NULL AND line_sha256 = ANY(%(lines)s::bytea[]));

-- drop_message_sources: what was read without a model in the messages of a session, from one number to another; not what
-- was read in a line that repeats one of them, which reading them does not give again
DELETE FROM fact_sources
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND session_key = %(session_key)s
  AND seqs[1] BETWEEN %(from_seq)s AND %(through_seq)s AND method = 'extractive'
  AND line_sha256 IS NULL;

-- drop_dead_sources: what was read in messages that are there no more
DELETE FROM fact_sources s
WHERE s.tenant_id = %(tenant_id)s AND s.slice_id = %(slice_id)s AND s.session_key IS NOT NULL
  AND NOT EXISTS (SELECT FROM messages m WHERE m.tenant_id = %(tenant_id)s AND m.session_key = s.session_key
                  AND m.seq = ANY(s.seqs));

-- unsourced: facts without a source, with what the index has of them
SELECT f.fact_id, f.chunk_id, c.slice_id AS chunk_slice_id, c.term_count, c.passage_sha256
FROM facts f LEFT JOIN chunks c ON c.tenant_id = f.tenant_id AND c.chunk_id = f.chunk_id
WHERE f.tenant_id = %(tenant_id)s AND f.slice_id = %(slice_id)s
  AND NOT EXISTS (SELECT FROM fact_sources s WHERE s.tenant_id = %(tenant_id)s AND s.fact_id = f.fact_id)
ORDER BY f.fact_id;

-- chunks_of: what the index has of some facts
SELECT f.fact_id, c.chunk_id, c.slice_id, c.term_count, c.passage_sha256, c.text
FROM facts f JOIN chunks c ON c.tenant_id = f.tenant_id AND c.chunk_id = f.chunk_id
WHERE f.tenant_id = %(tenant_id)s AND f.fact_id = ANY(%(fact_ids)s::bigint[])
ORDER BY f.fact_id;

-- remove: facts with all that rests on them
DELETE FROM facts
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND fact_id = ANY(%(fact_ids)s::bigint[]);

-- all_of_slice: the facts of a slice
SELECT fact_id FROM facts WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s ORDER BY fact_id;

-- mark_session: up to where facts were read in a session, if that is where it was
UPDATE sessions SET facts_through = %(through_seq)s
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND session_key = %(session_key)s
  AND facts_through = %(facts_through)s AND last_seq >= %(through_seq)s
RETURNING session_key;

-- mark_document: in which version of a file facts were read, unless it was deleted since; what a newer version holds
UPDATE documents d SET facts_version = %(version)s
WHERE d.tenant_id = %(tenant_id)s AND d.slice_id = %(slice_id)s AND d.document_id = %(document_id)s
  AND d.facts_version < %(version)s AND (d.version = %(version)s OR d.version > %(version)s AND d.deleted_at IS NULL)
RETURNING (SELECT v.content FROM versions v
           WHERE v.tenant_id = %(tenant_id)s AND v.document_id = d.document_id AND v.version = d.version
             AND d.version > %(version)s) AS newer;

-- unmark: facts are to be read anew in all sessions and files of a slice
WITH sessions_unmarked AS (
    UPDATE sessions SET facts_through = 0
    WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND facts_through > 0
)
UPDATE documents SET facts_version = 0
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND facts_version > 0 AND session_key IS NULL;
