"""The prompt benchmark: how much of each turn's prompt a provider's cache finds again, by where memory is put."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from reverie_bench import origin
from reverie_bench.data import load
from reverie_bench.prompt.replay import (
    SYSTEM_PROMPT,
    Replay,
    made_up,
    of_conversation,
    rendered,
    repeated,
)
from reverie_bench.scratch import scratch_database
from reverie_indexer.change import overwrite
from reverie_indexer.database.database import Database
from reverie_indexer.embed import Embedder
from reverie_indexer.errors import SetupError, ValidationFailed
from reverie_indexer.model_slot import ModelSlot
from reverie_server.access.keys import OPERATOR
from reverie_server.app.wiring import assemble
from reverie_server.prompt.turn import Turn, TurnRequest
from reverie_server.runtime import Runtime
from reverie_server.sessions.model import NewMessage
from reverie_server.settings.server import Settings

PLACEMENTS = ("system", "user")
_OWNER = "user:bench"
_SESSION = "bench:1"
_EMBED_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class PromptOptions:
    """What to run. `data`: LoCoMo conversations, of which the first is replayed; None: made-up turns.

    `load_embedder` makes the model; the run closes it. `progress` is told what is being done.
    """

    settings: Settings
    load_embedder: Callable[[], Awaitable[Embedder]]
    data: Path | None = None
    database_url: str | None = None
    turns: int = 50
    seed: int = 20261122
    progress: Callable[[str], None] = lambda _: None


@dataclass(frozen=True, slots=True)
class PromptReport:
    """Figures by placement: shares of the prompts after the first, tokens of a prompt, turns that got memory."""

    data: Mapping[str, Any]
    settings: Mapping[str, Any]
    origin: Mapping[str, Any]
    placements: Mapping[str, Mapping[str, float]]


async def run_prompt(options: PromptOptions) -> PromptReport:
    """Replay the conversation with each placement, an agent each, in a database of the run's own.

    ValidationFailed for data that is no conversation, SetupError when model or database cannot be used.
    """
    started = time.perf_counter()
    code = await asyncio.to_thread(origin.commit)
    replay, data = await asyncio.to_thread(_replay_of, options)
    async with scratch_database(options.database_url) as (conninfo, _), Database(conninfo) as database:
        models = ModelSlot(options.load_embedder, query_cache_size=options.settings.query_cache_size)
        try:
            await models.fill(database)
            if models.ready is None:
                raise SetupError(f"the benchmark needs an embedding model: {models.error}")
            # Without a language model: nobody else's speed or words belong in the figures.
            settings = options.settings.model_copy(update={"llm_base_url": None, "llm_model": None})
            runtime = assemble(settings, database, models, embed_wait_seconds=_EMBED_SECONDS)
            found = {}
            for placement in PLACEMENTS:
                options.progress(f"replaying with memory placed in: {placement}")
                found[placement] = await _measure(runtime, placement, replay)
            await runtime.compactions.aclose()
            model = models.ready.embedder.identity.name
        finally:
            await models.aclose()
    return PromptReport(
        data=data,
        settings={"turns": options.turns, "seed": options.seed},
        origin={
            **dict(zip(("commit", "dirty"), code, strict=True)),
            "versions": origin.versions(),
            "machine": origin.machine(),
            "model": model,
            "duration_seconds": round(time.perf_counter() - started, 1),
        },
        placements=found,
    )


def _replay_of(options: PromptOptions) -> tuple[Replay, dict[str, Any]]:
    if options.data is None:
        return made_up(options.seed, options.turns), {"kind": "made up"}
    corpus = load(options.data)
    if corpus.kind != "conversations":
        raise ValidationFailed(f"{options.data.name} holds no conversations")
    replay = of_conversation(corpus.collections[0], options.turns)
    return replay, {"kind": "conversation", "file": options.data.name, "sha256": origin.sha256_of(options.data)}


async def _measure(runtime: Runtime, placement: str, replay: Replay) -> dict[str, float]:
    agent_id = f"bench-{placement}"
    tenant_id = OPERATOR.tenant_id
    await runtime.agents.put(tenant_id, agent_id, None, None, {"inject_placement": placement})
    grant, place = await runtime.gate.write(OPERATOR, agent_id, _OWNER, None)
    changes = [overwrite(path, text, by="bench", reason="bench") for path, text in replay.files.items()]
    if not all(written.embedded for written in await runtime.pipeline.write_many(place, changes)):
        raise SetupError("not everything was embedded: the embedding model failed or was too slow")
    turns: list[Turn] = []
    for user, assistant in replay.exchanges:
        turns.append(await runtime.turns.context(grant, TurnRequest(user, _SESSION, SYSTEM_PROMPT)))
        said = [NewMessage("user", user), NewMessage("assistant", assistant)]
        await runtime.sessions.append(grant, place, _SESSION, said)
        # In time for the next turn, as between two messages of a person's.
        await runtime.compactions.idle()
    whole = repeated([rendered(turn.system_prompt, turn.messages) for turn in turns])
    return {
        "mean_share": whole.mean_share,
        "share": whole.share,
        "system_prompt_share": repeated([turn.system_prompt.encode() for turn in turns]).share,
        "mean_tokens": fmean(turn.tokens for turn in turns),
        "injected_turns": float(sum(turn.injection.injected > 0 for turn in turns)),
        "compactions": float((await runtime.sessions.find(grant.principal, _SESSION)).compactions),
    }
