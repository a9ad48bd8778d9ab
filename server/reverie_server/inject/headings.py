"""What headings say of the entries below them, so that one person's entry is not taken for another's. Pure.

`- Birthday: 3 May` below `# Ada` is another entry than below `# Bob`. A sentence that says by itself whom it is about
is the same below any heading.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

from reverie_indexer.text.analyse import fold
from reverie_server.heuristics.fact_grammar.terms import is_unspaced
from reverie_server.heuristics.fact_sentences import keyed_sentences
from reverie_server.heuristics.requests.requested_lines import begins_with_pronoun
from reverie_server.long_term.memory_text import STANDARD, TITLE
from reverie_server.text.markdown_blocks import fenced

_HEADING = re.compile(r" {0,3}(?P<level>#{1,6})(?:[ \t]+(?P<title>[^\n]*)|$)")
# Where another file or another day begins in a prompt, the headings above do not count any more.
_BEGINS_ANEW = re.compile(r"--- [^\n]{1,1000} ---[ \t]*|### \d{4}-\d\d-\d\d[ \t]*")
_MAX_TITLE_CHARS = 200
_WORD = re.compile(r"\w+")
# A day, a month or a week; without any letter also a time.
_DAY = re.compile(
    r"(?:[\W\d_年月日号]|(?:of|de|del|den|week|kw|woche|semana"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:mon|diens|donners|frei|sams|sonn)tag|mittwoch"
    r"|lunes|martes|miércoles|jueves|viernes|sábado|domingo"
    r"|january|february|march|april|may|june|july|august|september|october|november|december"
    r"|januar|februar|märz|mai|juni|juli|oktober|dezember"
    r"|enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre)(?!\w))*+"
)
_FILE = re.compile(r"\S*\.(?:md|markdown|txt)")
# The headings that the memory writes itself, and others of which nobody learns more than that something follows.
_SAYS_NOTHING = frozenset(
    fold(title)
    for title in (
        *(TITLE, *STANDARD, "Profile", "Today's Notes", "Recent Context", "Morning Card", "Memory", "Memories"),
        *("Memory Context", "User", "Me", "About me", "About the user", "Facts", "General", "Misc", "Miscellaneous"),
        *("Other", "Others", "Various", "Note", "Daily Notes", "Today", "To do", "Todo", "Log", "Journal"),
        *("Profil", "Notizen", "Notiz", "Erinnerungen", "Gedächtnis", "Über mich", "Allgemeines", "Sonstiges"),
        *("Verschiedenes", "Vorlieben", "Interessen", "Projekte", "Heute", "Tagebuch", "Fakten"),
        *("Perfil", "Notas", "Nota", "Memoria", "Recuerdos", "Sobre mí", "General", "Varios", "Otros"),
        *("Preferencias", "Intereses", "Proyectos", "Hoy", "Diario", "Hechos"),
        *("笔记", "筆記", "备忘", "記憶", "记忆", "个人资料", "关于我", "其他", "杂项", "偏好"),
        *("兴趣", "项目", "今天", "日记"),
    )
)
# Whom a sentence with one of these is about is clear without a heading.
_ONESELF = re.compile(
    r"(?<!\w)(?:i|i['’](?:m|ve|ll|d)|me|my|mine|ich|mich|mir|mein\w{0,2}"
    r"|yo|mi|mis|mí|soy|estoy|tengo|vivo|trabajo)(?!\w)|我(?![们們])|俺"
)
_OURSELVES = re.compile(
    r"(?<!\w)(?:we|we['’](?:re|ve)|us|our|ours|wir|uns|unser\w{0,2}|nuestr[oa]s?)(?!\w)|[我俺][们們]"
)
_LABEL = re.compile(r"[^:：]{1,60}(?::\s|：)")
# A shorter sentence may be true of many.
_FEWEST_WORDS, _FEWEST_UNSPACED_CHARS = 5, 8


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a text, and the titles above it that say something, folded, the highest first."""

    titles: tuple[str, ...]
    text: str


def passages_of(text: str) -> list[Passage]:
    """The parts of a text between its headings, in order. A part begins with its heading. Takes linear time."""
    lines = text.split("\n")
    by_titles = groupby(zip(titles_above(lines), lines, strict=True), key=lambda pair: pair[0])
    return [Passage(titles, "\n".join(line for _, line in pairs)) for titles, pairs in by_titles]


def titles_above(lines: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """For each line the titles above it that say something, folded, the highest first; a heading is above itself.

    A `#` inside a fence is no heading. A file or a day of a prompt is below no heading before it.
    """
    open_titles: list[tuple[int, str]] = []
    titles: tuple[str, ...] = ()
    for line, closing in zip(lines, fenced(lines), strict=True):
        heading = _HEADING.match(line) if closing is None else None
        if closing is None and _BEGINS_ANEW.fullmatch(line):
            open_titles, titles = [], ()
        elif heading is not None:
            level = len(heading["level"])
            while open_titles and open_titles[-1][0] >= level:
                open_titles.pop()
            open_titles.append((level, heading["title"] or ""))
            titles = telling([title for _, title in open_titles])
        yield titles


def telling(titles: Sequence[str]) -> tuple[str, ...]:
    """Those of some titles that say something of what is below them, folded: no day, no file, no `Notes`."""
    return tuple(folded for title in titles if _says_something(folded := _folded(title)))


def needed_titles(text: str, titles: Sequence[str]) -> list[str]:
    """Those of some titles without which a text says nothing; none for one that says by itself whom it is about."""
    topic = () if _stands_alone(text) else _topic(text, telling(titles))
    return [title for title in titles if _folded(title) in topic]


def is_same(text: str, titles: Sequence[str], other_titles: Sequence[str]) -> bool:
    """Whether a text says the same below some titles as below others; both are those that say something."""
    topic, other_topic = _topic(text, titles), _topic(text, other_titles)
    return topic == other_topic or ((not topic or not other_topic) and _stands_alone(text))


def speaks_of_oneself(text: str) -> bool:
    """Whether a text says what it says of who wrote it: the same words of somebody else say another thing."""
    return _ONESELF.search(fold(text)) is not None


class KnownSentences:
    """The sentences that a reader knows already, each below the titles that add something to it."""

    def __init__(self) -> None:
        self._topics: dict[bytes | tuple[bytes, ...], set[tuple[str, ...]]] = {}

    def add(self, passage: Passage) -> None:
        """Add the sentences of a passage."""
        for span in keyed_sentences(passage.text):
            topic = _topic(passage.text[span.start : span.end], passage.titles)
            self._topics.setdefault(span.key, set()).add(topic)

    def add_whole(self, passage: Passage) -> None:
        """Add a passage whose sentences say nothing without each other: its sequence of sentences is known then."""
        self._topics.setdefault(_sequence(passage), set()).add(_topic(passage.text, passage.titles))

    def has_whole(self, passage: Passage) -> bool:
        """Whether a passage with the same sequence of sentences was added as a whole."""
        keys = _sequence(passage)
        topics = self._topics.get(keys) if keys else None
        return topics is not None and _is_known(passage.text, passage.titles, topics)

    def keys_in(self, passage: Passage) -> set[bytes]:
        """The keys of those sentences of a passage that are known."""
        return {
            span.key
            for span in keyed_sentences(passage.text)
            if (topics := self._topics.get(span.key)) is not None
            and _is_known(passage.text[span.start : span.end], passage.titles, topics)
        }


def _sequence(passage: Passage) -> tuple[bytes, ...]:
    return tuple(span.key for span in keyed_sentences(passage.text))


def _is_known(sentence: str, titles: tuple[str, ...], topics: set[tuple[str, ...]]) -> bool:
    topic = _topic(sentence, titles)
    return topic in topics or ((not topic or () in topics) and _stands_alone(sentence))


def _folded(title: str) -> str:
    return " ".join(fold(title[:_MAX_TITLE_CHARS].rstrip(" \t#")).split())


@lru_cache(maxsize=1024)
def _says_something(title: str) -> bool:
    return not (title in _SAYS_NOTHING or _DAY.fullmatch(title) or _FILE.fullmatch(title))


def _topic(text: str, titles: Sequence[str]) -> tuple[str, ...]:
    """The titles that add something to what a text says; none where it says by itself whom it is about."""
    if not titles:
        return ()
    folded = fold(text)
    if _ONESELF.search(folded) or _OURSELVES.search(folded):
        return ()
    words = f" {' '.join(_WORD.findall(folded))} "
    return tuple(title for title in titles if not _stands_in(title, words))


def _stands_in(title: str, words: str) -> bool:
    plain = " ".join(_WORD.findall(title))
    return plain in words if is_unspaced(plain) else f" {plain} " in words


def _stands_alone(text: str) -> bool:
    """Whether a text is long enough, and made so, that it hardly means another below another heading."""
    if begins_with_pronoun(text) or _LABEL.match(text):
        return False
    chars = sum(map(str.isalnum, text))
    return chars >= _FEWEST_UNSPACED_CHARS if is_unspaced(text) else len(_WORD.findall(text)) >= _FEWEST_WORDS
