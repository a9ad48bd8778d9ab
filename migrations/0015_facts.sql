-- Facts: what files and conversations state, when it holds, and what people said of it.
ALTER TABLE sessions ADD COLUMN facts_through integer NOT NULL DEFAULT 0,
    ADD COLUMN facts_asked_through integer NOT NULL DEFAULT 0,
    ADD COLUMN facts_attempts integer NOT NULL DEFAULT 0,
    ADD COLUMN facts_retry_at timestamptz;
CREATE INDEX sessions_of_new_facts ON sessions (tenant_id, slice_id, session_key)
    WHERE facts_through < last_seq;
CREATE INDEX sessions_to_ask_for_facts ON sessions (tenant_id, slice_id, session_key)
    WHERE facts_asked_through < completed_through;
ALTER TABLE documents ADD COLUMN facts_version integer NOT NULL DEFAULT 0;
CREATE INDEX documents_of_new_facts ON documents (tenant_id, slice_id, document_id)
    WHERE facts_version < version AND session_key IS NULL;

CREATE TABLE facts (
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
CREATE UNIQUE INDEX facts_of_chunk ON facts (tenant_id, chunk_id) WHERE chunk_id IS NOT NULL;

CREATE TABLE fact_sources (
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
CREATE INDEX fact_sources_of_fact ON fact_sources (tenant_id, fact_id, source_id);
CREATE INDEX fact_sources_of_document ON fact_sources (tenant_id, document_id) WHERE document_id IS NOT NULL;
CREATE INDEX fact_sources_of_session ON fact_sources (tenant_id, slice_id, session_key) WHERE session_key IS NOT NULL;

CREATE TABLE fact_sentences (
    tenant_id       text COLLATE "C" NOT NULL,
    slice_id        bigint NOT NULL,
    sentence_sha256 bytea NOT NULL,
    fact_id         bigint NOT NULL,
    PRIMARY KEY (tenant_id, slice_id, sentence_sha256, fact_id),
    FOREIGN KEY (tenant_id, fact_id) REFERENCES facts (tenant_id, fact_id) ON DELETE CASCADE
);
CREATE INDEX fact_sentences_of_fact ON fact_sentences (tenant_id, fact_id);

CREATE TABLE fact_votes (
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

CREATE TABLE contradictions (
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
CREATE INDEX contradictions_of_slice ON contradictions (tenant_id, slice_id, contradiction_id);
CREATE INDEX contradictions_second ON contradictions (tenant_id, second_id);

DO $$
DECLARE
    of_slices constant text := 'tenant_id = (SELECT current_setting(''reverie.tenant'', true))'
        ' AND slice_id = ANY ((SELECT string_to_array(nullif('
        'current_setting(''reverie.slices'', true), ''''), '',''))::bigint[])';
    t text;
BEGIN
    FOREACH t IN ARRAY ARRAY['facts', 'fact_sources', 'fact_sentences', 'fact_votes', 'contradictions'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
        EXECUTE format('CREATE POLICY visible ON %I TO reverie_app USING (%s)', t, of_slices);
        EXECUTE format('CREATE POLICY maintenance ON %I TO CURRENT_USER USING ('
            '(SELECT current_setting(''reverie.maintenance'', true)) = ''on'')', t);
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO reverie_app', t);
    END LOOP;
END $$;

-- Notes of a day that has several (2023-05-04-02.md) are dated by their names, as that of a day is.
UPDATE documents SET note_day = substring(path FROM '([0-9]{4}-[0-9]{2}-[0-9]{2})-[0-9]{1,3}\.md$')::date
WHERE note_day IS NULL AND session_key IS NULL
  AND path ~ '(^|/)[0-9]{4}-((0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])|(0[13-9]|1[0-2])-(29|30)|(0[13578]|1[02])-31)-[0-9]{1,3}\.md$';

-- The receipts of forgetting.
CREATE TABLE receipts (
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
CREATE INDEX receipts_of_slice ON receipts (tenant_id, slice_id, receipt_id);
ALTER TABLE receipts ENABLE ROW LEVEL SECURITY;
ALTER TABLE receipts FORCE ROW LEVEL SECURITY;
CREATE POLICY visible ON receipts TO reverie_app USING (tenant_id = (SELECT current_setting('reverie.tenant', true))
    AND slice_id = ANY ((SELECT string_to_array(nullif(current_setting('reverie.slices', true), ''), ','))::bigint[]));
CREATE POLICY maintenance ON receipts TO CURRENT_USER USING (
    (SELECT current_setting('reverie.maintenance', true)) = 'on');
GRANT SELECT, INSERT, UPDATE, DELETE ON receipts TO reverie_app;

-- SOUL.md is written anew after a number of writes of memory files, which leaves a report.
ALTER TABLE slices ADD COLUMN memory_writes integer NOT NULL DEFAULT 0;
ALTER TABLE reports DROP CONSTRAINT reports_mode_check;
ALTER TABLE reports ADD CONSTRAINT reports_mode_check CHECK (mode IN ('full', 'focused', 'dreaming', 'soul'));
