"""What answers a message in other words is found, with the real embedding model."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import combinations
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from tests.embedders import runtime_with
from tests.integration.test_superseded import find
from tests.talks import Talk

from reverie_indexer.database.database import Database
from reverie_indexer.embed.built_in import E5
from reverie_indexer.embed.local import LocalEmbedder, load_local
from reverie_indexer.embed.protocol import Role
from reverie_indexer.model import Place
from reverie_server.access.keys import OPERATOR
from reverie_server.runtime import Runtime
from reverie_server.search.asked.near_statements import NearStatements
from reverie_server.search.relevance import built_in_directions, personal_score
from reverie_server.search.request import request_for
from reverie_server.sessions.model import NewMessage

MARCH = datetime(2026, 3, 3, 9, tzinfo=UTC)
# Of a life that the adapter was not fitted to.
ANSWER = "I don't eat red meat on doctor's orders."
OTHERS = (
    "Trentside have gone to Marsh. Nine years, and they told me by email.",
    "My largest client is Trentside Haulage, renewed each 1 April.",
    "I keep the gate code for the office car park in my diary, on the last page.",
)
MESSAGE = "Choose what I should have at the client's steakhouse."


@pytest.fixture(scope="module")
def embedder(tmp_path_factory: pytest.TempPathFactory) -> LocalEmbedder:
    return load_local(tmp_path_factory.mktemp("graphs"), E5)


@pytest.fixture
async def runtime(database: Database, embedder: LocalEmbedder) -> Runtime:
    return await runtime_with(database, embedder)


async def test_what_is_needed_comes_before_what_sounds_like_the_message(
    runtime: Runtime, embedder: LocalEmbedder
) -> None:
    talk = Talk(runtime, "web:1")
    said = (OTHERS[0], ANSWER, *OTHERS[1:])
    await talk.add([NewMessage("user", text, at=MARCH + timedelta(days=day)) for day, text in enumerate(said)])
    results = await find(talk, MESSAGE, mode="vector", tiers=("message",))
    assert results[0].text == ANSWER
    assert {result.text for result in results} == set(said)
    as_it_is = await find(talk, MESSAGE, mode="vector", tiers=("message",), role="query")
    assert as_it_is[-1].text == ANSWER
    # The model alone puts each of the others before it.
    [query] = await embedder.embed([MESSAGE], "query")
    *others, answer = np.stack([np.asarray(each) for each in await embedder.embed([*OTHERS, ANSWER])])
    assert min(float(other @ np.asarray(query)) for other in others) > float(answer @ np.asarray(query))


async def test_which_statements_a_request_may_mean_is_told_by_the_model_itself(
    database: Database, runtime: Runtime
) -> None:
    talk = Talk(runtime, "web:1")
    said = (ANSWER, *OTHERS)
    await talk.add([NewMessage("user", text, at=MARCH + timedelta(days=day)) for day, text in enumerate(said)])
    grant = await runtime.gate.read(OPERATOR, talk.agent_id, talk.owner_key)
    place = Place(grant.principal.tenant_id, talk.agent_id, "personal", talk.owner_key)
    found = await NearStatements(database, runtime.search).find(grant, place, [MESSAGE])
    # A statement is a sentence; the model itself puts each of the others before the answer.
    assert len(found) > len(said)
    assert found[-1].text == ANSWER


async def test_a_message_is_another_text_than_a_question_and_how_personal_it_is_says_its_own_vector(
    runtime: Runtime,
) -> None:
    talk = Talk(runtime, "web:1")
    await talk.add([NewMessage("user", ANSWER, at=MARCH)])
    grant = await runtime.gate.read(OPERATOR, talk.agent_id, talk.owner_key)
    ready = runtime.models.ready
    assert ready is not None
    question, message = [await ready.queries.embed(MESSAGE, role) for role in ("question", "message")]
    assert float(question @ message) < 0.99
    outcome = await runtime.search.search(request_for(grant, MESSAGE, is_unasked=True))
    direction = built_in_directions()[E5.name]
    assert outcome.personal == pytest.approx(personal_score(direction, message), abs=1e-4)


async def test_what_needs_nothing_is_near_to_nothing(embedder: LocalEmbedder) -> None:
    lines = np.stack([np.asarray(each) for each in await embedder.embed([*OTHERS, ANSWER])])
    needs, general = await embedder.embed([MESSAGE, "Why does red meat turn brown in the pan?"], "message")
    assert float((lines @ np.asarray(needs)).max()) > float((lines @ np.asarray(general)).max()) + 0.2


async def test_each_role_has_vectors_of_its_own_and_passages_those_of_the_model_itself(
    embedder: LocalEmbedder, tmp_path: Path
) -> None:
    rows = {role: np.asarray((await embedder.embed([MESSAGE], role))[0]) for role in get_args(Role)}
    for role, other in combinations(("query", "question", "message", "change"), 2):
        assert float(rows[role] @ rows[other]) < 0.97, (role, other)
    itself = load_local(tmp_path, replace(E5, adapted=()))
    for role in ("query", "passage"):
        [vector] = await itself.embed([MESSAGE], role)
        np.testing.assert_allclose(rows[role], vector, atol=1e-6)
    await itself.aclose()
