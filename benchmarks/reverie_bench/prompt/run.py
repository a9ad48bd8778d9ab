"""The prompt benchmark: how much of each turn's prompt a provider's cache finds again, by where memory is put."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from rich.console import RenderableType

from reverie_bench.data import load
from reverie_bench.frame import Options, digests, open_bench, write_embedded
from reverie_bench.prompt.replay import SYSTEM_PROMPT, Replay, made_up, of_conversation, rendered, repeated
from reverie_bench.report import Report, file_name, table
from reverie_indexer.errors import ValidationFailed
from reverie_server.access.keys import OPERATOR
from reverie_server.prompt.turn import Turn, TurnRequest
from reverie_server.runtime import Runtime
from reverie_server.sessions.model import NewMessage

PLACEMENTS = ("system", "user")
_OWNER = "user:bench"
_SESSION = "bench:1"


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptOptions(Options):
    """A run of `turns` turns. Of `data` (one file or none) the first conversation is replayed; else made-up turns."""

    turns: int = 50


async def run_prompt(options: PromptOptions) -> Report:
    """Replay the conversation with each placement, an agent each, in a database of the run's own.

    `placements`: shares of the prompts after the first, tokens of a prompt, turns with memory. ValidationFailed for
    data that is no conversation, SetupError when model or database cannot be used.
    """
    replay, data = await asyncio.to_thread(_replay_of, options)
    async with open_bench(options, query_cache_size=options.settings.query_cache_size) as bench:
        # Without a language model: nobody else's speed or words belong in the figures.
        runtime = bench.runtime(options.settings.model_copy(update={"llm_base_url": None, "llm_model": None}))
        placements = {}
        for placement in PLACEMENTS:
            options.progress(f"replaying with memory placed in: {placement}")
            placements[placement] = await _measure(runtime, placement, replay)
        await runtime.compactions.aclose()
        return Report(
            name=file_name("prompt", options.data[0].stem if options.data else "made-up"),
            data=data,
            sizes={"files": len(replay.files), "exchanges": len(replay.exchanges)},
            settings={"turns": options.turns, "seed": options.seed},
            origin=bench.origin(),
            figures={"placements": placements},
        )


def _replay_of(options: PromptOptions) -> tuple[Replay, dict[str, Any]]:
    if not options.data:
        return made_up(options.seed, options.turns), {"kind": "made up"}
    [path] = options.data
    corpus = load(path)
    if corpus.kind != "conversations":
        raise ValidationFailed(f"{path.name} holds no conversations")
    replay = of_conversation(corpus.collections[0], options.turns)
    return replay, {"kind": "conversation", **digests([path])[0]}


async def _measure(runtime: Runtime, placement: str, replay: Replay) -> dict[str, float]:
    agent_id = f"bench-{placement}"
    await runtime.agents.put(OPERATOR.tenant_id, agent_id, None, None, {"inject_placement": placement})
    grant, place = await runtime.gate.write(OPERATOR, agent_id, _OWNER, None)
    await write_embedded(runtime.pipeline, place, replay.files)
    turns: list[Turn] = []
    for user, assistant in replay.exchanges:
        turns.append(await runtime.turns.context(grant, TurnRequest(user, _SESSION, SYSTEM_PROMPT)))
        messages = [NewMessage("user", user), NewMessage("assistant", assistant)]
        await runtime.sessions.append(grant, place, _SESSION, messages)
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


def prompt_content(report: Report) -> Iterator[RenderableType]:
    """The figures by placement."""
    yield table(
        f"{report.settings['turns']} turns, {report.data.get('file', report.data['kind'])}: repeated prefix",
        ("of the prompts", "mean of a prompt", "of the system prompts", "tokens", "injected", "compacted"),
        (
            (
                placement,
                *(f"{figures[name]:.3f}" for name in ("share", "mean_share", "system_prompt_share")),
                *(f"{figures[name]:.0f}" for name in ("mean_tokens", "injected_turns", "compactions")),
            )
            for placement, figures in report["placements"].items()
        ),
        label="memory placed in",
    )
