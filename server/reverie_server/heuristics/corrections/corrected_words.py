"""A name or an occupation in the place of another: "my boss is Petra" and then "no, sorry, Paula". Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from reverie_indexer.text.analyse import stop_words
from reverie_server.heuristics.corrections.corrected_values import same_preposition
from reverie_server.heuristics.corrections.correction import Corrected, Fragment, Part, ReadSentence
from reverie_server.heuristics.corrections.correction_cues import CorrectionCues, Strength
from reverie_server.heuristics.fact_grammar.objects import fits
from reverie_server.heuristics.fact_grammar.phrases import all_roles
from reverie_server.heuristics.requests.fact_requests import aligned
from reverie_server.heuristics.stated_fact import StatedFact

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


def word_of(text: str, cues: CorrectionCues) -> Part | None:
    """A fragment that may be a name or an occupation, with the preposition and the article before it."""
    plain = aligned(text)
    before = cues.before.match(plain)
    end = before.end() if before is not None else 0
    core = text[end:].strip()
    if not core or any(mark in core for mark in ',;:!?()"，；：！？'):
        return None
    prep, article = ((before["prep"] or ""), (before["article"] or "")) if before is not None else ("", "")
    return Part("word", prep, article, core, "", (0, len(text)))


def with_word_of_fact(
    statement: str,
    word: Part,
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
    word: Part,
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
        return bool(prep) and same_preposition(prep, word.prep) and fragment.strength in allowed["word"]
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
    statement: str, at: int, old: str, word: Part, fragment: Fragment, cues: CorrectionCues
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
