"""Random choices: who asks, as whom, where, and with what. Much of it was taken from answers to somebody else."""

from __future__ import annotations

import json
import random
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import quote

from tests.archives import Raw, snapshot, zipped
from tests.canary.calls import Answer, Call, objects_of
from tests.canary.words import CANARY_CHARS, canaries_in
from tests.canary.world import OWNERS, TENANTS, Acting, Home, Key, World

T = TypeVar("T")
# No stemmer and no splitter of identifiers makes two of a word without vowels, so a canary is one term everywhere.
_LETTERS = "bcdfghjklmnpqrtvwxz"
WORDS = ("lantern", "harbour", "review", "keeper", "kettle", "trumpet", "ledger", "orchard")
_SHAPES = ("The {0} of the {1} is {2}.", "Ada keeps the {0} by the {1}: {2}.", "Ask about {2} before the {0} {1}.")
HEADINGS = ("Notes", "Projects", "Preferences", "Harbour")
CATEGORIES = ("profile", "preferences", "interests", "workflow", "projects", "notes", "no such category")
AGENTS = {
    "wren": 28,
    "finch": 20,
    "pip": 24,
    "open": 14,
    "mute": 4,
    "temp-1": 4,
    "temp-2": 4,
    "solo-acme": 3,
    "solo-umbra": 3,
    "nobody": 1,
    "no/agent": 1,
    "../wren": 1,
}
MALFORMED_AGENTS = ("no/agent", "../wren")
PATHS = {
    "MEMORY.md": 14,
    "memory.md": 2,
    "PROFILE.md": 5,
    "SOUL.md": 3,
    "memory/2026-04-03.md": 10,
    "memory/2026-04-04.md": 6,
    "notes/harbour.md": 14,
    "notes/plan.md": 10,
    "data/state.json": 4,
    "notes/list.txt": 4,
    "notes/settings.yaml": 2,
    # A session may be called as a file is.
    "sessions/plan.md": 3,
}
BAD_PATHS = (
    "../MEMORY.md",
    "notes/../MEMORY.md",
    "notes/./plan.md",
    "/MEMORY.md",
    "notes//plan.md",
    "notes\\plan.md",
    "a\x00b.md",
    "_system/dreaming/2026.md",
    "MEMORY_backup_2026-04-03_02-00-00.md",
    "notes/plan.exe",
    "C:/plan.md",
    "",
)
SESSIONS = {"web:1": 8, "telegram:17": 4, "plan.md": 2, "x" * 201: 0.3, "two words": 0.3}
ID_PREFIXES = {"facts": "fact-", "episodes": "ep-", "entities": "ent-", "merges": "mrg-", "duplicates": "dup-"}
PREFIXES = ("notes/", "memory/", "MEM", "data", "", "_", "MEMORY_backup")
MALFORMED_OWNERS = ("*", "user:", "nobody", "user:1\n", "User:1", "user: 1", "%", "acme/user:1")


@dataclass
class Loot:
    """What answers gave, to whomever."""

    ids: deque[tuple[Acting | None, str]] = field(default_factory=lambda: deque(maxlen=100))
    cursors: deque[str] = field(default_factory=lambda: deque(maxlen=40))
    backups: deque[str] = field(default_factory=lambda: deque(maxlen=40))
    archives: deque[bytes] = field(default_factory=lambda: deque(maxlen=30))
    versions: deque[int] = field(default_factory=lambda: deque(maxlen=60))
    paths: deque[str] = field(default_factory=lambda: deque(maxlen=60))
    lines: deque[str] = field(default_factory=lambda: deque(maxlen=200))
    instants: deque[str] = field(default_factory=lambda: deque(maxlen=60))
    sessions: deque[str] = field(default_factory=lambda: deque(maxlen=30))
    turns: deque[str] = field(default_factory=lambda: deque(maxlen=60))
    receipts: deque[str] = field(default_factory=lambda: deque(maxlen=30))

    def take(self, call: Call, answer: Answer) -> None:
        """Keep what may open something elsewhere."""
        if answer.entries and "manifest.json" in answer.entries:
            self.archives.append(answer.content)
        for found in objects_of(answer.result):
            self._take(found)
            # Messages and jobs have ids of their own, which are no passages'.
            if str(found.get("id", "")).isdigit() and "kind" not in found:
                self.ids.append((call.acting, found["id"]))

    def _take(self, value: dict[str, Any]) -> None:
        if isinstance(value.get("next_cursor"), str):
            self.cursors.append(value["next_cursor"])
        self.receipts.extend(each for each in value.values() if isinstance(each, str) and each.startswith("rcp-"))
        if "asked" in value and str(value.get("id", "")).isdigit():
            self.turns.append(value["id"])
        for name in (value.get("name"), value.get("backup")):
            if isinstance(name, str) and name.startswith("MEMORY_backup"):
                self.backups.append(name)
        if isinstance(value.get("version"), int):
            self.versions.append(value["version"])
        if isinstance(value.get("updated_at"), str):
            self.instants.append(value["updated_at"])
        if canaries_in(str(value.get("path", ""))):
            self.paths.append(value["path"])
        if canaries_in(str(value.get("session_id", ""))):
            self.sessions.append(value["session_id"])


class Draw:
    """Everything random of one run. Whoever asks is of `tenant`, or has a key that is none."""

    def __init__(self, seed: int, world: World, keys: Sequence[Key]) -> None:
        self.seed = seed
        self.rng = random.Random(seed)
        self.world = world
        self.keys = keys
        self.loot = Loot()
        self.tenant = TENANTS[0]
        self._queries: deque[str] = deque(maxlen=6)
        self._answered: dict[tuple[str, str], str] = {}

    # Dice

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def one_of(self, choices: Sequence[T]) -> T:
        return self.rng.choice(choices)

    def weighted(self, choices: Mapping[T, float]) -> T:
        return self.rng.choices(list(choices), list(choices.values()))[0]

    def looted(self, pool: Sequence[T], share: float, otherwise: T) -> T:
        """Something out of the loot, or what is given."""
        return self.one_of(pool) if pool and self.chance(share) else otherwise

    def asked_again(self, agent: str, otherwise: str) -> str:
        """What somebody has asked an agent and got an answer to, for another to ask, or what is given."""
        last = self._answered.get((self.tenant, agent))
        return last if last is not None and self.chance(0.4) else otherwise

    def note_answered(self, tenant: str, agent: str, query: str) -> None:
        """Remember a query that found something."""
        self._answered[tenant, agent] = query

    # Whoever asks

    def key(self, *, wrong: float = 0.04) -> Key:
        """Mostly one that works."""
        should_work = not self.chance(wrong)
        return self.one_of([k for k in self.keys if k.works == should_work and k.tenant in (self.tenant, NO_TENANT)])

    def acting(self, *, everybody: bool = False, reads: bool = False) -> tuple[Acting, dict[str, str]]:
        """Who asks for whom, and how the request says so; `everybody`: where `*` is a word that is understood.

        More than half of the time somebody who may, on an agent that takes writes or, with `reads`, a member.
        """
        if self.chance(0.65):
            return self._well_meant(reads=reads)
        key = self.key()
        agent = self.weighted(AGENTS)
        owner = key.owner if key.owner is not None and self.chance(0.7) else self.one_of(OWNERS)
        malformed = agent in MALFORMED_AGENTS
        shape = self.rng.random()
        if shape < 0.5:
            return Acting(key, agent, owner, malformed=malformed), {"owner_key": owner}
        if shape < 0.7:
            return Acting(key, agent, None, malformed=malformed), {}
        if shape < 0.8:
            return Acting(key, agent, "api:3", malformed=malformed), {"end_user_id": "3"}
        if shape < 0.84:
            both = {"owner_key": owner, "end_user_id": "3"}
            return Acting(key, agent, owner, malformed=malformed or owner != "api:3"), both
        if shape < (0.97 if everybody else 0.87):
            return Acting(key, agent, None, everybody, malformed or not everybody), {"owner_key": "*"}
        wrong = self.one_of(MALFORMED_OWNERS[1:])
        return Acting(key, agent, None, malformed=True), {"owner_key": wrong}

    def _well_meant(self, *, reads: bool) -> tuple[Acting, dict[str, str]]:
        writers = [key for key in self.keys if key.works and key.role != "viewer" and key.tenant == self.tenant]
        key = self.one_of(writers)
        open_to = ("wren", "finch", "open", f"solo-{key.tenant}", *(("pip", "pip") if reads else ()))
        agent = self.one_of([name for name in open_to if key.agents is None or name in key.agents] or ["pip"])
        owner = self.one_of([key.owner, None] if key.owner is not None else [*OWNERS, None])
        return Acting(key, agent, owner), {} if owner is None else {"owner_key": owner}

    def acting_on(self, home: Home) -> tuple[Acting, dict[str, str]]:
        """Somebody whose writes go there."""
        keys = [key for key in self.keys if key.tenant == home.tenant and key.label in ("admin", "member")]
        acting = Acting(self.one_of(keys), home.agent or "wren", home.owner)
        return acting, {} if home.owner is None else {"owner_key": home.owner}

    # Where

    def path(self) -> str:
        """Mostly one that others have too."""
        if self.chance(0.05):
            return self.one_of(BAD_PATHS)
        if self.chance(0.07):
            return f"notes/{self.canary()}.md"
        return self.looted(self.loot.paths, 0.08, self.weighted(PATHS))

    def session_id(self, acting: Acting) -> str:
        """Mostly one that there is with the agent, the caller's or somebody else's, and that others have too."""
        if self.chance(0.06):
            return f"web:{self.canary()}"
        near = [key for key in self.world.talks.by_key if key[:2] == (acting.key.tenant, acting.agent)]
        own = [key.session_id for key in near if key.owner == (acting.owner or acting.key.owner)]
        anybodys = self.looted(self.loot.sessions, 0.08, self.weighted(SESSIONS))
        return self.looted(own, 0.5, self.looted([key.session_id for key in near], 0.4, anybodys))

    def path_at(self, home: Home | None) -> str:
        """A file that a home has, more than half of the time."""
        return self.looted(list(self.world.files.get(home, {})), 0.8, self.path())

    def path_to_read(self, acting: Acting, home: Home | None) -> str:
        """A file that is there, often in somebody else's home alone: one with the same agent, or with its leader."""
        state = self.world.agents.get((self.tenant, acting.agent))
        others = [other for other in self.world.files if other.tenant == self.tenant]
        near = [other for other in others if state and other.agent in (acting.agent, state.leader) and other.owner]
        return self.path_at(self.looted(near, 0.7, self.one_of(others)) if self.chance(0.5) else home)

    def url_of(self, agent: str, *rest: str) -> str:
        """The URL of something of an agent, its slashes escaped or not."""
        parts = [quote(part, safe="" if self.chance(0.1) else "/") for part in rest]
        # A dot is not escaped by itself, and clients fold `..` away.
        parts = [part.replace("..", "%2e%2e").replace("./", "%2e/") for part in parts]
        return "/".join(["/api/v1/agents", quote(agent, safe="").replace("..", "%2e%2e"), *parts])

    # What

    def canary(self) -> str:
        """A word that nobody has written yet."""
        return "cnry" + "".join(self.rng.choices(_LETTERS, k=CANARY_CHARS - 4))

    def known_canary(self) -> str:
        """A word that somebody has written somewhere."""
        known = list(self.world.homes_of)[-400:]
        talks = list(self.world.talks.by_key.values())
        said = sorted(self.one_of(talks).said) if talks and self.chance(0.3) else []
        return self.one_of(said or known or [self.canary()])

    def canary_at(self, home: Home | None, path: str) -> str:
        """A word of a file, more than half of the time."""
        state = self.world.files.get(home, {}).get(path)
        return self.looted(sorted(state.present) if state else (), 0.9, self.known_canary())

    def canary_of(self, home: Home | None) -> str:
        """A word that a home has or had, nearly always."""
        files = self.world.files.get(home, {})
        held = [canary for state in files.values() for canary in state.forms]
        said = [canary for _, talk in self.world.talks.at(home) for canary in talk.said] if home else []
        return self.looted([*held, *said], 0.9, self.known_canary())

    def line(self) -> str:
        """A sentence of ordinary words with a canary of its own; now and then one that was seen elsewhere."""
        fresh = self.one_of(_SHAPES).format(*self.rng.sample(WORDS, 2), self.canary())
        return self.looted(self.loot.lines, 0.04, fresh)

    def text(self, path: str) -> tuple[str, tuple[str, ...]]:
        """A file's text and its lines as they may be found again."""
        lines = tuple(self.line() for _ in range(self.rng.randint(1, 4)))
        self.loot.lines.extend(lines)
        if path.endswith(".json"):
            return json.dumps({"notes": lines}), lines
        if path.endswith((".yaml", ".txt")):
            return "".join(f"note: {line}\n" for line in lines), lines
        heading = f"# {self.one_of(HEADINGS)}\n\n" if self.chance(0.5) else ""
        shape = self.one_of(("{}\n\n", "- {}\n", "## {}\n\n"))
        return heading + "".join(shape.format(line) for line in lines), lines

    def query(self) -> str:
        """Words that everybody wrote, somebody's canary, or both; often what somebody else just asked."""
        if self._queries and self.chance(0.4):
            return self.one_of(self._queries)
        words = " ".join(self.rng.sample(WORDS, self.rng.randint(1, 3)))
        canary = self.known_canary()
        self._queries.append(self.one_of((words, canary, f"{words} {canary}")))
        return self._queries[-1]

    def passage_id(self, acting: Acting) -> str:
        """The id of a passage that an answer gave, mostly to somebody else of the same agent, or to anybody."""
        near = [i for of, i in self.loot.ids if of and (of.key.tenant, of.agent) == (acting.key.tenant, acting.agent)]
        anywhere = [i for _, i in self.loot.ids]
        return self.looted(near[-8:], 0.7, self.looted(anywhere, 0.95, "1"))

    def row_id(self, table: str, acting: Acting) -> str:
        """The number of something that was derived: what the caller sees, somebody else's of the same agent, or
        anybody's."""
        rows, sight = self.world.derived.of(table), self.world.sight(acting) or ()
        own = [number for number, row in rows.items() if row.home in sight]
        near = [number for number, row in rows.items() if row.home[:2] == (acting.key.tenant, acting.agent)]
        others = self.looted(near, 0.6, self.looted(list(rows), 0.95, "1"))
        return self.looted(own, 0.5, others)

    def public_id(self, table: str, acting: Acting) -> str:
        """The same as routes call it."""
        number = self.row_id(table, acting)
        return number if self.chance(0.1) else f"{ID_PREFIXES[table]}{number}"

    def prefix(self) -> str:
        """The beginning of a path, that of a private one too."""
        return self.looted(self.loot.paths, 0.2, self.one_of(PREFIXES))

    def archive(self) -> bytes:
        """A snapshot: one that somebody exported, one made by hand, or what is none."""
        if self.chance(0.08):
            return self.one_of((b"", b"PK\x03\x04", b"no archive", zipped([Raw("MEMORY.md", b"x")])))
        if self.loot.archives and self.chance(0.25):
            return self.one_of(self.loot.archives)
        paths = {self.weighted(PATHS) for _ in range(self.rng.randint(1, 3))}
        more = [Raw(self.one_of(("../MEMORY.md", "notes/skipped.md", "MEMORY.exe")), b"x")] if self.chance(0.2) else []
        if self.chance(0.15):
            paths.add(f"memory/{self.canary()}.md")
        return snapshot({path: self.text(path)[0] for path in sorted(paths)}, *more)


def home_of_row(acting: Acting, row: dict[str, Any]) -> Home:
    """Whose an object of an answer says it is; the owner is the asking one where it does not say."""
    scope = row["scope"]
    if scope == "global":
        return Home(acting.key.tenant, None, None)
    owner = row.get("owner_key", acting.owner or acting.key.owner) if scope == "personal" else None
    return Home(acting.key.tenant, acting.agent, owner)


def keys_with(secrets: dict[str, str], other: str) -> list[Key]:
    """All keys: `secrets` maps `tenant label` to the key, `other` is none."""
    keys = [
        Key(label, tenant, role, f"Bearer {secrets[f'{tenant} {label}']}", owner, agents, label != "revoked")
        for tenant in TENANTS
        for label, (role, owner, agents) in KEYS.items()
    ]
    wrong = {"garbage": f"Bearer {other}", "no key": None, "other scheme": f"Basic {other}", "empty": "Bearer"}
    return keys + [Key(label, NO_TENANT, "member", value, works=False) for label, value in wrong.items()]


NO_TENANT = "nobody's"
# Label → role, owner and agents that a key is bound to.
KEYS: dict[str, tuple[str, str | None, frozenset[str] | None]] = {
    "admin": ("admin", None, None),
    "member": ("member", None, None),
    "viewer": ("viewer", None, None),
    **{f"member of {owner}": ("member", owner, None) for owner in OWNERS},
    "viewer of user:1": ("viewer", "user:1", None),
    "admin of user:1": ("admin", "user:1", None),
    "member with wren": ("member", None, frozenset({"wren"})),
    "admin with temp-1": ("admin", None, frozenset({"temp-1"})),
    "member with finch and open": ("member", None, frozenset({"finch", "open"})),
    "member of telegram:2 with pip": ("member", "telegram:2", frozenset({"pip"})),
    "revoked": ("admin", None, None),
}
