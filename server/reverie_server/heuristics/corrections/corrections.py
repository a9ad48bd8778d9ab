"""What a person takes back in the same breath, and what holds instead. Pure.

"My flight is on the 14th - no, sorry, the 15th", or the same in two sentences, says that the flight is on the 15th. It
is read so where a cue stands before a value, a name or an occupation alone, and the statement before it has one thing
of that kind. Where it is not plain what is replaced, nothing is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from reverie_indexer.text.analyse import stop_words
from reverie_server.heuristics.corrections.correction_cues import (
    VALUE_KINDS,
    CorrectionCues,
    Cue,
    Strength,
    correction_cues,
    cue_at,
)
from reverie_server.heuristics.cues import Cues
from reverie_server.heuristics.fact_grammar.objects import fits
from reverie_server.heuristics.fact_grammar.phrases import all_roles
from reverie_server.heuristics.fact_grammar.terms import content_terms
from reverie_server.heuristics.requests.fact_requests import aligned
from reverie_server.heuristics.stated_fact import StatedFact
from reverie_server.text.questions import is_question

Where = Literal["within", "next", "answer", "answer_to_question"]
"""Where a correction stands: in the sentence itself, in the next one, or in the next behind what the assistant said."""
ReadSentence = Callable[[str], Sequence[StatedFact]]
"""The facts of a sentence, read as one that follows what was said before."""

# Longer sentences are told, and not corrected in passing.
_MAX_STATEMENT, _MAX_FRAGMENT, _MAX_CUES = 300, 60, 6
_MAX_SLOTS = 12
_END = re.compile(
    r"[,;!?()（），；。！？—–…]|(?<!\d)\.(?=\s|$)|\s-\s|\s(?=(?:and|but|so|because|und|aber|weil|y|pero|porque)\s)"
)
_STARRED = re.compile(r"\s*(?:\*(?!\s)(?P<before>[^*\n]{1,40})|(?P<behind>[^*\n]{1,40})(?<!\s)\*)[\s.!]*$")
_SIGN = re.compile(r"[$€£¥￥]")
_NAME = re.compile(
    r"[^\W\d_a-zß-öø-ÿ][\w’'&.-]*(?:[ -](?:(?:de|del|la|los|las|van|von|der|den|da|do|am|an|of|y|upon)[ -])?"
    r"[^\W\d_a-zß-öø-ÿ][\w’'&.-]*){0,3}"
)
_SMALL_NAME = re.compile(r"[^\W\d_]{3,20}(?: [^\W\d_]{3,20})?")
_HAN_NAME = re.compile(
    r"(?!.*[的了吗呢吧啊我你他她它们不没很太在有要去来说会都是就好这那什么怎])[\u4e00-\u9fff]{2,6}|[A-Za-z]{2,20}"
)
_WORD = re.compile(r"[^\W\d_][\w’'-]*")
_NAMES = frozenset(
    {"lives_in", "works_at", "works_in", "from", "name", "nickname", "boss", "partner", "school", "located"}
)
_ON_DAY = re.compile(r"(?:am|vom|zum) \d")
_ONLY_MEANT = re.compile(
    r"\W*(?:(?:and|but|well|oh|und|aber|also|ach|y|pero|pues|bueno)\W+)*"
    r"(?:i mean|i meant|(?:ich )?mein(?:e|te)?(?: ich)?|digo|quiero decir|我是说|我的意思是)\W*"
)
_DAYS = frozenset({"weekday", "date", "relative"})
# Languages with one word for no and not: a comma behind it says which.
_NO_IS_NOT = frozenset({"spanish"})
_STRENGTHS: dict[Where, dict[str, frozenset[Strength]]] = {
    "within": {
        "value": frozenset({"denies", "sorry", "doubts", "retracts", "explicit"}),
        "word": frozenset({"denies", "sorry", "retracts", "explicit"}),
        "name": frozenset({"denies", "sorry", "retracts", "explicit"}),
    },
    "next": {
        "value": frozenset({"denies", "sorry", "doubts", "retracts", "explicit"}),
        "word": frozenset({"denies", "sorry", "retracts", "explicit"}),
        "name": frozenset({"retracts", "explicit"}),
    },
    "answer": {
        "value": frozenset({"sorry", "retracts", "explicit"}),
        "word": frozenset({"retracts", "explicit"}),
        "name": frozenset({"retracts", "explicit"}),
    },
    "answer_to_question": dict.fromkeys(("value", "word", "name"), frozenset({"explicit"})),
}


@dataclass(frozen=True, slots=True)
class Corrected:
    """A statement as it holds: `new` stands in it where `old` was said; `cue` are the words that took it back."""

    statement: str
    old: str
    new: str
    cue: str


@dataclass(frozen=True, slots=True)
class Fragment:
    """What a correction puts in place of something, without the cue before it and what is said behind it.

    `is_paused`: a comma or the like stands behind the cue.
    """

    text: str
    cue: str
    strength: Strength
    where: Where
    is_paused: bool = True


@dataclass(frozen=True, slots=True)
class _Part:
    """A value or a name with the words before it; `span` is where all of it is in its text."""

    kind: str
    prep: str
    article: str
    core: str
    unit: str
    span: tuple[int, int]


def fragment_of(sentence: str, language: str, where: Where) -> Fragment | None:
    """What a sentence of a cue and a fragment puts in place of something said before; None for any other sentence.

    A cue alone has the fragment "": the next sentence may say it. Takes time linear in the sentence.
    """
    cues = correction_cues().get(language)
    if cues is None or len(sentence) > _MAX_FRAGMENT * 2:
        return None
    starred = _STARRED.match(sentence)
    if starred is not None:
        return Fragment((starred["before"] or starred["behind"]).strip(), "*", "explicit", where)
    plain = aligned(sentence)
    cue = cue_at(plain, 0, cues)
    if cue is None or (cue.end < len(plain) and is_question(plain)):
        return None
    return _fragment(sentence[cue.end :], cue, cues, where)


def restated_at(sentence: str, language: str, where: Where) -> tuple[int, str] | None:
    """Where a sentence goes on behind words that surely take back what was said, and these words; None without them.

    "No wait, that's her ex": what they announce is a sentence of its own. Takes time linear in the sentence.
    """
    cues = correction_cues().get(language)
    if cues is None or len(sentence) > _MAX_STATEMENT or is_question(sentence):
        return None
    cue = cue_at(aligned(sentence), 0, cues)
    if cue is None or not cue.is_paused or cue.strength not in _STRENGTHS[where]["name"]:
        return None
    # `I mean` and `I meant` go on with more of the same as well.
    if cue.strength not in ("retracts", "explicit") or _ONLY_MEANT.fullmatch(cue.text):
        return None
    return cue.end, cue.text


def continued(sentence: str, before: Fragment, language: str) -> Fragment | None:
    """The fragment that stands in the sentence after a cue alone."""
    cues = correction_cues()[language]
    if len(sentence) > _MAX_FRAGMENT or is_question(sentence):
        return None
    cue = cue_at(aligned(sentence), 0, cues)
    start = cue.end if cue is not None else 0
    return _fragment(sentence[start:], Cue(before.cue, before.strength, 0), cues, before.where)


def corrected_within(sentence: str, cues_of_language: Cues | None, read: ReadSentence) -> Corrected | None:
    """A sentence that corrects itself, as it holds; None for any other. Takes time linear in the sentence."""
    cues = correction_cues().get(cues_of_language.language) if cues_of_language is not None else None
    if cues is None or len(sentence) > _MAX_STATEMENT:
        return None
    plain = aligned(sentence)
    tried = 0
    for found in cues.begins.finditer(plain):
        if tried == _MAX_CUES:
            break
        if found.start() == 0:
            continue
        cue = cue_at(plain, found.start(), cues)
        if cue is None or cue.end >= len(sentence):
            continue
        is_paused = cues.paused.search(plain, max(0, found.start() - 4), found.start()) is not None
        if not is_paused and cue.strength not in ("retracts", "explicit"):
            continue
        tried += 1
        end = _END.search(sentence, cue.end)
        stop = end.start() if end is not None else len(sentence)
        fragment = _fragment(sentence[cue.end : stop], cue, cues, "within")
        if fragment is None or not fragment.text or sentence[stop : stop + 1] in ("?", "？"):
            continue
        before = sentence[: found.start()].rstrip(" ,;:…—–-(/，、；：.。")
        held = corrected(before, fragment, cues_of_language, read)
        if held is not None:
            rest = sentence[stop:].rstrip()
            if rest[:1] in (")", "）"):
                rest = rest[1:]
            return Corrected(held.statement + (rest or "."), held.old, held.new, held.cue)
    return None


def corrected(
    statement: str, fragment: Fragment, cues_of_language: Cues | None, read: ReadSentence
) -> Corrected | None:
    """A statement with a fragment in place of the one thing of its kind; None where that is not plain."""
    cues = correction_cues().get(cues_of_language.language) if cues_of_language is not None else None
    if cues is None or not fragment.text or len(statement) > _MAX_STATEMENT:
        return None
    allowed = _STRENGTHS[fragment.where]
    value = _value(fragment.text, cues)
    if fragment.strength == "denies" and not fragment.is_paused and cues.language in _NO_IS_NOT:
        # `El martes, no el jueves` is as it says first.
        return None
    if value is not None:
        part = _slot(statement, value, cues) if fragment.strength in allowed["value"] else None
        return None if part is None else _replaced(statement, part, value, fragment, cues)
    word = _word(fragment.text, cues)
    # `No de Getxo` denies what it names.
    if word is None or (fragment.strength == "denies" and not fragment.is_paused):
        return None
    return _of_facts(statement, word, fragment, cues, allowed, read)


def _fragment(text: str, cue: Cue, cues: CorrectionCues, where: Where) -> Fragment | None:
    plain = aligned(text)
    lead = cues.lead.match(plain)
    start = lead.end() if lead is not None else 0
    tail = cues.tail.search(plain, start)
    end = tail.start() if tail is not None else len(text)
    inner = text[start:end].strip()
    if len(inner) > _MAX_FRAGMENT:
        return None
    return Fragment(inner, cue.text, cue.strength, where, cue.is_paused)


def _value(text: str, cues: CorrectionCues) -> _Part | None:
    """A fragment that is a value and nothing else."""
    # The point of a German day belongs to it: `am 14.` is a day, and `14` may be anything.
    both = (text, f"{text}.") if text[-1:].isdigit() else (text,)
    for given in both[::-1] if _ON_DAY.match(aligned(text)) else both:
        found = cues.value.fullmatch(aligned(given))
        if found is not None:
            return _part(found, given, cues)
    return None


def _part(found: re.Match[str], text: str, cues: CorrectionCues) -> _Part:
    kind = next(kind for kind in VALUE_KINDS if found[kind] is not None)
    start, end = found.span(kind)
    prep, unit = found["prep"] or "", (found["unit"] or "") if kind == "number" else ""
    if kind == "number" and prep and cues.at_clock.fullmatch(prep) and not unit:
        kind = "clock"
    return _Part(kind, prep, found["article"] or "", text[start:end], unit, (found.start(), end))


def _slot(statement: str, value: _Part, cues: CorrectionCues) -> _Part | None:
    """The one value of a statement in whose place another can stand; None where there is none, or are several."""
    plain = aligned(statement)
    parts: list[_Part] = []
    for found in cues.value.finditer(plain):
        parts.append(_part(found, statement, cues))
        if len(parts) > _MAX_SLOTS:
            return None
    alike = [part for part in parts if _is_alike(part, value)]
    if len(alike) != 1:
        return None
    if value.kind == "number" and not value.unit:
        # A bare number can be any of several.
        numeric = [part for part in parts if part.kind in ("number", "clock", "date", "weekday_date")]
        if len(numeric) != 1:
            return None
    elif value.kind in _DAYS and any(part.kind == "weekday_date" for part in parts):
        return None
    is_same = aligned(alike[0].core).strip(". ") == aligned(value.core).strip(". ")
    return None if is_same or not _same_prep(alike[0].prep, value.prep) else alike[0]


def _is_alike(part: _Part, value: _Part) -> bool:
    if value.kind in _DAYS:
        return part.kind in _DAYS
    if value.kind != "number":
        return part.kind == value.kind
    if value.unit:
        return part.kind == "number" and content_terms(part.unit) == content_terms(value.unit)
    return part.kind in ("number", "clock")


def _same_prep(old: str, new: str) -> bool:
    """Whether what is put in place may stand behind its own preposition where the other stood behind another."""
    return not old or not new or old[:1] == new[:1]


def _replaced(statement: str, part: _Part, value: _Part, fragment: Fragment, cues: CorrectionCues) -> Corrected:
    """The statement with a value in place of another, behind the preposition and the article that fit."""
    same_kind = part.kind == value.kind
    prep = value.prep or ("" if value.kind == "relative" else _as_written(statement, part, part.prep))
    article = value.article if value.article or not same_kind else _as_written(statement, part, part.article)
    if prep and not value.prep and article and cues.language == "german":
        # `am 14.`, and then `der 15.`: the preposition has its article.
        article = part.article
    core = value.core
    sign = _SIGN.match(part.core)
    if sign is not None and not _SIGN.match(core):
        core = f"{sign[0]}{core}"
    space = "" if cues.unspaced else " "
    words = space.join(word for word in (prep, article, core) if word)
    start, end = part.span
    text = f"{statement[:start]}{words}{statement[end:]}"
    return Corrected(text[:1].upper() + text[1:], part.core, value.core, fragment.cue)


def _as_written(statement: str, part: _Part, word: str) -> str:
    """The words before a value as they stand in the statement."""
    at = aligned(statement).find(word, part.span[0], part.span[1]) if word else -1
    return statement[at : at + len(word)] if at >= 0 else word


def _word(text: str, cues: CorrectionCues) -> _Part | None:
    """A fragment that may be a name or an occupation, with the preposition and the article before it."""
    plain = aligned(text)
    before = cues.before.match(plain)
    end = before.end() if before is not None else 0
    core = text[end:].strip()
    if not core or any(mark in core for mark in ',;:!?()"，；：！？'):
        return None
    prep, article = ((before["prep"] or ""), (before["article"] or "")) if before is not None else ("", "")
    return _Part("word", prep, article, core, "", (0, len(text)))


def _of_facts(
    statement: str,
    word: _Part,
    fragment: Fragment,
    cues: CorrectionCues,
    allowed: dict[str, frozenset[Strength]],
    read: ReadSentence,
) -> Corrected | None:
    """A statement with a name or an occupation in place of the one that a fact of it has."""
    facts = read(statement)
    found: list[Corrected] = []
    for fact in facts:
        at = _only_at(statement, fact.object)
        if at is None or not _can_replace(fact, word, fragment, cues, allowed, statement, at):
            continue
        held = _with_word(statement, at, fact.object, word, fragment, cues)
        if held is not None and _is_read(read(held.statement), facts, fact, word.core):
            found.append(held)
    statements = {held.statement for held in found}
    return found[0] if len(statements) == 1 else None


def _only_at(statement: str, object_: str) -> int | None:
    at = statement.find(object_) if object_ else -1
    return at if at >= 0 and statement.find(object_, at + 1) < 0 else None


def _can_replace(
    fact: StatedFact,
    word: _Part,
    fragment: Fragment,
    cues: CorrectionCues,
    allowed: dict[str, frozenset[Strength]],
    statement: str,
    at: int,
) -> bool:
    """Whether a word is of the kind of a fact's object, and the cue strong enough for it."""
    if fact.change is not None and fact.change.kind == "ends":
        return False
    if aligned(fact.object) == aligned(word.core):
        return False
    if fact.predicate == "works_as":
        return fragment.strength in allowed["word"] and all(_is_job(each, cues) for each in (fact.object, word.core))
    is_name = fact.predicate in _NAMES or fact.predicate in all_roles()
    if not is_name or not _is_name(word.core, fact.object, cues):
        return False
    prep = _prep_before(statement, at, cues)
    if word.prep:
        # Behind its own preposition it is the place that the statement names behind the same one.
        return bool(prep) and _same_prep(prep, word.prep) and fragment.strength in allowed["word"]
    if _other_names(statement, fact, cues):
        return False
    return fragment.strength in allowed["name"]


def _is_job(text: str, cues: CorrectionCues) -> bool:
    condition = {"german": "german job", "spanish": "spanish job", "chinese": "hanjob"}.get(cues.language, "job")
    return fits(condition, text, has_capitals=True)


def _is_name(text: str, old: str, cues: CorrectionCues) -> bool:
    """Whether a text is written as a name is where another stands."""
    if cues.unspaced:
        return _HAN_NAME.fullmatch(text) is not None and cues.idle.fullmatch(aligned(text)) is None
    words = aligned(text).split()
    stops = stop_words(cues.language)
    if any(cues.idle.fullmatch(each) or each in stops for each in (words[0], words[-1], " ".join(words))):
        return False
    if old[:1].islower():
        return _SMALL_NAME.fullmatch(text) is not None or _NAME.fullmatch(text) is not None
    return _NAME.fullmatch(text) is not None


def _prep_before(statement: str, at: int, cues: CorrectionCues) -> str:
    plain = aligned(statement)
    start = max(0, at - 24)
    for found in cues.before.finditer(plain, start, at):
        if (
            found.end() == at
            and found["prep"]
            and (cues.unspaced or not plain[found.start() - 1 : found.start()].isalnum())
        ):
            return found["prep"]
    return ""


def _other_names(statement: str, fact: StatedFact, cues: CorrectionCues) -> bool:
    """Whether a statement has another name, for which a bare one may stand: `My boss Petra lives in Bonn`."""
    if cues.unspaced:
        return False
    stops = stop_words(cues.language)
    before = ""
    for number, found in enumerate(_WORD.finditer(statement.replace(fact.object, " "))):
        plain = aligned(found[0])
        # A German noun stands behind an article or a possessive, a name does not.
        is_noun = cues.language == "german" and before in stops
        is_word = plain.split("'")[0] in stops or plain in all_roles() or (number == 0 and fact.about_user)
        if found[0][:1].isupper() and not is_noun and not is_word:
            return True
        before = plain
    return False


def _with_word(
    statement: str, at: int, old: str, word: _Part, fragment: Fragment, cues: CorrectionCues
) -> Corrected | None:
    start = at
    plain = aligned(statement)
    before = next(
        (each for each in cues.before.finditer(plain, max(0, at - 24), at) if each.end() == at and each["article"]),
        None,
    )
    if before is not None and word.article:
        start = before.start("article")
    new = f"{word.article}{'' if cues.unspaced else ' '}{word.core}" if word.article and start < at else word.core
    text = f"{statement[:start]}{new}{statement[at + len(old) :]}"
    return Corrected(text, old, word.core, fragment.cue)


def _is_read(found: Sequence[StatedFact], facts: Sequence[StatedFact], fact: StatedFact, new: str) -> bool:
    """Whether a statement with another word says the same things, and of the one the other word."""
    key = (fact.subject, fact.predicate)
    others = sorted((each.subject, each.predicate, each.object) for each in facts if each is not fact)
    changed = [each for each in found if (each.subject, each.predicate) == key and aligned(each.object) == aligned(new)]
    rest = sorted((each.subject, each.predicate, each.object) for each in found if each not in changed[:1])
    return bool(changed) and rest == others
