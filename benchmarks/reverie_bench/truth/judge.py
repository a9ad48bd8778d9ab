"""Judges texts by the script of a life: which answers they hold, and what their lines are worth. Pure."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from reverie_bench.truth.life import Life, Statement, sentences

Worth = Literal["useful", "filler", "about_others", "wrong_in_time", "past", "forgotten", "unknown"]
_WORD = re.compile(r"[^\W\d_]+|\d+")
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_NARROW = r"[^\W\u3040-\u30ff\u3400-\u9fff]"
_UNTIL = re.compile(r"\(until \d{4}-\d{2}-\d{2}\??\)|~~|\[superseded|\bsuperseded\b", re.IGNORECASE)
# What a mark shows of the new state holds.
_THEN = re.compile(r"\[then: [^\]]*\]")
_QUESTION = re.compile(r"[?？]\s*$")
# What is said so holds at the end.
_HOLDING = ("worth", "true", "kin", "remember")
# A line whose words the best sentence of the script covers by less is nobody's.
_LEAST_COVERAGE = 0.5
# What a line begins with beside its text: a bullet, a time, a speaker, a date, a date with where it was said.
_BEFORE = re.compile(
    r"^(?:[-*]\s+|\[[^\]]*\]\s*|\(\d{4}-\d{2}-\d{2}, [^)\s]*\)\s*"
    r"|\(?\d{4}-\d{2}-\d{2}\)?[:,]?\s*|(?:user|assistant):\s*)+",
    re.IGNORECASE,
)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)


def folded(text: str) -> str:
    """The text as it is compared: without case, compatibility forms and runs of space."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def holds(text: str, answers: Iterable[str]) -> bool:
    """Whether the text has one of the answers, as whole words."""
    plain = folded(text)
    return any(_pattern(answer).search(plain) for answer in answers)


def _pattern(answer: str) -> re.Pattern[str]:
    plain = folded(answer)
    # A number or a Latin word may touch a character of a script without spaces: "4月26号" in "推到4月26号了".
    left = "" if _WIDE.match(plain[:1]) else rf"(?<!{_NARROW})"
    right = "" if _WIDE.match(plain[-1:]) else rf"(?!{_NARROW})"
    return re.compile(left + re.escape(plain) + right)


def words(text: str) -> Counter[str]:
    """The words of a text; of scripts without spaces the pairs of characters."""
    found: Counter[str] = Counter()
    for match in _WORD.finditer(folded(text)):
        word = match[0]
        if _WIDE.search(word):
            found.update(word[at : at + 2] for at in range(max(len(word) - 1, 1)))
        else:
            found[word] += 1
    return found


@dataclass(frozen=True, slots=True)
class JudgedLine:
    """A line of MEMORY.md, what it is worth, and the sentence of the script that it was made of."""

    line: str
    worth: Worth
    made_of: str | None


class Judge:
    """Judges by one life."""

    def __init__(self, life: Life) -> None:
        self._statements = [(statement, words(statement.text)) for statement in life.statements()]
        counts = Counter(word for _, bag in self._statements for word in bag)
        total = len(self._statements) or 1
        self._weight = {word: math.log(1 + total / count) for word, count in counts.items()}
        self._unseen = math.log(1 + total)
        self._remembered = life.remembered

    def source(self, line: str) -> Statement | None:
        """The sentence of the script that covers the words of a line best, weighted by their rarity.

        What the script tags and stands in a line word by word is what it was made of, whatever else the line says.
        """
        plain = folded(line)
        whole_ones = [each for each, _ in self._statements if each.tag != "filler" and folded(each.text) in plain]
        if whole_ones:
            return max(whole_ones, key=lambda each: len(each.text))
        bag = words(line)
        whole = sum(self._weight.get(word, self._unseen) for word in bag)
        best, best_rank = None, (0.0, 0.0, False)
        for statement, of_it in self._statements:
            covered = sum(self._weight[word] for word in bag if word in of_it)
            if covered < _LEAST_COVERAGE * whole or not covered:
                continue
            # Of two that cover it alike, the one that says little else; then the one that was marked.
            own = sum(self._weight[word] for word in of_it)
            rank = (round(covered / whole, 2), round(covered / own, 2), statement.tag != "filler")
            if rank > best_rank:
                best, best_rank = statement, rank
        return best

    def has_superseded(self, text: str, old: Sequence[str], current: Sequence[str]) -> str | None:
        """The first sentence that gives a superseded answer for a current one; None where every such is marked.

        A sentence that has the current answer too, a question, and one that the script says still holds, do not.
        """
        for line in text.splitlines():
            for sentence, rest in _with_rest(line):
                if not holds(sentence, old) or holds(sentence, current) or _QUESTION.search(sentence):
                    continue
                if _UNTIL.search(sentence) or _UNTIL.match(rest.lstrip(" .;,")):
                    continue
                source = self.source(_BEFORE.sub("", sentence))
                if source is not None and source.tag in _HOLDING:
                    continue
                return sentence
        return None

    def falsely_marked(self, text: str) -> list[str]:
        """The sentences of the script that stand in a text as no longer holding, and that hold by it."""
        found: list[str] = []
        for line in text.splitlines():
            for sentence, rest in _with_rest(_THEN.sub("", line)):
                if not (_UNTIL.search(sentence) or _UNTIL.match(rest.lstrip(" .;,"))):
                    continue
                source = self.source(_BEFORE.sub("", _UNTIL.sub("", sentence)))
                if source is not None and source.tag in _HOLDING and not self._has_old(sentence):
                    found.append(source.text)
        return found

    def _has_old(self, sentence: str) -> bool:
        plain = folded(sentence)
        return any(statement.tag == "old" and folded(statement.text) in plain for statement, _ in self._statements)

    def line(self, line: str) -> JudgedLine:
        """What a line of MEMORY.md is worth: see `Worth`."""
        text = _BEFORE.sub("", line.strip())
        source = self.source(_UNTIL.sub("", text))
        worth: Worth = "unknown" if source is None else _worth(source, text)
        # What it is of, the sentence before may have said: "It is marigold-58", asked for as the Wi-Fi password.
        if worth in ("unknown", "filler") and any(holds(text, answers) for answers in self._remembered):
            worth = "useful"
        return JudgedLine(line, worth, source.text if source is not None else None)


def _worth(source: Statement, text: str) -> Worth:
    if source.tag in ("kin", "other") and not holds(text, source.names):
        return "about_others"
    if source.tag == "old":
        return "past" if _UNTIL.search(text) else "wrong_in_time"
    worths: Mapping[str, Worth] = {
        "worth": "useful",
        "remember": "useful",
        "kin": "useful",
        "other": "filler",
        "true": "filler",
        "forget": "forgotten",
        "filler": "filler",
    }
    return worths[source.tag]


def _with_rest(line: str) -> Iterator[tuple[str, str]]:
    """The sentences of a line, each with what follows it there."""
    at = 0
    for sentence in sentences(line):
        at = line.index(sentence, at) + len(sentence)
        yield sentence, line[at:]


def memory_lines(text: str) -> list[str]:
    """The lines of a MEMORY.md that say something: not headings, comments, and what introduces the file."""
    plain = _COMMENT.sub("", text)
    return [line.strip() for line in plain.splitlines() if re.match(r"\s*[-*]\s+\S", line)]


def answered(results: Sequence[Mapping[str, Any]], answers: Sequence[str]) -> int | None:
    """The rank, from 1, of the first result of a search that has an answer."""
    return next((rank for rank, each in enumerate(results, 1) if holds(each["text"], answers)), None)
