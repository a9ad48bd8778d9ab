"""What a successful request does to sessions: what is said in them, and what that leaves in daily notes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tests.canary.effects import Effect
from tests.canary.talks import Said, Talk, TalkKey
from tests.canary.words import Forms, add_forms, canaries_in
from tests.canary.world import World

NO_TALK = TalkKey("", "", None, "")
# Of an exchange a daily note has so many characters of what the user and of what the assistant said.
NOTED = {"user": 200, "assistant": 300}


def note_of(day: str) -> str:
    """The daily note of a day."""
    return f"memory/{day}.md"


@dataclass(frozen=True)
class OfTalk(Effect):
    """On a session, and with it on daily notes of its home."""

    key: TalkKey = NO_TALK
    days: tuple[str, ...] = ()

    @property
    def touches(self) -> frozenset[str]:
        return frozenset([f"{self.key.owner} {self.key.path}", *map(note_of, self.days)])


@dataclass(frozen=True)
class Talked(OfTalk):
    """Messages were added, `stored` of them (None: it is not known, or none were); `days[0]` is today, and there are
    several todays around midnight."""

    said: Sequence[Said] = ()
    stored: int | None = 0
    todays: int = 1

    def add(self, world: World, *, certain: bool) -> None:
        world.make_agent(self.key.tenant, self.key.agent)
        talk = world.talks.open(self.key, self.home, certain=certain and self.stored is not None)
        new = new_of(talk, self.said)
        is_known = certain and not talk.loose and self.stored == len(new) and self.todays == 1 and len(talk.homes) == 1
        if is_known:
            new = [said._replace(day=said.day or self.days[0]) for said in new]
            lines = exchanges(talk, new, whole=self.home in world.worn)
        else:
            talk.loose = True
        for said in new if is_known else self.said:
            world.talks.say(talk, said, said.day or self.days[0])
        talk.days |= set(self.days)
        talk.count = None if talk.count is None or self.stored is None else talk.count + self.stored
        # Of a team member's sessions no notes are written.
        is_member = world.agents[self.key.tenant, self.key.agent].leader is not None
        if is_known and not is_member:
            for day, texts in lines:
                world.jot(self.home, note_of(day), texts, certain=True)
        else:
            for home in talk.homes:
                for day in talk.days:
                    world.jot(home, note_of(day), sorted(talk.said), certain=False)


def new_of(talk: Talk, said: Sequence[Said]) -> list[Said]:
    """The messages that a session takes: of each id the first."""
    seen = set(talk.ids)
    found = []
    for one in said:
        if one.message_id is None or one.message_id not in seen:
            found.append(one)
        seen |= {one.message_id} if one.message_id is not None else set()
    return found


def exchanges(talk: Talk, new: Sequence[Said], *, whole: bool) -> list[tuple[str, list[str]]]:
    """What of the exchanges that new messages complete stands in the note of which day; the session then waits anew.

    `whole`: where a note cuts a message is not known, since something in the middle of it may not come back.
    """
    found = []
    for said in new:
        if said.role == "user" and said.text.strip():
            talk.waiting = said
        elif said.role == "assistant" and said.text.strip() and not said.carried:
            # What carries calls of tools is no answer yet.
            if talk.waiting is not None:
                cut = canaries_in(f"{talk.waiting.text} {said.text}") if whole else ()
                found.append((talk.waiting.day or "", [noted(talk.waiting), noted(said), *sorted(cut)]))
            talk.waiting = None
    return found


def noted(said: Said) -> str:
    """What a daily note has of a message."""
    text, most = " ".join(said.text.split()), NOTED[said.role]
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


@dataclass(frozen=True)
class TalkPut(OfTalk):
    """A session was made or changed; with metadata it has this alone."""

    metadata: tuple[str, ...] | None = None

    def add(self, world: World, *, certain: bool) -> None:
        world.make_agent(self.key.tenant, self.key.agent)
        add_forms(world.talks.open(self.key, self.home, certain=certain).metadata, self.metadata or ())

    def remove(self, world: World, *, certain: bool) -> None:
        talk = world.talks.by_key.get(self.key)
        if talk is not None and self.metadata is not None and certain:
            talk.metadata = _only(talk.metadata, self.metadata)


@dataclass(frozen=True)
class TalkCompacted(OfTalk):
    """A summary stands for messages, and lines about them are in notes of their days, which are seen as they are
    stored."""

    flushed: int = 0
    summary: str = ""

    def add(self, world: World, *, certain: bool) -> None:
        del certain
        talk = world.talks.by_key.get(self.key)
        if talk is None:
            return
        # It tells of messages in other words: what of it is left when one of them is forgotten is not known.
        add_forms(talk.summary, canaries_in(self.summary))
        if not self.flushed:
            return
        for home in talk.homes:
            for day in self.days:
                world.jot(home, note_of(day), sorted(talk.said), certain=False)


@dataclass(frozen=True)
class TalkEmptied(OfTalk):
    """Nothing that was said is left."""

    def remove(self, world: World, *, certain: bool) -> None:
        talk = world.talks.by_key.get(self.key)
        if talk is not None:
            talk.empty(certain=certain)


@dataclass(frozen=True)
class TalkGone(OfTalk):
    """A session was deleted with all that was said, and its episodes."""

    def remove(self, world: World, *, certain: bool) -> None:
        world.talks.drop(self.key, certain=certain)
        if certain:
            world.derived.drop_episodes(self.home, lambda row: row.talk == self.key)


@dataclass(frozen=True)
class TalksCleared(Effect):
    """Sessions under a path are gone, but for their episodes; where it is not known which of their messages, all may be
    or none."""

    fits: Callable[[str], bool] = field(default=lambda _: True)
    all_of_them: bool = True

    def remove(self, world: World, *, certain: bool) -> None:
        lasting = {row.talk for row in world.derived.of("episodes", [self.home]).values()}
        for key, talk in world.talks.at(self.home, self.fits):
            sure = certain and self.all_of_them and len(talk.homes) == 1
            if key in lasting:
                talk.empty(certain=sure)
            else:
                world.talks.drop(key, certain=sure)


@dataclass(frozen=True)
class EpisodesCleared(Effect):
    """Episodes under a path are gone with what the graph has of them."""

    fits: Callable[[str], bool] = field(default=lambda _: True)

    def remove(self, world: World, *, certain: bool) -> None:
        if certain:
            world.derived.drop_episodes(self.home, lambda row: self.fits(row.path or ""))


@dataclass(frozen=True)
class EpisodeGone(Effect):
    """An episode was removed with what the graph has of it."""

    number: str = ""

    def remove(self, world: World, *, certain: bool) -> None:
        if certain:
            world.derived.drop_episodes(self.home, lambda row: str(row.episode) == self.number)


@dataclass(frozen=True)
class ReportsCleared(Effect):
    """The reports of a home are gone."""

    def remove(self, world: World, *, certain: bool) -> None:
        if certain:
            world.derived.drop(lambda row_id, row: row_id.table == "reports" and row.home == self.home)


def _only(forms: Forms, texts: Sequence[str]) -> Forms:
    kept = {canary for text in texts for canary in canaries_in(text)}
    return {canary: written for canary, written in forms.items() if canary in kept}
