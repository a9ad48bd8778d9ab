-- What no request reaches within a minute and without a language model: a row for each table of release 0.1.0 that is empty.
INSERT INTO keys (key_id, tenant_id, secret_sha256, role, owner_key, agent_ids)
VALUES ('k010', 'default', sha256('rv_k010_dump-of-release-0.1.0'), 'member', 'user:ada', ARRAY['wren']);
INSERT INTO model_calls (tenant_id, day, calls) VALUES ('default', DATE '2026-11-22', 3);

INSERT INTO compactions (tenant_id, session_key, number, slice_id, from_seq, through_seq, summary, flushed, method)
SELECT tenant_id, session_key, 1, slice_id, 1, 2, 'Ada works at Acme.', 1, 'extractive' FROM sessions;
INSERT INTO window_summaries (tenant_id, session_key, slice_id, from_seq, through_seq, summary, prompt, prompt_version, model)
SELECT tenant_id, session_key, slice_id, 1, 2, 'Ada works at Acme.', 'window_summary', '1', 'some-model' FROM sessions;
INSERT INTO extraction_retries (tenant_id, session_key, through_seq, from_seq, slice_id, attempts, noted_on, reason, due_at)
SELECT tenant_id, session_key, 4, 1, slice_id, 1, DATE '2026-11-22', 'llm_unavailable', TIMESTAMPTZ '2099-01-01 00:00Z'
FROM sessions;

INSERT INTO memory_compactions (tenant_id, slice_id, document_id, version_before, version_after, method, at)
SELECT tenant_id, slice_id, document_id, 1, NULL, 'extractive', TIMESTAMPTZ '2026-11-22 02:00Z'
FROM documents WHERE path = 'MEMORY.md' AND slice_id IN (SELECT slice_id FROM slices WHERE owner_key = 'user:ada');
INSERT INTO reports (tenant_id, report_id, slice_id, mode, trigger, night, started_at, ended_at, status, reason, seen,
                     promoted, rejected, diff)
SELECT tenant_id, 'r-010', slice_id, 'full', 'cron', DATE '2026-11-22', TIMESTAMPTZ '2026-11-22 02:00Z',
       TIMESTAMPTZ '2026-11-22 02:01Z', 'skipped', 'nothing_new', '{}', '[]', '[]', ''
FROM slices WHERE owner_key = 'user:ada' AND NOT past;
INSERT INTO report_views (tenant_id, report_id, viewer, slice_id, at)
SELECT tenant_id, report_id, 'user:ada', slice_id, TIMESTAMPTZ '2026-11-22 08:00Z' FROM reports WHERE report_id = 'r-010';

INSERT INTO entities (tenant_id, slice_id, external_id, type, name, name_key, confidence, since, method, language,
                      merged_into, created_at, updated_at)
SELECT tenant_id, slice_id, 'person:clara-of-rome', 'person', 'Clara of Rome', 'clara of rome', 0.7, created_at,
       'extractive', 'english', entity_id, created_at, created_at
FROM entities WHERE name = 'Clara';
INSERT INTO merges (tenant_id, slice_id, kept_id, absorbed_id, cosine, jaro_winkler, by, at)
SELECT tenant_id, slice_id, merged_into, entity_id, 0.95, 0.9, 'server', created_at
FROM entities WHERE merged_into IS NOT NULL;
INSERT INTO duplicates (tenant_id, slice_id, first_id, second_id, jaro_winkler, found_at)
SELECT tenant_id, slice_id, min(entity_id), max(entity_id), 0.8, TIMESTAMPTZ '2026-11-22 02:00Z'
FROM entities GROUP BY tenant_id, slice_id;

INSERT INTO job_errors (job_id, error, deaths) SELECT min(id), 'llm_unavailable', 1 FROM procrastinate_jobs;
INSERT INTO procrastinate_workers (last_heartbeat) VALUES (TIMESTAMPTZ '2026-11-22 02:00Z');
