"""The salience of a sentence: how much it is worth keeping, by cues of its language and marks of any language. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from reverie_server.heuristics.cues import Cues, folded
from reverie_server.text.sentence_ends import FACE_ENDS, SHORT_FORM_CHARS, is_within_sentence

# A sentence reaches this score by two cues or marks, or one strong one.
NOTABLE = 2.5
_WEIGHTS = {"remember": 4.0, "decision": 2.5, "preference": 2.5, "fact": 1.5, "action": 1.5, "time": 1.0, "self": 0.5}
_CHATTER_OPENS, _CHATTER_INSIDE, _OF_THE_OTHER, _SAYS_LITTLE = -2.5, -1.0, -1.0, -1.5
_NAME_WEIGHT, _MOST_NAMES, _RARE_WEIGHT, _MOST_RARE, _LONG_WEIGHT, _LONG_WORDS = 0.75, 2, 0.3, 5, 0.5, 7
# Each shape counts once, however often it occurs. An unbounded repetition matches only from the beginning of a run of
# its characters and takes the whole run: tried from each character, a long run would take quadratic time.
_SHAPES = (
    # Addresses.
    (re.compile(r"https?://\S|\bwww\.\S|(?<![\w.+-])[\w.+-]++@[\w-]++\.\w"), 2.5),
    # Paths.
    (
        re.compile(r"(?<![\w/])(?:~|\.{1,2})?/[\w@-]|\b[A-Z]:\\\S|(?<![\w.-])[\w.-]++/[\w.-]+\.\w{1,5}\b"),
        2.0,
    ),
    # Identifiers, names of files, text in backquotes.
    (
        re.compile(
            r"`[^`\n]{2,80}`|\b[a-z]++(?:[A-Z][a-z0-9]++)++\b|\w_\w|\b[A-Z]{2,}+-\d++\b"
            r"|(?<![\w-])-*+\w[\w-]*+\.(?:py|js|ts|md|toml|ya?ml|json|sql|sh|go|rs|java|txt|pdf|csv)\b"
        ),
        1.5,
    ),
    # Hosts with their port, IP addresses.
    (
        re.compile(r"\blocalhost:\d{2,5}\b|(?<![\w-])-*+\w[\w-]*+\.[\w-]++:\d{2,5}\b|\b\d{1,3}(?:\.\d{1,3}){3}\b"),
        1.5,
    ),
    # Dates.
    (re.compile(r"\b\d{4}-\d\d-\d\d\b|\b\d{1,2}[./]\d{1,2}[./]\d{2,4}\b|\d\s*+[年月日년월일]"), 1.5),
    # Versions, times, money, shares, ports.
    (re.compile(r"\bv?\d++(?:\.\d+)+\b|\b\d{1,2}:\d\d\b|[$€£¥₽]\s?\d|\d\s?[%$€£¥₽]|:\d{2,5}\b"), 1.0),
    (re.compile(r"\d"), 0.75),
)
# A line with a key or password is never noted.
_SECRET = re.compile(
    r"\b(?:sk|pk|rk|ghp|gho|ghs|glpat|xox[abp]|rv)[-_][A-Za-z0-9_-]{12,}|\bAKIA[0-9A-Z]{12,}|\beyJ[\w-]{10}"
    r"|PRIVATE KEY|(?i:password|passwort|kennwort|contraseña|mot de passe|senha|wachtwoord|пароль|hasło|密码|密碼"
    r"|パスワード|비밀번호)\s*(?:is|ist|es|est|è|é|to|—|-|=|:|：|是|は|은|는)\s*\S"
)
_CODE = re.compile(r"^[ \t]*(?P<fence>```+|~~~+).*?(?:^[ \t]*(?P=fence)[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
# Quotations, tables, headings, data, pasted sessions and traces.
_NOT_PROSE = re.compile(r"\s*(?:[>|#{}\[]|</?\w|[$%] \S|Traceback |File \"|at \S+\()|(?: {4}|\t)(?!\s*[-*+•\d])")
_BULLET = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?")
_END = re.compile(
    r"(?<=[.!?…])[\"'”’»›)\]}*_]*\s+|(?<=[。！？])[」』）”’]*\s*|(?<=[\u4e00-\u9fff][～〜])(?![～〜])\s*"
    rf"|{FACE_ENDS}"
)
# A number with a point that may be an ordinal, as German writes them, and what stands around one.
_NUMBER = re.compile(r"(?:^|[\s(])\d{1,2}\.$")
_BEFORE_ORDINAL = re.compile(
    r"(?:^|(?<!\w)(?:(?<!i )am|an|auf|bis|de[mnrs]|die|das|im|zu[mr]|vom|ab|beim|in|seit|nach|vor|und|oder|zwischen"
    r"|(?:ihr|mein|dein|sein|unser)(?:e[nmrs]?)?|\w*tag|mittwoch|jede[nrs]?|diese[nmrs]?|nächste[nmrs]?|heute|schon|no|nr"
    r"|art|abs|kap)\s)\(?\d{1,2}\.$",
    re.IGNORECASE,
)
_MONTH = re.compile(
    r"(?:jan|feb|mär|mar|apr|ma[iy]|jun|jul|aug|sep|okt|oct|nov|de[zc])(?:\.|[a-zä]*(?!\w))", re.IGNORECASE
)
_ASKS = re.compile(r"[?？؟][\s\"'’”»)\]!！]*$|^\s*¿")
_NAME = re.compile(r"(?<=[\w,;:)] )[A-ZÀ-ÖØ-ÞĀ-ŽА-ЯЁ][\w'’-]+|\b[A-Z]{2,}\b")
_WORDS = re.compile(r"\w+(?:['’-]\w+)*")
_LONG_WORD_CHARS = 5
# Longer texts and sentences are pasted: only their beginning is read.
MAX_TEXT_CHARS, _MAX_SENTENCE_CHARS = 20_000, 1_000
_FEWEST_WORDS, _FEWEST_CHARS_UNSPACED = 3, 6


def sentences(text: str, max_chars: int = MAX_TEXT_CHARS) -> list[str]:
    """The sentences of a text in order, without list markers, code blocks, quotations, tables, data and secrets.

    Only the first `max_chars` characters outside of code blocks are read. A long sentence is cut.
    """
    found: list[str] = []
    for line in _CODE.sub("\n", text)[:max_chars].splitlines():
        if _NOT_PROSE.match(line) or _SECRET.search(line):
            continue
        found += _split(line[marker.end() :] if (marker := _BULLET.match(line)) else line)
    return found


def has_secret(text: str) -> bool:
    """Whether a text holds a key or a password, which is never noted unasked."""
    return _SECRET.search(text) is not None


def asks(sentence: str, cues: Cues | None) -> bool:
    """Whether a sentence is a question, by its question mark or its first words."""
    if _ASKS.search(sentence):
        return True
    return cues is not None and not cues.unspaced and cues.question.match(folded(_bare(sentence, cues))) is not None


def rarity(texts: Iterable[str]) -> Counter[str]:
    """For each long word, folded, the number of the texts that have it."""
    return Counter(word for text in texts for word in _long_words(text))


def salience(sentence: str, cues: Cues | None, rare: Counter[str]) -> float:
    """The score of a sentence: from NOTABLE on a person would note it. `cues` None: by marks of any language alone.

    `rare` is the `rarity` of the conversation's words.
    """
    score = sum(weight for shape, weight in _SHAPES if shape.search(sentence))
    if cues is None or not cues.nouns_capitalised:
        score += _NAME_WEIGHT * min(_MOST_NAMES, len(set(_NAME.findall(sentence))))
    if cues is None:
        score += _RARE_WEIGHT * min(_MOST_RARE, sum(rare[word] == 1 for word in _long_words(sentence)))
        return score + (_LONG_WEIGHT if len(_WORDS.findall(sentence)) >= _LONG_WORDS else 0)
    text = folded(sentence)
    bare = folded(_bare(sentence, cues))
    found = {kind for kind, pattern in cues.kinds.items() if pattern.search(text)}
    score += sum(_WEIGHTS.get(kind, 0.0) for kind in found)
    if cues.opening.match(bare):
        score += _CHATTER_OPENS
    elif "chatter" in found:
        score += _CHATTER_INSIDE
    if "other" in found and not found & {"self", "remember", "decision"}:
        score += _OF_THE_OTHER
    return score + _length_score(bare, cues)


def _length_score(bare: str, cues: Cues) -> float:
    """The part of the score for the length: negative for a very short sentence, positive for a long one."""
    if cues.unspaced:
        letters = sum(character.isalnum() for character in bare)
        return _SAYS_LITTLE if letters < _FEWEST_CHARS_UNSPACED else 0.0
    words = len(_WORDS.findall(bare))
    return _SAYS_LITTLE if words < _FEWEST_WORDS else _LONG_WEIGHT if words >= _LONG_WORDS else 0.0


def _bare(sentence: str, cues: Cues) -> str:
    """The folded sentence without the filler words at its beginning."""
    text = folded(sentence)
    filler = cues.filler.match(text)
    return text[filler.end() :] if filler else text


def sentence_spans(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The sentences of the line `text[start:end]`, without white space around them.

    The point of an abbreviation ends none.
    """
    for mark in _END.finditer(text, start, end):
        before = text[max(start, mark.start() - SHORT_FORM_CHARS) : mark.start()]
        if is_within_sentence(before, text[mark.start() : mark.end() + 1]):
            continue
        if _NUMBER.search(before) and (_BEFORE_ORDINAL.search(before) or _MONTH.match(text, mark.end(), end)):
            continue
        yield from _stripped(text, start, mark.end())
        start = mark.end()
    yield from _stripped(text, start, end)


def _stripped(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    piece = text[start:end]
    start += len(piece) - len(piece.lstrip())
    if start < (end := end - (len(piece) - len(piece.rstrip()))):
        yield start, end


def _split(line: str) -> Iterator[str]:
    for start, end in sentence_spans(line, 0, len(line)):
        yield line[start:end][:_MAX_SENTENCE_CHARS]


def _long_words(text: str) -> set[str]:
    return {word for word in _WORDS.findall(folded(text)) if len(word) >= _LONG_WORD_CHARS}
