"""Searches tables and indexes for damage, for `doctor`: what was read, what is damaged, what to do about it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import psycopg
from psycopg.rows import DictRow, dict_row

from reverie_indexer.database.queries import Queries

SQL = Queries(__file__)
# PostgreSQL's errors for a page that is not as it was written, a file that is gone, one that the disk cannot read.
_DAMAGE = (psycopg.InternalError, psycopg.errors.UndefinedFile, psycopg.errors.IoError)


@dataclass(slots=True)
class DamageReport:
    """`damaged` has a sentence for each relation, with what to do. Sizes are in bytes."""

    checked: int = 0
    checked_bytes: int = 0
    left_out: list[str] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)
    by_checkers: bool = True


async def look_for_damage(conninfo: str, *, max_seconds: float = 30.0) -> DamageReport:
    """Read every page of the tables and their indexes, smallest relation first, until the time is over.

    With PostgreSQL's own checkers (amcheck, pg_prewarm) where this login may create them, for this check alone; else
    each table is read as a query would read it, and indexes are not looked at. A page that PostgreSQL holds in memory
    is judged by what it has there. Nothing is changed. Raises psycopg.Error only where no connection can be had.
    """
    report = DamageReport()
    until = time.monotonic() + max_seconds
    async with await psycopg.AsyncConnection.connect(conninfo, row_factory=dict_row, connect_timeout=15) as connection:
        await connection.execute(SQL["set_up_look"])
        try:
            async with connection.transaction():
                await connection.execute(SQL["bring_checkers"])
        except psycopg.Error:
            report.by_checkers = False
        relations = await (await connection.execute(SQL["relations"])).fetchall()
        for relation in relations:
            left = until - time.monotonic()
            if left <= 0 or (relation["is_index"] and not report.by_checkers):
                report.left_out.append(relation["name"])
                continue
            try:
                async with connection.transaction():
                    await connection.execute(SQL["bound_look"], {"timeout": f"{max(1, int(left * 1000))}ms"})
                    wrong = await _problem_of(connection, relation, report.by_checkers)
            except psycopg.Error as error:
                # A damaged page may even end the server process that reads it.
                if not (isinstance(error, _DAMAGE) or connection.closed):
                    report.left_out.append(relation["name"])
                    continue
                wrong = error.diag.message_primary or "PostgreSQL ended when it read it"
                if connection.closed:
                    report.damaged.append(_sentence(relation, wrong))
                    break
            report.checked += 1
            report.checked_bytes += relation["size"]
            if wrong:
                report.damaged.append(_sentence(relation, wrong))
        if not connection.closed and not report.damaged:
            await _count(connection, report, until)
        # The rollback removes the checker's extension again.
        if not connection.closed:
            await connection.rollback()
    return report


async def _count(connection: psycopg.AsyncConnection[DictRow], report: DamageReport, until: float) -> None:
    """Compare the rows of tables with the counts that other tables keep of them."""
    left = until - time.monotonic()
    if left <= 0:
        report.left_out.append("the number of rows")
        return
    try:
        async with connection.transaction():
            await connection.execute(SQL["bound_look"], {"timeout": f"{max(1, int(left * 1000))}ms"})
            rows = await (await connection.execute(SQL["lost_rows"])).fetchall()
    except psycopg.Error:
        report.left_out.append("the number of rows")
        return
    report.damaged += [
        f"the table {row['name']} has lost rows ({row['wrong']} of what rests on it or counts it disagree): stop the "
        "server, keep a copy of its data, and restore a backup"
        for row in rows
        if row["wrong"]
    ]


async def _problem_of(connection: psycopg.AsyncConnection[DictRow], relation: DictRow, by_checkers: bool) -> str | None:
    if not by_checkers:
        await connection.execute(SQL["choose_table"], {"relation": relation["oid"]})
        await connection.execute(SQL["read_table"])
        return None
    statement = "check_table"
    if relation["is_index"]:
        statement = "check_index" if relation["is_btree"] else "read_index"
    rows = await (await connection.execute(SQL[statement], {"relation": relation["oid"]})).fetchall()
    return next((row["problem"] for row in rows if row["problem"]), None)


def _sentence(relation: DictRow, wrong: str) -> str:
    name = relation["name"]
    if relation["is_index"]:
        return f"the index {name} is damaged ({wrong}): REINDEX INDEX {name}; its table is not concerned"
    return (
        f"the table {name} is damaged ({wrong}): stop the server, keep a copy of its data, and restore a backup; "
        "what is written until then may be lost too. Look at the disk: it is rarely one page"
    )
