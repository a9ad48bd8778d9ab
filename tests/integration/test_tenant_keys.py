"""Keys that keep tenants together: each begins with the tenant, so that the tables can be distributed by it."""

from __future__ import annotations

import psycopg

TABLES = """
SELECT c.relname::text FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id'
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND c.relname <> 'keys' ORDER BY 1"""
# The unique keys that do not begin with the tenant.
UNIQUE = """
SELECT i.indexrelid::regclass::text FROM pg_index i
JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attname = 'tenant_id'
WHERE i.indrelid = ANY(%s::regclass[]) AND i.indisunique AND i.indkey[0] <> a.attnum ORDER BY 1"""
# The foreign keys that lead from tenants to tenants and do not have the tenant at the same place, first, in both.
FOREIGN = """
SELECT k.conname::text FROM pg_constraint k
JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attname = 'tenant_id'
JOIN pg_attribute b ON b.attrelid = k.confrelid AND b.attname = 'tenant_id'
WHERE k.contype = 'f' AND (k.conkey[1] <> a.attnum OR k.confkey[1] <> b.attnum) ORDER BY 1"""
# Where the foreign keys of tenants lead that have no tenant.
ELSEWHERE = """
SELECT DISTINCT k.confrelid::regclass::text FROM pg_constraint k
WHERE k.contype = 'f' AND k.conrelid = ANY(%s::regclass[]) AND NOT EXISTS (
    SELECT FROM pg_attribute WHERE attrelid = k.confrelid AND attname = 'tenant_id')"""
# What sets the tenant itself to null or to a default.
SETTING = """
SELECT k.conname::text FROM pg_constraint k JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attname = 'tenant_id'
WHERE k.contype = 'f' AND k.confdeltype IN ('n', 'd')
  AND (k.confdelsetcols IS NULL OR a.attnum = ANY(k.confdelsetcols))"""


def test_keys_of_tenants_begin_with_the_tenant(conninfo: str) -> None:
    with psycopg.connect(conninfo) as connection:
        tables = [name for (name,) in connection.execute(TABLES).fetchall()]
        assert len(tables) > 40
        assert connection.execute(UNIQUE.encode(), [tables]).fetchall() == []
        assert connection.execute(FOREIGN.encode()).fetchall() == []
        # One table for all tenants is copied to every node.
        assert connection.execute(ELSEWHERE.encode(), [tables]).fetchall() == [("models",)]
        assert connection.execute(SETTING.encode()).fetchall() == []
