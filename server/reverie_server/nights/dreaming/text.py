"""What several conversations come to: found without a model, or checked where a model wrote it; and merged. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import islice
from typing import Literal

from reverie_server.heuristics.cues import Cues
from reverie_server.heuristics.entries import TELLING_KINDS, cues_in, dated, fact_of, kinds_of, stated, undated
from reverie_server.heuristics.orders import standing_order
from reverie_server.heuristics.salience import NOTABLE
from reverie_server.heuristics.statement_index import FrameIndex, TermIndex
from reverie_server.heuristics.statements import GROUNDED_SHARE, Ground, Statement, contradicts, same, statement
from reverie_server.text.fences import neutralise, strip_injected
from reverie_server.text.markdown_blocks import blocks_of, bullet, escaped, text_of
from reverie_server.text.markdown_edit import lines_of
from reverie_server.text.tokens import CountTokens

Kind = Literal["preference", "fact", "pattern", "decision"]
# In the order in which they stand in the file.
HEADINGS: dict[Kind, str] = {
    "preference": "Preferences",
    "fact": "Facts",
    "pattern": "Patterns",
    "decision": "Decisions",
}
MAX_LINE_CHARS = 500
# Of what a model proposes no more is looked at.
MAX_LINES = 500
# What is said again and again may be small talk.
SAYS_SOMETHING = 1.0
_SPEAKER = re.compile(r"(?:[-*+]\s+)?(?:(?P<who>User|Assistant): )?")


@dataclass(frozen=True, slots=True)
class Summary:
    """An episode as dreaming is given it, told without what was forgotten. `day` is when it ended, locally."""

    episode_id: int
    session_id: str
    day: date
    text: str


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the file: what it says, of which kind, and from which episodes it follows, at least one."""

    kind: Kind
    said: Statement
    episodes: tuple[Summary, ...]

    @property
    def written(self) -> str:
        """As it stands in the file: with the days on which it was said."""
        return dated(self.said.text, [episode.day for episode in self.episodes])


def as_data(episodes: Sequence[Summary]) -> str:
    """The episodes as a model is given them, numbered from 1."""
    return "\n\n".join(
        f"[{number}] {episode.day.isoformat()} {episode.session_id}\n{episode.text}"
        for number, episode in enumerate(episodes, start=1)
    )


def proposed(
    lines: Iterable[tuple[Kind, str, Sequence[int]]], episodes: Sequence[Summary], language: str
) -> list[Line]:
    """The lines of a model (kind, text, numbers of episodes) that follow from what they name, in order, each once.

    One that names no episode, or says what none of those it names says, was invented; one that a single conversation
    mentions in passing is no memory.
    """
    found: list[Line] = []
    read = [_Read(episode, language) for episode in episodes]
    for kind, text, numbers in islice(lines, MAX_LINES):
        plain, _ = undated(" ".join(neutralise(strip_injected(text)).split()))
        speaker = _SPEAKER.match(plain)
        if speaker and speaker["who"] == "Assistant":
            continue
        plain = plain[speaker.end() :] if speaker else plain
        named = [number - 1 for number in dict.fromkeys(numbers) if 1 <= number <= len(episodes)]
        said = statement(plain, language)
        own_read = [read[number] for number in named]
        if not named or not said.essence or not Ground.joined([one.ground for one in own_read]).bears(said):
            continue
        if standing_order(plain) is not None:
            continue
        own = tuple(episodes[number] for number in sorted(named))
        recurs = len({episode.session_id for episode in own}) > 1
        if recurs or kind in ("preference", "decision") or any(one.stresses(said) for one in own_read):
            found.append(Line(kind, said, own))
    return _distinct(found)


def extractive(episodes: Sequence[Summary], language: str) -> list[Line]:
    """What recurs in several conversations, or was stated as important, best first.

    Important is something to remember, a decision or a preference that a person would note. What the assistant said is
    nobody's: "I decided" would become the owner's. Of two statements that contradict each other the later one is kept.
    """
    found: list[tuple[Statement, frozenset[str], float, list[Summary]]] = []
    # By what each was first found as, and then said again.
    index, places = TermIndex(), list[int]()
    expected = cues_in("\n".join(episode.text for episode in episodes), language)
    for episode in episodes:
        for text, score in _stated(episode, expected):
            if standing_order(text) is not None:
                continue
            said = statement(fact_of(text, expected), language)
            kinds = kinds_of(text, expected)
            alike = sorted({places[number] for number in index.alike(said)})
            known = next((place for place in alike if same(found[place][0], said)), None)
            places.append(len(found) if known is None else known)
            index.add(said)
            if known is not None:
                _, before, best, own = found[known]
                own.append(episode)
                found[known] = (said, before | kinds, max(best, score), own)
            else:
                found.append((said, kinds, score, [episode]))
    frames = FrameIndex(said for said, _, _, _ in found)
    kept = [
        (len({episode.session_id for episode in own}), score, number, kinds, said, own)
        for number, (said, kinds, score, own) in enumerate(found)
        if not any(
            later > number and contradicts(found[later][0], said) and found[later][3][-1].day >= own[-1].day
            for later in frames.opposed(said)
        )
    ]
    worth = [one for one in kept if one[0] > 1 or (one[3] & TELLING_KINDS and one[1] >= NOTABLE)]
    worth.sort(key=lambda one: (-one[0], -one[1], one[2]))
    return [Line(_kind_of(kinds, sessions), said, _each_once(own)) for sessions, _, _, kinds, said, own in worth]


def merged(text: str | None, day: date, lines: Sequence[Line], language: str) -> tuple[str, list[Line]]:
    """The file of a day with the lines that it does not hold yet, below their headings; and these. It loses nothing."""
    present = text or f"# Consolidated {day.isoformat()}\n"
    added = _distinct(lines, [statement(undated(line)[0], language) for line in _items(present)])
    for kind, heading in HEADINGS.items():
        own = ["\n".join(bullet(escaped([line.written]))) for line in added if line.kind == kind]
        if own:
            present = _below(present, heading, own)
    return present, added


def within_tokens(lines: Sequence[Line], max_tokens: int, count: CountTokens) -> list[Line]:
    """The first lines that fit into so many tokens; one that does not is left out, not cut."""
    kept: list[Line] = []
    left = max_tokens
    for line in lines:
        size = count(f"- {line.written}\n")
        if size <= left:
            kept.append(line)
            left -= size
    return kept


def without_forgotten(episodes: Sequence[Summary], clean: Callable[[str], str]) -> list[Summary]:
    """The episodes as they may be told: without what memory had put in, and without what was forgotten."""
    return [Summary(e.episode_id, e.session_id, e.day, clean(strip_injected(e.text)).strip()) for e in episodes]


def _header(episode: Summary) -> str:
    return f"{episode.day.isoformat()} {episode.session_id}"


def _stated(episode: Summary, expected: Cues | None) -> Iterable[tuple[str, float]]:
    """What an episode states, but for what the assistant said, with how much that says."""
    for line in episode.text.splitlines():
        speaker = _SPEAKER.match(line)
        if speaker and speaker["who"] == "Assistant":
            continue
        rest = line[speaker.end() :] if speaker else line
        for text, score in stated(rest, expected):
            plain, _ = undated(text)
            if score >= SAYS_SOMETHING and plain and len(plain) <= MAX_LINE_CHARS and not plain.endswith("…"):
                yield plain, score


def _kind_of(kinds: frozenset[str], sessions: int) -> Kind:
    if "preference" in kinds:
        return "preference"
    if "decision" in kinds:
        return "decision"
    return "fact" if kinds & {"fact", "remember"} or sessions < 2 else "pattern"


class _Read:
    """An episode as lines are checked against it: what follows from it, and what it says as something to keep."""

    def __init__(self, episode: Summary, language: str) -> None:
        parts = [statement(part, language) for part in [_header(episode), *episode.text.splitlines()]]
        expected = cues_in(episode.text, language)
        self.ground = Ground(parts)
        self._telling = [part for part in parts if kinds_of(part.text, expected) & TELLING_KINDS]

    def stresses(self, said: Statement) -> bool:
        """Whether a statement was made here as one to keep."""
        return any(len(part.terms & said.terms) >= GROUNDED_SHARE * len(said.terms) for part in self._telling)


def _distinct(lines: Sequence[Line], held: Sequence[Statement] = ()) -> list[Line]:
    """The lines without what is held already, and without those that say again what an earlier one says."""
    known = list(held)
    index = TermIndex(held)
    kept: list[Line] = []
    for line in lines:
        if not any(same(line.said, known[number]) for number in index.alike(line.said)):
            kept.append(line)
            known.append(line.said)
            index.add(line.said)
    return kept


def _each_once(episodes: Sequence[Summary]) -> tuple[Summary, ...]:
    return tuple({episode.episode_id: episode for episode in episodes}.values())


def _items(text: str) -> list[str]:
    lines = lines_of(text)
    return [" ".join(text_of(block, lines)) for block in blocks_of(text) if block.kind in ("item", "paragraph")]


def _below(text: str, heading: str, items: Sequence[str]) -> str:
    """The text with items at the end of a section, which is made at the end where it is missing."""
    lines = [line.rstrip("\r\n") for line in lines_of(text)]
    blocks = blocks_of(text)
    own = next((b for b in blocks if b.kind == "heading" and b.level == 2 and b.title == heading), None)
    if own is None:
        return "\n".join([*lines, "", f"## {heading}", "", *items]).lstrip("\n") + "\n"
    end = next((b.start for b in blocks if b.kind == "heading" and b.start > own.start), len(lines))
    last = [block for block in blocks if own.start <= block.start < end][-1]
    gap = [] if last.kind == "item" else [""]
    return "\n".join([*lines[: last.end], *gap, *items, *lines[last.end :]]) + "\n"
