"""Databases of former releases, restored from their dumps."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

HERE = Path(__file__).parent
RELEASES = sorted(path.stem for path in HERE.glob("*.sql") if not path.stem.endswith(".rows"))
ROLE = b"""
DO $$ BEGIN CREATE ROLE reverie_app NOLOGIN NOBYPASSRLS NOSUPERUSER;
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$
"""


@contextmanager
def empty_database(server_conninfo: str) -> Iterator[str]:
    """A database with nothing in it, gone afterwards."""
    name = f"empty_{secrets.token_hex(6)}"
    with psycopg.connect(server_conninfo, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        try:
            yield make_conninfo(server_conninfo, dbname=name)
        finally:
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@contextmanager
def restored(server_conninfo: str, release: str, *, owner: str | None = None) -> Iterator[str]:
    """The database of a release as its dump has it, gone afterwards; with `owner` it belongs to that role."""
    with empty_database(server_conninfo) as conninfo:
        with psycopg.connect(conninfo, autocommit=True) as connection:
            connection.execute(ROLE)
            if owner is not None:
                connection.execute(b"CREATE EXTENSION vector")
                connection.execute(sql.SQL("GRANT CREATE ON SCHEMA public TO {}").format(sql.Identifier(owner)))
                connection.execute(sql.SQL("SET SESSION AUTHORIZATION {}").format(sql.Identifier(owner)))
            connection.execute((HERE / f"{release}.sql").read_bytes())
        yield conninfo
