"""Clauses that ask to remember or to forget something, in the words of any of the languages. Pure but for its data.

People ask for it in endless ways ("hang on to this for me", "I'd rather you didn't keep that bit about the loan"), of
few words. A clause of these words alone is such a request; one other word makes it something else, but for what it is
about, and for why it is asked.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice, pairwise
from pathlib import Path
from typing import Literal

from reverie_server.heuristics.alternatives import any_by_first_letter, by_first_letter

Kind = Literal["remember", "forget"]

# Longer clauses are no requests.
MAX_CLAUSE_CHARS = 140
_MAX_LEAD_CHARS, _MAX_BEFORE_COLON_CHARS = 90, 200
_SEPARATOR = re.compile(
    r"[,;，；。.!?！？…]++(?!\s*+(?:dass|daß|was ich|what i)(?!\w))\s*+|(?<=\s)[–—-]++(?=\s)\s*+"
    "|(?<=[\u3400-\u4dbf\u4e00-\u9fff]) ++(?=[\u3400-\u4dbf\u4e00-\u9fff])"
)
WORD = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]|[^\\W\u3400-\u4dbf\u4e00-\u9fff]+")
_FEWEST_WORDS, _MOST_COLONS, _COLON = 3, 3, re.compile(r"[:：]\s*+")
_VERBS = ("remove", "vague", "retain", "kept", "removed", "lest", "unsaid")
# A verb that has its object within, or a phrase.
_WITHIN = re.compile(
    r"(?:(?<=bitte )(?:(?:ab)?speichern|merken|notieren|behalten|auf(?:heben|schreiben|bewahren))"
    r"|l[oa]s?|dran|daran|\s(?:das|es|dir's|that|this|it|these|es[oe]|est[oe]|ello))(?!\w)|\smich(?!\w)|(?<=remind)\sme"
)
# "What I just said" and the like, where "forget that" may go on to something else.
_FEWEST_SAID_CHARS = 8
# A number that may be a code, an address or a telephone, and no amount of anything.
_UNIT = (
    r"%|€|\$|£|g|kg|ml|l|km|m|cm|h|euros?|dollars?|pounds?|pesos|yuan|minutes?|hours?|days?|minuten|stunden|tage|minutos|horas"
    r"|元|块|分钟|小时|天|克|斤|公里"
)
_VALUE = re.compile(rf"(?<![0-9a-z.,])\d(?:[ -]?\d){{2,}}+(?![\d.,]*+ ?(?:{_UNIT})(?![^\W\d_]))")
_WOULD_YOU = re.compile(r"(?<!\w)(?:would|will|could|can) you(?!\w)")
_AS = re.compile(r"(?<!\w)(?:as|als|como)(?!\w)|为|当")
_IT = frozenset(("it", "es", "'s", "lo", "la"))
_BACK = re.compile(
    r"(?<!\w)(?:eso|ello), que$|(?:[aeiáéí]l[oa]|[aeá]l[oa] (?:anotad|apuntad|guardad|escrit)[oa])"
    r"(?: (?:por )?ah[ií]| bien| en alguna parte| en algún (?:lado|sitio|lugar))?, que$"
)
_MAX_TOPIC_CHARS = 20
# "Du, bevor ich's vergesse, …": it calls who is asked.
_VOCATIVE = re.compile(r"(?:du|sie|hey|hör mal|sag mal|so|oye|oiga|mire|mira|listen|look|by the way|übrigens)")
_CJK = "\u3400-\u4dbf\u4e00-\u9fff"


@dataclass(frozen=True, slots=True)
class MemoryRequest:
    """What a clause asks for. `start` and `end` are where what it is about is named in the text; equal: nowhere.

    `is_vague`: its words are also said to go on to something else ("forget that, …").
    """

    kind: Kind
    start: int
    end: int
    is_vague: bool


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    start: int
    end: int


def clauses(text: str) -> list[tuple[int, int]]:
    """Where the clauses of a sentence are: what commas, semicolons and dashes part, and spaces between characters."""
    ends = [(0, 0), *((mark.start(), mark.end()) for mark in _SEPARATOR.finditer(text)), (len(text), len(text))]
    return [(start, end) for (_, start), (end, _) in pairwise(ends) if text[start:end].strip()]


def read_request(text: str, start: int, end: int, *, needs_object: bool = True) -> MemoryRequest | None:
    """What the clause `text[start:end]` asks for, in the first language that understands it as a request.

    The text comes from `fact_requests.aligned`. Behind what it is about a clause `needs_object` no more.
    """
    if end - start > MAX_CLAUSE_CHARS or not any_verb().search(text, start, end):
        return None
    for language in _languages_with(_VERBS, text, start, end):
        tokens = _tokens(_vocabularies()[language], text, start, end)
        is_asked = text[end : end + 1] in ("?", "？")
        if (
            found := _request(
                text, tokens, is_chinese=language == "chinese", is_question=is_asked, needs_object=needs_object
            )
        ) is not None:
            return found
    return None


def asks_no_more(text: str, start: int, end: int) -> bool:
    """Whether `text[start:end]` asks to remember what stands elsewhere, and says nothing else, not even why."""
    if end - start > MAX_CLAUSE_CHARS or not any_verb().search(text, start, end):
        return False
    for language in _languages_with(_VERBS, text, start, end):
        tokens = _tokens(_vocabularies()[language], text, start, end, until_other=True)
        # Without another word the last token ends where the words do.
        if any(token.kind == "reason" for token in tokens) or WORD.search(
            text, tokens[-1].end if tokens else start, end
        ):
            continue
        request = read_request(text, start, end)
        return request is not None and request.kind == "remember"
    return False


def asks_for_value(text: str, start: int, end: int) -> bool:
    """Whether `text[start:end]` asks to remember a number that stands among the words of the request.

    "Jot down the gate code, 8841, would you?" One stretch of other words, with the number in it, is left.
    """
    if end - start > MAX_CLAUSE_CHARS or not (any_verb().search(text, start, end) and _VALUE.search(text, start, end)):
        return False
    is_question = text[end:].lstrip().startswith(("?", "？"))
    for language in _languages_with(_VERBS, text, start, end):
        tokens = _before_reason(_tokens(_vocabularies()[language], text, start, end))
        tokens = [token for index, token in enumerate(tokens) if not _is_noun(text, tokens, index)]
        others = [index for index, token in enumerate(tokens) if token.kind == "other"]
        if not others or not _VALUE.search(text, tokens[others[0]].start, tokens[others[-1]].end):
            continue
        around = [*tokens[: others[0]], *tokens[others[-1] + 1 :]]
        kinds = {token.kind for token in around}
        within = {token.kind for token in tokens[others[0] : others[-1]]}
        is_plain = "retain" in kinds and "retain" not in within and "reason" not in within
        is_polite = "wish" in kinds or _WOULD_YOU.search(text, start, end) is not None
        if is_plain and _asked(around) == "remember" and (not is_question or ("me" not in kinds and is_polite)):
            return True
    return False


def _is_noun(text: str, tokens: Sequence[_Token], index: int) -> bool:
    """Whether a word that may ask to remember is a thing here: "the log", "Note 112"."""
    if tokens[index].kind != "retain":
        return False
    before = text[tokens[index - 1].start : tokens[index - 1].end] if index else ""
    after = text[tokens[index].end :].lstrip()
    return before in ("the", "a", "der", "die", "das", "den", "el", "la", "un", "una", "ein", "eine", "mein", "my") or (
        after[:1].isdigit() and _AS.search(after) is None
    )


def has_number(text: str, start: int, end: int) -> bool:
    """Whether `text[start:end]` has a number that may be a code, an address or a telephone."""
    return _VALUE.search(text, start, end) is not None


def is_idle(text: str, start: int, end: int) -> bool:
    """Whether a clause says nothing beside a request: politeness, "actually", why."""
    if end - start > MAX_CLAUSE_CHARS:
        return False
    return any(_is_idle_in(pattern, text, start, end) for pattern in _vocabularies().values())


def _is_idle_in(pattern: re.Pattern[str], text: str, start: int, end: int) -> bool:
    for match in pattern.finditer(text, start, end):
        kind = _kind_of(match)
        if kind == "reason":
            break
        if kind not in ("filler", "weight", "wish"):
            return False
    return True


def remembered_from(text: str) -> int:
    """Where what is to be remembered begins in a sentence that opens with a request and a colon; 0 in another one.

    Before a colon it may also be told: "What I always forget: …".
    """
    colons = islice(_COLON.finditer(text, 0, _MAX_BEFORE_COLON_CHARS), _MOST_COLONS)
    return next((colon.end() for colon in colons if _asks_before(text, colon.start())), 0)


def _asks_before(text: str, end: int) -> bool:
    """Whether `text[:end]`, or its last clause, asks to remember what follows: "We gave blood, so hold on to this"."""
    if not text[:end].strip():
        return False
    for start in {0, clauses(text[:end])[-1][0]}:
        for language in _languages_with((*_VERBS, "weight"), text, start, end):
            tokens = _before_reason(_tokens(_vocabularies()[language], text, start, end))
            kinds = {token.kind for token in tokens}
            is_asked = bool(kinds & {"retain", "vague", "weight", "lest"}) or {"kept", "wish"} <= kinds
            if is_asked and "other" not in kinds and not {"not", "retain"} <= kinds:
                return True
    return False


def remembered_after_comma(text: str, start: int, end: int) -> int:
    """Where the rest of a sentence begins whose first clause asks to remember ("Store that for me, the code is …")."""
    first, *rest = clauses(text[start:end]) or [(0, 0)]
    first, *rest = rest if rest and _VOCATIVE.fullmatch(text, start + first[0], start + first[1]) else (first, *rest)
    if not rest or all(is_idle(text, start + a, start + b) for a, b in rest):
        return 0
    request = read_request(text, start + first[0], start + first[1], needs_object=False)
    words = len(WORD.findall(text[start + rest[0][0] : end]))
    is_lead = request is not None and request.kind == "remember" and words >= _FEWEST_WORDS
    return start + rest[0][0] if is_lead else 0


def remembered_after_that(text: str, start: int, end: int) -> int:
    """Where the sentence begins that a request to remember introduces ("No olvides que …"); 0 where none does."""
    last = min(end, start + _MAX_LEAD_CHARS)
    for language in _languages_with(_VERBS, text, start, last):
        tokens = _tokens(_vocabularies()[language], text, start, last, until_other=True)
        # What stands behind the sentence's first unknown word introduces nothing.
        for index, token in enumerate(tokens):
            is_that = token.kind == "that" or (
                text[token.start : token.end] == "that" and len(WORD.findall(text[token.end : end])) >= _FEWEST_WORDS
            )
            # "Quédate con eso, que tengo prisa" says why.
            is_why = _BACK.search(text[start : token.end].rstrip()) is not None and not has_number(text, token.end, end)
            if is_that and not is_why and _asked(tokens[:index]) == "remember":
                return token.end
    return 0


def _request(
    text: str, tokens: Sequence[_Token], *, is_chinese: bool, is_question: bool, needs_object: bool
) -> MemoryRequest | None:
    tokens = _before_reason(tokens)
    topic = _chinese_topic(text, tokens) if is_chinese else _topic(tokens)
    words = [token for index, token in enumerate(tokens) if topic is None or not topic[0] <= index < topic[1]]
    kind = _asked(words)
    kinds = {token.kind for token in words}
    if kind is None or (is_question and ("me" in kinds or not kinds & {"wish", "you"})):
        return None
    if topic is None:
        is_meant = is_chinese or not needs_object or {"not", "retain"} <= kinds or _has_object(text, words)
        if not is_meant or (kind == "forget" and _is_never_mind(text, words)):
            return None
        is_said = any(token.kind == "object" and token.end - token.start >= _FEWEST_SAID_CHARS for token in words)
        return MemoryRequest(kind, 0, 0, any(token.kind == "vague" for token in words) and not is_said)
    # "Can you remember that thing about my car?" asks what is known.
    start, end = tokens[topic[0]].start, tokens[topic[1] - 1].end
    return MemoryRequest(kind, start, end, is_vague=False) if kind == "forget" else None


def _is_never_mind(text: str, tokens: Sequence[_Token]) -> bool:
    """Whether it is "forget it": a word of forgetting with no more of an object than that."""
    objects = [text[token.start : token.end] for token in tokens if token.kind == "object"]
    kinds = {token.kind for token in tokens}
    return "vague" in kinds and not kinds & {"remove", "retain", "kept"} and set(objects) <= _IT


def _before_reason(tokens: Sequence[_Token]) -> Sequence[_Token]:
    reason = next((index for index, token in enumerate(tokens) if token.kind == "reason"), len(tokens))
    return tokens[:reason]


def _asked(tokens: Sequence[_Token]) -> Kind | None:
    """What tokens of a request ask for; None where they are none: an unknown word, or something told of oneself."""
    kinds = [token.kind for token in tokens]
    has = set(kinds)
    verbs = [index for index, kind in enumerate(kinds) if kind in _VERBS]
    if "other" in has or not verbs:
        return None
    if "lest" in has:
        return "remember"
    if "unsaid" in has:
        return "forget"
    if "mustnot" in has:
        has |= {"wish", "not"}
    before = set(kinds[: verbs[0]])
    is_state = bool({"kept", "removed"} & has)
    is_wish = bool({"wish", "that"} & has) or ("retain" in has and "removed" in has)
    if not is_wish and ("me" in has or is_state or ("you" in before and "not" not in before)):
        return None
    if "removed" in has:
        return None if "not" in has else "forget"
    if {"retain", "kept"} & has:
        return "forget" if "not" in has else "remember"
    if "not" in has:
        return "remember" if "vague" in has else None
    return "forget"


def _has_object(text: str, tokens: Sequence[_Token]) -> bool:
    """Whether a request says of what: "that", or a verb that has it within ("bórralo", "denk dran")."""
    return any(
        token.kind in ("object", "kept", "removed", "lest", "unsaid")
        or (token.kind in _VERBS and _WITHIN.search(text, token.start, token.end) is not None)
        for token in tokens
    )


def _topic(tokens: Sequence[_Token]) -> tuple[int, int] | None:
    """The tokens that say what an object is about: behind its "about", up to words of the request again."""
    for index, (before, token) in enumerate(pairwise(tokens), start=1):
        if token.kind != "about" or before.kind not in ("object", "unsaid"):
            continue
        last = max((at for at, each in enumerate(tokens) if each.kind == "other"), default=-1)
        return (index + 1, last + 1) if last > index else None
    return None


def _chinese_topic(text: str, tokens: Sequence[_Token]) -> tuple[int, int] | None:
    """What stands between "what I said" or the like and the verb, or right before "that bit"."""
    others = [index for index, token in enumerate(tokens) if token.kind == "other"]
    if not others or others[-1] - others[0] >= _MAX_TOPIC_CHARS:
        return None
    first, end = others[0], others[-1] + 1
    kinds = [token.kind for token in tokens]
    is_said = first > 0 and kinds[first - 1] == "object" and text[tokens[first - 1].end - 1] in "的過过"
    if kinds[end : end + 1] != ["object"] and not is_said:
        return None
    return (first - 1 if first and kinds[first - 1] == "me" else first), end


def _tokens(pattern: re.Pattern[str], text: str, start: int, end: int, *, until_other: bool = False) -> list[_Token]:
    found: list[_Token] = []
    for match in pattern.finditer(text, start, end):
        kind = _kind_of(match)
        if kind == "other" and until_other:
            break
        found.append(_Token(kind, match.start(), match.end()))
    return found


def _kind_of(match: re.Match[str]) -> str:
    return (match.lastgroup or "other").partition("_")[0]


def _languages_with(kinds: tuple[str, ...], text: str, start: int, end: int) -> list[str]:
    """The languages that know a word of these kinds in `text[start:end]`: in no other one it asks for anything."""
    return [language for language, known in _words_of(kinds).items() if known.search(text, start, end) is not None]


@cache
def _tables() -> dict[str, dict[str, list[str]]]:
    source = Path(__file__).with_name("memory_requests.toml").read_text(encoding="utf-8")
    return tomllib.loads(source)


@cache
def _vocabularies() -> dict[str, re.Pattern[str]]:
    """For each language what matches its words one after another, the longest first."""
    other = f"(?P<other>[{_CJK}]|[^\\W{_CJK}]+)"
    return {
        language: re.compile(f"{by_first_letter(_parts(language, table))}|{other}")
        for language, table in _tables().items()
    }


def _parts(language: str, table: dict[str, list[str]]) -> Iterator[tuple[str, str]]:
    """The words of a language, each with the pattern that matches and names it."""
    is_spaced = language != "chinese"
    entries = [(entry, kind) for kind, words in table.items() for entry in words]
    named: list[tuple[str, str]] = sorted(entries, key=lambda each: -len(each[0]))
    for number, (entry, kind) in enumerate(named):
        plain = entry.replace(" ", r"\s+") if is_spaced else entry
        edge = r"(?!\w)" if is_spaced else ""
        pattern = f"(?<!\\w)(?:{plain}){edge}" if is_spaced else plain
        yield entry, f"(?P<{kind}_{number}>{pattern})"


@cache
def any_verb() -> re.Pattern[str]:
    """A text, from `aligned`, without one of these asks for nothing."""
    return _any_of(_VERBS)


@cache
def any_sign() -> re.Pattern[str]:
    """A text, from `aligned`, without one of these neither asks for anything nor says that it matters."""
    return _any_of((*_VERBS, "weight"))


def _any_of(kinds: tuple[str, ...]) -> re.Pattern[str]:
    spaced = [entry for language in _tables() if language != "chinese" for entry in _entries(language, kinds)]
    return re.compile(f"{_spaced(spaced)}|{_unspaced(_entries('chinese', kinds))}")


@cache
def _words_of(kinds: tuple[str, ...]) -> dict[str, re.Pattern[str]]:
    """For each language what finds a word of these kinds."""
    return {
        language: re.compile((_unspaced if language == "chinese" else _spaced)(_entries(language, kinds)))
        for language in _tables()
    }


def _entries(language: str, kinds: tuple[str, ...]) -> list[str]:
    table = _tables()[language]
    return [entry.replace(" ", r"\s") for kind in kinds for entry in table[kind]]


def _spaced(entries: list[str]) -> str:
    return rf"(?<!\w)(?:{any_by_first_letter(entries)})(?!\w)"


def _unspaced(entries: list[str]) -> str:
    return f"(?=[{_CJK}])(?:{any_by_first_letter(entries)})"
