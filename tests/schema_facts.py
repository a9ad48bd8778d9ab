"""What there is to know of a schema, line by line, so that two of them can be compared."""

from __future__ import annotations

import psycopg

# The order of columns is not among it: one that was added stands at the end. Nor are partitions that the program made.
_FACTS = """
WITH ours AS (
    SELECT c.oid, c.relname, c.relkind FROM pg_class c
    WHERE c.relnamespace = 'public'::regnamespace AND c.relname !~ '^vectors_[1-9]'
      AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')
)
SELECT 'relation', o.relname::text, o.relkind::text,
       concat_ws(' ', c.relowner::regrole, c.relreplident, c.relpersistence, c.relrowsecurity, c.relforcerowsecurity,
                 c.reloptions, c.relacl, pg_get_expr(c.relpartbound, c.oid),
                 obj_description(c.oid, 'pg_class'))
FROM ours o JOIN pg_class c USING (oid) WHERE o.relkind NOT IN ('c')
UNION ALL
SELECT 'column', o.relname::text, a.attname::text,
       concat_ws(' ', format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity, a.attgenerated, a.attstorage,
                 a.attcompression, a.attcollation::regcollation, pg_get_expr(d.adbin, d.adrelid), a.attacl,
                 a.attoptions, col_description(o.oid, a.attnum))
FROM ours o JOIN pg_attribute a ON a.attrelid = o.oid LEFT JOIN pg_attrdef d ON (d.adrelid, d.adnum) = (o.oid, a.attnum)
WHERE o.relkind IN ('r', 'p', 'v', 'm', 'c') AND a.attnum > 0 AND NOT a.attisdropped
UNION ALL
SELECT 'index', i.indrelid::regclass::text, o.relname::text,
       concat_ws(' ', pg_get_indexdef(o.oid), i.indisvalid, i.indisclustered, obj_description(o.oid, 'pg_class'))
FROM ours o JOIN pg_index i ON i.indexrelid = o.oid
UNION ALL
SELECT 'constraint', o.relname::text, k.conname::text,
       concat_ws(' ', pg_get_constraintdef(k.oid), k.convalidated, k.condeferrable, k.conindid::regclass,
                 obj_description(k.oid, 'pg_constraint'))
FROM ours o JOIN pg_constraint k ON k.conrelid = o.oid
UNION ALL
SELECT 'sequence', o.relname::text, d.refobjid::regclass::text,
       concat_ws(' ', s.seqtypid::regtype, s.seqincrement, s.seqmin, s.seqmax, s.seqcache, s.seqcycle, d.deptype)
FROM ours o JOIN pg_sequence s ON s.seqrelid = o.oid
LEFT JOIN pg_depend d ON d.objid = o.oid AND d.deptype IN ('a', 'i')
UNION ALL
SELECT 'policy', o.relname::text, p.polname::text,
       concat_ws(' ', p.polcmd, p.polpermissive, p.polroles::regrole[], pg_get_expr(p.polqual, o.oid),
                 pg_get_expr(p.polwithcheck, o.oid))
FROM ours o JOIN pg_policy p ON p.polrelid = o.oid
UNION ALL
SELECT 'trigger', o.relname::text, t.tgname::text, concat_ws(' ', pg_get_triggerdef(t.oid), t.tgenabled)
FROM ours o JOIN pg_trigger t ON t.tgrelid = o.oid WHERE NOT t.tgisinternal
UNION ALL
SELECT 'function', f.oid::regprocedure::text, '',
       concat_ws(' ', f.proowner::regrole, pg_get_functiondef(f.oid), f.proacl, obj_description(f.oid, 'pg_proc'))
FROM pg_proc f WHERE f.pronamespace = 'public'::regnamespace
  AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = f.oid AND d.deptype = 'e')
UNION ALL
SELECT 'type', t.typname::text, coalesce(e.enumlabel::text, ''), concat_ws(' ', e.enumsortorder, t.typowner::regrole)
FROM pg_type t JOIN pg_enum e ON e.enumtypid = t.oid WHERE t.typnamespace = 'public'::regnamespace
UNION ALL
SELECT 'statistics', s.stxname::text, '', pg_get_statisticsobjdef(s.oid) FROM pg_statistic_ext s
WHERE s.stxnamespace = 'public'::regnamespace
UNION ALL
SELECT 'extension', e.extname::text, '', '' FROM pg_extension e
UNION ALL
SELECT 'migration', m.number::text, m.name, i.jobs_migration FROM reverie_migrations m, schema_info i
"""


def schema_facts(conninfo: str) -> set[tuple[str, ...]]:
    """Relations, columns, indexes, constraints, sequences, policies, triggers, functions, types and migrations."""
    with psycopg.connect(conninfo) as connection:
        rows = connection.execute(_FACTS.encode()).fetchall()
    facts = {tuple(str(value) for value in row) for row in rows}
    assert len(facts) == len(rows)
    return facts


def differences(fresh: str, upgraded: str) -> list[str]:
    """What only one of the two has, sorted; nothing where the schemas are the same."""
    made, brought = schema_facts(fresh), schema_facts(upgraded)
    lines = [f"{' | '.join(fact)}  (only schema.sql)" for fact in made - brought]
    return sorted([*lines, *(f"{' | '.join(fact)}  (only the migrations)" for fact in brought - made)])
