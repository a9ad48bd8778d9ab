"""What a person takes back in the same breath, and what holds instead. Pure.

"My flight is on the 14th - no, sorry, the 15th", or the same in two sentences, says that the flight is on the 15th. It
is read so where a cue stands before a value, a name or an occupation alone, and the statement before it has one thing
of that kind. Where it is not plain what is replaced, nothing is.
"""

from __future__ import annotations

import re
from dataclasses import replace

from reverie_server.heuristics.corrections.corrected_values import is_value, slot_of, value_of, with_value
from reverie_server.heuristics.corrections.corrected_words import with_word_of_fact, word_of
from reverie_server.heuristics.corrections.correction import Corrected, Fragment, ReadSentence, Where
from reverie_server.heuristics.corrections.correction_cues import CorrectionCues, Cue, Strength, correction_cues, cue_at
from reverie_server.heuristics.cues import Cues
from reverie_server.heuristics.requests.fact_requests import aligned
from reverie_server.text.questions import is_question

# Longer sentences are told, and not corrected in passing.
_MAX_STATEMENT, _MAX_FRAGMENT, _MAX_CUES = 300, 60, 6
_END = re.compile(
    r"[,;!?()（），；。！？—–…]|(?<!\d)\.(?=\s|$)|\s-\s|\s(?=(?:and|but|so|because|und|aber|weil|y|pero|porque)\s)"
)
_STARRED = re.compile(r"\s*(?:\*(?!\s)(?P<before>[^*\n]{1,40})|(?P<behind>[^*\n]{1,40})(?<!\s)\*)[\s.!]*$")
_ONLY_MEANT = re.compile(
    r"\W*(?:(?:and|but|well|oh|und|aber|also|ach|y|pero|pues|bueno)\W+)*"
    r"(?:i mean|i meant|(?:ich )?mein(?:e|te)?(?: ich)?|digo|quiero decir|我是说|我的意思是)\W*"
)
# Languages with one word for no and not: a comma behind it says which.
_NO_IS_NOT = frozenset({"spanish"})
_DENIED = re.compile(
    r"(?:(?:not|nicht|no) (?P<behind>[^,，]{1,40}+)|(?P<before>[^,，]{1,40}?) no), ?(?:but |sondern |sino )?",
    re.IGNORECASE,
)
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
    "acknowledged": {
        "value": frozenset({"denies", "sorry", "retracts", "explicit"}),
        "word": frozenset({"retracts", "explicit"}),
        "name": frozenset({"retracts", "explicit"}),
    },
    "answer": {
        "value": frozenset({"sorry", "retracts", "explicit"}),
        "word": frozenset({"retracts", "explicit"}),
        "name": frozenset({"retracts", "explicit"}),
    },
    "answer_to_question": dict.fromkeys(("value", "word", "name"), frozenset({"explicit"})),
}


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
    if cue is None and (moved := cues.moved.match(plain)) is not None and moved.end() < len(plain):
        cue = Cue(moved[0], "explicit", moved.end())
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
    value = value_of(fragment.text, cues)
    if value is None and (both := cues.day_and_clock.fullmatch(aligned(fragment.text))) is not None:
        return _with_day_and_clock(statement, fragment, both, cues, allowed["value"])
    is_cut_off = fragment.where == "acknowledged" or cues.language in _NO_IS_NOT
    if fragment.strength == "denies" and not fragment.is_paused and not fragment.denied and is_cut_off:
        # `El martes, no el jueves` is as it says first.
        return None
    if value is not None:
        part = slot_of(statement, value, cues) if fragment.strength in allowed["value"] else None
        if part is not None and fragment.denied and not is_value(fragment.denied, part, cues):
            return None
        return None if part is None else with_value(statement, part, value, fragment, cues)
    word = word_of(fragment.text, cues)
    # `No de Getxo` denies what it names.
    if word is None or (fragment.strength == "denies" and not fragment.is_paused):
        return None
    return with_word_of_fact(statement, word, fragment, cues, allowed, read)


def _with_day_and_clock(
    statement: str, fragment: Fragment, both: re.Match[str], cues: CorrectionCues, allowed: frozenset[Strength]
) -> Corrected | None:
    """A statement with a day and an hour in place of its own, the hour behind the day where it had none."""
    day, clock = (value_of(fragment.text[slice(*both.span(name))], cues) for name in ("day", "clock"))
    is_cut_off = fragment.strength == "denies" and not fragment.is_paused
    if day is None or clock is None or fragment.strength not in allowed or is_cut_off:
        return None
    if (part := slot_of(statement, day, cues)) is None:
        return None
    if (hour := slot_of(statement, clock, cues)) is None:
        return with_value(statement, part, replace(day, core=f"{day.core}{clock.core}"), fragment, cues)
    if part.span[0] > hour.span[0]:
        return None
    held = with_value(statement, hour, clock, fragment, cues)
    held = with_value(held.statement, part, day, fragment, cues)
    return replace(held, new=f"{day.core}{clock.core}")


def _fragment(text: str, cue: Cue, cues: CorrectionCues, where: Where) -> Fragment | None:
    plain = aligned(text)
    lead = cues.lead.match(plain)
    start = lead.end() if lead is not None else 0
    tail = cues.tail.search(plain, start)
    end = tail.start() if tail is not None else len(text)
    inner = text[start:end].strip()
    if len(inner) > _MAX_FRAGMENT:
        return None
    # "No, not Tuesday, Wednesday": what is wrong may stand before what holds; in Spanish it may be "no" of it.
    denied = _DENIED.match(inner if cue.is_paused or cues.language not in _NO_IS_NOT else f"no {inner}")
    if denied is not None and denied.end() < denied.endpos:
        wrong = denied["behind"] or denied["before"]
        return Fragment(denied.string[denied.end() :], cue.text, cue.strength, where, cue.is_paused, wrong)
    return Fragment(inner, cue.text, cue.strength, where, cue.is_paused)
