"""Whether no memory can help with a message: greetings, thanks, assent, "go on", and messages that say next to nothing.

Pure but for its data, `small_talk.toml`, read once. A doubtful message counts as a question: a search that finds
nothing costs little, while without a search nothing can be found.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Literal

from reverie_indexer.text.analyse import CJK, LETTER, SOUTH_EAST, analyse_query, language_name, stop_words

MIN_WORDS = 3
Kind = Literal["content", "phatic", "stop", "asks", "marks"]

_HANGUL = "\u1100-\u11ff\u3131-\u318f\ua960-\ua97f\uac00-\ud7ff"
_TOKEN = re.compile(
    f"(?P<run>(?:(?![{_HANGUL}])[{CJK}])+|[{SOUTH_EAST}]+)|(?P<word>{LETTER}+|[{_HANGUL}]+)"
    r"|(?P<question>[?؟]+)|(?P<sentence>[.!\n。¡¿।…]+)|(?P<clause>[,;:、،؛—()\"“”「」]+)"
)
_HAS_RUN = re.compile(f"(?![{_HANGUL}])[{CJK}{SOUTH_EAST}]")
_ACCENT = re.compile("[\u0300-\u036f\u0610-\u061a\u064b-\u065f\u0640]")
_REPEATED = re.compile(r"(.)\1{2,}")
# Characters per word, in scripts without spaces.
_WORD_CHARS = {"cjk": 2, "south_east": 4}
# A run of marks is taken whole (possessive): tried at every length it would be quadratic.
_FENCED = re.compile(
    r"^[ \t>]*(`{3,}+|~{3,}+)[^\n]*+\n.*?(?:^[ \t>]*\1[ \t]*$|\Z)|```[^`]*```", re.DOTALL | re.MULTILINE
)
_FRAME = re.compile(
    r"\s*(?:Traceback \(most recent call last\):|File \"[^\"]*\", line \d+|at [\w$.<>/]+\s?\([^()]*\)|at \S+:\d+:\d+"
    r"|\.\.\. \d+ more|goroutine \d+ \[|Caused by: \S|During handling of the above exception)"
)
# Lines between the frames of a stack trace: indented source, and the error itself.
_AMONG_FRAMES = re.compile(
    r"(?: {4}|\t)\s*\S|\s*(?:[\w$]+\.)*\w*(?:Error|Exception|Warning|Interrupt)(?::|\s*$)|\s*panic:"
    r"|[\w./*]+\([^()]*\)\s*$"
)


@dataclass(frozen=True, slots=True)
class _Lexicon:
    """Phrases by their first word, the longest first, each a tuple of words; and `stop`, single words."""

    phatic: Mapping[str, Sequence[tuple[str, ...]]]
    asks: Mapping[str, Sequence[tuple[str, ...]]]
    asks_anywhere: Mapping[str, Sequence[tuple[str, ...]]]
    opens: Mapping[str, Sequence[tuple[str, ...]]]
    marks: Mapping[str, Sequence[tuple[str, ...]]]
    stop: frozenset[str]


@dataclass(slots=True)
class _Clause:
    """The tokens between two marks of punctuation. `is_question`: its sentence ends with a question mark."""

    tokens: list[tuple[str, bool]]
    is_question: bool = False


@dataclass(frozen=True, slots=True)
class Reading:
    """The contents of a text. `asks`: a question about something, or a request to look it up. `names`: an identifier
    or a quoted phrase. `words`: the number of distinct words with a meaning."""

    asks: bool
    names: bool
    words: int


@dataclass(frozen=True, slots=True)
class MeaninglessWords:
    """Bare words: those in `anywhere` have no meaning, those in `at_start` none at the beginning of a sentence."""

    anywhere: frozenset[str]
    at_start: frozenset[str]


def is_small_talk(message: str, language: str = "english") -> bool:
    """Whether no memory can help with the message; `language` is the agent's, by name or code.

    Small talk neither asks nor names anything and has fewer than MIN_WORDS words with a meaning. Code blocks and stack
    traces do not count.
    """
    text = outside_code(message)
    if _has_strange_words(text, language, MIN_WORDS):
        return False
    reading = read(text, language)
    return not reading.asks and not reading.names and reading.words < MIN_WORDS


def says_nothing(message: str, language: str = "english") -> bool:
    """Whether a message has no word with a meaning: thanks, assent, a greeting. ValidationFailed as for `read`."""
    text = outside_code(message)
    if _has_strange_words(text, language, 1):
        return False
    reading = read(text, language)
    return reading.words == 0 and not reading.names


def read(text: str, language: str = "english") -> Reading:
    """The reading of a text. Words without a meaning are the phatic words of `small_talk.toml` and the stop words of
    two languages: `language` and the one that knows most of the text's words. ValidationFailed for an unknown one."""
    agent_language = language_name(language)
    clauses = _clauses(bare(text))
    words = [token for clause in clauses for token, is_run in clause.tokens if not is_run]
    lexicon = _lexicon_for(agent_language, _language_of(words, agent_language))
    asks = False
    meant: set[str] = set()
    for clause in clauses:
        kinds = list(_kinds(clause, lexicon))
        content = [text for kind, text in kinds if kind == "content"]
        is_marked = clause.is_question or any(kind == "marks" for kind, _ in kinds)
        asks = asks or _asks(kinds, content) or (is_marked and bool(content))
        meant.update(piece for text in content for piece in _pieces(text))
    return Reading(asks, _names_something(text, lexicon), len(meant))


def outside_code(message: str) -> str:
    """The message without fenced blocks and stack traces."""
    text = _FENCED.sub("\n", message)
    lines = text.split("\n")
    if not any(_FRAME.match(line) for line in lines):
        return text
    return "\n".join(line for line in lines if not _FRAME.match(line) and not _AMONG_FRAMES.match(line))


def _has_strange_words(text: str, language: str, count: int) -> bool:
    """Whether a text has so many words that no lexicon knows: each has a meaning, and the text need not be read."""
    known, strange = _known_words(language_name(language)), set[str]()
    for token in _TOKEN.finditer(bare(text)):
        word = token["word"]
        if word is None or word in known or word in strange or len(word) == 1:
            continue
        if _REPEATED.search(word) is None and not _is_laughter(word) and not _is_asking_hangul(word):
            strange.add(word)
            if len(strange) == count:
                return True
    return False


@cache
def _known_words(agent_language: str) -> frozenset[str]:
    """Every word of a phrase or list that a lexicon of the agent's language and another one may have."""
    of_marks = (phrase for table in _data().values() for phrase in table.get("marks", ()))
    words = frozenset(word for phrase in of_marks for word in _words(phrase))
    return words.union(_stop(agent_language), *map(_vocabulary, _data()))


def _asks(kinds: Sequence[tuple[Kind, str]], content: Sequence[str]) -> bool:
    """Whether a clause has an asking word, and content or, behind that word, a phatic word."""
    at = next((i for i, (kind, _) in enumerate(kinds) if kind == "asks"), None)
    # Behind an asking word a phatic word has a meaning: "when does it start".
    return at is not None and (bool(content) or any(kind == "phatic" for kind, _ in kinds[at:]))


def _names_something(text: str, lexicon: _Lexicon) -> bool:
    """Whether a quoted phrase or an identifier in it means something: `PROJ-12` does, `ok...thanks` does not."""
    return any(
        kind == "content"
        for phrase in analyse_query(text, "simple").exact
        for clause in _clauses(bare(phrase))
        for kind, _ in _kinds(clause, lexicon)
    )


def bare(text: str) -> str:
    """The text in the form of the lexicon's words: folded, without accents and vowel points, which people leave out."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return unicodedata.normalize("NFKC", _ACCENT.sub("", decomposed)).casefold()


def _clauses(folded: str) -> list[_Clause]:
    """The clauses of a bare text, in order; a question mark marks all clauses of its sentence."""
    clauses = [_Clause([])]
    first_of_sentence = 0
    for token in _TOKEN.finditer(folded):
        if token["word"] or token["run"]:
            clauses[-1].tokens.append((token[0], token["run"] is not None))
            continue
        if token["question"]:
            for clause in clauses[first_of_sentence:]:
                clause.is_question = True
        clauses.append(_Clause([]))
        if not token["clause"]:
            first_of_sentence = len(clauses) - 1
    return clauses


def _kinds(clause: _Clause, lexicon: _Lexicon) -> Iterator[tuple[Kind, str]]:
    """The kind of each word or phrase of a clause, in order."""
    words = [token for token, _ in clause.tokens]
    i = 0
    at_start = True
    while i < len(words):
        if clause.tokens[i][1]:
            yield from _segments(words[i])
            at_start = False
            i += 1
            continue
        kind, length = _kind_at(words, i, lexicon, at_start=at_start)
        yield kind, " ".join(words[i : i + length])
        at_start = at_start and kind == "phatic"
        i += length


def _kind_at(words: Sequence[str], i: int, lexicon: _Lexicon, *, at_start: bool) -> tuple[Kind, int]:
    """The kind of the word or longest phrase at index `i`, and its number of words."""
    phatic = max(_longest(lexicon.phatic, words, i), int(_is_laughter(words[i])))
    asks = _longest(lexicon.asks_anywhere, words, i)
    marks = _longest(lexicon.marks, words, i)
    if at_start:
        asks = max(asks, _longest(lexicon.asks, words, i))
        marks = max(marks, _longest(lexicon.opens, words, i))
    if asks and asks >= phatic:
        return "asks", asks
    if phatic and phatic >= marks:
        # "How is it going" alone is a greeting; with the name of something it is a question.
        return ("marks" if phatic > 1 and _holds_asking(words[i : i + phatic], lexicon) else "phatic"), phatic
    if marks:
        return "marks", marks
    word = words[i]
    if _is_asking_hangul(word):
        return "asks", 1
    shortened = {_REPEATED.sub(r"\1\1", word), _REPEATED.sub(r"\1", word)} - {word}
    if any((form,) in lexicon.phatic.get(form, ()) for form in shortened):
        return "phatic", 1
    # A single letter belongs to a list or an emoticon.
    is_stop = word in lexicon.stop or (len(word) == 1 and word.isascii() and word.isalpha())
    return ("stop" if is_stop else "content"), 1


def _holds_asking(phrase: Sequence[str], lexicon: _Lexicon) -> bool:
    return any((word,) in (*lexicon.asks.get(word, ()), *lexicon.asks_anywhere.get(word, ())) for word in phrase)


def _longest(phrases: Mapping[str, Sequence[tuple[str, ...]]], words: Sequence[str], i: int) -> int:
    """How many words the longest phrase at index `i` has; 0 where there is none."""
    for phrase in phrases.get(words[i], ()):
        if tuple(words[i : i + len(phrase)]) == phrase:
            return len(phrase)
    return 0


def _segments(run: str) -> Iterator[tuple[Kind, str]]:
    """A run of a script without spaces, cut at the longest known words; the text between them is content."""
    known = _known_in_runs()
    content = ""
    i = 0
    while i < len(run):
        found = next((word for word in known.get(run[i], ()) if run.startswith(word[0], i)), None)
        if found is None:
            content += run[i]
            i += 1
            continue
        if content:
            yield "content", content
            content = ""
        yield found[1], found[0]
        i += len(found[0])
    if content:
        yield "content", content


def _pieces(content: str) -> list[str]:
    """The word as it is; of a run without spaces, pieces about as long as a word."""
    if not _HAS_RUN.match(content):
        return [content]
    size = _WORD_CHARS["south_east" if re.match(f"[{SOUTH_EAST}]", content) else "cjk"]
    return [content[i : i + size] for i in range(0, len(content), size)]


@cache
def _data() -> dict[str, dict[str, list[str]]]:
    data = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    return {name: table for name, table in data.items() if isinstance(table, dict)}


@cache
def _laughter() -> re.Pattern[str]:
    pieces = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))["laughter"]
    # Possessive, since every other way of cutting the word would match as well.
    return re.compile(rf"(?:{'|'.join(re.escape(bare(piece)) for piece in pieces)}){{2,}}+\w?")


def _is_laughter(word: str) -> bool:
    return _laughter().fullmatch(word) is not None


def _is_asking_hangul(word: str) -> bool:
    """Whether a word begins with a Korean asking word, to which endings are attached."""
    return word.startswith(_asking_hangul())


@cache
def _asking_hangul() -> tuple[str, ...]:
    return tuple(bare(word) for word in _data()["korean"]["asks_anywhere"])


@cache
def _known_in_runs() -> Mapping[str, Sequence[tuple[str, Kind]]]:
    """The known words of scripts without spaces by their first character, the longest first, with their kinds."""
    kinds: dict[str, Kind] = {}
    sources: tuple[tuple[str, Kind], ...] = (
        ("phatic", "phatic"),
        ("stop", "stop"),
        ("marks", "marks"),
        ("asks_anywhere", "asks"),
    )
    for key, kind in sources:
        for table in _data().values():
            kinds.update((bare(word), kind) for word in table.get(key, ()) if _HAS_RUN.match(bare(word)))
    asking = [word for word, kind in kinds.items() if kind in ("asks", "marks")]
    # A greeting with an asking word in it marks a question, as in `_kind_at`.
    greetings = [
        word
        for word, kind in kinds.items()
        if kind == "phatic" and any(question_word in word for question_word in asking)
    ]
    kinds.update(dict.fromkeys(greetings, "marks"))
    by_first: dict[str, list[tuple[str, Kind]]] = {}
    for word in sorted(kinds, key=lambda word: (-len(word), word)):
        by_first.setdefault(word[0], []).append((word, kinds[word]))
    return by_first


@cache
def _vocabulary(language: str) -> frozenset[str]:
    """Every word that is a sign of the language."""
    table = _data().get(language, {})
    phrases = [phrase for key in ("phatic", "asks", "asks_anywhere", "opens", "stop") for phrase in table.get(key, ())]
    return frozenset(word for phrase in phrases for word in _words(phrase)) | _stop(language)


@cache
def _stop(language: str) -> frozenset[str]:
    listed = _data().get(language, {}).get("stop", ())
    return frozenset(word for entry in (*stop_words(language), *listed) for word in _words(entry))


def _words(phrase: str) -> tuple[str, ...]:
    return tuple(token[0] for token in _TOKEN.finditer(bare(phrase)) if token["word"])


def _language_of(words: Sequence[str], agent_language: str) -> str:
    """The language that knows most of the words; of equals the agent's, then the first in the data."""
    languages = [agent_language, *_data()]
    return max(languages, key=lambda language: sum(map(_vocabulary(language).__contains__, words)))


@lru_cache(maxsize=128)
def _lexicon_for(agent_language: str, spoken: str) -> _Lexicon:
    """The phrases and words of two languages together, with the phatic phrases of English and of `others`."""
    names = list(dict.fromkeys([agent_language, spoken]))

    def phrases(key: str, languages: Iterable[str]) -> dict[str, list[tuple[str, ...]]]:
        found = {_words(phrase) for name in languages for phrase in _data().get(name, {}).get(key, ())} - {()}
        by_first: dict[str, list[tuple[str, ...]]] = {}
        for phrase in sorted(found, key=lambda phrase: (-len(phrase), phrase)):
            by_first.setdefault(phrase[0], []).append(phrase)
        return by_first

    return _Lexicon(
        phatic=phrases("phatic", dict.fromkeys([*names, "english", "others"])),
        asks=phrases("asks", names),
        asks_anywhere=phrases("asks_anywhere", names),
        opens=phrases("opens", names),
        marks=phrases("marks", names),
        stop=frozenset(word for name in names for word in _stop(name)),
    )


def meaningless_words(text: str, language: str = "english") -> MeaninglessWords:
    """The bare words without a meaning of two languages: `language`, and the one that knows most of the text's words.

    ValidationFailed for an unknown language.
    """
    agent_language = language_name(language)
    words = [token for clause in _clauses(bare(text)) for token, is_run in clause.tokens if not is_run]
    lexicon = _lexicon_for(agent_language, _language_of(words, agent_language))
    asking = frozenset(word for word, phrases in lexicon.asks.items() if (word,) in phrases)
    return MeaninglessWords(lexicon.stop, asking)


def content_runs(run: str) -> list[str]:
    """The pieces of a bare run without spaces that are content: those between asking words, particles and the like."""
    return [piece for kind, piece in _segments(run) if kind == "content"]
