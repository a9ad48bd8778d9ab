"""Who may see what of conversations: the part of the model of memory that sessions are.

A session is one owner's, or the team's where it has none; what is said in it is besides in the memory of its home.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from tests.canary.words import Forms, add_forms, canaries_in, forget_in, full

if TYPE_CHECKING:
    from tests.canary.world import Home

# Of a session: what was said in it, what stands for that in prompts, what its caller keeps with it.
Part = Literal["said", "summary", "metadata"]


class TalkKey(NamedTuple):
    """A session. The same id with another owner, agent or tenant is another one."""

    tenant: str
    agent: str
    owner: str | None
    session_id: str

    @property
    def path(self) -> str:
        """What search names as the source of what was said in it."""
        return f"sessions/{self.session_id}"


class Said(NamedTuple):
    """A message. `day` is when it was said, None for now; `carried` are the texts in its other fields."""

    role: str
    text: str
    message_id: str | None = None
    day: str | None = None
    carried: tuple[str, ...] = ()


@dataclass
class Talk:
    """A session. `homes` is where what was said is: one, or several where it is not known.

    `living` and `count`, of its messages, are None where they are not known; `loose`: neither is the order in it.
    `waiting` is a user's message without an answer, `days` those on which something may have been said. `lost`:
    messages of it were removed, of which something may have been derived before.
    """

    homes: set[Home]
    living: bool | None = True
    said: Forms = field(default_factory=dict)
    summary: Forms = field(default_factory=dict)
    metadata: Forms = field(default_factory=dict)
    count: int | None = 0
    ids: set[str] = field(default_factory=set)
    days: set[str] = field(default_factory=set)
    waiting: Said | None = None
    loose: bool = False
    lost: bool = False

    def empty(self, *, certain: bool) -> None:
        """Everything that was said is gone for good, or may be."""
        self.ids.clear()
        self.lost = True
        self.count, self.loose, self.waiting = (0, False, None) if certain else (None, True, self.waiting)
        if certain:
            self.said.clear()
            self.summary.clear()
            self.days.clear()


class Talks:
    """All sessions there are, or may be."""

    def __init__(self) -> None:
        self.by_key: dict[TalkKey, Talk] = {}
        # The canaries in the ids of the sessions that a home ever had: receipts name those that are gone, too.
        self.named: dict[Home, set[str]] = {}

    # Rules

    def meant(self, key: TalkKey) -> tuple[list[TalkKey], list[TalkKey]]:
        """The session that a request for `key` means, where it may be there, and where it surely is: with no owner the
        shared one."""
        known = [key] if key in self.by_key else []
        possible = [one for one in known if self.by_key[one].living is not False]
        return possible, [one for one in possible if self.by_key[one].living]

    def shown(self, keys: Iterable[TalkKey], *parts: Part) -> set[str]:
        """The canaries that a look at these parts of some sessions may show, their ids' included."""
        held: set[str] = set()
        for key in keys:
            if key in self.by_key:
                held |= canaries_in(key.session_id).union(*(getattr(self.by_key[key], part) for part in parts))
        return held

    def may_show(self, canary: str, homes: Collection[Home]) -> bool:
        """Whether what was said in the sessions of some homes, or their ids, may hold a canary."""
        keys = [key for key, talk in self.by_key.items() if not talk.homes.isdisjoint(homes)]
        return any(True for _ in full(canary, self.shown(keys, "said")))

    def where(self, canary: str) -> Iterator[str]:
        """Whose a canary is, for a report."""
        for key in self.by_key:
            for part in get_args(Part):
                if any(True for _ in full(canary, self.shown([key], part))):
                    yield f"session {'/'.join(map(str, key))} ({part})"

    def at(self, home: Home, fits: Callable[[str], bool] = lambda _: True) -> list[tuple[TalkKey, Talk]]:
        """The sessions that a home has, or may have."""
        return [(key, talk) for key, talk in self.by_key.items() if home in talk.homes and fits(key.path)]

    def paths(self, homes: Collection[Home]) -> set[tuple[Home, str]]:
        """The sessions that may be in some homes, as search names them."""
        return {
            (home, key.path)
            for home in homes
            for key, talk in self.at(home)
            if talk.living is not False and talk.count != 0
        }

    # Changes

    def open(self, key: TalkKey, home: Home, *, certain: bool) -> Talk:
        """The session, made where it is new."""
        self.named.setdefault(home, set()).update(canaries_in(key.session_id))
        talk = self.by_key.get(key)
        if talk is None or talk.living is False:
            talk = self.by_key[key] = Talk({home}, living=True if certain else None)
        elif talk.living is None:
            # It may have been made anew, by the rules of now.
            talk.homes.add(home)
            talk.living = True if certain else None
        return talk

    def say(self, talk: Talk, said: Said, day: str) -> None:
        """A message is in a session."""
        add_forms(talk.said, [said.text, *said.carried])
        talk.days.add(day)
        if said.message_id is not None:
            talk.ids.add(said.message_id)

    def forget(self, home: Home, text: str, *, certain: bool) -> dict[TalkKey, tuple[set[str], set[str]]]:
        """A text was taken out of all that was said in a home, and of the metadata. Of each session the canaries that
        nobody says in it any more, none where a message may be gone that said them too, and others that went."""
        found: dict[TalkKey, tuple[set[str], set[str]]] = {}
        for key, talk in self.at(home):
            sure = certain and len(talk.homes) == 1
            # What waits for its answer may say nothing any more.
            talk.loose |= not canaries_in(text).isdisjoint(talk.said)
            unsaid = forget_in(talk.said, text, certain=sure)
            others = set(unsaid)
            if any(True for word in talk.summary for canary in unsaid if canary.startswith(word)):
                # A message that it tells of was changed.
                talk.summary.clear()
            for forms in (talk.summary, talk.metadata):
                others |= forget_in(forms, text, certain=sure)
            found[key] = (set() if talk.lost else unsaid, others)
        return found

    def drop(self, key: TalkKey, *, certain: bool) -> None:
        """A session is gone, or may be."""
        if certain:
            self.by_key.pop(key, None)
        elif key in self.by_key:
            self.by_key[key].empty(certain=False)
            self.by_key[key].living = None

    def drop_agent(self, tenant: str, agent: str) -> None:
        """Nothing of an agent is left."""
        for key in [key for key in self.by_key if key[:2] == (tenant, agent)]:
            del self.by_key[key]
