-- What the tests add to the schema: a transaction of the program that changes what a search ranks by, and has not given the
-- slice its next revision before, fails. A test that tampers with tables by a connection of its own may do so, and by one of
-- the program's after `SET LOCAL reverie_checks.off = 'on'`.
CREATE SCHEMA checks;
GRANT USAGE ON SCHEMA checks TO PUBLIC;

CREATE FUNCTION checks.note_revision() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('reverie_checks.revised',
        concat_ws(',', nullif(current_setting('reverie_checks.revised', true), ''), coalesce(NEW.slice_id, OLD.slice_id)), true);
    RETURN NULL;
END $$;
-- A slice that is new or goes is held by nobody.
CREATE TRIGGER checks_made AFTER INSERT ON slices FOR EACH ROW EXECUTE FUNCTION checks.note_revision();
CREATE TRIGGER checks_revised AFTER UPDATE ON slices FOR EACH ROW WHEN (NEW.revision > OLD.revision)
    EXECUTE FUNCTION checks.note_revision();
CREATE TRIGGER checks_gone AFTER DELETE ON slices FOR EACH ROW EXECUTE FUNCTION checks.note_revision();

CREATE FUNCTION checks.revised() RETURNS bigint[] LANGUAGE sql STABLE AS $$
    SELECT coalesce(string_to_array(nullif(current_setting('reverie_checks.revised', true), ''), ',')::bigint[], '{}')
$$;
CREATE FUNCTION checks.is_program() RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT (coalesce(current_setting('reverie.tenant', true), '') <> '' OR current_setting('reverie.maintenance', true) = 'on')
           AND current_setting('reverie_checks.off', true) IS DISTINCT FROM 'on'
$$;
CREATE FUNCTION checks.refuse(of_table text, unrevised bigint[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF cardinality(unrevised) > 0 AND checks.is_program() THEN
        RAISE 'a change of % without a revision of slices %', of_table, unrevised;
    END IF;
END $$;

CREATE FUNCTION checks.after_insert() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM checks.refuse(TG_TABLE_NAME, ARRAY(SELECT DISTINCT slice_id FROM new_rows WHERE slice_id <> ALL (checks.revised())));
    RETURN NULL;
END $$;
CREATE FUNCTION checks.after_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM checks.refuse(TG_TABLE_NAME, ARRAY(SELECT DISTINCT slice_id FROM old_rows WHERE slice_id <> ALL (checks.revised())));
    RETURN NULL;
END $$;
-- Columns that no search ranks by change without a revision: how far something was read, why it has no vector, what use a
-- fact was of, and who confirmed it.
CREATE FUNCTION checks.unranked() RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
    SELECT ARRAY['embedded', 'embed_error', 'facts_version', 'helpful', 'unhelpful', 'use_count', 'last_used_at',
                 'last_confirmed_at', 'confirmed_by']
$$;
CREATE FUNCTION checks.after_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM checks.refuse(TG_TABLE_NAME, ARRAY(
        SELECT DISTINCT slice_id FROM (
            (SELECT (to_jsonb(n) ->> 'slice_id')::bigint AS slice_id, to_jsonb(n) - checks.unranked()
             FROM new_rows n EXCEPT ALL
             SELECT (to_jsonb(o) ->> 'slice_id')::bigint, to_jsonb(o) - checks.unranked()
             FROM old_rows o)
            UNION ALL
            (SELECT (to_jsonb(o) ->> 'slice_id')::bigint, to_jsonb(o) - checks.unranked()
             FROM old_rows o EXCEPT ALL
             SELECT (to_jsonb(n) ->> 'slice_id')::bigint, to_jsonb(n) - checks.unranked()
             FROM new_rows n)) AS changed
        WHERE slice_id <> ALL (checks.revised())));
    RETURN NULL;
END $$;

DO $$
DECLARE
    t text;
BEGIN
    FOREACH t IN ARRAY ARRAY['documents', 'chunks', 'postings', 'vectors', 'vectors_0', 'facts', 'fact_sources', 'fact_sentences'] LOOP
        EXECUTE format('CREATE TRIGGER checks_insert AFTER INSERT ON %I REFERENCING NEW TABLE AS new_rows '
                       'FOR EACH STATEMENT EXECUTE FUNCTION checks.after_insert()', t);
        EXECUTE format('CREATE TRIGGER checks_update AFTER UPDATE ON %I REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows '
                       'FOR EACH STATEMENT EXECUTE FUNCTION checks.after_update()', t);
        EXECUTE format('CREATE TRIGGER checks_delete AFTER DELETE ON %I REFERENCING OLD TABLE AS old_rows '
                       'FOR EACH STATEMENT EXECUTE FUNCTION checks.after_delete()', t);
    END LOOP;
END $$;
