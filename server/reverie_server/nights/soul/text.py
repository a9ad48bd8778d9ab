"""The text of SOUL.md: what a model may write into it, and how that stands beside the lines of people. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from reverie_indexer.file_rules import is_unedited_seed
from reverie_indexer.text.analyse import CJK
from reverie_server.heuristics.grounding import Sources
from reverie_server.heuristics.orders import why_order
from reverie_server.provenance.line_identity import entry_lines
from reverie_server.text.controls import without_controls
from reverie_server.text.fences import neutralise, strip_injected
from reverie_server.text.markdown_edit import lines_of
from reverie_server.text.redact import essence, is_in

PATH = "SOUL.md"
TITLE = "# Who I am"
# Below this room for words, nothing is written beside the lines of people.
MIN_WORDS = 20
# The share of the lines that must be in the first person.
_FIRST_PERSON_SHARE = 0.5
_CJK = re.compile(f"[{CJK}]")
_FIRST_PERSON = re.compile(
    # English, German, Dutch, Swedish, Danish and Norwegian; Spanish, Portuguese, Italian, French; Polish, Russian.
    r"(?<!\w)(?:i|i'm|i've|i'll|i'd|my|me|mine|myself|we|our|us|ich|mir|mich|mein\w{0,3}|wir|uns|unser\w{0,3}|ik|mij|mijn"
    r"|jag|jeg|mig|meg|min|mitt|yo|me|mi|mis|mí|conmigo|nos|nuestr\w{1,2}|soy|estoy|voy|doy|sé|eu|meu|minha|comigo"
    r"|sou|estou|io|mio|mia|miei|sono|je|j|moi|mon|ma|mes|nous|notre|ja|mnie|mój|moja|jestem|я|мне|меня|мой|моя|мои|мы)"
    r"(?!\w)|[我私僕俺]|わたし|ぼく|나는|저는|제가|내가"
)
# `Respondo con calma`: the verb of the first person begins the sentence, and no word for it is needed.
_VERB = re.compile(r"\W{0,8}(?:(?:no|nunca|siempre|non|não|nunca|sempre|mai) )?[^\W\d_]{2,20}o(?!\w)")


@dataclass(frozen=True, slots=True)
class KnownFact:
    """A fact from which SOUL.md may follow: the sentence, the day on which it was said, and the ids that share it."""

    text: str
    day: date
    fact_ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SoulText:
    """A line for SOUL.md, and the facts that it follows from; of one that is kept, those behind it that still hold."""

    text: str
    fact_ids: tuple[int, ...] = ()
    is_kept: bool = False


@dataclass(frozen=True, slots=True)
class Reviewed:
    """The lines of an answer that may be written, and how often each reason refused another."""

    lines: Sequence[SoulText]
    refused: Mapping[str, int]


def count_words(text: str) -> int:
    """The words of a text between white space; two characters of a script without spaces are a word."""
    return len(_CJK.sub(" ", text).split()) + (len(_CJK.findall(text)) + 1) // 2


def usable_facts(facts: Sequence[KnownFact], clean: Callable[[str], str]) -> list[KnownFact]:
    """The facts without orders to the agent and without what was forgotten, as `clean` tells it."""
    return [fact for fact in facts if why_order(fact.text) is None and clean(fact.text).strip() == fact.text.strip()]


def reviewed(
    proposals: Sequence[tuple[str, Sequence[int]]],
    facts: Sequence[KnownFact],
    before: str,
    is_machine: Callable[[str], bool],
    clean: Callable[[str], str],
    held_of: Callable[[str], Collection[int] | None],
) -> Reviewed:
    """The lines of an answer, each with the numbers of its facts from 1, that follow from these and give no order.

    `before` is the present text. Lines that people wrote are not repeated; its other lines may stay as they are while
    one of the facts that they were made of holds, which `held_of` tells; None where it is not known what they are of.
    """
    present = {essence(line): is_machine(line) for line in entry_lines(before)}
    lines: dict[str, SoulText] = {}
    refused: dict[str, int] = {}
    for proposed, numbers in proposals:
        text = _plain(proposed)
        known = essence(text)
        if not known or known in lines or present.get(known) is False:
            continue
        of = [facts[number - 1] for number in dict.fromkeys(numbers) if 1 <= number <= len(facts)]
        held = held_of(text) if known in present else ()
        is_kept = held is None or len(held) > 0
        reason = _why_refused(text, of, is_kept=is_kept, clean=clean)
        if reason is None:
            fact_ids = held or () if is_kept else [fact_id for fact in of for fact_id in fact.fact_ids]
            lines[known] = SoulText(text, tuple(fact_ids), is_kept)
        else:
            refused[reason] = refused.get(reason, 0) + 1
    return Reviewed(list(lines.values()), refused)


def why_unfit(lines: Sequence[str], *, min_chars: int, max_words: int) -> str | None:
    """Why lines are no SOUL.md, in words for the model: too short, too long, or not in the first person."""
    text = "\n".join(lines)
    if len(text) <= min_chars:
        return f"it has no more than {min_chars} characters"
    if count_words("\n".join(f"- {line}" for line in lines)) > max_words:
        return f"it has more than {max_words} words"
    if sum(map(is_first_person, lines)) < _FIRST_PERSON_SHARE * len(lines):
        return "it is not in the first person"
    return None


def is_first_person(line: str) -> bool:
    """Whether a sentence is about who says it, in any of some languages."""
    folded = line.casefold().replace("’", "'")
    return _FIRST_PERSON.search(folded) is not None or _VERB.match(folded) is not None


def peoples_text(before: str, is_machine: Callable[[str], bool]) -> str:
    """The present text without the lines of the server; of a template that nobody has edited the title alone."""
    return TITLE if _is_ours(before) else "".join(_kept(before, is_machine)[0])


def composed(before: str, lines: Sequence[str], is_machine: Callable[[str], bool]) -> str:
    """The new text: the lines where the server's stood, or at the end. Every line of people stays, byte for byte."""
    newline = "\r\n" if "\r\n" in before else "\n"
    written = [f"- {line}{newline}" for line in lines]
    if _is_ours(before):
        return "".join([TITLE, newline, newline, *written])
    kept, at = _kept(before, is_machine)
    if at is not None:
        above, below = kept[:at], kept[at:]
    else:
        above, below = kept, []
        if not above[-1].endswith(("\n", "\r")):
            above = [*above[:-1], above[-1] + newline]
        if above[-1].strip() and not above[-1].lstrip().startswith(("- ", "* ", "+ ")):
            above = [*above, newline]
    return "".join([*above, *written, *below])


def _is_ours(before: str) -> bool:
    """Whether a text is nobody's: blank, or a template."""
    return not before.strip() or is_unedited_seed(PATH, before)


def _kept(before: str, is_machine: Callable[[str], bool]) -> tuple[list[str], int | None]:
    """The raw lines without those of the server, and before which of them the first of these stood."""
    kept: list[str] = []
    at: int | None = None
    for raw in lines_of(before):
        if entry_lines(raw) and is_machine(raw.rstrip("\r\n")):
            at = len(kept) if at is None else at
        else:
            kept.append(raw)
    return kept, at


def _plain(proposed: str) -> str:
    """One line without marks of prompts, controls, and the bullet that it will get anyway."""
    text = " ".join(neutralise(strip_injected(without_controls(proposed))).split())
    return text.lstrip("-*+# ").strip()


def _why_refused(text: str, of: Sequence[KnownFact], *, is_kept: bool, clean: Callable[[str], str]) -> str | None:
    if reason := why_order(text, is_duty=True) or why_order(text):
        return reason
    if clean(text).strip() != text:
        return "it was forgotten"
    if is_kept:
        return None
    if not of:
        return "it follows from no fact"
    if any(is_first_person(fact.text) and is_in(text, fact.text.rstrip(" .!。！")) for fact in of):
        return "it says of the agent what somebody said of themselves"
    return Sources.of_texts([fact.text for fact in of], [fact.day for fact in of]).why_unnamed(text)
