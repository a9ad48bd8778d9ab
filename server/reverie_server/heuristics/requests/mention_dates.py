# ruff: noqa: E501  # a pattern stands on one line
"""What a request says of when its speaker told a thing: "what I dumped on you last Sunday". Pure.

The day of what happened is not the day of telling: "what I said about yesterday's party", "what the doctor told me on
Monday".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date

from reverie_server.heuristics.requests.fact_requests import aligned
from reverie_server.heuristics.requests.past_days import PastDay, past_days

# Longer ones are no requests.
_MAX_CHARS = 1_000
_ENGLISH = (
    r"(?<!\w)i(?:'ve|'d|ve| have| had)?(?: (?:just|already|once|once already|kinda|sort of|even|actually|only|also|went and))?"
    r" (?:told (?:you|u|ya)|said(?! to (?!you|u\b))|mentioned|wrote|typed|shared(?! with (?!you|u\b))|confided|confessed|admitted|revealed|dumped on|unloaded|offloaded|vented|spilled|spilt|blurted|let slip|let on|let out"
    r"|ranted|rambled|whined|moaned|opened up|poured out|came out with|let you in on|gave away|gave you|talked (?:to you )?about|talked to you|babbled|brought up|trusted you with|went on about)"
)
_PARTICIPLE = (
    r"(?:gesagt|gsagt|erzählt|geschrieben|gschrieben|erwähnt|getippt|anvertraut|berichtet|verraten|gebeichtet|gestanden|eingestanden|mitgeteilt|ausgeplaudert|geschildert|ausgeschüttet|offenbart|vorgejammert|geklagt"
    r"|preisgegeben|aufgetischt|vorgeheult|losgeworden|zugemutet|rausgehauen|rausgerutscht|dargelegt|zugetragen|gesteckt|ausgeheult|angedeutet|bekannt)"
)
_SPANISH = (
    r"(?<!\w)(?:(?:te|os)(?: l[oae]s?)? (?:conté|dije|solté|escribí|comenté|mencioné|confesé|confié|largué|revelé|platiqué|hablé|chismeé|conversé|vomité|puse|mandé|eché|tiré|admití|contaba|decía|hablaba|he (?:contado|dicho|soltado|escrito|confesado|confiado))"
    r"|l[eo]s? (?:conté|dije|solté|escribí|comenté|mencioné|confesé|confié|revelé|hablé|he (?:contado|dicho|confesado|confiado))(?! (?:\w+ ){0,2}?al? (?!usted))|me desahogué(?: contigo)?)(?!\w)"
)
_HAN_TELLS = r"(?:说|讲|聊|提|摆|吐|倒|坦白|交代|透露|抱怨|诉|唠|谈|发|写)"
_TO_YOU = rf"我?(?:[才又还就也曾偷悄]{{0,3}})(?:[跟和对给向同][你您](?:悄悄|偷偷)?{_HAN_TELLS}|告诉过?[你您])"
_TELLS = re.compile(
    rf"{_ENGLISH}|{_SPANISH}|(?<!\w)(?:ich|i) (?:\w+ )?(?:dir|ihnen|euch|da|hier)(?!\w)[^.!?;:。！？；：]{{0,120}}?(?<!\w){_PARTICIPLE}(?!\w)|{_TO_YOU}"
)
_TIME_BEHIND = re.compile(
    rf"(?:{_ENGLISH}(?: (?:it|this|all|to|with|on|you|u|ya|in|here|into|out|up|off|about it|everything|stuff)){{0,4}},?"
    rf"|{_SPANISH}(?: (?:por aquí|aquí|acá|yo|todo|a usted|a ti|a vos)){{0,2}},?"
    r"|(?<!\w)(?:erzählte|sagte|schrieb|berichtete|verriet|gestand|beichtete|anvertraute) (?:ich|i)(?: (?:dir|ihnen|euch))?"
    r"|(?<!\w)(?:ich|i) (?:dir|ihnen|euch)(?: (?:mal|da|das|es|ja|schon|doch|so|noch|einmal)){0,3}) (?:on |am |an |in |el |back on |late |spät )?$"
)
# German has its verb at the end: "was ich Ihnen neulich über den Garten berichtet habe".
_GERMAN_SPAN = re.compile(
    rf"(?<!\w)(?:(?:was )?(?:ich|i) (?:\w+ )?(?P<you>dir|ihnen|euch)|was (?:ich|i))(?!\w)(?P<said>[^.!?;:]{{0,160}}?)(?<!\w){_PARTICIPLE}(?!\w)"
)
_TO_OTHERS = re.compile(r"(?<!\w)(?:(?:mein|unser|dein)e?[mr]|ihm|ihr|zu (?!später)\w+)(?!\w)")
_OF_CONTENT = re.compile(r"(?<!\w)(?:über|von|vom|wegen|mit|zum|zur|dass|daß|mein\w*|unser\w*|ihm|ihr)(?!\w)")
_GAP = r"[^.!?;:。！？；：]{0,60}?"
_TIME_BEFORE = re.compile(
    rf"(?!'s|’s)(?: |,)(?:{_GAP}(?<!that)(?<!which)(?<!said)[ ,])?(?:{_ENGLISH[7:]}|(?:hab|habe|hatte) (?:ich|i) (?:dir|ihnen|euch)(?!\w))"
    rf"|(?: |,)(?:{_GAP}[ ,])?{_SPANISH}|(?!的)[^。！？；：!?]{{0,20}}?{_TO_YOU}|(?:我|是我)?{_HAN_TELLS}[过的]"
)
# What it is of or about is a thing of that day: "the talk of last week", "lo de la cena de ayer".
_OF_EVENT = re.compile(
    r"(?:(?<!\w)(?:about|of|from|at|since|until|über|von|vom|zu[mr]?|seit|bis|sobre|del?|desde|hasta) (?:the |den |dem |der |el |la |los )?|到|从)$"
)
_OPENS = re.compile(r"(?:^|[，。,!！ 我])$")
_OWN_WORD = re.compile(r"[\u3400-\u9fff]")


@dataclass(frozen=True, slots=True)
class MentionDate:
    """That a thing was told on another day: one of `days`, or a day that is not known (None)."""

    days: frozenset[date] | None


def mention_date(sentence: str, today: date) -> MentionDate | None:
    """When a sentence, said `today`, says that its speaker told a thing; None where it says of no other day."""
    plain = aligned(sentence[:_MAX_CHARS])
    for day in past_days(plain, today):
        if _dates_mention(plain, day):
            return MentionDate(day.days)
    return None


def without_dates(sentence: str, today: date) -> str:
    """A sentence without the words for days before `today`, which name nothing that was told."""
    found = [sentence[:_MAX_CHARS]]
    for day in reversed(list(past_days(aligned(found[0]), today))):
        found = [found[0][: day.start], found[0][day.end :], *found[1:]]
    return " ".join(part for each in [*found, sentence[_MAX_CHARS:]] if (part := each.strip()))


def is_of_mention(sentence: str) -> bool:
    """Whether a sentence speaks of what its speaker told the assistant, on whatever day."""
    return _TELLS.search(aligned(sentence[:_MAX_CHARS])) is not None


def _dates_mention(plain: str, day: PastDay) -> bool:
    """Whether a day is one of telling: it stands beside the verb, before what was told."""
    if _TIME_BEHIND.search(plain, max(0, day.start - 120), day.start) is not None:
        return True
    span = _GERMAN_SPAN.search(plain, max(0, day.start - 160))
    if span is not None and span.start() < day.start < span.end():
        # "Was ich gestern meinem Chef gesagt habe" was told to another.
        if span["you"] is None and _TO_OTHERS.search(span["said"]) is not None:
            return False
        return _OF_CONTENT.search(plain, span.start(), day.start) is None
    if _OF_EVENT.search(plain, max(0, day.start - 16), day.start) is not None:
        return False
    following = _TIME_BEFORE.match(plain, day.end)
    if following is None:
        return False
    # "医生昨天说的" is of what the doctor said.
    is_bare = _OWN_WORD.match(following[0]) is not None and "你" not in following[0] and "您" not in following[0]
    return not is_bare or "我" in following[0] or _OPENS.search(plain, max(0, day.start - 1), day.start) is not None
