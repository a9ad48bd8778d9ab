"""The background work of a run: jobs are done when the dice say so, and what they leave is looked at in the database.

What is new must be made of what its home has: of the messages of the session that it names, of what is known there
already, of the files there. Otherwise somebody else's words got into it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Self

import psycopg
from psycopg.rows import dict_row
from tests.canary.calls import demand, strings_of
from tests.canary.derived import OF_TALKS, Row, RowId, forms_of
from tests.canary.parrot import form_of
from tests.canary.talks import TalkKey
from tests.canary.words import canaries_in, full, strange
from tests.canary.world import MEMORY_NAMES, Home, Job, World
from tests.scripted_model import ScriptedModel

from reverie_server.app.pending_jobs import drain
from reverie_server.runtime import Runtime

# What waits for a while is done too: the cooldown of extraction, the debounce of dreaming.
AHEAD = timedelta(hours=1)
# Why the server writes files by itself, from which time on they are looked at.
REASONS = ["extraction", "emergence", "dreaming", "diary", "compaction", "archive of MEMORY.md", "soul", "memory flush"]
_SLICES = "SELECT slice_id, tenant_id, agent_id, owner_key FROM slices"
_SESSIONS = "SELECT session_key, tenant_id, agent_id, owner_key, session_id FROM sessions"
# Of each table what it has of whom; only what has changed since the last look is read.
_ROWS: Mapping[str, str] = {
    "episodes": """SELECT episode_id::text AS number, slice_id, session_key, episode_id, session_id, through_seq,
                          jsonb_build_array(summary, abstract, session_id, to_jsonb(key_topics)) AS texts
                   FROM episodes t""",
    "mentions": """SELECT mention_id::text AS number, slice_id, session_key, episode_id,
                          jsonb_build_array(name, description, to_jsonb(aliases), properties, session_id) AS texts
                   FROM mentions t""",
    "statements": """SELECT statement_id::text AS number, slice_id, session_key, episode_id,
                            jsonb_build_array(session_id) AS texts FROM statements t""",
    "entities": """SELECT entity_id::text AS number, slice_id, merged_into IS NULL AS listed,
                          jsonb_build_array(external_id, name, description, to_jsonb(aliases), properties) AS texts
                   FROM entities t""",
    "facts": """SELECT fact_id::text AS number, slice_id, jsonb_build_array(subject, predicate, object, text) AS texts
                FROM facts t""",
    "relations": "SELECT relation_id::text AS number, slice_id, '[]'::jsonb AS texts FROM relations t",
    "duplicates": "SELECT duplicate_id::text AS number, slice_id, '[]'::jsonb AS texts FROM duplicates t",
    "merges": "SELECT merge_id::text AS number, slice_id, '[]'::jsonb AS texts FROM merges t",
    "reports": """SELECT report_id AS number, slice_id, started_at::text || report_id AS made, diff,
                         jsonb_build_array(topic, reason, seen, promoted, rejected) AS texts FROM reports t""",
    "derivations": """SELECT derivation_id::text AS number, slice_id, jsonb_build_array(sources) AS texts
                      FROM derivations t""",
}
_CHANGED = " WHERE NOT pg_visible_in_snapshot(t.xmin::text::xid8, %(since)s::pg_snapshot)"
_THERE = """
SELECT 'episodes' AS name, episode_id::text AS number FROM episodes UNION ALL
SELECT 'mentions', mention_id::text FROM mentions UNION ALL
SELECT 'statements', statement_id::text FROM statements UNION ALL
SELECT 'entities', entity_id::text FROM entities UNION ALL
SELECT 'relations', relation_id::text FROM relations UNION ALL
SELECT 'facts', fact_id::text FROM facts UNION ALL
SELECT 'duplicates', duplicate_id::text FROM duplicates UNION ALL
SELECT 'merges', merge_id::text FROM merges UNION ALL
SELECT 'reports', report_id FROM reports UNION ALL
SELECT 'derivations', derivation_id::text FROM derivations
"""
_VERSIONS = f"""
SELECT t.tenant_id, t.document_id, t.version, d.slice_id, d.path, d.deleted_at IS NULL AS living,
       d.version = t.version AS present, t.content, coalesce(p.content, '') AS before
FROM versions t
JOIN documents d ON d.tenant_id = t.tenant_id AND d.document_id = t.document_id
LEFT JOIN versions p ON p.tenant_id = t.tenant_id AND p.document_id = t.document_id AND p.version = t.version - 1
{_CHANGED} AND t.reason = ANY(%(reasons)s) AND NOT t.deleted ORDER BY t.at, t.document_id, t.version
"""
_NOW = "SELECT pg_current_snapshot()::text AS now, to_regclass('pg_dist_node') IS NOT NULL AS is_on_nodes"
_FAILED = "SELECT error FROM job_errors WHERE error LIKE 'internal_error%' ORDER BY job_id"
# Nothing fails here by itself: a few jobs are given up as if they had.
_GIVE_UP = """
WITH given_up AS (
    UPDATE procrastinate_jobs SET status = 'failed', attempts = 6
    WHERE queue_name = 'reverie' AND status = 'todo' AND id % 9 = 0 RETURNING id
)
INSERT INTO job_errors (job_id, error) SELECT id, 'database_unavailable' FROM given_up
ON CONFLICT (job_id) DO UPDATE SET error = excluded.error
"""
_JOBS = """
SELECT id, task_name AS stage, status = 'failed' AS dead, args ->> 'tenant_id' AS tenant_id,
       args ->> 'agent_id' AS agent_id, args ->> 'owner_key' AS owner_key
FROM procrastinate_jobs WHERE queue_name = 'reverie' AND status IN ('todo', 'doing', 'failed') ORDER BY id
"""
# A snapshot in which there is nothing yet.
_EVER = "1:1:"
Rows = Sequence[dict[str, Any]]


class Background:
    """Does the jobs of a served system, and keeps the model of what is derived as the database has it."""

    def __init__(self, runtime: Runtime, world: World, model: ScriptedModel) -> None:
        self._runtime = runtime
        self._world = world
        self._model = model
        self._questions_seen = 0
        # Of each canary the homes that ever had it.
        self._ever: dict[str, set[Home]] = {}
        self._seen: set[tuple[str, int, int]] = set()
        self._since = _EVER
        self._forgotten_seen = 0
        self.runs = 0

    async def __aenter__(self) -> Self:
        conninfo = self._runtime.database.conninfo
        self._connection = await asyncio.to_thread(psycopg.connect, conninfo, autocommit=True, row_factory=dict_row)
        self._connection.execute("SELECT set_config('reverie.maintenance', 'on', false)")
        self._world.jobs = self._jobs
        return self

    async def __aexit__(self, *_: object) -> None:
        self._connection.close()

    async def work(self) -> None:
        """Do every job there is, and what follows from it; LeakError where one met what it does not know."""
        await self._runtime.turn_log.flush()
        await self._runtime.consolidation.cron.defer_nightly()
        self._connection.execute(_GIVE_UP)
        self.runs += await drain(self._runtime, until=datetime.now(UTC) + AHEAD)
        failed = self._connection.execute(_FAILED).fetchall()
        demand(not failed, f"jobs failed by mistake: {failed}")

    def _jobs(self) -> list[Job]:
        return [
            Job(row["id"], row["stage"], row["dead"], Home(row["tenant_id"], row["agent_id"], row["owner_key"]))
            for row in self._connection.execute(_JOBS).fetchall()
        ]

    async def look(self, asked: Mapping[Home, set[str]], *, is_over: bool = True) -> None:
        """Look at all that is derived; LeakError for what is made of something that its home does not have.

        `asked` are words that requests brought along which made something of them. Until what they did `is_over`, what
        was there before may be shown as well.
        """
        read = await asyncio.to_thread(self._read, is_over=is_over)
        homes = {row["slice_id"]: Home(row["tenant_id"], row["agent_id"], row["owner_key"]) for row in read["slices"]}
        talks = {
            row["session_key"]: TalkKey(row["tenant_id"], row["agent_id"], row["owner_key"], row["session_id"])
            for row in read["sessions"]
        }
        for table in ("episodes", "mentions", "statements", "entities"):
            self._take(table, read[table], (homes, talks), asked, is_over=is_over)
        self._take_files(read["versions"], homes, asked)
        for table in ("facts", "relations", "duplicates", "merges", "reports", "derivations"):
            self._take(table, read[table], (homes, talks), asked, is_over=is_over)
        if is_over:
            there = {RowId(row["name"], row["number"]) for row in read["there"]}
            self._world.derived.drop(lambda row_id, _: row_id not in there)
            left = there - self._world.derived.rows.keys()
            demand(not left, f"there is still what should be gone: {sorted(left)}")
            self._check_entities()
            self._check_questions()

    def _read(self, *, is_over: bool) -> dict[str, Rows]:
        """What has changed since the last look when all was over, or all where something was forgotten: what stayed
        as it was may hold it. And the ids of all there is."""
        if len(self._world.forgotten) > self._forgotten_seen:
            self._since = _EVER
        now = self._connection.execute(_NOW).fetchone()
        changed = {"since": self._since, "reasons": REASONS}
        found: dict[str, Rows] = {
            "slices": self._connection.execute(_SLICES).fetchall(),
            "sessions": self._connection.execute(_SESSIONS).fetchall(),
            "versions": self._connection.execute(_VERSIONS, changed).fetchall(),
            "there": self._connection.execute(_THERE).fetchall(),
        }
        for table, statement in _ROWS.items():
            found[table] = self._connection.execute(f"{statement}{_CHANGED}".encode(), changed).fetchall()
        # The transactions of several nodes are counted by each of them: there all is read each time.
        if now and is_over and not now["is_on_nodes"]:
            self._since = str(now["now"])
            self._forgotten_seen = len(self._world.forgotten)
        return found

    def _check_entities(self) -> None:
        """An entity, whether it has changed or not, is what is said of it."""
        derived = self._world.derived
        said: dict[Home, set[str]] = {}
        for row_id, row in derived.rows.items():
            if row_id.table == "mentions":
                said.setdefault(row.home, set()).update(row.forms)
        for row_id, row in derived.rows.items():
            if row_id.table == "entities":
                unsaid = strange(row.forms, said.get(row.home, set()))
                demand(not unsaid, f"{row_id} of {row.home} is told of in no conversation any more: {unsaid}\n{row}")

    def _check_questions(self) -> None:
        """What a job asks the model is of one home. A word that no home had when it was looked at is nobody's."""
        for home in self._world.homes():
            stated = {canary for state in self._world.files.get(home, {}).values() for canary in state.forms}
            for canary in stated | self._held(home):
                self._ever.setdefault(canary, set()).add(home)
        asked, self._questions_seen = self._model.requests[self._questions_seen :], len(self._model.requests)
        for question in asked:
            if form := form_of(question):
                words = canaries_in(json.dumps(question.messages))
                whose = {
                    word: {home for known in full(word, self._ever) for home in self._ever[known]} for word in words
                }
                homes = [of_word for of_word in whose.values() if of_word]
                named = {word: sorted(map(str, of_word)) for word, of_word in whose.items()}
                demand(not homes or set.intersection(*homes), f"a question of {form} is of several memories: {named}")

    def _take(
        self,
        table: str,
        rows: Rows,
        whose: tuple[Mapping[int, Home], Mapping[int, TalkKey]],
        asked: Mapping[Home, set[str]],
        *,
        is_over: bool,
    ) -> None:
        """The rows of a table as they are, each word accounted for."""
        for found in rows:
            row_id, row = RowId(table, found["number"]), self._row(found, *whose)
            before = self._world.derived.rows.get(row_id)
            # What an entity is, is what is said of it now.
            is_known = before is not None and before.home == row.home and table != "entities"
            new = row.forms.keys() - (before.forms.keys() if before and is_known else set())
            if table in OF_TALKS:
                talk = self._world.talks.by_key.get(row.talk) if row.talk else None
                demand(talk and talk.living is not False, f"{row_id} is of a session that there is not: {row}")
                demand(talk and row.home in talk.homes, f"{row_id} is not where its session is: {row}")
            if new:
                foreign = strange(new, self._sources(table, row) | asked.get(row.home, set()))
                named = {canary: self._world.where(canary) for canary in sorted(foreign)}
                demand(not foreign, f"{row_id} of {row.home} has what it is not made of: {named}\n{row}")
            if before is not None and before.home == row.home and not is_over:
                for canary, texts in before.forms.items():
                    row.forms.setdefault(canary, set()).update(texts)
            self._world.derived.put(row_id, row)

    def _row(self, found: Mapping[str, Any], homes: Mapping[int, Home], talks: Mapping[int, TalkKey]) -> Row:
        texts = [*strings_of(found["texts"]), *found.get("diff", "").splitlines()]
        path = f"episodes/{found['session_id']}/{found['through_seq']}" if "through_seq" in found else None
        return Row(
            homes[found["slice_id"]],
            forms_of(texts),
            talks.get(found.get("session_key") or 0),
            found.get("episode_id"),
            path,
            found.get("listed", True),
            found.get("made", ""),
        )

    def _sources(self, table: str, row: Row) -> set[str]:
        """The canaries that a row may be made of."""
        world, home = self._world, row.home
        if table in OF_TALKS and row.talk is not None:
            said = world.talks.shown([row.talk], "said", "summary")
            if table == "episodes":
                return said
            return said | world.derived.words(home, "episodes", talk=row.talk) | world.derived.words(home, "entities")
        if table == "entities":
            return world.derived.words(home, "mentions")
        talks = [key for key, _ in world.talks.at(home)]
        if table == "facts":
            # What was stated once holds until it is taken back, whatever became of the file that stated it.
            stated = {canary for state in world.files.get(home, {}).values() for canary in state.forms}
            return stated | self._held(home)
        if table == "derivations":
            # What it is of, by name; of a line that is made of others, what these are of, whether it is there or not.
            known = world.derived.words(home, "derivations")
            return known | world.talks.shown(talks) | canaries_in("\n".join(world.files.get(home, ())))
        held = {canary for state in world.files.get(home, {}).values() for canary in state.present}
        return held | canaries_in("\n".join(world.files.get(home, ()))) | world.derived.words(home, "episodes")

    def _take_files(self, versions: Rows, homes: Mapping[int, Home], asked: Mapping[Home, set[str]]) -> None:
        """What the server wrote into files by itself since the last time."""
        for found in versions:
            key = (found["tenant_id"], found["document_id"], found["version"])
            if key in self._seen:
                continue
            self._seen.add(key)
            home = homes[found["slice_id"]]
            held = set(found["before"].splitlines())
            new = [line.strip() for line in found["content"].splitlines() if line not in held and canaries_in(line)]
            foreign = strange(canaries_in("\n".join(new)), self._held(home) | asked.get(home, set()))
            whose = {canary: self._world.where(canary) for canary in sorted(foreign)}
            where = f"{found['path']} of {home} at {found['version']}"
            demand(not foreign, f"the server wrote what the memory never had into {where}: {whose}")
            state = self._world.add(home, found["path"], new)
            if found["present"]:
                words = canaries_in(found["content"])
                unknown = strange(words, state.forms)
                lines = [line for line in found["content"].splitlines() if not canaries_in(line).isdisjoint(unknown)]
                demand(not unknown, f"{where} has what was never written there: {unknown}, {lines}")
                state.present = {known for word in words for known in full(word, state.forms)}
            state.living, state.may_be_gone = found["living"], False

    def _held(self, home: Home) -> set[str]:
        """All canaries that a home has, in files, in conversations, and in what is made of them."""
        files = self._world.files.get(home, {})
        held = {canary for state in files.values() for canary in state.present} | canaries_in("\n".join(files))
        # What tools saved while a conversation went on is told, whatever became of it since.
        held |= {canary for name in MEMORY_NAMES if name in files for canary in files[name].forms}
        talks = [key for key, _ in self._world.talks.at(home)]
        return held | self._world.talks.shown(talks, "said", "summary") | self._world.derived.words(home, *_ROWS)
