"""Shows what is read as a fact of plain messages, without a language model: `python -m reverie_bench.plain [--held]`.

Patterns read; with `--marked` the spans that the built-in embedding model marks are read besides, as the server does.

The messages of `first` and `second` were written for this project by two authors before either knew the patterns, the
second's as people type: without capitals and full stops, several facts in one. Each author's were halved at random
into `dev` and `held`; nobody looks at `held` to mend something. Each message has the `facts` it states, and what `may`
be read of it besides: `subject; predicates; object`, and behind `<` what held before. `/` stands between words of
which one will do, `*` for any predicate. A word for a person stands for the role as well ("Frau" for "wife"). A thing
of the user's is said of `user` too; any other subject may be the predicate as well ("user, rent, 900" or "rent, is,
900"). The predicate `ended` is of whatever says that something ended, wherever it says what. Any other fact is wrong,
but for one that a later one of the same message replaces.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from reverie_indexer.embed.local import LocalEmbedder, load_local
from reverie_server.heuristics.cues import folded
from reverie_server.heuristics.fact_grammar.people import People, role_name
from reverie_server.heuristics.fact_reader import read_facts
from reverie_server.heuristics.marked_facts import facts_of_marks, passages_to_mark
from reverie_server.heuristics.stated_fact import StatedFact, Utterance

_FOLDER = Path(__file__).parent
_AUTHORS = ("first", "second")
_LANGUAGES = ("english", "german", "spanish", "chinese")
_SAID_AT = datetime(2026, 3, 9, 12, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Expected:
    """A fact that a message states, and how it may be read."""

    subjects: Sequence[str]
    predicates: Sequence[str]
    objects: Sequence[str]
    before: str = ""

    def is_read_as(self, fact: StatedFact) -> bool:
        """Whether a fact says this, whatever its predicate is called where several will do."""
        named = fact.subject if self.subjects == ["user"] else f"{fact.subject} {fact.predicate}"
        has_ended = fact.change is not None and fact.change.kind == "ends"
        old = (fact.change and fact.change.old_object) or ""
        for predicate in self.predicates:
            if predicate == "ended" and has_ended:
                whole = f"{fact.subject} {fact.predicate} {fact.object} {old}"
                subjects = ["*"] if self.subjects == ["user"] or len(self.subjects) > 1 else self.subjects
                if _has(subjects, whole) and _has(self.objects, whole):
                    return True
            if predicate in ("*", folded(fact.predicate)) and predicate != "ended" and not has_ended:
                is_of_before = self.before in folded(old) or fact.is_functional
                is_of_user = self.subjects == ["user"] and fact.about_user
                if (is_of_user or _has(self.subjects, named)) and _has(self.objects, fact.object) and is_of_before:
                    return True
        return False


@dataclass(slots=True)
class _Figures:
    expected: int = 0
    found: int = 0
    messages: int = 0
    wrong: int = 0
    ordinary: int = 0
    false: int = 0

    def __str__(self) -> str:
        return (
            f"facts found {self.found}/{self.expected} ({self.found / self.expected:.2f}), wrong facts "
            f"{self.wrong} ({self.wrong / self.messages:.2f} a message), {self.false} of them in the "
            f"{self.ordinary} messages without a fact"
        )


def main() -> None:
    """Print the figures of each language, and what is missing and wrong in the messages that one may look at."""
    parser = argparse.ArgumentParser(prog="python -m reverie_bench.plain")
    parser.add_argument("--held", action="store_true", help="the held messages, of which figures alone are printed")
    parser.add_argument("--marked", action="store_true", help="read what the embedding model marks, too")
    parser.add_argument("--language", choices=_LANGUAGES, help="this language alone")
    parser.add_argument("--author", choices=_AUTHORS, help="the messages of this author alone")
    options = parser.parse_args()
    half = "held" if options.held else "dev"
    reader = _Reader(load_local(Path(tempfile.gettempdir())) if options.marked else None)
    for author in [options.author] if options.author else _AUTHORS:
        for language in [options.language] if options.language else _LANGUAGES:
            file = _FOLDER / author / half / f"{language}.toml"
            figures = _Figures()
            for message in tomllib.loads(file.read_text(encoding="utf-8"))["message"]:
                missing, wrong = _measure(figures, message, reader.read(message["text"], language))
                if (missing or wrong) and not options.held:
                    print("\n".join([message["text"], *missing, *wrong]))
            print(f"{author}, {half}, {language}: {figures}")


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads messages by patterns, and by the marks of a model where there is one."""

    embedder: LocalEmbedder | None

    def read(self, text: str, language: str) -> list[StatedFact]:
        utterances = [Utterance(text, _SAID_AT)]
        found = read_facts(utterances, language)
        if self.embedder is None:
            return found
        passages = passages_to_mark(utterances, language)
        marks = asyncio.run(self.embedder.marks([passage.text for passage in passages])) or []
        people = People()
        read: dict[str, list[StatedFact]] = {}
        for fact in found:
            read.setdefault(fact.sentence.strip(), []).append(fact)
        for passage, of_one in zip(passages, marks, strict=True):
            found += facts_of_marks(passage, of_one, read, people)
        return found


def _measure(figures: _Figures, message: Mapping[str, Any], read: Sequence[StatedFact]) -> tuple[list[str], list[str]]:
    """Count what is read of a message; the lines of what is missing, and of what is wrong."""
    facts = {line: expected_of(line) for line in message.get("facts", [])}
    fine = [*facts.values(), *map(expected_of, message.get("may", []))]
    missing = [line for line, fact in facts.items() if not any(fact.is_read_as(each) for each in read)]
    wrong = [
        each
        for at, each in enumerate(read)
        if not any(fact.is_read_as(each) for fact in fine)
        and not any(_replaces(later, each) for later in read[at + 1 :])
    ]
    figures.messages += 1
    figures.expected += len(facts)
    figures.found += len(facts) - len(missing)
    figures.wrong += len(wrong)
    figures.ordinary += not facts
    figures.false += 0 if facts else len(wrong)
    lines = [f"    wrong: {each.subject}; {each.predicate}; {each.object} {each.change or ''}" for each in wrong]
    return [f"    missing: {line}" for line in missing], lines


def expected_of(line: str) -> Expected:
    """What a line of the data says."""
    subject, predicate, rest = (part.strip() for part in line.split(";"))
    object_, _, before = rest.partition("<")
    return Expected(_of_role(_words(subject)), _of_role(_words(predicate)), _words(object_), folded(before.strip()))


def _replaces(later: StatedFact, fact: StatedFact) -> bool:
    is_same = (later.subject, later.predicate) == (fact.subject, fact.predicate)
    return is_same and later.change is not None and (later.is_functional or later.change.old_object == fact.object)


def _words(part: str) -> list[str]:
    return [folded(word.strip()) for word in part.split("/")]


def _of_role(words: Sequence[str]) -> list[str]:
    return list(dict.fromkeys([*words, *map(role_name, words)]))


def _has(words: Sequence[str], text: str) -> bool:
    return any(word == "*" or word in folded(text) for word in words)


if __name__ == "__main__":
    main()
