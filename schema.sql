-- The whole schema, for a fresh database: applied once, under an advisory lock, by the role that owns the tables.
-- Migrations bring an older database here: each change of this file is a file in migrations/ too.
--
-- Every table, key and foreign key starts with tenant_id. A *slice* is the unit of visibility and of search:
-- the memory of one owner with one agent (personal), of one agent (team, owner_key is null) or of the tenant
-- (global, agent_id is null too). A caller sees at most three slices. Row-level security is forced: the
-- program works as reverie_app, which sees the rows of the transaction's tenant and slices and no others.
--
-- Row-level security goes by the slice_id of each table. What rests on a session, an episode, a relation or a report names
-- its slice in the foreign key too, so that the two cannot disagree: messages cost the same, a session 14 % more (paired
-- inserts), its indexes 145 bytes in place of 102. Where the slice is in no foreign key, the table says why. The new keys
-- end in slice_id: one that began with it would be a second way into a slice, and a wrong choice for the planner.

CREATE EXTENSION IF NOT EXISTS vector;

-- Which of migrations/ the database has (a fresh one: all), and the last migration of procrastinate that its tables of
-- jobs have.
CREATE TABLE IF NOT EXISTS reverie_migrations (
    number      integer PRIMARY KEY,
    name        text NOT NULL,
    applied_at  timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE IF NOT EXISTS schema_info (
    only_row       boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    jobs_migration text NOT NULL,
    applied_at     timestamptz NOT NULL DEFAULT now()
);

DO $$ BEGIN
    CREATE TYPE memory_tier AS ENUM ('document', 'episodic', 'message', 'fact');
EXCEPTION WHEN duplicate_object THEN NULL;
END $$;

-- Embedding models. Two vectors are compared only when they have the same model_id. One model is active: the
-- one that queries are embedded with. A migration fills a second one beside it, then makes that one active.
CREATE TABLE IF NOT EXISTS models (
    model_id    smallint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    provider    text NOT NULL,
    name        text NOT NULL,
    revision    text NOT NULL,
    dimension   integer NOT NULL CHECK (dimension BETWEEN 1 AND 4000),
    normalised  boolean NOT NULL,
    active      boolean NOT NULL DEFAULT false,
    created_at  timestamptz NOT NULL DEFAULT now(),
    UNIQUE (provider, name, revision, dimension, normalised)
);
CREATE UNIQUE INDEX IF NOT EXISTS models_one_active ON models (active) WHERE active;

-- What an embedding model that no constants were fitted for makes of the labelled messages of this program, learnt once
-- (`messages_sha256`: of which): the direction of personal messages, the vectors of the neutral ones (halves), and the
-- median cosine of texts that have nothing to do with each other. Nothing of anybody's memory is in it.
CREATE TABLE IF NOT EXISTS model_relevance (
    model_id         smallint PRIMARY KEY REFERENCES models (model_id) ON DELETE CASCADE,
    messages_sha256  bytea NOT NULL,
    usual_similarity real NOT NULL,
    direction        bytea NOT NULL,
    direction_offset real NOT NULL,
    neutral          bytea NOT NULL
);

CREATE TABLE IF NOT EXISTS agents (
    tenant_id       text COLLATE "C" NOT NULL,
    agent_id        text COLLATE "C" NOT NULL,
    name            text NOT NULL,
    leader_agent_id text COLLATE "C",
    settings        jsonb NOT NULL DEFAULT '{}',
    created_at      timestamptz NOT NULL DEFAULT now(),
    updated_at      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, agent_id),
    FOREIGN KEY (tenant_id, leader_agent_id) REFERENCES agents (tenant_id, agent_id)
);

-- chunk_count and term_total (terms over all chunks of the slice) are N and N × mean length of BM25, kept by
-- every write under the slice's row lock, which also orders the writers of one slice. partition_id says where
-- the slice's vectors are: 0 is shared by the small slices, which are searched exactly. Passages that are no longer
-- in their file move to the slice's twin with `past` set, so that the present is searched as if they were not there,
-- and `as_of` searches both. memory_writes counts the writes of memory files until SOUL.md is written anew.
-- revision grows with the slice's lock, before anything of it changes: what is held of it in memory is compared with that.
CREATE TABLE IF NOT EXISTS slices (
    tenant_id    text COLLATE "C" NOT NULL,
    slice_id     bigint GENERATED ALWAYS AS IDENTITY,
    agent_id     text COLLATE "C",
    owner_key    text COLLATE "C",
    past         boolean NOT NULL DEFAULT false,
    chunk_count  bigint NOT NULL DEFAULT 0 CHECK (chunk_count >= 0),
    term_total   bigint NOT NULL DEFAULT 0 CHECK (term_total >= 0),
    partition_id bigint NOT NULL DEFAULT 0,
    memory_writes integer NOT NULL DEFAULT 0,
    revision     bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant_id, slice_id),
    UNIQUE NULLS NOT DISTINCT (tenant_id, agent_id, owner_key, past),
    FOREIGN KEY (tenant_id, agent_id) REFERENCES agents (tenant_id, agent_id) ON DELETE CASCADE,
    CHECK (agent_id IS NOT NULL OR owner_key IS NULL)
);

-- How near a slice comes to messages that it has nothing for, by the vectors of a model without constants, when it had
-- `chunk_count` passages. A number made of its own vectors alone, measured again once it has half as many more or fewer.
CREATE TABLE IF NOT EXISTS slice_nearness (
    tenant_id   text COLLATE "C" NOT NULL,
    slice_id    bigint NOT NULL,
    model_id    smallint NOT NULL REFERENCES models (model_id) ON DELETE CASCADE,
    nearness    real NOT NULL,
    chunk_count bigint NOT NULL,
    PRIMARY KEY (tenant_id, slice_id),
    FOREIGN KEY (tenant_id, slice_id) REFERENCES slices (tenant_id, slice_id) ON DELETE CASCADE
);

-- A session is a conversation; the message rows of one are in the order of `seq`, from 1. Messages up to
-- `compacted_through` are compacted: `summary` stands for them in prompts, and they stay readable and searchable.
-- `completed_through` is up to where `session.completed` was published, `summarised_through` up to where episodes were
-- made of it, `extracted_through` up to where what it says was taken into the owner's files, `extraction_seen_through` up to
-- where it was found to be too little for that until more is said, `facts_through` up to where facts were read in it
-- without a model, `facts_asked_through` up to where the model was asked for them, which has failed `facts_attempts` times
-- since, and is asked again at `facts_retry_at`. `forgets_after` is the message that asks to forget what is said next (0:
-- none). The owner is null for a conversation of the team; the slice is the one its messages are found in.
CREATE TABLE IF NOT EXISTS sessions (
    tenant_id         text COLLATE "C" NOT NULL,
    session_key       bigint GENERATED ALWAYS AS IDENTITY,
    slice_id          bigint NOT NULL,
    agent_id          text COLLATE "C" NOT NULL,
    owner_key         text COLLATE "C",
    session_id        text COLLATE "C" NOT NULL CHECK (octet_length(session_id) <= 400),
    state             text NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'paused', 'terminated')),
    metadata          jsonb NOT NULL DEFAULT '{}',
    last_seq          integer NOT NULL DEFAULT 0,
    message_count     integer NOT NULL DEFAULT 0 CHECK (message_count >= 0),
    tokens            bigint NOT NULL DEFAULT 0 CHECK (tokens >= 0),
    compactions       integer NOT NULL DEFAULT 0,
    compacted_through integer NOT NULL DEFAULT 0,
    completed_through integer NOT NULL DEFAULT 0,
    summarised_through integer NOT NULL DEFAULT 0,
    extracted_through integer NOT NULL DEFAULT 0,
    extraction_seen_through integer NOT NULL DEFAULT 0,
    summary           text NOT NULL DEFAULT '',
    created_at        timestamptz NOT NULL DEFAULT now(),
    updated_at        timestamptz NOT NULL DEFAULT now(),
    facts_through     integer NOT NULL DEFAULT 0,
    facts_asked_through integer NOT NULL DEFAULT 0,
    facts_attempts    integer NOT NULL DEFAULT 0,
    facts_retry_at    timestamptz,
    forgets_after     integer NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant_id, session_key),
    UNIQUE (tenant_id, session_key, slice_id),
    UNIQUE NULLS NOT DISTINCT (tenant_id, agent_id, session_id, owner_key),
    FOREIGN KEY (tenant_id, slice_id) REFERENCES slices (tenant_id, slice_id) ON DELETE CASCADE
);
CREATE INDEX IF NOT EXISTS sessions_idle ON sessions (updated_at) WHERE completed_through < last_seq;
CREATE INDEX IF NOT EXISTS sessions_newest ON sessions (tenant_id, agent_id, owner_key, updated_at DESC, session_key DESC);
CREATE INDEX IF NOT EXISTS sessions_to_extract ON sessions (tenant_id, slice_id, session_key)
    WHERE extracted_through < completed_through AND extraction_seen_through < completed_through;
CREATE INDEX IF NOT EXISTS sessions_of_new_facts ON sessions (tenant_id, slice_id, updated_at, session_key)
    WHERE facts_through < last_seq;
CREATE INDEX IF NOT EXISTS sessions_to_ask_for_facts ON sessions (tenant_id, slice_id, session_key)
    WHERE facts_asked_through < completed_through;

-- What was said, verbatim. `message_id` is the caller's own id: a repeated one is the same message. `extra` has what
-- the roles of a model's protocol need beside the content: tool_calls, tool_call_id, name.
CREATE TABLE IF NOT EXISTS messages (
    tenant_id   text COLLATE "C" NOT NULL,
    session_key bigint NOT NULL,
    seq         integer NOT NULL,
    slice_id    bigint NOT NULL,
    message_id  text COLLATE "C",
    role        text NOT NULL CHECK (role IN ('system', 'user', 'assistant', 'tool')),
    content     text NOT NULL,
    extra       jsonb NOT NULL DEFAULT '{}',
    tokens      integer NOT NULL,
    at          timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, session_key, seq),
    UNIQUE (tenant_id, session_key, message_id),
    FOREIGN KEY (tenant_id, session_key, slice_id)
        REFERENCES sessions (tenant_id, session_key, slice_id) ON DELETE CASCADE
);
-- For the days of a memory alone, which ask for `tokens >= 0`, as all messages have it: without statistics the planner
-- would take it for another way into a session.
CREATE INDEX IF NOT EXISTS messages_by_time ON messages (tenant_id, slice_id, at) WHERE tokens >= 0;

-- Each compaction of a session: which messages it marked, the summary it left, how and by which prompt and model
-- that was made (null: without a model), and how many lines were added to the daily note in the same transaction.
CREATE TABLE IF NOT EXISTS compactions (
    tenant_id      text COLLATE "C" NOT NULL,
    session_key    bigint NOT NULL,
    number         integer NOT NULL,
    slice_id       bigint NOT NULL,
    from_seq       integer NOT NULL,
    through_seq    integer NOT NULL,
    summary        text NOT NULL,
    flushed        integer NOT NULL,
    method         text NOT NULL CHECK (method IN ('llm', 'extractive')),
    prompt         text,
    prompt_version text,
    model          text,
    at             timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, session_key, number),
    FOREIGN KEY (tenant_id, session_key, slice_id)
        REFERENCES sessions (tenant_id, session_key, slice_id) ON DELETE CASCADE
);

-- Summaries of the older part of a long prompt, kept for half an hour so that the next turns cost no model call.
CREATE TABLE IF NOT EXISTS window_summaries (
    tenant_id      text COLLATE "C" NOT NULL,
    session_key    bigint NOT NULL,
    slice_id       bigint NOT NULL,
    from_seq       integer NOT NULL,
    through_seq    integer NOT NULL,
    summary        text NOT NULL,
    prompt         text NOT NULL,
    prompt_version text NOT NULL,
    model          text NOT NULL,
    at             timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, session_key),
    FOREIGN KEY (tenant_id, session_key, slice_id)
        REFERENCES sessions (tenant_id, session_key, slice_id) ON DELETE CASCADE
);

-- What happened that background work follows from, published in the transaction of its cause, which also defers the jobs
-- that follow. The payload has ids and numbers, never what anybody said.
CREATE TABLE IF NOT EXISTS events (
    tenant_id   text COLLATE "C" NOT NULL,
    event_id    bigint GENERATED ALWAYS AS IDENTITY,
    slice_id    bigint NOT NULL,
    agent_id    text COLLATE "C" NOT NULL,
    kind        text NOT NULL CHECK (kind IN ('session.completed', 'episodic.created', 'entity.upserted')),
    payload     jsonb NOT NULL,
    at          timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, event_id),
    FOREIGN KEY (tenant_id, slice_id) REFERENCES slices (tenant_id, slice_id) ON DELETE CASCADE
);

-- Which stretches of sessions are of jobs by the clock is asked of a slice.
CREATE INDEX IF NOT EXISTS events_of_cron ON events (tenant_id, slice_id) WHERE payload ->> 'trigger_source' = 'cron';

-- An episode is what a stretch of a session comes to, found by search in the tier `episodic`. `method` says how it was
-- summarised (by which prompt and model), `fallback` why a configured model was not used, which is then asked again, and
-- `attempts` how often it was. It ends with its last message
-- (`ended_at`) and is invisible from `expires_at` on; `semantic_at` is when the graph took what it says (the model
-- failed at that `semantic_attempts` times), `promoted_at`
-- when dreaming did, into the file `promoted_to` (it refused `promotion_refusals` answers of the model about it). The owner is the session's.
CREATE TABLE IF NOT EXISTS episodes (
    tenant_id      text COLLATE "C" NOT NULL,
    episode_id     bigint GENERATED ALWAYS AS IDENTITY,
    slice_id       bigint NOT NULL,
    agent_id       text COLLATE "C" NOT NULL,
    owner_key      text COLLATE "C",
    session_key    bigint NOT NULL,
    session_id     text COLLATE "C" NOT NULL,
    from_seq       integer NOT NULL,
    through_seq    integer NOT NULL,
    compactions    integer NOT NULL,
    summary        text NOT NULL,
    abstract       text NOT NULL,
    key_topics     text[] NOT NULL,
    method         text NOT NULL CHECK (method IN ('llm', 'extractive')),
    prompt         text,
    prompt_version text,
    model          text,
    fallback       text,
    attempts       integer NOT NULL DEFAULT 1,
    started_at     timestamptz NOT NULL,
    ended_at       timestamptz NOT NULL,
    created_at     timestamptz NOT NULL DEFAULT now(),
    expires_at     timestamptz NOT NULL,
    semantic_at    timestamptz,
    semantic_attempts integer NOT NULL DEFAULT 0,
    promoted_at    timestamptz,
    promoted_to    text,
    promotion_refusals integer NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant_id, episode_id),
    UNIQUE (tenant_id, session_key, through_seq),
    CHECK (from_seq <= through_seq),
    FOREIGN KEY (tenant_id, session_key, slice_id)
        REFERENCES sessions (tenant_id, session_key, slice_id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX IF NOT EXISTS episodes_of_slice ON episodes (tenant_id, slice_id, episode_id);
CREATE INDEX IF NOT EXISTS episodes_expiring ON episodes (expires_at);
CREATE INDEX IF NOT EXISTS episodes_to_remake ON episodes (created_at) WHERE fallback IS NOT NULL;

-- A file; or, with a session, its transcript as the index knows it, or with an episode that, neither of which has
-- versions. A file's content is the versions row of the current version. A deleted file keeps its row and history. note_day is the day of a daily note,
-- by which `as_of` and age go instead of the time of writing. `facts_version` is the version whose facts were read last.
CREATE TABLE IF NOT EXISTS documents (
    tenant_id   text COLLATE "C" NOT NULL,
    document_id bigint GENERATED ALWAYS AS IDENTITY,
    slice_id    bigint NOT NULL,
    path        text COLLATE "C" NOT NULL CHECK (octet_length(path) <= 512),
    session_key bigint,
    episode_id  bigint,
    expires_at  timestamptz,
    enabled     boolean NOT NULL,
    sort_order  integer NOT NULL,
    version     integer NOT NULL,
    note_day    date,
    created_at  timestamptz NOT NULL DEFAULT now(),
    updated_at  timestamptz NOT NULL DEFAULT now(),
    deleted_at  timestamptz,
    facts_version integer NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant_id, document_id),
    UNIQUE NULLS NOT DISTINCT (tenant_id, slice_id, path, session_key),
    FOREIGN KEY (tenant_id, slice_id) REFERENCES slices (tenant_id, slice_id) ON DELETE CASCADE,
    CHECK (episode_id IS NULL OR session_key IS NOT NULL),
    FOREIGN KEY (tenant_id, session_key, slice_id)
        REFERENCES sessions (tenant_id, session_key, slice_id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, slice_id, episode_id)
        REFERENCES episodes (tenant_id, slice_id, episode_id) ON DELETE CASCADE
);
-- What every prompt holds is found without looking through all files and conversations of a memory.
CREATE INDEX IF NOT EXISTS documents_in_prompts ON documents (tenant_id, slice_id)
    WHERE enabled AND deleted_at IS NULL AND session_key IS NULL;
CREATE INDEX IF NOT EXISTS documents_of_new_facts ON documents (tenant_id, slice_id, updated_at, document_id)
    WHERE facts_version < version AND session_key IS NULL;
CREATE UNIQUE INDEX IF NOT EXISTS documents_of_session ON documents (tenant_id, session_key)
    WHERE session_key IS NOT NULL AND episode_id IS NULL;
CREATE UNIQUE INDEX IF NOT EXISTS documents_of_episode ON documents (tenant_id, episode_id)
    WHERE episode_id IS NOT NULL;
-- What has expired and is not pruned yet, which a search leaves out.
CREATE INDEX IF NOT EXISTS documents_expiring ON documents (tenant_id, slice_id, expires_at)
    INCLUDE (document_id) WHERE expires_at IS NOT NULL;

-- The slice is not in the foreign key, here and in whatever rests on a document: documents are listed by an index on
-- (tenant_id, slice_id, path, …), which a check by (tenant_id, slice_id, document_id) takes as well as its own while there
-- are no statistics, and then reads the whole slice for each row (for entities measured: 4.3 ms a row at 8,000 in place of
-- 0.06).
CREATE TABLE IF NOT EXISTS versions (
    tenant_id   text COLLATE "C" NOT NULL,
    slice_id    bigint NOT NULL,
    document_id bigint NOT NULL,
    version     integer NOT NULL,
    content     text NOT NULL,
    size        integer NOT NULL,
    sha256      bytea NOT NULL,
    deleted     boolean NOT NULL DEFAULT false,
    at          timestamptz NOT NULL DEFAULT now(),
    by          text NOT NULL,
    reason      text NOT NULL,
    PRIMARY KEY (tenant_id, document_id, version),
    FOREIGN KEY (tenant_id, document_id) REFERENCES documents (tenant_id, document_id) ON DELETE CASCADE
);

-- The passages of every tier. One of the tier `fact` has no document: `facts.chunk_id` names it. passage_sha256 is over what is embedded and analysed (context line and text): a
-- chunk whose hash is unchanged keeps its row, its id, its postings and its vector when its file is rewritten.
-- valid_to is null while the passage is in its file; afterwards the chunk is in the past twin of its slice, while its
-- document stays in the present one: the slice can be in no foreign key between them. One to slices, with a unique key for
-- others to rest on, costs 1.5 times the insert and 41 bytes a row (paired inserts).
CREATE TABLE IF NOT EXISTS chunks (
    tenant_id      text COLLATE "C" NOT NULL,
    chunk_id       bigint GENERATED ALWAYS AS IDENTITY,
    slice_id       bigint NOT NULL,
    tier           memory_tier NOT NULL,
    document_id    bigint,
    ordinal        integer NOT NULL,
    start_line     integer NOT NULL,
    end_line       integer NOT NULL,
    char_start     integer NOT NULL,
    char_end       integer NOT NULL,
    heading_path   text[] NOT NULL,
    text           text NOT NULL,
    context        text NOT NULL,
    passage_sha256 bytea NOT NULL,
    terms          text[] COLLATE "C" NOT NULL,
    term_count     integer NOT NULL,
    embedded       boolean NOT NULL,
    embed_error    text,
    valid_from     timestamptz NOT NULL DEFAULT clock_timestamp(),
    valid_to       timestamptz,
    PRIMARY KEY (tenant_id, chunk_id),
    FOREIGN KEY (tenant_id, document_id) REFERENCES documents (tenant_id, document_id) ON DELETE CASCADE
);
-- Search finds what stands beside a passage in this index alone.
CREATE INDEX IF NOT EXISTS chunks_of_document ON chunks (tenant_id, document_id, ordinal)
    INCLUDE (chunk_id, slice_id, valid_to);
CREATE INDEX IF NOT EXISTS chunks_of_passage ON chunks (tenant_id, passage_sha256);
CREATE INDEX IF NOT EXISTS chunks_to_embed ON chunks (chunk_id) WHERE NOT embedded AND embed_error IS NULL;

-- The text index: one row a (chunk, term). Equality on text is leakproof, so it stays an index condition under
-- row-level security, which @@ does not; and it gives df and tf, which BM25 needs and tsvector does not store.
-- The one index is on purpose: with a second one the planner has a wrong choice to make. chunks.terms says which
-- rows a chunk has here. No foreign key: one to its chunk, with the slice, makes an insert cost 1.8 times as much.
CREATE TABLE IF NOT EXISTS postings (
    tenant_id   text COLLATE "C" NOT NULL,
    slice_id    bigint NOT NULL,
    chunk_id    bigint NOT NULL,
    document_id bigint,
    term        text COLLATE "C" NOT NULL,
    tf          integer NOT NULL,
    length      integer NOT NULL,
    tier        memory_tier NOT NULL,
    PRIMARY KEY (tenant_id, slice_id, term, chunk_id) INCLUDE (tf, length, tier, document_id)
);

-- Vectors live apart from the wide rows. Small slices share partition 0 and are scanned exactly, index-only;
-- a large slice is promoted to a partition of its own with an HNSW index. `covered` is whether the vector fits
-- a B-tree entry (up to about 1,300 dimensions); a longer one is read from the table. The primary key begins with
-- the chunk, so that a slice can be scanned by the covering index only. A foreign key to slices would make an insert cost
-- 1.4 times as much.
CREATE TABLE IF NOT EXISTS vectors (
    tenant_id    text COLLATE "C" NOT NULL,
    slice_id     bigint NOT NULL,
    chunk_id     bigint NOT NULL,
    document_id  bigint,
    partition_id bigint NOT NULL,
    model_id     smallint NOT NULL REFERENCES models (model_id),
    tier         memory_tier NOT NULL,
    covered      boolean NOT NULL,
    embedding    halfvec NOT NULL,
    PRIMARY KEY (tenant_id, chunk_id, model_id, partition_id)
) PARTITION BY LIST (partition_id);
CREATE TABLE IF NOT EXISTS vectors_0 PARTITION OF vectors FOR VALUES IN (0);
CREATE INDEX IF NOT EXISTS vectors_0_covering ON vectors_0 (tenant_id, slice_id, model_id)
    INCLUDE (chunk_id, document_id, tier, covered, partition_id, embedding) WHERE covered;
CREATE INDEX IF NOT EXISTS vectors_0_uncovered ON vectors_0 (tenant_id, slice_id, model_id) WHERE NOT covered;
-- Index-only scans need pages known to be all-visible: vacuum after every twentieth part of new rows.
ALTER TABLE vectors_0 SET (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);
ALTER TABLE chunks SET (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);
ALTER TABLE postings SET (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);

-- A passage that was shown to somebody: as a search result, or injected into a prompt. Never by the system's own work.
-- The slice is that of the showing, which a passage leaves when it is past: it is not in the foreign key.
CREATE TABLE IF NOT EXISTS recalls (
    tenant_id  text COLLATE "C" NOT NULL,
    chunk_id   bigint NOT NULL,
    recall_id  bigint GENERATED ALWAYS AS IDENTITY,
    slice_id   bigint NOT NULL,
    query_hash bytea NOT NULL,
    score      real NOT NULL,
    source     text NOT NULL CHECK (source IN ('search', 'inject')),
    at         timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, chunk_id, recall_id),
    FOREIGN KEY (tenant_id, chunk_id) REFERENCES chunks (tenant_id, chunk_id) ON DELETE CASCADE
);
CREATE INDEX IF NOT EXISTS recalls_of_slice ON recalls (tenant_id, slice_id, at);

-- Where the lines of files come from that the server wrote by itself: of which stage, made by which prompt and model, of
-- which messages, lines or episodes. A line is known by the hash of its essence (text/redact.py), so that it
-- keeps its origin when the file is sorted anew; a line without a row here was written by a person.
CREATE TABLE IF NOT EXISTS derivations (
    tenant_id      text COLLATE "C" NOT NULL,
    derivation_id  bigint GENERATED ALWAYS AS IDENTITY,
    slice_id       bigint NOT NULL,
    document_id    bigint NOT NULL,
    line_sha256    bytea NOT NULL,
    stage          text NOT NULL,
    method         text NOT NULL CHECK (method IN ('llm', 'extractive')),
    prompt         text,
    prompt_version text,
    model          text,
    sources        jsonb NOT NULL,
    at             timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, derivation_id),
    FOREIGN KEY (tenant_id, document_id) REFERENCES documents (tenant_id, document_id) ON DELETE CASCADE
);
CREATE INDEX IF NOT EXISTS derivations_of_line ON derivations (tenant_id, document_id, line_sha256);

-- Stretches of sessions that were taken into files without the configured model, since it failed, with the note of
-- a day (`noted_on`): it is asked again at `due_at`.
CREATE TABLE IF NOT EXISTS extraction_retries (
    tenant_id   text COLLATE "C" NOT NULL,
    session_key bigint NOT NULL,
    through_seq integer NOT NULL,
    from_seq    integer NOT NULL,
    slice_id    bigint NOT NULL,
    attempts    integer NOT NULL,
    noted_on    date NOT NULL,
    reason      text NOT NULL,
    due_at      timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, session_key, through_seq),
    FOREIGN KEY (tenant_id, session_key, slice_id)
        REFERENCES sessions (tenant_id, session_key, slice_id) ON DELETE CASCADE
);
CREATE INDEX IF NOT EXISTS extraction_retries_of_slice ON extraction_retries (tenant_id, slice_id, due_at);

-- Each compaction of a MEMORY.md, those that were refused too: how it was made, of which version, and in `version_after`
-- what it made of it (null: nothing was to be done, or `reason` says why not).
CREATE TABLE IF NOT EXISTS memory_compactions (
    tenant_id      text COLLATE "C" NOT NULL,
    slice_id       bigint NOT NULL,
    number         bigint GENERATED ALWAYS AS IDENTITY,
    document_id    bigint NOT NULL,
    version_before integer NOT NULL,
    version_after  integer,
    method         text NOT NULL CHECK (method IN ('llm', 'extractive')),
    prompt         text,
    prompt_version text,
    model          text,
    reason         text,
    at             timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, slice_id, number),
    FOREIGN KEY (tenant_id, document_id) REFERENCES documents (tenant_id, document_id) ON DELETE CASCADE
);

-- What a stage of consolidation last did for a slice. `last_error` is a code and a reason, never memory text;
-- `nightly_on` the last day, in the agent's time zone, on which it was begun by the clock.
CREATE TABLE IF NOT EXISTS stages (
    tenant_id       text COLLATE "C" NOT NULL,
    slice_id        bigint NOT NULL,
    stage           text NOT NULL,
    last_started_at timestamptz,
    last_success_at timestamptz,
    last_failed_at  timestamptz,
    last_status     text CHECK (last_status IN ('completed', 'skipped', 'failed')),
    last_reason     text,
    last_error      text,
    last_method     text CHECK (last_method IN ('llm', 'extractive')),
    nightly_on      date,
    PRIMARY KEY (tenant_id, slice_id, stage),
    FOREIGN KEY (tenant_id, slice_id) REFERENCES slices (tenant_id, slice_id) ON DELETE CASCADE
);

-- What each run of emergence, of dreaming or of SOUL.md saw, concluded and changed, and why; `promoted` and `rejected` are its candidates
-- with their scores, the latter with the gate that stopped them. `path` is the file it wrote, from which version to which.
-- `night` is the day it began in the agent's time zone: a night by cron has one report that did not fail. After a month
-- `rejected` and `diff` are empty.
CREATE TABLE IF NOT EXISTS reports (
    tenant_id      text COLLATE "C" NOT NULL,
    report_id      text COLLATE "C" NOT NULL,
    slice_id       bigint NOT NULL,
    mode           text NOT NULL CHECK (mode IN ('full', 'focused', 'dreaming', 'soul')),
    topic          text,
    trigger        text NOT NULL CHECK (trigger IN ('event', 'cron', 'api', 'retry')),
    night          date NOT NULL,
    started_at     timestamptz NOT NULL,
    ended_at       timestamptz NOT NULL,
    status         text NOT NULL CHECK (status IN ('success', 'skipped', 'failed')),
    reason         text NOT NULL,
    seen           jsonb NOT NULL,
    promoted       jsonb NOT NULL,
    rejected       jsonb NOT NULL,
    diff           text NOT NULL,
    path           text,
    version_before integer,
    version_after  integer,
    method         text CHECK (method IN ('llm', 'extractive')),
    prompt         text,
    prompt_version text,
    model          text,
    fallback       text,
    PRIMARY KEY (tenant_id, report_id),
    UNIQUE (tenant_id, report_id, slice_id),
    FOREIGN KEY (tenant_id, slice_id) REFERENCES slices (tenant_id, slice_id) ON DELETE CASCADE
);
CREATE INDEX IF NOT EXISTS reports_of_slice ON reports (tenant_id, slice_id, started_at, report_id);
CREATE INDEX IF NOT EXISTS reports_to_trim ON reports (started_at) WHERE rejected <> '[]' OR diff <> '';
CREATE UNIQUE INDEX IF NOT EXISTS reports_of_night ON reports (tenant_id, slice_id, night)
    WHERE mode = 'full' AND trigger = 'cron' AND status <> 'failed';

-- Who has seen the morning card of a report; '' is whoever asks without an owner.
CREATE TABLE IF NOT EXISTS report_views (
    tenant_id text COLLATE "C" NOT NULL,
    report_id text COLLATE "C" NOT NULL,
    viewer    text COLLATE "C" NOT NULL,
    slice_id  bigint NOT NULL,
    at        timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, report_id, viewer),
    FOREIGN KEY (tenant_id, report_id, slice_id)
        REFERENCES reports (tenant_id, report_id, slice_id) ON DELETE CASCADE
);

-- How many calls a tenant has made of the language model on a day (UTC).
CREATE TABLE IF NOT EXISTS model_calls (
    tenant_id text COLLATE "C" NOT NULL,
    day       date NOT NULL,
    calls     integer NOT NULL,
    PRIMARY KEY (tenant_id, day)
);

-- What came of the uses of the language model on a day (UTC): `answered`, or the reason why there was no answer that
-- could be used; and when last.
CREATE TABLE IF NOT EXISTS model_outcomes (
    tenant_id text COLLATE "C" NOT NULL,
    day       date NOT NULL,
    outcome   text COLLATE "C" NOT NULL,
    uses      integer NOT NULL,
    last_at   timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, day, outcome)
);

-- What a model said of a passage, so that unchanged text never costs a model call again.
CREATE TABLE IF NOT EXISTS embedding_cache (
    tenant_id      text COLLATE "C" NOT NULL,
    model_id       smallint NOT NULL REFERENCES models (model_id),
    passage_sha256 bytea NOT NULL,
    embedding      halfvec NOT NULL,
    created_at     timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, model_id, passage_sha256)
);

-- What was forgotten, as a keyed hash of the folded text: it keeps what runs by itself (folder indexing, imports of old
-- snapshots, jobs) from bringing it back, and tells nobody what it was. Written anew by a person it may be. `word_count` is
-- in runs of how many words an old transcript is looked through for it (0: by lines and passages only).
CREATE TABLE IF NOT EXISTS tombstones (
    tenant_id   text COLLATE "C" NOT NULL,
    slice_id    bigint NOT NULL,
    text_hmac   bytea NOT NULL,
    word_count  smallint NOT NULL DEFAULT 0,
    at          timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, slice_id, text_hmac),
    FOREIGN KEY (tenant_id, slice_id) REFERENCES slices (tenant_id, slice_id) ON DELETE CASCADE
);
CREATE TABLE IF NOT EXISTS tombstone_key (
    only_row    boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    secret      bytea NOT NULL
);
INSERT INTO tombstone_key (secret) VALUES (uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()))
ON CONFLICT DO NOTHING;

-- The receipts of forgetting: when, by whom, how it was meant (`kind`), from where (`places`: tier, path and how many) and how
-- many things of each tier. Never the text, nor a path that holds it.
CREATE TABLE IF NOT EXISTS receipts (
    tenant_id   text COLLATE "C" NOT NULL,
    receipt_id  bigint GENERATED ALWAYS AS IDENTITY,
    slice_id    bigint NOT NULL,
    at          timestamptz NOT NULL,
    by          text NOT NULL,
    kind        text COLLATE "C" NOT NULL CHECK (kind IN ('items', 'id', 'text', 'entity', 'session', 'said')),
    statements  integer NOT NULL CHECK (statements >= 0),
    removed     jsonb NOT NULL,
    places      jsonb NOT NULL,
    embeddings  integer NOT NULL CHECK (embeddings >= 0),
    tombstones  integer NOT NULL CHECK (tombstones >= 0),
    PRIMARY KEY (tenant_id, receipt_id),
    FOREIGN KEY (tenant_id, slice_id) REFERENCES slices (tenant_id, slice_id) ON DELETE CASCADE
);
CREATE INDEX IF NOT EXISTS receipts_of_slice ON receipts (tenant_id, slice_id, receipt_id);

-- What was asked in conversations to forget, and nothing was found for: the message that asks, and no text. A row goes with its
-- message, with what is forgotten of it, and when a person dismisses it. `judged_at`: a language model was asked
-- what it means; `for_model`: it may ask for nothing, and waits for that alone. `unheard_since`: the message was stored
-- then, and nobody has looked whether it asks; a row of the list has none.
CREATE TABLE IF NOT EXISTS unmet_requests (
    tenant_id   text COLLATE "C" NOT NULL,
    request_id  bigint GENERATED ALWAYS AS IDENTITY,
    slice_id    bigint NOT NULL,
    session_key bigint NOT NULL,
    seq         integer NOT NULL,
    asked_at    timestamptz NOT NULL,
    judged_at   timestamptz,
    for_model   boolean NOT NULL DEFAULT false,
    unheard_since timestamptz,
    PRIMARY KEY (tenant_id, request_id),
    UNIQUE (tenant_id, session_key, seq),
    FOREIGN KEY (tenant_id, session_key, seq) REFERENCES messages (tenant_id, session_key, seq) ON DELETE CASCADE
);
CREATE INDEX IF NOT EXISTS unmet_requests_of_slice ON unmet_requests (tenant_id, slice_id, request_id);

-- API keys. Of a secret its hash alone is here. A revoked key keeps its row: a server that ever had a key is not open.
-- `last_used_at` is right to a minute.
CREATE TABLE IF NOT EXISTS keys (
    key_id        text COLLATE "C" PRIMARY KEY,
    tenant_id     text COLLATE "C" NOT NULL,
    secret_sha256 bytea NOT NULL,
    role          text NOT NULL CHECK (role IN ('viewer', 'member', 'admin')),
    owner_key     text COLLATE "C",
    agent_ids     text[] COLLATE "C",
    created_at    timestamptz NOT NULL DEFAULT now(),
    revoked_at    timestamptz,
    name          text,
    expires_at    timestamptz,
    last_used_at  timestamptz
);

-- The prompts that were made: what the user said, what the parts took, and which memories were put in or nearly were. The
-- memories are ids of passages, whose texts are looked up where they are shown: what was forgotten is not here. `asked`
-- is forgotten as messages are. They are noted beside the answers, and kept for some days.
CREATE TABLE IF NOT EXISTS turns (
    tenant_id    text COLLATE "C" NOT NULL,
    turn_id      text COLLATE "C" NOT NULL,
    slice_id     bigint NOT NULL,
    agent_id     text COLLATE "C" NOT NULL,
    owner_key    text COLLATE "C",
    session_id   text COLLATE "C",
    kind         text NOT NULL CHECK (kind IN ('context', 'inject', 'chat')),
    at           timestamptz NOT NULL,
    asked        text NOT NULL,
    sections     jsonb NOT NULL,
    tokens       integer NOT NULL,
    memories     jsonb NOT NULL,
    match_count  integer NOT NULL,
    top_score    real NOT NULL,
    outcome      text NOT NULL,
    model        text,
    milliseconds integer NOT NULL,
    -- What became of the answer to a chat completion; null: not known yet, or the caller's own affair.
    answer       text CHECK (answer IN ('answered', 'failed', 'broke_off', 'left')),
    PRIMARY KEY (tenant_id, turn_id),
    FOREIGN KEY (tenant_id, slice_id) REFERENCES slices (tenant_id, slice_id) ON DELETE CASCADE
);
CREATE INDEX IF NOT EXISTS turns_newest ON turns (tenant_id, agent_id, owner_key, at DESC, turn_id DESC);
CREATE INDEX IF NOT EXISTS turns_of_slice ON turns (tenant_id, slice_id);
CREATE INDEX IF NOT EXISTS turns_old ON turns (at);

-- What was removed with its turns, as a hash of its ids: a session, an owner, an agent, what was cleared. A turn of it that
-- was said before then, and still waits in some process, is not written. Kept as long as turns are.
CREATE TABLE IF NOT EXISTS removed_turns (
    tenant_id      text COLLATE "C" NOT NULL,
    subject_sha256 bytea NOT NULL,
    said_before    timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, subject_sha256)
);
CREATE INDEX IF NOT EXISTS removed_turns_newest ON removed_turns (tenant_id, said_before);
CREATE INDEX IF NOT EXISTS removed_turns_old ON removed_turns (said_before);

-- Sessions of people in the Memory Browser. Each stands for a key and is worth nothing once the key is; of its token the hash
-- alone is here.
CREATE TABLE IF NOT EXISTS browser_sessions (
    session_sha256 bytea PRIMARY KEY,
    key_id         text COLLATE "C" NOT NULL REFERENCES keys (key_id) ON DELETE CASCADE,
    created_at     timestamptz NOT NULL DEFAULT now(),
    expires_at     timestamptz NOT NULL
);
CREATE INDEX IF NOT EXISTS browser_sessions_of_key ON browser_sessions (key_id);

-- Who read, wrote, forgot, exported, or changed keys and settings: by which key, for whom, when, how many, in which request;
-- never a text, nor a path. `count` is of things, `requests` of requests that the row tells of. Rows outlive whom they are
-- about. They are added and never changed: reverie_app may not, and the maintenance removes what is kept no longer.
CREATE TABLE IF NOT EXISTS audit (
    tenant_id  text COLLATE "C" NOT NULL,
    at         timestamptz NOT NULL,
    audit_id   bigint GENERATED ALWAYS AS IDENTITY,
    action     text NOT NULL CHECK (action IN ('read', 'write', 'forget', 'export', 'keys', 'settings')),
    outcome    text NOT NULL CHECK (outcome IN ('ok', 'denied', 'refused', 'failed')),
    key_id     text COLLATE "C",
    key_name   text,
    agent_id   text COLLATE "C",
    owner_key  text COLLATE "C",
    count      integer NOT NULL CHECK (count >= 0),
    requests   integer NOT NULL CHECK (requests > 0),
    request_id text COLLATE "C",
    PRIMARY KEY (tenant_id, at, audit_id)
);
CREATE INDEX IF NOT EXISTS audit_to_prune ON audit (at);

-- The knowledge graph of a slice: what its conversations speak of (entities), and how these hang together and when
-- (relations). Both are derived, from what was said of them: the rows of `mentions` and `statements`, each with its
-- session, its messages, the episode they were read in, and how that was done. An episode may be gone (it expires), so
-- its id is no foreign key. What is merged into another entity keeps its row and its mentions, and points to the other:
-- taking that back is setting it to null and deriving anew.
--
-- What rests on an entity does not have the slice in its foreign key: while there are no statistics the check takes the
-- index of external ids for its own and reads the whole slice (4.3 ms a row at 8,000 entities, in place of 0.06), and with
-- that index in another order a page of the list of entities reads them all (10,001 in place of 21).
--
-- `since` is the first time anything is known of. `language` is the one whose analyser made its terms, `model_id` the
-- model that embedded the present text (null: it waits), `deduped_at` when the entity was compared with its neighbours (null: it is to be).
CREATE TABLE IF NOT EXISTS entities (
    tenant_id      text COLLATE "C" NOT NULL,
    entity_id      bigint GENERATED ALWAYS AS IDENTITY,
    slice_id       bigint NOT NULL,
    external_id    text COLLATE "C" NOT NULL CHECK (octet_length(external_id) <= 800),
    type           text COLLATE "C" NOT NULL CHECK (type IN ('person', 'organization', 'project', 'product', 'technology',
                       'task', 'event', 'document', 'concept', 'location')),
    name           text NOT NULL,
    name_key       text COLLATE "C" NOT NULL,
    description    text NOT NULL DEFAULT '',
    aliases        text[] NOT NULL DEFAULT '{}',
    properties     jsonb NOT NULL DEFAULT '{}',
    confidence     real NOT NULL,
    since          timestamptz NOT NULL,
    method         text NOT NULL CHECK (method IN ('llm', 'extractive')),
    prompt         text,
    prompt_version text,
    model          text,
    language       text NOT NULL,
    model_id       smallint REFERENCES models (model_id),
    merged_into    bigint,
    deduped_at     timestamptz,
    created_at     timestamptz NOT NULL,
    updated_at     timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, entity_id),
    UNIQUE (tenant_id, slice_id, type, external_id),
    CHECK (merged_into <> entity_id),
    FOREIGN KEY (tenant_id, slice_id) REFERENCES slices (tenant_id, slice_id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, merged_into) REFERENCES entities (tenant_id, entity_id)
);
CREATE INDEX IF NOT EXISTS entities_by_name ON entities (tenant_id, slice_id, name_key, entity_id)
    WHERE merged_into IS NULL;
CREATE INDEX IF NOT EXISTS entities_merged ON entities (tenant_id, merged_into) WHERE merged_into IS NOT NULL;
CREATE INDEX IF NOT EXISTS entities_to_dedup ON entities (tenant_id, slice_id, entity_id)
    WHERE merged_into IS NULL AND deduped_at IS NULL;
CREATE INDEX IF NOT EXISTS entities_to_embed ON entities (model_id, entity_id) WHERE merged_into IS NULL;

-- By which words an entity is found (as `postings` are, and for the same reason), by which whole names it is known, and
-- its vector, apart from the wide row. Of merged entities there is nothing here.
CREATE TABLE IF NOT EXISTS entity_terms (
    tenant_id text COLLATE "C" NOT NULL,
    slice_id  bigint NOT NULL,
    term      text COLLATE "C" NOT NULL,
    entity_id bigint NOT NULL,
    weight    real NOT NULL,
    PRIMARY KEY (tenant_id, slice_id, term, entity_id) INCLUDE (weight),
    FOREIGN KEY (tenant_id, entity_id) REFERENCES entities (tenant_id, entity_id) ON DELETE CASCADE
);
CREATE INDEX IF NOT EXISTS entity_terms_of_entity ON entity_terms (tenant_id, entity_id);
CREATE TABLE IF NOT EXISTS entity_names (
    tenant_id text COLLATE "C" NOT NULL,
    slice_id  bigint NOT NULL,
    name_key  text COLLATE "C" NOT NULL,
    entity_id bigint NOT NULL,
    PRIMARY KEY (tenant_id, slice_id, name_key, entity_id),
    FOREIGN KEY (tenant_id, entity_id) REFERENCES entities (tenant_id, entity_id) ON DELETE CASCADE
);
CREATE INDEX IF NOT EXISTS entity_names_of_entity ON entity_names (tenant_id, entity_id);
CREATE TABLE IF NOT EXISTS entity_vectors (
    tenant_id text COLLATE "C" NOT NULL,
    slice_id  bigint NOT NULL,
    entity_id bigint NOT NULL,
    model_id  smallint NOT NULL REFERENCES models (model_id),
    type      text COLLATE "C" NOT NULL,
    embedding halfvec NOT NULL,
    PRIMARY KEY (tenant_id, entity_id),
    FOREIGN KEY (tenant_id, entity_id) REFERENCES entities (tenant_id, entity_id) ON DELETE CASCADE
);
CREATE INDEX IF NOT EXISTS entity_vectors_of_slice ON entity_vectors (tenant_id, slice_id, model_id, type);

-- What one episode says of an entity.
CREATE TABLE IF NOT EXISTS mentions (
    tenant_id      text COLLATE "C" NOT NULL,
    mention_id     bigint GENERATED ALWAYS AS IDENTITY,
    slice_id       bigint NOT NULL,
    entity_id      bigint NOT NULL,
    episode_id     bigint NOT NULL,
    session_key    bigint NOT NULL,
    session_id     text COLLATE "C" NOT NULL,
    seqs           integer[] NOT NULL,
    said_at        timestamptz NOT NULL,
    name           text NOT NULL,
    description    text NOT NULL,
    aliases        text[] NOT NULL,
    properties     jsonb NOT NULL,
    confidence     real NOT NULL,
    method         text NOT NULL CHECK (method IN ('llm', 'extractive')),
    prompt         text,
    prompt_version text,
    model          text,
    recorded_at    timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, mention_id),
    UNIQUE (tenant_id, entity_id, episode_id),
    FOREIGN KEY (tenant_id, entity_id) REFERENCES entities (tenant_id, entity_id) ON DELETE CASCADE
);
CREATE INDEX IF NOT EXISTS mentions_of_episode ON mentions (tenant_id, slice_id, episode_id);
CREATE INDEX IF NOT EXISTS mentions_of_session ON mentions (tenant_id, session_key);

-- A fact over a stretch of time, half-open: `valid_to` null is until further notice. No two rows of a fact overlap, and
-- none of a relation that a subject has one of at a time (graph_vocabulary.py) overlaps another of it.
CREATE TABLE IF NOT EXISTS relations (
    tenant_id      text COLLATE "C" NOT NULL,
    relation_id    bigint GENERATED ALWAYS AS IDENTITY,
    slice_id       bigint NOT NULL,
    source_id      bigint NOT NULL,
    name           text COLLATE "C" NOT NULL CHECK (name IN ('works_on', 'manages', 'reports_to', 'collaborates_with',
                       'belongs_to', 'part_of', 'depends_on', 'blocks', 'created', 'completed', 'assigned_to',
                       'scheduled_for', 'located_in', 'based_at', 'uses', 'implements', 'integrates_with', 'authored',
                       'references', 'provides', 'requires', 'related_to')),
    target_id      bigint NOT NULL,
    confidence     real NOT NULL,
    valid_from     timestamptz NOT NULL,
    valid_to       timestamptz,
    method         text NOT NULL CHECK (method IN ('llm', 'extractive')),
    prompt         text,
    prompt_version text,
    model          text,
    recorded_at    timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, relation_id),
    UNIQUE (tenant_id, relation_id, slice_id),
    CHECK (source_id <> target_id),
    CHECK (valid_from < valid_to),
    FOREIGN KEY (tenant_id, source_id) REFERENCES entities (tenant_id, entity_id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, target_id) REFERENCES entities (tenant_id, entity_id) ON DELETE CASCADE
);
-- Traversal reads the newest of what is valid, from either end, and stops: also at a hub.
CREATE INDEX IF NOT EXISTS relations_from ON relations
    (tenant_id, source_id, (coalesce(valid_to, 'infinity'::timestamptz)), valid_from, relation_id);
CREATE INDEX IF NOT EXISTS relations_to ON relations
    (tenant_id, target_id, (coalesce(valid_to, 'infinity'::timestamptz)), valid_from, relation_id);

-- What one episode says of a relation. It holds from `since` on and, where that was said, until `until`; without `since`
-- it says only that it ended. The entities are those it was said of, whatever they are merged into by now; `relation_id`
-- is the stretch of time it is part of, null where it is of none (both ends are one entity now).
CREATE TABLE IF NOT EXISTS statements (
    tenant_id      text COLLATE "C" NOT NULL,
    statement_id   bigint GENERATED ALWAYS AS IDENTITY,
    slice_id       bigint NOT NULL,
    source_id      bigint NOT NULL,
    name           text COLLATE "C" NOT NULL,
    target_id      bigint NOT NULL,
    since          timestamptz,
    until          timestamptz,
    relation_id    bigint,
    episode_id     bigint NOT NULL,
    session_key    bigint NOT NULL,
    session_id     text COLLATE "C" NOT NULL,
    seqs           integer[] NOT NULL,
    said_at        timestamptz NOT NULL,
    confidence     real NOT NULL,
    method         text NOT NULL CHECK (method IN ('llm', 'extractive')),
    prompt         text,
    prompt_version text,
    model          text,
    recorded_at    timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, statement_id),
    UNIQUE NULLS NOT DISTINCT (tenant_id, source_id, name, target_id, episode_id, since, until),
    CHECK (since IS NOT NULL OR until IS NOT NULL),
    FOREIGN KEY (tenant_id, source_id) REFERENCES entities (tenant_id, entity_id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, target_id) REFERENCES entities (tenant_id, entity_id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, relation_id, slice_id)
        REFERENCES relations (tenant_id, relation_id, slice_id) ON DELETE SET NULL (relation_id)
);
CREATE INDEX IF NOT EXISTS statements_to ON statements (tenant_id, target_id, name);
CREATE INDEX IF NOT EXISTS statements_of_relation ON statements (tenant_id, relation_id);
CREATE INDEX IF NOT EXISTS statements_of_episode ON statements (tenant_id, slice_id, episode_id);
CREATE INDEX IF NOT EXISTS statements_of_session ON statements (tenant_id, session_key);

-- Pairs that may be one: for a person to merge or to dismiss. A dismissed pair is never merged by itself, nor one whose
-- merge a person took back.
CREATE TABLE IF NOT EXISTS duplicates (
    tenant_id    text COLLATE "C" NOT NULL,
    duplicate_id bigint GENERATED ALWAYS AS IDENTITY,
    slice_id     bigint NOT NULL,
    first_id     bigint NOT NULL,
    second_id    bigint NOT NULL,
    cosine       real,
    jaro_winkler real NOT NULL,
    state        text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'dismissed', 'merged')),
    found_at     timestamptz NOT NULL,
    decided_at   timestamptz,
    decided_by   text,
    PRIMARY KEY (tenant_id, duplicate_id),
    UNIQUE (tenant_id, first_id, second_id),
    CHECK (first_id < second_id),
    FOREIGN KEY (tenant_id, first_id) REFERENCES entities (tenant_id, entity_id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, second_id) REFERENCES entities (tenant_id, entity_id) ON DELETE CASCADE
);
CREATE INDEX IF NOT EXISTS duplicates_of_slice ON duplicates (tenant_id, slice_id, duplicate_id);
CREATE INDEX IF NOT EXISTS duplicates_second ON duplicates (tenant_id, second_id);

-- Which entity was merged into which, by whom (`server`: the stage), why, and whether it was taken back.
CREATE TABLE IF NOT EXISTS merges (
    tenant_id    text COLLATE "C" NOT NULL,
    merge_id     bigint GENERATED ALWAYS AS IDENTITY,
    slice_id     bigint NOT NULL,
    kept_id      bigint NOT NULL,
    absorbed_id  bigint NOT NULL,
    cosine       real,
    jaro_winkler real,
    by           text NOT NULL,
    at           timestamptz NOT NULL,
    undone_by    text,
    undone_at    timestamptz,
    PRIMARY KEY (tenant_id, merge_id),
    FOREIGN KEY (tenant_id, kept_id) REFERENCES entities (tenant_id, entity_id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, absorbed_id) REFERENCES entities (tenant_id, entity_id) ON DELETE CASCADE
);
CREATE INDEX IF NOT EXISTS merges_of_kept ON merges (tenant_id, kept_id, merge_id);
CREATE INDEX IF NOT EXISTS merges_of_absorbed ON merges (tenant_id, absorbed_id, merge_id);

-- Facts: what the files and conversations of a slice state, and when it holds. They are derived from these (`fact_sources`),
-- and keep what people said of them: votes, use and confirmation belong to the row, which is the same for the same words
-- (`fact_sha256`) however often it is read anew. A fact without a source is removed.
--
-- `valid_to` is null until further notice. `state` is derived from all facts of the slice in the order in which they were
-- said, unless `closed_by` says that a person decided; `superseded_by` is the fact that took its place or says that it
-- ended. It is no foreign key: it is derived anew where facts go. `change` is what its words say of an earlier one.
-- `chunk_id` is its passage (tier `fact`), which is in the past twin of the slice while the fact does not hold.
CREATE TABLE IF NOT EXISTS facts (
    tenant_id      text COLLATE "C" NOT NULL,
    fact_id        bigint GENERATED ALWAYS AS IDENTITY,
    slice_id       bigint NOT NULL,
    fact_sha256    bytea NOT NULL,
    subject        text NOT NULL CHECK (char_length(subject) <= 256),
    predicate      text NOT NULL CHECK (char_length(predicate) <= 256),
    object         text NOT NULL CHECK (char_length(object) <= 256),
    text           text NOT NULL,
    category       text COLLATE "C" NOT NULL CHECK (category IN ('preference', 'profile', 'project', 'decision', 'event',
                       'reference', 'request', 'general')),
    confidence     real NOT NULL,
    is_functional  boolean NOT NULL,
    is_request     boolean NOT NULL,
    about_user     boolean NOT NULL,
    change         jsonb,
    said_at        timestamptz NOT NULL,
    valid_from     timestamptz NOT NULL,
    valid_to       timestamptz,
    state          text COLLATE "C" NOT NULL DEFAULT 'current' CHECK (state IN ('current', 'superseded', 'retracted')),
    superseded_by  bigint,
    closed_by      text COLLATE "C" CHECK (closed_by IN ('person', 'model')),
    chunk_id       bigint,
    helpful        integer NOT NULL DEFAULT 0,
    unhelpful      integer NOT NULL DEFAULT 0,
    use_count      integer NOT NULL DEFAULT 0,
    last_used_at   timestamptz,
    last_confirmed_at timestamptz,
    confirmed_by   text,
    method         text NOT NULL CHECK (method IN ('llm', 'extractive')),
    prompt         text,
    prompt_version text,
    model          text,
    created_at     timestamptz NOT NULL,
    updated_at     timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, fact_id),
    UNIQUE (tenant_id, slice_id, fact_sha256),
    CHECK (superseded_by <> fact_id),
    FOREIGN KEY (tenant_id, slice_id) REFERENCES slices (tenant_id, slice_id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX IF NOT EXISTS facts_of_chunk ON facts (tenant_id, chunk_id) WHERE chunk_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS facts_of_names ON facts (tenant_id, slice_id)
WHERE subject = 'user' AND predicate IN ('name', 'nickname') AND state = 'current';
CREATE INDEX IF NOT EXISTS facts_replaced ON facts (tenant_id, superseded_by) WHERE superseded_by IS NOT NULL;

-- Where a fact is stated: in a line of a file as of the version that was read (`line_sha256`: the essence of the line), or in
-- messages of a session; and when that was said. Its words may give another time in which it holds (`valid_from`, `valid_to`).
-- `operation` is what a model answered of it and an earlier fact (`of_fact_id`, no foreign key: that one may go).
CREATE TABLE IF NOT EXISTS fact_sources (
    tenant_id      text COLLATE "C" NOT NULL,
    source_id      bigint GENERATED ALWAYS AS IDENTITY,
    slice_id       bigint NOT NULL,
    fact_id        bigint NOT NULL,
    document_id    bigint,
    path           text COLLATE "C",
    start_line     integer,
    end_line       integer,
    line_sha256    bytea,
    session_key    bigint,
    session_id     text COLLATE "C",
    seqs           integer[],
    message_ids    text[],
    said_at        timestamptz NOT NULL,
    valid_from     timestamptz NOT NULL,
    valid_to       timestamptz,
    operation      text COLLATE "C" CHECK (operation IN ('add', 'same', 'replaces', 'ends')),
    of_fact_id     bigint,
    method         text NOT NULL CHECK (method IN ('llm', 'extractive')),
    prompt         text,
    prompt_version text,
    model          text,
    PRIMARY KEY (tenant_id, source_id),
    CHECK ((document_id IS NULL) <> (session_key IS NULL)),
    FOREIGN KEY (tenant_id, fact_id) REFERENCES facts (tenant_id, fact_id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, document_id) REFERENCES documents (tenant_id, document_id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, session_key, slice_id)
        REFERENCES sessions (tenant_id, session_key, slice_id) ON DELETE CASCADE
);
CREATE INDEX IF NOT EXISTS fact_sources_of_fact ON fact_sources (tenant_id, fact_id, source_id);
CREATE INDEX IF NOT EXISTS fact_sources_of_document ON fact_sources (tenant_id, document_id) WHERE document_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS fact_sources_of_session ON fact_sources (tenant_id, slice_id, session_key) WHERE session_key IS NOT NULL;

-- By which sentences a fact is recognised, wherever they are copied to: the hash of the essence (text/redact.py) of the
-- sentence as it was said, and of each wording that the server gave it. One sentence may state several facts.
CREATE TABLE IF NOT EXISTS fact_sentences (
    tenant_id       text COLLATE "C" NOT NULL,
    slice_id        bigint NOT NULL,
    sentence_sha256 bytea NOT NULL,
    fact_id         bigint NOT NULL,
    PRIMARY KEY (tenant_id, slice_id, sentence_sha256, fact_id),
    FOREIGN KEY (tenant_id, fact_id) REFERENCES facts (tenant_id, fact_id) ON DELETE CASCADE
);
CREATE INDEX IF NOT EXISTS fact_sentences_of_fact ON fact_sentences (tenant_id, fact_id);

-- Whether a fact was of use: one vote for each voter ('' is whoever asks without an owner), fact and turn ('' is none).
CREATE TABLE IF NOT EXISTS fact_votes (
    tenant_id  text COLLATE "C" NOT NULL,
    fact_id    bigint NOT NULL,
    voter      text COLLATE "C" NOT NULL,
    turn_id    text COLLATE "C" NOT NULL CHECK (octet_length(turn_id) <= 400),
    slice_id   bigint NOT NULL,
    is_helpful boolean NOT NULL,
    at         timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, fact_id, voter, turn_id),
    FOREIGN KEY (tenant_id, fact_id) REFERENCES facts (tenant_id, fact_id) ON DELETE CASCADE
);

-- Two facts that cannot both hold, until a person or a later fact says which: one row for an unordered pair. `kept` is what a
-- person answered; `closed` is one that later facts decided. Ignored is final for the pair.
CREATE TABLE IF NOT EXISTS contradictions (
    tenant_id        text COLLATE "C" NOT NULL,
    contradiction_id bigint GENERATED ALWAYS AS IDENTITY,
    slice_id         bigint NOT NULL,
    first_id         bigint NOT NULL,
    second_id        bigint NOT NULL,
    state            text COLLATE "C" NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'resolved', 'ignored', 'closed')),
    kept             text COLLATE "C" CHECK (kept IN ('a', 'b', 'merge', 'ignore')),
    found_at         timestamptz NOT NULL,
    resolved_at      timestamptz,
    resolved_by      text,
    PRIMARY KEY (tenant_id, contradiction_id),
    UNIQUE (tenant_id, first_id, second_id),
    CHECK (first_id < second_id),
    FOREIGN KEY (tenant_id, first_id) REFERENCES facts (tenant_id, fact_id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, second_id) REFERENCES facts (tenant_id, fact_id) ON DELETE CASCADE
);
CREATE INDEX IF NOT EXISTS contradictions_of_slice ON contradictions (tenant_id, slice_id, contradiction_id);
CREATE INDEX IF NOT EXISTS contradictions_second ON contradictions (tenant_id, second_id);

-- Row-level security: by tenant everywhere, by the transaction's slices where rows belong to somebody. The slices
-- themselves are visible by agent and owner (`*`: every owner of the agent, for an admin's listing and clearing);
-- reverie_app has no right at all to the keys, neither those of callers nor that of the tombstones.
DO $$
DECLARE
    of_tenant constant text := 'tenant_id = (SELECT current_setting(''reverie.tenant'', true))';
    of_slices constant text := of_tenant || ' AND slice_id = ANY ((SELECT string_to_array(nullif('
        'current_setting(''reverie.slices'', true), ''''), '',''))::bigint[])';
    of_agent constant text := of_tenant ||
        ' AND (agent_id IS NULL OR agent_id = (SELECT current_setting(''reverie.agent'', true)))'
        ' AND (owner_key IS NULL OR (SELECT current_setting(''reverie.owner'', true)) IN (owner_key, ''*''))';
    t text;
BEGIN
    FOREACH t IN ARRAY ARRAY['agents', 'slices', 'embedding_cache', 'documents', 'versions', 'chunks', 'postings', 'vectors',
        'tombstones', 'sessions', 'messages', 'compactions', 'window_summaries', 'events', 'recalls', 'model_calls', 'model_outcomes',
        'episodes', 'derivations', 'stages', 'extraction_retries', 'memory_compactions',
        'entities', 'entity_terms', 'entity_names', 'entity_vectors', 'mentions', 'relations', 'statements',
        'duplicates', 'merges', 'reports', 'report_views',
        'facts', 'fact_sources', 'fact_sentences', 'fact_votes', 'contradictions', 'receipts', 'unmet_requests', 'turns',
        'removed_turns', 'slice_nearness'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
        EXECUTE format('DROP POLICY IF EXISTS visible ON %I', t);
        EXECUTE format('CREATE POLICY visible ON %I TO reverie_app USING (%s)', t,
            CASE WHEN t = 'slices' THEN of_agent
                 WHEN t IN ('agents', 'embedding_cache', 'model_calls', 'model_outcomes', 'removed_turns') THEN of_tenant
                 ELSE of_slices END);
        -- Upkeep that crosses tenants (back-fill, migration) works as the owner and has to say so.
        EXECUTE format('DROP POLICY IF EXISTS maintenance ON %I', t);
        EXECUTE format('CREATE POLICY maintenance ON %I TO CURRENT_USER USING ('
            '(SELECT current_setting(''reverie.maintenance'', true)) = ''on'')', t);
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO reverie_app', t);
    END LOOP;
END $$;
GRANT SELECT ON models, model_relevance TO reverie_app;

-- The audit is added to and read, and never changed.
ALTER TABLE audit ENABLE ROW LEVEL SECURITY;
ALTER TABLE audit FORCE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS visible ON audit;
CREATE POLICY visible ON audit FOR SELECT TO reverie_app USING (tenant_id = (SELECT current_setting('reverie.tenant', true)));
DROP POLICY IF EXISTS added ON audit;
CREATE POLICY added ON audit FOR INSERT TO reverie_app
    WITH CHECK (tenant_id = (SELECT current_setting('reverie.tenant', true)));
DROP POLICY IF EXISTS maintenance ON audit;
CREATE POLICY maintenance ON audit TO CURRENT_USER USING ((SELECT current_setting('reverie.maintenance', true)) = 'on');
GRANT SELECT, INSERT ON audit TO reverie_app;

-- Workers look for jobs every few seconds, and at once when this transaction has committed.
CREATE OR REPLACE FUNCTION wake_workers() RETURNS void LANGUAGE sql AS $$
    SELECT pg_notify('procrastinate_queue_v1#reverie', '{"type": "job_inserted", "job_id": 0}');
$$;

-- The jobs are procrastinate's, whose tables are beside these (procrastinate_jobs), and reverie_app has no right to them.
-- A job is deferred by this function in the transaction of its cause. `unit` is what jobs of a stage may run once at a
-- time for. One that already waits for the unit is enough: its row is held until this transaction ends, so that no
-- worker begins it before what it is for can be seen; one that waits for a later time than is wanted is brought forward.
CREATE OR REPLACE FUNCTION defer_job(stage text, unit text, args jsonb, after_seconds double precision)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    job_id bigint;
    wanted constant timestamptz := CASE WHEN after_seconds > 0 THEN now() + make_interval(secs => after_seconds) END;
    unit_lock constant text := stage || ':' || unit;
BEGIN
    IF args ->> 'tenant_id' IS DISTINCT FROM current_setting('reverie.tenant', true)
       AND current_setting('reverie.maintenance', true) IS DISTINCT FROM 'on' THEN
        RAISE insufficient_privilege USING MESSAGE = 'a job is deferred for the tenant of the transaction';
    END IF;
    LOOP
        SELECT j.id INTO job_id FROM procrastinate_jobs j
        WHERE j.queueing_lock = unit_lock AND j.status = 'todo' FOR SHARE;
        IF FOUND THEN
            -- Who else holds it is not waited for: two that wait for each other would both fail.
            UPDATE procrastinate_jobs j SET scheduled_at = wanted
            WHERE j.id = (SELECT k.id FROM procrastinate_jobs k
                          WHERE k.id = job_id AND k.scheduled_at > coalesce(wanted, now()) FOR UPDATE SKIP LOCKED);
            IF wanted IS NULL THEN
                PERFORM wake_workers();
            END IF;
            RETURN job_id;
        END IF;
        BEGIN
            RETURN (procrastinate_defer_jobs_v1(ARRAY[
                ROW('reverie', stage, 0, unit_lock, unit_lock, args, wanted)::procrastinate_job_to_defer_v1]))[1];
        EXCEPTION WHEN unique_violation THEN NULL;
        END;
    END LOOP;
END $$;
REVOKE ALL ON FUNCTION defer_job(text, text, jsonb, double precision) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION defer_job(text, text, jsonb, double precision) TO reverie_app;

-- Why a job last failed: a code, never memory text; and how many workers have died while they ran it.
CREATE TABLE IF NOT EXISTS job_errors (
    job_id  bigint PRIMARY KEY REFERENCES procrastinate_jobs (id) ON DELETE CASCADE,
    error   text NOT NULL,
    deaths  integer NOT NULL DEFAULT 0,
    at      timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- What the workers of all processes ran since this table was made, over all tenants: how often, how many seconds in
-- all, and how many runs took at most so long (the bounds are in `stage_runs.py`; the last bucket has the longer ones).
CREATE TABLE IF NOT EXISTS stage_runs (
    stage    text NOT NULL,
    status   text NOT NULL,
    method   text NOT NULL,
    runs     bigint NOT NULL,
    seconds  double precision NOT NULL,
    buckets  bigint[] NOT NULL,
    PRIMARY KEY (stage, status, method)
);

-- How the backups by the clock stand, dumps and the bases of a WAL archive: as of when the last good one is, when it was
-- whole, and why one failed since (a code).
CREATE TABLE IF NOT EXISTS scheduled_backups (
    taken_at   timestamptz,
    ended_at   timestamptz,
    bytes      bigint,
    failed_at  timestamptz,
    error      text,
    kind       text NOT NULL DEFAULT 'dump' CHECK (kind IN ('dump', 'base')),
    PRIMARY KEY (kind)
);

-- The unfinished jobs of the agent and owner of the transaction (with owner `*` of all its owners), by what row-level
-- security goes by; those of the team belong to everybody's.
DROP FUNCTION IF EXISTS own_jobs();
CREATE FUNCTION own_jobs()
RETURNS TABLE (job_id bigint, stage text, status text, owner_key text, scheduled_at timestamptz, attempts integer,
               error text, failed_at timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
    SELECT j.id, j.task_name::text, j.status::text, j.args ->> 'owner_key', j.scheduled_at, j.attempts, e.error, e.at
    FROM procrastinate_jobs j LEFT JOIN job_errors e ON e.job_id = j.id
    WHERE j.queue_name IN ('reverie', 'reverie-quarantine') AND j.status IN ('todo', 'doing', 'failed')
      AND j.args ->> 'tenant_id' = current_setting('reverie.tenant', true)
      AND j.args ->> 'agent_id' = current_setting('reverie.agent', true)
      AND (j.args ->> 'owner_key' IS NULL OR current_setting('reverie.owner', true) IN (j.args ->> 'owner_key', '*'))
    ORDER BY j.id
$$;
REVOKE ALL ON FUNCTION own_jobs() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION own_jobs() TO reverie_app;

-- Give those of own_jobs() that failed for good all their attempts again: of a stage, one job, or (null) all; how many.
CREATE OR REPLACE FUNCTION retry_own_jobs(of_stage text, only_job bigint)
RETURNS integer LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    retried bigint[];
BEGIN
    WITH again AS (UPDATE procrastinate_jobs j SET status = 'todo', attempts = 0, scheduled_at = NULL, queueing_lock = NULL,
                                    worker_id = NULL, queue_name = 'reverie'
    FROM own_jobs() o
    WHERE j.id = o.job_id AND j.status = 'failed'
      AND (of_stage IS NULL OR o.stage = of_stage) AND (only_job IS NULL OR o.job_id = only_job)
    RETURNING j.id)
    SELECT coalesce(array_agg(id), '{}') INTO retried FROM again;
    UPDATE job_errors SET deaths = 0 WHERE job_id = ANY (retried);
    PERFORM wake_workers();
    RETURN cardinality(retried);
END $$;
REVOKE ALL ON FUNCTION retry_own_jobs(text, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION retry_own_jobs(text, bigint) TO reverie_app;

-- The next job that may run, now taken by a worker. Its queueing lock says that one waits, which it no longer does: kept,
-- it would be in the way of putting the job back when another waits by then.
CREATE OR REPLACE FUNCTION take_job(queues text[], worker bigint)
RETURNS procrastinate_jobs LANGUAGE plpgsql AS $$
DECLARE
    taken procrastinate_jobs;
BEGIN
    taken := procrastinate_fetch_job_v2(queues, worker);
    IF taken.id IS NOT NULL THEN
        UPDATE procrastinate_jobs SET queueing_lock = NULL WHERE id = taken.id;
    END IF;
    RETURN taken;
END $$;
CREATE INDEX IF NOT EXISTS jobs_of_agent ON procrastinate_jobs ((args ->> 'tenant_id'), (args ->> 'agent_id'), status);
-- Which jobs wait for a lock: taking one asks that of each candidate.
CREATE INDEX IF NOT EXISTS jobs_of_lock ON procrastinate_jobs (lock) WHERE status IN ('todo', 'doing');
CREATE INDEX IF NOT EXISTS events_by_time ON events (at);

-- What runs with the owner's rights finds its tables where they are, and nowhere before that: without `pg_temp` at the end
-- the caller's temporary tables would be looked at first.
DO $$
DECLARE
    definer regprocedure;
BEGIN
    FOR definer IN SELECT oid FROM pg_proc WHERE prosecdef AND pronamespace = current_schema()::regnamespace
                   AND proowner = (SELECT oid FROM pg_roles WHERE rolname = current_user) ORDER BY oid LOOP
        EXECUTE format('ALTER FUNCTION %s SET search_path = %I, pg_temp', definer, current_schema());
    END LOOP;
END $$;
