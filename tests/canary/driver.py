"""Drives the server with random requests, one a tenant or several at once, and looks at every answer."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Collection, Mapping, Sequence

import httpx
from tests.canary.background import Background
from tests.canary.calls import SECRET, Answer, Call, answer_of, demand, rows_of
from tests.canary.draw import Draw, Loot
from tests.canary.effects import Effect
from tests.canary.logs import Logs
from tests.canary.operations import SCOPES, Operation
from tests.canary.words import canaries_in, full
from tests.canary.world import TENANTS, Home, World

BURST_SHARE = 0.08
JOBS_SHARE = 0.015
LAST_STEPS = 12


class Driver:
    """One run. `answers` counts (operation, whether it succeeded), `sightings` answers with canaries that may be."""

    def __init__(
        self,
        client: httpx.AsyncClient,
        draw: Draw,
        table: Mapping[str, tuple[int, Operation]],
        logs: Logs,
        background: Background,
    ) -> None:
        self._client = client
        self._background = background
        self._draw = draw
        self.world: World = draw.world
        self._loot: Loot = draw.loot
        self._table = table
        self._operations: list[Operation] = []
        self._weights: list[int] = []
        self._logs = logs
        self._last: deque[str] = deque(maxlen=LAST_STEPS)
        self.steps = 0
        self.answers: Counter[tuple[str, bool]] = Counter()
        self.sightings: Counter[str] = Counter()

    @property
    def logged_characters(self) -> int:
        """How much was logged."""
        return self._logs.characters

    async def run(self, steps: int, of: Collection[str] = ()) -> None:
        """So many requests, and a few more where one leads to the next; `of`: of these operations alone, if there are
        any.

        LeakError, or any other exception, with a note of all that is needed to see it again.
        """
        chosen = [label for label in self._table if label in of] or list(self._table)
        self._operations = [self._table[label][1] for label in chosen]
        self._weights = [self._table[label][0] for label in chosen]
        until = self.steps + steps
        try:
            while self.steps < until:
                if self._draw.chance(JOBS_SHARE):
                    await self.work()
                elif self._draw.chance(JOBS_SHARE):
                    await self._at_once([self._drawn() for _ in range(self._draw.rng.randint(3, 8))], with_jobs=True)
                elif self._draw.chance(BURST_SHARE):
                    await self._at_once([self._drawn() for _ in range(self._draw.rng.randint(3, 8))])
                else:
                    await self._side_by_side([self._drawn(tenant) for tenant in TENANTS])
                self._logs.check()
        except Exception as error:
            seed = f"step {self.steps} of REVERIE_CANARY_SEED={self._draw.seed}; the last steps:"
            error.add_note("\n".join([seed, *self._last]))
            raise

    async def work(self) -> None:
        """Do what waits in the background, and look at what comes of it."""
        await self._background.work()
        await self._background.look({})
        self._last.append("  the jobs were done")

    @property
    def jobs_done(self) -> int:
        """How many jobs were done in the background."""
        return self._background.runs

    async def perform(self, call: Call) -> Answer:
        """One request by itself."""
        return (await self._settle([call]))[0]

    async def perform_all(self, labels: Sequence[str]) -> None:
        """One request of each of these operations."""
        for label in labels:
            await self.perform(self._table[label][1](self._draw))

    def _drawn(self, tenant: str | None = None) -> Call:
        self._draw.tenant = tenant or self._draw.one_of(TENANTS)
        return self._draw.rng.choices(self._operations, self._weights)[0](self._draw)

    async def _side_by_side(self, calls: Sequence[Call]) -> None:
        """A request for each tenant, and what follows from it: for either it is as if there were no other."""
        while calls:
            answers = await self._settle(calls)
            following = [call.follow(answer) for call, answer in zip(calls, answers, strict=True)]
            calls = [call for call in following if call is not None]

    async def _at_once(self, calls: Sequence[Call], *, with_jobs: bool = False) -> None:
        await self._settle([call for call in calls if not call.runs_alone], with_jobs=with_jobs)

    async def _settle(self, calls: Sequence[Call], *, with_jobs: bool = False) -> list[Answer]:
        """Send requests at once, and look at the answers between what they add to the world and what they remove."""
        jobs = [self._background.work()] if with_jobs else []
        done = await asyncio.gather(*(self._send(call) for call in calls), *jobs)
        answers = [answer for answer in done if answer is not None]
        for call, answer in zip(calls, answers, strict=True):
            self._loot.take(call, answer)
        self._last.extend(f"  {answer.status} {call}" for call, answer in zip(calls, answers, strict=True))
        self.steps += len(calls)
        effects = [
            list(call.effects(self.world, answer)) if answer.ok and not call.must_be_refused(self.world) else []
            for call, answer in zip(calls, answers, strict=True)
        ]
        # Jobs concern all files.
        certain = [[not with_jobs and _is_alone(own, effect, effects) for effect in own] for own in effects]
        paired = [pair for own, sure in zip(effects, certain, strict=True) for pair in zip(own, sure, strict=True)]
        for effect, sure in paired:
            effect.add(self.world, certain=sure)
        derives = with_jobs or any(call.derives and answer.ok for call, answer in zip(calls, answers, strict=True))
        if derives:
            await self._background.look(self._asked(calls), is_over=False)
        for call, answer in zip(calls, answers, strict=True):
            # An agent may have been made by another request of the same burst.
            refused = call.must_be_refused(self.world)
            demand(not (answer.ok and refused), f"this had to be refused, and was not: {call}\n{answer.text[:500]}")
            self._inspect(call, answer)
            if (
                call.exact is not None
                and not with_jobs
                and sum(other.key.tenant == call.key.tenant for other in calls) == 1
            ):
                call.exact(self.world, answer)
        for effect, sure in paired:
            effect.remove(self.world, certain=sure)
        if derives:
            # What was to be taken away is gone.
            await self._background.look(self._asked(calls))
        return answers

    def _asked(self, calls: Sequence[Call]) -> dict[Home, set[str]]:
        """The words that requests brought along to make something of, by where that is."""
        asked: dict[Home, set[str]] = {}
        for call in calls:
            home = self.world.place(call.acting, None) if call.acting and call.asked else None
            if home is not None:
                asked.setdefault(home, set()).update(canaries_in(call.asked))
        return asked

    async def _send(self, call: Call) -> Answer:
        headers = dict(call.headers)
        if call.key.authorization is not None:
            headers["Authorization"] = call.key.authorization
        response = await self._client.request(
            call.method, call.url, params=call.params or None, headers=headers, json=call.body, content=call.content
        )
        return answer_of(response)

    def _inspect(self, call: Call, answer: Answer) -> None:
        """LeakError for a canary where it does not belong, and for anything else that an answer must not be."""
        where = f"{call}\n{answer.status} {answer.text[:1500] if not answer.entries else ''}"
        demand(answer.status < 500, f"the server failed: {where}")
        demand(call.makes_key or not SECRET.search(answer.text), f"an answer shows a key: {where}")
        self.answers[call.label, answer.ok] += 1
        echo = call.echo if answer.ok else canaries_in(call.given())
        foreign = [canary for canary in answer.shown - echo if not (answer.ok and self._may_show(call, canary))]
        whose = {canary: self.world.where(canary) for canary in foreign}
        entries = [
            f"{path}: {line}"
            for path, text in answer.entries.items()
            for line in text.splitlines()
            if not canaries_in(line).isdisjoint(foreign)
        ]
        demand(not foreign, "\n".join([f"an answer shows what is not for it: {whose}", where, *entries]))
        if answer.ok:
            self.sightings[call.label] += bool(answer.shown - echo)
            if call.acting is not None:
                self._inspect_rows(call, answer)
        if call.check is not None:
            call.check(self.world, answer)

    def _may_show(self, call: Call, canary: str) -> bool:
        if call.names is not None and any(True for _ in full(canary, call.names(self.world))):
            return True
        return self.world.may_show(canary, self._homes(call), past=call.past, said=call.said)

    def _homes(self, call: Call) -> Sequence[Home]:
        if call.homes is not None:
            return call.homes(self.world)
        return [] if call.acting is None else self.world.sight(call.acting) or []

    def _inspect_rows(self, call: Call, answer: Answer) -> None:
        """What an object says of whose it is is true, and something that the caller may see."""
        assert call.acting is not None
        # A preview may be of an agent that there is not yet.
        places = (self.world.place(call.acting, scope) for scope in SCOPES)
        homes = self.world.sight(call.acting) or [home for home in places if home is not None]
        for row in rows_of(answer.result):
            own = row.get("owner_key", call.acting.owner or call.acting.key.owner)
            named = [h for h in homes if h.scope == row["scope"] and (h.owner == own or h.scope != "personal")]
            demand(named, f"an answer shows a row of somebody else: {row}\n{call}")
            texts = "\n".join(value for value in row.values() if isinstance(value, str))
            for canary in canaries_in(texts) - call.echo:
                # Where it says of what tier it is, it has what is of that tier.
                fits = self.world.may_show(canary, named, past=call.past, said=call.said, tier=row.get("tier"))
                demand(fits, f"an answer says that {canary} is {row['scope']}: {row}\n{call}")


def _is_alone(own: Sequence[Effect], effect: Effect, of_calls: Sequence[Sequence[Effect]]) -> bool:
    """Whether no other request of the same burst concerns the same files."""
    return not any(effect.meets(other) for others in of_calls if others is not own for other in others)
