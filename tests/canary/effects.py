"""What a successful request does to the world, in two steps, since others may read meanwhile.

First everything that may be seen from now on is added, then the answers are looked at, then what is gone is removed.
`certain` is false where requests on the same files were under way at the same time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from tests.canary.words import canaries_in
from tests.canary.world import MEMORY_NAMES, AgentState, Home, World

KEPT_BACKUPS = 5
INSTRUCTIONS = ("AGENTS.md", "SOUL.md")


@dataclass(frozen=True)
class Effect:
    """On a file of a home, or with `path` None on all that the home has."""

    home: Home
    path: str | None = None

    def add(self, world: World, *, certain: bool) -> None:
        """What may be seen from now on."""

    def remove(self, world: World, *, certain: bool) -> None:
        """What may be seen no more."""

    @property
    def touches(self) -> frozenset[str] | None:
        """The files that are changed or looked at; None: all of the home."""
        return None if self.path is None else frozenset([self.path])

    def meets(self, other: Effect) -> bool:
        """Whether the order of the two matters."""
        if self.home != other.home or self.touches is None or other.touches is None:
            return self.home == other.home
        return not self.touches.isdisjoint(other.touches)


@dataclass(frozen=True)
class Wrote(Effect):
    """A file holds these lines; with `replaces` nothing else, with `edits` what it held may look different."""

    agent: str = ""
    forms: tuple[str, ...] = ()
    replaces: bool = False
    edits: bool = False

    def add(self, world: World, *, certain: bool) -> None:
        del certain
        world.make_agent(self.home.tenant, self.agent)
        assert self.path is not None
        state = world.add(self.home, self.path, self.forms)
        if self.edits:
            for canary, forms in state.forms.items():
                forms.add(canary)

    def remove(self, world: World, *, certain: bool) -> None:
        assert self.path is not None
        if self.replaces and certain:
            state = world.files[self.home][self.path]
            state.present = {canary for form in self.forms for canary in canaries_in(form)}


@dataclass(frozen=True)
class Restored(Effect):
    """A file holds what it once held."""

    def add(self, world: World, *, certain: bool) -> None:
        del certain
        assert self.path is not None
        state = world.add(self.home, self.path, ())
        state.present |= state.forms.keys()


@dataclass(frozen=True)
class Deleted(Effect):
    """A file is gone, its history is not."""

    def remove(self, world: World, *, certain: bool) -> None:
        assert self.path is not None
        state = world.files.get(self.home, {}).get(self.path)
        if state is not None:
            state.living = False if certain else None
            if certain:
                state.present.clear()


@dataclass(frozen=True)
class Cleared(Effect):
    """Files are gone with their history; where it is not known which, all that `fits` may be."""

    fits: Callable[[str], bool] = lambda _: True
    all_of_them: bool = True

    def remove(self, world: World, *, certain: bool) -> None:
        if certain and self.all_of_them:
            world.drop_files(self.home, self.fits)
            return
        for path, state in world.files.get(self.home, {}).items():
            if self.fits(path):
                state.living = None if state.living else state.living
                state.may_be_gone = True


@dataclass(frozen=True)
class Forgot(Effect):
    """Texts were taken out of everything that a home has."""

    texts: tuple[str, ...] = ()

    def remove(self, world: World, *, certain: bool) -> None:
        for text in self.texts:
            world.forget(self.home, text, certain=certain)


@dataclass(frozen=True)
class Remembered(Effect):
    """The long-term memory of a home, whichever of its two names it has, got a line or was edited."""

    agent: str = ""
    forms: tuple[str, ...] = ()
    edits: bool = False

    @property
    def touches(self) -> frozenset[str]:
        return frozenset(MEMORY_NAMES)

    def add(self, world: World, *, certain: bool) -> None:
        world.make_agent(self.home.tenant, self.agent)
        names = memory_files(world, self.home) if certain else MEMORY_NAMES
        before = dict(world.files.get(self.home, {}))
        for path in names:
            was_living = path in before and before[path].living
            state = world.add(self.home, path, self.forms)
            state.living = True if len(names) == 1 or was_living else None
            state.may_be_gone |= path not in before and len(names) > 1
            if self.edits:
                for canary, forms in state.forms.items():
                    forms.add(canary)


@dataclass(frozen=True)
class Compacted(Effect):
    """A memory was compacted: its text before is in a backup, and of more than five the oldest are gone."""

    backup: str = ""

    @property
    def touches(self) -> frozenset[str]:
        return frozenset(MEMORY_NAMES)

    def add(self, world: World, *, certain: bool) -> None:
        names = memory_files(world, self.home) if certain else MEMORY_NAMES
        world.add(self.home, self.backup, ())
        for path in names:
            state = world.files.get(self.home, {}).get(path)
            for canary, forms in list(state.forms.items()) if state else ():
                forms.add(canary)
                world.add(self.home, self.backup, [canary])

    def remove(self, world: World, *, certain: bool) -> None:
        backups = sorted((p for p in world.files[self.home] if p.startswith("MEMORY_backup_")), reverse=True)
        Cleared(self.home, None, frozenset(backups[KEPT_BACKUPS:]).__contains__).remove(world, certain=certain)


@dataclass(frozen=True)
class AgentPut(Effect):
    """An agent is as it was asked to be."""

    agent: str = ""
    state: AgentState = field(default_factory=AgentState)

    def add(self, world: World, *, certain: bool) -> None:
        del certain
        made = world.make_agent(self.home.tenant, self.agent, with_seeds=self.state.leader is None)
        made.leader, made.isolated = self.state.leader, self.state.isolated
        made.enabled, made.name = self.state.enabled, self.state.name


@dataclass(frozen=True)
class AgentGone(Effect):
    """An agent was deleted with all it had."""

    agent: str = ""

    def remove(self, world: World, *, certain: bool) -> None:
        del certain
        world.drop_agent(self.home.tenant, self.agent)


def memory_files(world: World, home: Home) -> list[str]:
    """The names that the long-term memory of a home may have at the moment; one where it is known."""
    files = world.files.get(home, {})
    named, stand_in = ((files[name].living if name in files else False) for name in MEMORY_NAMES)
    if named:
        return ["MEMORY.md"]
    if named is None or stand_in is None:
        return list(MEMORY_NAMES)
    return ["memory.md"] if stand_in else ["MEMORY.md"]
