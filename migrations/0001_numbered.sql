-- Number the schema: the database records which migrations it has, in place of a hash of schema.sql.
--
-- Release 0.1.0 recorded the hash of the schema.sql it applied last, also where a column of it was missing, because a
-- version under development had made the table without it. Such a database is not at 0.1.0, and is refused.
DO $$
DECLARE
    missing text;
BEGIN
    SELECT string_agg(t.name || '.' || c.name, ', ' ORDER BY t.name, c.name) INTO missing
    FROM (VALUES
        ('agents', 'tenant_id agent_id name leader_agent_id settings created_at updated_at'),
        ('chunks', 'tenant_id chunk_id slice_id tier document_id ordinal start_line end_line char_start
            char_end heading_path text context passage_sha256 terms term_count embedded
            embed_error valid_from valid_to'),
        ('compactions', 'tenant_id session_key number slice_id from_seq through_seq summary flushed method
            prompt prompt_version model at'),
        ('derivations', 'tenant_id derivation_id slice_id document_id line_sha256 stage method prompt
            prompt_version model sources at'),
        ('documents', 'tenant_id document_id slice_id path session_key episode_id expires_at enabled
            sort_order version note_day created_at updated_at deleted_at'),
        ('duplicates', 'tenant_id duplicate_id slice_id first_id second_id cosine jaro_winkler state
            found_at decided_at decided_by'),
        ('embedding_cache', 'tenant_id model_id passage_sha256 embedding created_at'),
        ('entities', 'tenant_id entity_id slice_id external_id type name name_key description aliases
            properties confidence since method prompt prompt_version model language model_id
            merged_into deduped_at created_at updated_at'),
        ('entity_names', 'tenant_id slice_id name_key entity_id'),
        ('entity_terms', 'tenant_id slice_id term entity_id weight'),
        ('entity_vectors', 'tenant_id slice_id entity_id model_id type embedding'),
        ('episodes', 'tenant_id episode_id slice_id agent_id owner_key session_key session_id from_seq
            through_seq compactions summary abstract key_topics method prompt prompt_version
            model fallback attempts started_at ended_at created_at expires_at semantic_at
            semantic_attempts promoted_at promoted_to'),
        ('events', 'tenant_id event_id slice_id agent_id kind payload at'),
        ('extraction_retries', 'tenant_id session_key through_seq from_seq slice_id attempts noted_on reason due_at'),
        ('job_errors', 'job_id error deaths at'),
        ('keys', 'key_id tenant_id secret_sha256 role owner_key agent_ids created_at revoked_at'),
        ('memory_compactions', 'tenant_id slice_id number document_id version_before version_after method prompt
            prompt_version model reason at'),
        ('mentions', 'tenant_id mention_id slice_id entity_id episode_id session_key session_id seqs
            said_at name description aliases properties confidence method prompt prompt_version
            model recorded_at'),
        ('merges', 'tenant_id merge_id slice_id kept_id absorbed_id cosine jaro_winkler by at undone_by
            undone_at'),
        ('messages', 'tenant_id session_key seq slice_id message_id role content extra tokens at'),
        ('model_calls', 'tenant_id day calls'),
        ('models', 'model_id provider name revision dimension normalised active created_at'),
        ('postings', 'tenant_id slice_id chunk_id document_id term tf length tier'),
        ('recalls', 'tenant_id chunk_id recall_id slice_id query_hash score source at'),
        ('relations', 'tenant_id relation_id slice_id source_id name target_id confidence valid_from
            valid_to method prompt prompt_version model recorded_at'),
        ('report_views', 'tenant_id report_id viewer slice_id at'),
        ('reports', 'tenant_id report_id slice_id mode topic trigger night started_at ended_at status
            reason seen promoted rejected diff path version_before version_after method prompt
            prompt_version model fallback'),
        ('sessions', 'tenant_id session_key slice_id agent_id owner_key session_id state metadata last_seq
            message_count tokens compactions compacted_through completed_through
            summarised_through extracted_through extraction_seen_through summary created_at
            updated_at'),
        ('slices', 'tenant_id slice_id agent_id owner_key past chunk_count term_total partition_id'),
        ('stages', 'tenant_id slice_id stage last_started_at last_success_at last_failed_at last_status
            last_reason last_error last_method nightly_on'),
        ('statements', 'tenant_id statement_id slice_id source_id name target_id since until relation_id
            episode_id session_key session_id seqs said_at confidence method prompt
            prompt_version model recorded_at'),
        ('tombstone_key', 'only_row secret'),
        ('tombstones', 'tenant_id slice_id text_hmac word_count at'),
        ('vectors', 'tenant_id slice_id chunk_id document_id partition_id model_id tier covered embedding'),
        ('versions', 'tenant_id slice_id document_id version content size sha256 deleted at by reason'),
        ('window_summaries', 'tenant_id session_key slice_id from_seq through_seq summary prompt prompt_version
            model at')
    ) AS t (name, columns), regexp_split_to_table(t.columns, '\s+') AS c (name)
    WHERE NOT EXISTS (SELECT FROM pg_attribute a
                      WHERE a.attrelid = to_regclass(t.name) AND a.attname = c.name AND NOT a.attisdropped);
    IF missing IS NOT NULL THEN
        RAISE EXCEPTION USING MESSAGE = 'the schema is not that of release 0.1.0, it lacks ' || missing ||
            ': export the agents with the version that made it and import them into an empty database';
    END IF;
END $$;

CREATE TABLE reverie_migrations (
    number      integer PRIMARY KEY,
    name        text NOT NULL,
    applied_at  timestamptz NOT NULL DEFAULT now()
);

-- A program of release 0.1.0 that is started again looks for the hash, and stops where it is gone, instead of applying
-- its own schema over this one.
ALTER TABLE schema_info DROP COLUMN sha256;
ALTER TABLE schema_info ADD COLUMN jobs_migration text;
UPDATE schema_info SET jobs_migration = '03.04.00_50_post_add_retry_failed_job_procedure';
ALTER TABLE schema_info ALTER COLUMN jobs_migration SET NOT NULL;
