"""Who may see what: a model of two tenants' memory, as far as canaries are concerned.

A canary is a word that was written once, for somebody. The model knows in which files of which homes it ever stood and
in which it may stand now. Where the order of things is not known, as between writers at the same time, it allows both.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from tests.canary.derived import Derived
from tests.canary.talks import Talks
from tests.canary.words import Forms, canaries_in, forget_in, full

TENANTS = ("acme", "umbra")
OWNERS = ("user:1", "telegram:2", "api:3")
SEEDS = ("AGENTS.md", "SOUL.md", "PROFILE.md", "MEMORY.md")
MEMORY_NAMES = ("MEMORY.md", "memory.md")
Scope = Literal["personal", "team", "global"]


class Home(NamedTuple):
    """One memory: a person's with an agent, an agent's team's (no owner), or a tenant's (no agent either)."""

    tenant: str
    agent: str | None
    owner: str | None

    @property
    def scope(self) -> Scope:
        return "global" if self.agent is None else "team" if self.owner is None else "personal"


class Job(NamedTuple):
    """A job that is not done, and for whose memory it is; `dead`: it has failed for good."""

    job_id: int
    stage: str
    dead: bool
    home: Home


@dataclass(frozen=True)
class Key:
    """An API key as the server knows it; `works` is false for one that it must refuse."""

    label: str
    tenant: str
    role: str
    authorization: str | None
    owner: str | None = None
    agents: frozenset[str] | None = None
    works: bool = True


@dataclass(frozen=True)
class Acting:
    """A key on an agent, for the owner whom the request names. `malformed`: it names no owner or agent there can be."""

    key: Key
    agent: str
    owner: str | None = None
    everybody: bool = False
    malformed: bool = False


@dataclass
class AgentState:
    leader: str | None = None
    isolated: bool = True
    enabled: bool = True
    name: str = ""


@dataclass
class FileState:
    """A file. `forms` of a canary are the lines it was written in; where one was edited, the canary itself.

    `living` is None where it is not known, `may_be_gone` where even the file's history may have been removed.
    """

    living: bool | None = True
    may_be_gone: bool = False
    forms: Forms = field(default_factory=dict)
    present: set[str] = field(default_factory=set)


class World:
    """What was written where, and who may see it."""

    def __init__(self) -> None:
        self.agents: dict[tuple[str, str], AgentState] = {}
        self.files: dict[Home, dict[str, FileState]] = {}
        self.homes_of: dict[str, set[tuple[Home, str]]] = {}
        self.paths_of: dict[str, set[tuple[Home, str]]] = {}
        # The canaries in the paths of the files that a home ever had: receipts name those that are gone, too.
        self.named_files: dict[Home, set[str]] = {}
        self.talks = Talks()
        self.derived = Derived()
        self.forgotten: set[str] = set()
        # Where words that many sentences have were forgotten.
        self.worn: set[Home] = set()
        # What was asked in turns, by tenant, agent and owner: the log of turns has it.
        self.asked: dict[tuple[str, str, str | None], set[str]] = {}
        # What waits in the background, as the database has it now.
        self.jobs: Callable[[], list[Job]] = list

    def note_asked(self, acting: Acting, *texts: str | None) -> None:
        """A turn is about to be asked for."""
        own = self.asked.setdefault((acting.key.tenant, acting.agent, acting.owner or acting.key.owner), set())
        own.update(canary for text in texts if text for canary in canaries_in(text))

    # Rules

    def sight(self, acting: Acting) -> list[Home] | None:
        """The homes that a request may see, most personal first; None: it has to be refused."""
        key, agent = acting.key, self.agents.get((acting.key.tenant, acting.agent))
        if not self._admitted(acting) or agent is None or not agent.enabled:
            return None
        shared = [Home(key.tenant, acting.agent, None), Home(key.tenant, None, None)]
        owner = acting.owner or key.owner
        personal = [] if owner is None else [Home(key.tenant, acting.agent, owner)]
        if acting.everybody:
            personal = [h for h in self.files if h[:2] == (key.tenant, acting.agent) and h.owner is not None]
        leader = self.agents.get((key.tenant, agent.leader)) if agent.leader else None
        led = [Home(key.tenant, agent.leader, None)] if leader and leader.enabled else []
        return personal + shared + led

    def sight_of_turn(self, acting: Acting) -> list[Home] | None:
        """The same for the prompt of a turn: of an agent that is not there, for whoever may make it, what all share."""
        is_new = (acting.key.tenant, acting.agent) not in self.agents
        if is_new and acting.key.role != "viewer" and self._admitted(acting) and not acting.everybody:
            return [Home(acting.key.tenant, None, None)]
        return self.sight(acting)

    def place_of_talk(self, acting: Acting) -> Home | None:
        """The home that a new session goes to; None: it has to be refused. A team member has sessions of its own."""
        return self.place(acting, None, of_talk=True)

    def place(self, acting: Acting, scope: Scope | None, *, of_talk: bool = False) -> Home | None:
        """The home that a write goes to; None: it has to be refused."""
        key, agent = acting.key, self.agents.get((acting.key.tenant, acting.agent), AgentState())
        if not self._admitted(acting) or acting.everybody or key.role == "viewer":
            return None
        if (
            not agent.enabled
            or (agent.leader is not None and not of_talk)
            or (scope == "global" and key.role != "admin")
        ):
            return None
        owner = acting.owner or key.owner
        chosen = scope or ("personal" if owner else "team")
        if not agent.isolated:
            chosen = "team"
        # A key that is bound writes nothing that others read.
        if chosen == "global":
            return Home(key.tenant, None, None) if key.owner is None and key.agents is None else None
        if chosen == "team":
            return Home(key.tenant, acting.agent, None) if key.owner is None else None
        return None if owner is None else Home(key.tenant, acting.agent, owner)

    def own_home(self, acting: Acting, scope: Scope | None = None) -> Home | None:
        """Where the files of the one whom a request acts for are, to be read by whoever may."""
        if self.sight(acting) is None:
            return None
        state = self.agents[acting.key.tenant, acting.agent]
        owner = acting.owner or acting.key.owner
        chosen = scope or ("personal" if owner and state.isolated else "team")
        if chosen == "global":
            return Home(acting.key.tenant, None, None)
        if chosen == "team":
            return Home(acting.key.tenant, acting.agent, None)
        return None if owner is None else Home(acting.key.tenant, acting.agent, owner)

    def _admitted(self, acting: Acting) -> bool:
        key = acting.key
        if not key.works or acting.malformed or (key.agents is not None and acting.agent not in key.agents):
            return False
        if acting.everybody:
            return key.role == "admin" and key.owner is None
        return key.owner is None or acting.owner in (None, key.owner)

    def talks_with(self, acting: Acting) -> bool:
        """Whether a turn is answered: where memory is switched off, with the caller's own words."""
        is_there = (acting.key.tenant, acting.agent) in self.agents or acting.key.role != "viewer"
        return self._admitted(acting) and not acting.everybody and is_there

    def homes(self) -> set[Home]:
        """All that have files, conversations, or something that is derived."""
        talks = {home for talk in self.talks.by_key.values() for home in talk.homes}
        return {*self.files, *talks, *(row.home for row in self.derived.rows.values())}

    def may_show(
        self, canary: str, homes: Iterable[Home], *, past: bool, said: bool = False, tier: str | None = None
    ) -> bool:
        """Whether an answer about these homes may hold a canary; with `past`, one about their history; with `said`,
        about what is said in their sessions too, and what is derived of it. With a tier, something of that alone."""
        wanted = set(homes)
        if said and tier in (None, "message") and self.talks.may_show(canary, wanted):
            return True
        if said and self.derived.may_show(canary, wanted, tier):
            return True
        if tier not in (None, "document"):
            return False
        for home, path in self._where(canary, self.homes_of):
            if home in wanted and (past or not self.files[home][path].present.isdisjoint(full(canary, self.homes_of))):
                return True
        return any(
            home in wanted and (past or self.files[home][path].living is not False)
            for home, path in self._where(canary, self.paths_of)
        )

    def named(self, homes: Collection[Home]) -> set[str]:
        """The canaries in the paths of files and the ids of sessions that some homes ever had: receipts name them."""
        held = [index.get(home, set()) for home in homes for index in (self.named_files, self.talks.named)]
        return set().union(*held)

    def names(self, key: Key, agent: str | None = None) -> set[str]:
        """The canaries in the names of the agents that a key may see, or of one of them."""
        return {
            canary
            for (tenant, agent_id), state in self.agents.items()
            if key.works and tenant == key.tenant and agent in (None, agent_id)
            if key.agents is None or agent_id in key.agents
            for canary in canaries_in(state.name)
        }

    def where(self, canary: str) -> str:
        """Whose a canary is, for a report."""
        found = self._where(canary, self.homes_of) | self._where(canary, self.paths_of)
        files = [f"{'/'.join(map(str, home))} {path}" for home, path in sorted(found, key=str)]
        return ", ".join([*files, *self.talks.where(canary), *self.derived.where(canary)]) or "nobody"

    def _where(self, canary: str, index: dict[str, set[tuple[Home, str]]]) -> set[tuple[Home, str]]:
        return {place for known in full(canary, index) for place in index[known]}

    def living(self, homes: Iterable[Home], fits: Callable[[str], bool] = lambda _: True) -> tuple[set, set]:
        """The files, as (home, path), that are there for certain, and those that may be."""
        found = [(h, p, s) for h in homes for p, s in self.files.get(h, {}).items() if fits(p)]
        return {(h, p) for h, p, s in found if s.living}, {(h, p) for h, p, s in found if s.living is not False}

    def rows(self, home: Home, fits: Callable[[str], bool]) -> tuple[int, int]:
        """How many files a home has at least and at most, deleted ones with a history too."""
        states = [state for path, state in self.files.get(home, {}).items() if fits(path)]
        return sum(not state.may_be_gone for state in states), len(states)

    # Changes

    def make_agent(self, tenant: str, agent: str, *, with_seeds: bool = True) -> AgentState:
        """The agent, with its seed files where it is new."""
        if (tenant, agent) not in self.agents:
            self.agents[tenant, agent] = AgentState()
            for path in SEEDS if with_seeds else ():
                self._file(Home(tenant, agent, None), path)
        return self.agents[tenant, agent]

    def drop_agent(self, tenant: str, agent: str) -> None:
        """Nothing of an agent is left."""
        self.agents.pop((tenant, agent), None)
        self.talks.drop_agent(tenant, agent)
        self.derived.drop(lambda _, row: row.home[:2] == (tenant, agent))
        for home in [h for h in self.files if h[:2] == (tenant, agent)]:
            self.drop_files(home, lambda _: True)
            del self.files[home]

    def add(self, home: Home, path: str, forms: Iterable[str]) -> FileState:
        """Lines, each with its canaries, stand in a file."""
        state = self._file(home, path)
        state.living = True
        for form in forms:
            for canary in sorted(canaries_in(form)):
                state.forms.setdefault(canary, set()).add(form)
                state.present.add(canary)
                self.homes_of.setdefault(canary, set()).add((home, path))
        return state

    def jot(self, home: Home, path: str, forms: Iterable[str], *, certain: bool) -> None:
        """Lines were added to a file, or may have been."""
        before = self.files.get(home, {}).get(path)
        was_living = before is not None and before.living
        state = self.add(home, path, forms)
        if not certain:
            state.living = True if was_living else None
            state.may_be_gone |= before is None

    def drop_files(self, home: Home, fits: Callable[[str], bool]) -> None:
        """Some files of a home are gone with their history."""
        for path in [path for path in self.files.get(home, {}) if fits(path)]:
            for canary in self.files[home].pop(path).forms:
                self._forget_where(self.homes_of, canary, (home, path))
            for canary in canaries_in(path):
                self._forget_where(self.paths_of, canary, (home, path))

    def forget(self, home: Home, text: str, *, certain: bool) -> None:
        """A text was taken out of all that a home has, of now and of before: canaries of which nothing is left go."""
        if not canaries_in(text):
            self.worn.add(home)
        told = self.talks.forget(home, text, certain=certain)
        self.forgotten |= self.derived.forget(
            home, text, {key: unsaid for key, (unsaid, _) in told.items()}, certain=certain
        )
        self.forgotten |= {canary for unsaid, others in told.values() for canary in unsaid | others}
        for path, state in self.files.get(home, {}).items():
            for canary in forget_in(state.forms, text, certain=certain):
                self.forgotten.add(canary)
                state.present.discard(canary)
                self._forget_where(self.homes_of, canary, (home, path))

    def _file(self, home: Home, path: str) -> FileState:
        files = self.files.setdefault(home, {})
        if path not in files:
            files[path] = FileState()
            for canary in canaries_in(path):
                self.paths_of.setdefault(canary, set()).add((home, path))
                self.named_files.setdefault(home, set()).add(canary)
        return files[path]

    @staticmethod
    def _forget_where(index: dict[str, set[tuple[Home, str]]], canary: str, place: tuple[Home, str]) -> None:
        index[canary].discard(place)
        if not index[canary]:
            del index[canary]
