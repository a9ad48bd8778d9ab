"""What answers a message in other words is found, with the real embedding model."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from tests.embedders import runtime_with
from tests.integration.test_superseded import find
from tests.talks import Talk

from reverie_indexer.database.database import Database
from reverie_indexer.embed.built_in import E5
from reverie_indexer.embed.local import LocalEmbedder, load_local
from reverie_server.access.keys import OPERATOR
from reverie_server.runtime import Runtime
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
    as_it_is = await find(talk, MESSAGE, mode="vector", tiers=("message",), is_adapted=False)
    assert as_it_is[-1].text == ANSWER
    # The model alone puts each of the others before it.
    [query] = await embedder.embed([MESSAGE], "query")
    *others, answer = np.stack([np.asarray(each) for each in await embedder.embed([*OTHERS, ANSWER])])
    assert min(float(other @ np.asarray(query)) for other in others) > float(answer @ np.asarray(query))


async def test_how_personal_a_message_is_says_its_vector_as_it_is(runtime: Runtime) -> None:
    talk = Talk(runtime, "web:1")
    await talk.add([NewMessage("user", ANSWER, at=MARCH)])
    grant = await runtime.gate.read(OPERATOR, talk.agent_id, talk.owner_key)
    outcome = await runtime.search.search(request_for(grant, MESSAGE))
    ready = runtime.models.ready
    assert ready is not None
    direction = built_in_directions()[E5.name]
    assert outcome.personal == pytest.approx(personal_score(direction, await ready.queries.embed(MESSAGE)), abs=1e-4)
