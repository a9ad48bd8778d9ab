"""Facts in tests: a reader of plain lines, so that what is stored does not depend on what is understood."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from tests.talks import Talk

from reverie_server.app.wiring import assemble
from reverie_server.heuristics.stated_fact import Change, StatedFact, Utterance
from reverie_server.jobs.model import Outcome, Work
from reverie_server.runtime import Runtime

# "home of user = Rome.", "home of user := Milan." (replaces), "home of user -= Rome." (ends)
_LINE = re.compile(r"(?:- )?(?P<predicate>[\w ]+) of (?P<subject>[\w ]+) (?P<mark>:|-)?= (?P<object>[^.]+)\.?")
_CHANGES = {":": Change("replaces", ":="), "-": Change("ends", "-=")}


def read_lines(
    utterances: Sequence[Utterance], _language: str, *, known_people: Mapping[str, str] | None = None
) -> list[StatedFact]:
    """The facts of sentences like "home of user = Rome."; what the assistant says states none."""
    del known_people
    return [
        StatedFact(
            utterance=index,
            sentence=match.group(),
            text=match.group().removeprefix("- "),
            subject=match["subject"],
            predicate=match["predicate"],
            object=match["object"],
            category="profile",
            said_at=utterance.said_at,
            valid_from=utterance.said_at,
            is_functional=True,
            about_user=match["subject"] == "user",
            change=_CHANGES.get(match["mark"] or ""),
        )
        for index, utterance in enumerate(utterances)
        if utterance.speaker != "assistant"
        for match in _LINE.finditer(utterance.text)
    ]


def reading(runtime: Runtime, **others: Any) -> Runtime:
    """The same system, with this reader."""
    return assemble(runtime.settings, runtime.database, runtime.models, read_facts=read_lines, **others)


async def read_facts(talk: Talk) -> Outcome:
    """Run the stage on the talk's memory."""
    return await talk.runtime.consolidation.stages["facts"].run(Work("facts", "default", talk.agent_id, talk.owner_key))


async def rows(talk: Talk, table: str = "facts") -> list[dict[str, Any]]:
    """The rows of a table, as they are stored."""
    queries = {
        "facts": "SELECT * FROM facts ORDER BY fact_id",
        "fact_sources": "SELECT * FROM fact_sources ORDER BY source_id",
        "fact_sentences": "SELECT * FROM fact_sentences ORDER BY fact_id, sentence_sha256",
        "contradictions": "SELECT * FROM contradictions ORDER BY contradiction_id",
        "versions": "SELECT * FROM versions ORDER BY document_id, version",
        "chunks": "SELECT * FROM chunks WHERE tier = 'fact' ORDER BY chunk_id",
    }
    async with talk.runtime.database.maintenance() as connection:
        return list(await (await connection.execute(queries[table])).fetchall())
