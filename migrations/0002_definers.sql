-- Functions that run with the owner's rights look at the caller's temporary tables last.
--
-- Without `pg_temp` in it a search path begins with it: who may make a temporary table could put one in place of ours.
DO $$
DECLARE
    definer regprocedure;
BEGIN
    FOR definer IN SELECT oid FROM pg_proc WHERE prosecdef AND pronamespace = current_schema()::regnamespace
                   AND proowner = (SELECT oid FROM pg_roles WHERE rolname = current_user) ORDER BY oid LOOP
        EXECUTE format('ALTER FUNCTION %s SET search_path = %I, pg_temp', definer, current_schema());
    END LOOP;
END $$;
