"""Which lines of a file hold the words of a query, how much they count, and how they are shown. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from reverie_indexer.text.analyse import CJK, IGNORED, LETTER, SOUTH_EAST, without_ignored
from reverie_server.text.markdown_edit import lines_of

# A query of more is looked for by its first ones.
MAX_TERMS = 100
MAX_HITS_OF_FILE = 5
CONTEXT_CHARS = 80
WEIGHTS: Mapping[str, float] = {
    "MEMORY.md": 1.0,
    "memory.md": 1.0,
    "PROFILE.md": 0.9,
    "AGENTS.md": 0.8,
    "SOUL.md": 0.8,
}
FOLDER, FOLDER_WEIGHT, OTHER_WEIGHT = "memory/", 0.6, 0.5

_TOKEN = re.compile(f"(?P<word>{LETTER}+)|(?P<cjk>[{CJK}]+)|(?P<unspaced>[{SOUTH_EAST}]+)")
# Longer runs of letters that others fold to have too many spellings to list.
_MAX_SPELLED = 6


@dataclass(frozen=True, slots=True)
class KeywordHit:
    """A line that holds terms. `line` is 1-based; `snippet` has each match as `[[match]]`."""

    path: str
    line: int
    snippet: str
    score: float


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms of a query: case-folded words, and of scripts without spaces the parts to find somewhere in a run."""

    words: frozenset[str]
    parts: frozenset[str]

    @property
    def count(self) -> int:
        """How many terms there are."""
        return len(self.words) + len(self.parts)


def terms_of(query: str) -> Terms:
    """The terms of a query.

    CJK runs give their overlapping windows of two characters (a run of one gives itself), runs of Thai, Lao, Khmer
    and Burmese, which no rule splits into words, are looked for as they are; everything else goes by words. What nobody
    sees in a word (`IGNORED`) is left out, in a text as in the query.
    """
    found: dict[tuple[str, bool], None] = {}
    for token in _TOKEN.finditer(unicodedata.normalize("NFC", without_ignored(query))):
        if token["cjk"]:
            run = token["cjk"]
            windows = ["".join(pair) for pair in pairwise(run)] or [run]
            found.update(dict.fromkeys((window, False) for window in windows))
        else:
            found[token[0].casefold(), bool(token["word"])] = None
    first = list(found)[:MAX_TERMS]
    return Terms(frozenset(t for t, is_word in first if is_word), frozenset(t for t, is_word in first if not is_word))


def score_of(path: str, terms: int) -> float:
    """The score of a line of the file with `terms` distinct terms: their number times the weight of the file."""
    weight = WEIGHTS.get(path, FOLDER_WEIGHT if path.startswith(FOLDER) else OTHER_WEIGHT)
    return round(weight * terms, 6)


def hits_of(path: str, text: str, terms: Terms) -> list[KeywordHit]:
    """The five best lines of a file: those with the most distinct terms, then from the top."""
    may_match = re.compile("|".join(patterns_of(terms)))
    found = []
    for number, ended in enumerate(lines_of(text), 1):
        line = ended.rstrip("\r\n")
        seen = without_ignored(line)
        spans = list(_matches(seen, terms)) if may_match.search(seen) else []
        if spans:
            score = score_of(path, len({term for _, _, term in spans}))
            stretches = _joined(spans)
            if seen != line:
                stretches = _in_source(stretches, line)
            found.append(KeywordHit(path, number, _snippet(line, stretches), score))
    return sorted(found, key=lambda hit: (-hit.score, hit.line))[:MAX_HITS_OF_FILE]


def patterns_of(terms: Terms) -> list[str]:
    """A regular expression a term, for Python and PostgreSQL alike, that matches wherever the term may stand in a text
    without what is ignored.

    They name every character in each case, so that they ask nothing of a database's locale. Whether the term is a
    word there is not looked at.
    """
    return [_spelled(word) for word in sorted(terms.words)] + sorted(terms.parts)


def _matches(line: str, terms: Terms) -> Iterator[tuple[int, int, str]]:
    """Where terms stand in a line, by their beginning: from, to, term."""
    for token in _TOKEN.finditer(line):
        start, end = token.span()
        if token["word"]:
            if (word := token[0].casefold()) in terms.words:
                yield start, end, word
        elif token["cjk"]:
            for at in range(start, end):
                for size in (1, 2):
                    if at + size <= end and line[at : at + size] in terms.parts:
                        yield at, at + size, line[at : at + size]
        else:
            yield from _inside(token[0], start, terms)


def _inside(run: str, offset: int, terms: Terms) -> Iterator[tuple[int, int, str]]:
    found = [
        (match.start() + offset, match.end() + offset, part)
        for part in terms.parts
        for match in re.finditer(re.escape(part), run)
    ]
    yield from sorted(found)


def _joined(spans: Sequence[tuple[int, int, str]]) -> list[tuple[int, int]]:
    """The stretches that matches cover: those that overlap are one."""
    stretches: list[tuple[int, int]] = []
    for start, end, _ in spans:
        if stretches and start < stretches[-1][1]:
            stretches[-1] = (stretches[-1][0], max(end, stretches[-1][1]))
        else:
            stretches.append((start, end))
    return stretches


def _in_source(stretches: Sequence[tuple[int, int]], line: str) -> list[tuple[int, int]]:
    """Where stretches of a line without what is ignored stand in the line."""
    places = [at for at, character in enumerate(line) if character not in IGNORED]
    return [(places[start], places[end - 1] + 1) for start, end in stretches]


def _snippet(line: str, stretches: Sequence[tuple[int, int]]) -> str:
    """The first match with 80 characters on either side, all matches in it marked; `…` where the line goes on."""
    first, end_of_first = stretches[0]
    # One match may be a very long run.
    end_of_first = min(end_of_first, first + 2 * CONTEXT_CHARS)
    begin, end = max(0, first - CONTEXT_CHARS), min(len(line), end_of_first + CONTEXT_CHARS)
    marked, at = "", begin
    for start, stop in [(first, end_of_first), *stretches[1:]]:
        if stop <= end:
            marked += f"{line[at:start]}[[{line[start:stop]}]]"
            at = stop
    marked = (marked + line[at:end]).strip()
    return f"{'…' if begin > 0 else ''}{marked}{'…' if end < len(line) else ''}"


def _spelled(word: str) -> str:
    """A pattern for every spelling that folds to the word, such as `straße` for `strasse`.

    Of a word with more spellings than can be listed it is one for how the word begins.
    """
    singles, several = _foldings()
    pattern, at = "", 0
    while at < len(word):
        end = _end_of_shared(word, at, several)
        if end - at > _MAX_SPELLED:
            return pattern + _beginning(word[at:end], singles, several)
        if end > at:
            pattern += f"(?:{'|'.join(_spellings(word[at:end], singles, several))})"
        else:
            end = at + 1
            pattern += _one_of(word[at], singles)
        at = end
    return pattern


def _end_of_shared(word: str, start: int, several: Mapping[str, str]) -> int:
    """Where the stretch of letters ends that begins here and that single others fold to; `start`: there is none."""
    end = start
    for at in range(start, len(word)):
        if at > start and at >= end:
            break
        end = max([end, *(at + size for size in (2, 3) if word[at : at + size] in several)])
    return end


def _spellings(letters: str, singles: Mapping[str, str], several: Mapping[str, str]) -> Iterator[str]:
    if not letters:
        yield ""
        return
    beginnings = [(1, _one_of(letters[0], singles))]
    beginnings += [(n, f"[{several[letters[:n]]}]") for n in (2, 3) if letters[:n] in several and len(letters) >= n]
    for size, beginning in beginnings:
        for rest in _spellings(letters[size:], singles, several):
            yield beginning + rest


def _beginning(letters: str, singles: Mapping[str, str], several: Mapping[str, str]) -> str:
    """A pattern for the first character of every spelling."""
    beginnings = "".join(several[letters[:size]] for size in (2, 3) if letters[:size] in several)
    return f"[{letters[0]}{singles.get(letters[0], '')}{beginnings}]"


def _one_of(letter: str, singles: Mapping[str, str]) -> str:
    return f"[{letter}{singles[letter]}]" if letter in singles else letter


@cache
def _foldings() -> tuple[Mapping[str, str], Mapping[str, str]]:
    """For each letter, and each two or three letters, the single characters that case folding makes them of."""
    singles: dict[str, str] = {}
    several: dict[str, str] = {}
    # No character from here on folds to another.
    for code in range(0x1F000):
        character = chr(code)
        if (folded := character.casefold()) != character:
            target = singles if len(folded) == 1 else several
            target[folded] = target.get(folded, "") + character
    return singles, several
