"""Lines that the server wrote into MEMORY.md and PROFILE.md and that a later statement supersedes. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from reverie_server.files.well_known import PROFILE
from reverie_server.heuristics.changes.change_pairs import units_of
from reverie_server.heuristics.changes.fact_ledger import TimedFact
from reverie_server.heuristics.changes.superseding import resolve
from reverie_server.heuristics.extract import UserStatement
from reverie_server.heuristics.fact_grammar.terms import content_terms
from reverie_server.heuristics.fact_labels import said_once, statement_without
from reverie_server.heuristics.fact_reader import read_facts
from reverie_server.heuristics.fact_sentences import keyed_sentences
from reverie_server.heuristics.memorable import Memorable, Target
from reverie_server.heuristics.spoken_sentences import without_leading
from reverie_server.heuristics.stated_fact import SELF, StatedFact, Utterance
from reverie_server.provenance.line_identity import entry_lines, line_sha256
from reverie_server.search.superseded_text import Superseded, current_text
from reverie_server.sessions.model import Message
from reverie_server.text.markdown_blocks import blocks_of, text_of, without_marker
from reverie_server.text.markdown_edit import lines_of

_EARLY = datetime(1970, 1, 1, tzinfo=UTC)


# No year: "set up in 2024" is no code.
_LONG_NUMBER = re.compile(r"(?<!\d)(?!(?:19|20)\d\d(?!\d))\d{3}")


@dataclass(frozen=True, slots=True)
class KnownLine:
    """A line of a file with the time at which it was said; `is_machine`: the server or a tool wrote it."""

    path: str
    text: str
    said_at: datetime
    is_machine: bool


@dataclass(frozen=True, slots=True)
class Successor:
    """What takes the place of a line: the statement and its source. `rest` is what of the line is of something else."""

    text: str
    source: Mapping[str, Any]
    rest: str = ""


@dataclass(frozen=True, slots=True)
class Supersession:
    """What a conversation changes in the files of a person.

    `outdated` are machine-made lines, by path, that no longer hold. `partly` are those of which one of several facts no
    longer holds, each with the statements of it that do, or, where these cannot be told apart, with the day of its end.
    `new` are the lines of the conversation that hold and are not known yet, and those of what takes the place of an
    outdated line: what was worth a line is worth it with its new value.
    """

    outdated: Mapping[str, frozenset[str]]
    partly: Mapping[str, Mapping[str, str]]
    new: Sequence[Memorable]


def known_lines(path: str, text: str, machine: frozenset[bytes], said_at: Mapping[bytes, datetime]) -> list[KnownLine]:
    """The lines of a file that hold something."""
    found = []
    for line in entry_lines(text):
        sha256 = line_sha256(line)
        found.append(KnownLine(path, line, said_at.get(sha256, _EARLY), sha256 in machine))
    return found


def outdated_lines(
    text: str, machine: frozenset[bytes], superseded: Mapping[bytes, Superseded]
) -> dict[str, int | None]:
    """The machine-made lines of which every sentence is superseded, each with the fact that replaces the last one.

    A guess takes no line away: it stays, and a prompt shows it with the day and a question mark.
    """
    found: dict[str, int | None] = {}
    for line in entry_lines(text):
        ended = _ended_in(superseded, line)
        ends = [ended.get(span.key) for span in keyed_sentences(line)]
        is_over = bool(ends) and all(end and not end.holding and not end.is_guessed for end in ends)
        if is_over and line_sha256(line) in machine:
            found[line] = ends[-1].superseded_by if ends[-1] is not None else None
    return found


def partly_outdated_lines(
    text: str, machine: frozenset[bytes], superseded: Mapping[bytes, Superseded]
) -> dict[str, str]:
    """The machine-made lines of which a part is superseded, each with what is left of it, as a prompt shows it.

    A line that likely holds no more, by a model, stays.
    """
    found: dict[str, str] = {}
    for line in entry_lines(text):
        if line_sha256(line) not in machine or "(until " in line:
            continue
        ended = _ended_in(superseded, line)
        ends = [ended[span.key] for span in keyed_sentences(line) if span.key in ended]
        body = without_marker(line)
        rest = "" if not ends or any(end.is_likely for end in ends) else current_text(body, ended, marked=False)
        if rest.strip() and rest != body:
            found[line] = rest.strip()
    return found


def _ended_in(superseded: Mapping[bytes, Superseded], line: str) -> Mapping[bytes, Superseded]:
    """Those of the sentences that do not hold in a line, whatever file it is in."""
    if not any(fact.elsewhere for fact in superseded.values()):
        return superseded
    sha256 = line_sha256(line)
    return {key: fact for key, fact in superseded.items() if sha256 not in {line for _, (_, line) in fact.elsewhere}}


def rest_of(line: str, successor: str) -> str:
    """What of a line that is replaced is of something else: the parts with a number of their own that share no word
    with what replaces it. "4471 is the delivery door and the alarm has 7713" loses its door alone; "" where that is not
    plain."""
    parts = [part for part in units_of(without_marker(line)) if part != without_marker(line)]
    valued = [part for part in parts if _LONG_NUMBER.search(part) is not None]
    said = content_terms(successor)
    left = [part for part in valued if not said & content_terms(part)]
    return without_leading(", ".join(left)) if left and len(left) < len(valued) else ""


def facts_of(known: Sequence[KnownLine], language: str) -> list[tuple[int, StatedFact]]:
    """The facts of lines, each with the number of its line. Each line is read by itself."""
    found: list[tuple[int, StatedFact]] = []
    for number, line in enumerate(known):
        utterance = Utterance(without_marker(line.text), line.said_at, "file")
        found += [(number, fact) for fact in read_facts([utterance], language)]
    return found


def supersede(
    known: Sequence[KnownLine],
    old: Sequence[tuple[int, StatedFact]],
    stated: Sequence[tuple[StatedFact, Message]],
    lines: Sequence[Memorable],
) -> Supersession:
    """What statements, and the lines to keep of them, change in the known lines, whose facts are `old`."""
    facts = [fact for _, fact in old] + [fact for fact, _ in stated]
    times = [known[number].said_at for number, _ in old] + [message.at for _, message in stated]
    timed = [_timed(number, fact, at) for number, (fact, at) in enumerate(zip(facts, times, strict=True))]
    # What is to come ends nothing of a file before it comes.
    now = max((message.at for _, message in stated), default=_EARLY)
    planned = {number for number, fact in enumerate(facts) if fact.valid_from > now}
    closed = {closure.old: closure for closure in resolve(timed).closures if closure.new not in planned}
    lined = {id(fact) for line in lines for fact in line.facts}
    lines = list(lines)
    outdated: dict[str, set[str]] = {}
    partly: dict[str, dict[str, str]] = {}
    for number, line in enumerate(known):
        of_line = [at for at, (where, _) in enumerate(old) if where == number]
        ended = [at for at in of_line if at in closed and (closed[at].new or 0) >= len(old)]
        if not line.is_machine or not ended:
            continue
        # Where one works ends with the work.
        if all(at in ended or old[at][1].predicate == "works_in" for at in of_line):
            outdated.setdefault(line.path, set()).add(line.text)
            successors = {closed[at].new for at in ended}
            for fact, message in (
                stated[number - len(old)] for number in sorted(s for s in successors if s is not None)
            ):
                if id(fact) not in lined and (fact.change is None or fact.change.kind != "ends"):
                    lined.add(id(fact))
                    lines.append(_line_of(fact, message, "profile" if line.path == PROFILE else "memory"))
        else:
            # What another line has ended since holds no more, either.
            holding = [old[at][1] for at in of_line if at not in closed]
            until = max(closed[at].at for at in ended)
            partly.setdefault(line.path, {})[line.text] = _of_part(
                line.text, holding, [old[at][1].object for at in of_line if at in closed], until
            )
    ended_new = {id(facts[number]) for number in closed if number >= len(old)}
    holding = [fact for at, (_, fact) in enumerate(old) if at not in closed]
    new = [line for line in lines if not _is_over(line, ended_new) and not _is_known(line, holding)]
    frozen = {path: frozenset(texts) for path, texts in outdated.items()}
    return Supersession(frozen, partly, new)


def without_lines(
    text: str, outdated: frozenset[str], partly: Mapping[str, str], replaced: Mapping[str, str]
) -> tuple[str, list[str]]:
    """The text without its outdated entries, and these; one that is `replaced` gives way to that line, and one of which
    a part is over to what it is now, unless another line has that already."""
    lines = lines_of(text)
    dropped: list[str] = []
    present = {line.rstrip("\r\n") for line in lines}
    gone: set[int] = set()
    for block in blocks_of(text):
        if block.kind == "heading" or block.end != block.start + 1:
            continue
        raw = lines[block.start].rstrip("\r\n")
        if raw in outdated:
            dropped.append("\n".join(text_of(block, lines)))
            gone.add(block.start)
        elif raw in replaced or raw in partly:
            if raw in replaced:
                dropped.append("\n".join(text_of(block, lines)))
            left = replaced.get(raw) or partly[raw]
            if left in present:
                gone.add(block.start)
            present.add(left)
            lines[block.start] = left + lines[block.start][len(raw) :]
    return "".join(line for at, line in enumerate(lines) if at not in gone), dropped


def _of_part(line: str, holding: Sequence[StatedFact], ended: Sequence[str], until: datetime) -> str:
    """A line of which a part is over: what of it holds, or all of it with the day until which it did."""
    statements = [
        statement_without(
            fact.subject,
            fact.predicate,
            fact.object,
            fact.text,
            ended=ended,
            is_end=fact.change is not None and fact.change.kind == "ends",
        )
        for fact in holding
    ]
    body = without_marker(line)
    if all(statements) and body.strip(" .") not in {statement.strip(" .") for statement in statements}:
        return line.removesuffix(body) + " ".join(said_once(statements))
    return line if "(until " in line else f"{line} (until {until.date().isoformat()})"


def _line_of(fact: StatedFact, message: Message, target: Target) -> Memorable:
    statement = UserStatement(without_leading(fact.text), "notes", message, fact.sentence)
    return Memorable(statement, target, is_request=False, facts=(fact,))


def _timed(number: int, fact: StatedFact, at: datetime) -> TimedFact:
    return TimedFact(
        number,
        fact.subject,
        fact.predicate,
        fact.object,
        fact.text,
        at,
        fact.is_functional,
        fact.change,
        fact.about_user,
    )


def _is_over(line: Memorable, ended: set[int]) -> bool:
    """Whether what a line says was superseded in the conversation itself, or before."""
    return bool(line.facts) and any(id(fact) in ended for fact in line.facts)


def _is_known(line: Memorable, holding: Sequence[StatedFact]) -> bool:
    """Whether lines that stay say each fact of a line already."""
    return bool(line.facts) and all(any(_is_same(fact, other) for other in holding) for fact in line.facts)


def _is_same(fact: StatedFact, other: StatedFact) -> bool:
    if (fact.subject.casefold(), fact.predicate) != (other.subject.casefold(), other.predicate):
        return False
    terms, of_other = content_terms(fact.object), content_terms(other.object)
    if fact.predicate == "name" and fact.subject == SELF:
        # "I'm Felix" says nothing new of Felix Arndt.
        return bool(terms) and terms <= of_other
    return terms == of_other and (bool(terms) or fact.object == other.object)
