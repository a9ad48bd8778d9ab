"""What no later sentence takes back: a name, an illness, what somebody cannot have. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from reverie_server.heuristics.changes.change_sentences import ChangeSentence, OpenFact
from reverie_server.heuristics.changes.changed_facts import NEVER
from reverie_server.heuristics.cues import folded
from reverie_server.heuristics.fact_grammar.daily import ILLNESS
from reverie_server.heuristics.fact_grammar.terms import content_terms

_FOR_GOOD = NEVER - {"located"} | {"age"}
_HARMS = re.compile(
    r"(?<!\w)(?:epi-?pens?|hives|anaphyla\w+|swell\w*|swollen|rash(?:es)?"
    r"|can(?:'?t|not) (?:have|eat|drink|take|stand|tolerate)"
    r"|(?:darf|kann|verträgt|vertrage) (?:\w+ )?(?:kein\w*|nicht)|schwillt|schwoll|ausschlag"
    r"|no (?:puede|puedo|debe|debo) (?:comer|tomar|beber|probar)|se (?:le|me) hincha\w*|ronchas)(?!\w)"
    r"|[吃喝碰闻](?:不得|不了)|不能[吃喝碰闻]|起疹|肿成|发肿"
)
_HAN_ILLNESS = re.compile(r"[病炎症癌]$|血[压壓糖脂]|哮喘|贫血")
# What somebody does not tolerate, a birthday, a day of birth, a degree: each ends by what is said of such, or of the
# same thing.
_ABIDING = tuple(
    re.compile(rf"(?<!\w)(?:{words})|{han}")
    for words, han in (
        (
            r"allerg\w*|alérgic\w*|\w*intoleran\w*|coeliac|celiac|celíac\w*|z[oö]liak\w*|unverträglich\w*|in hives",
            "过敏|過敏|不耐受",
        ),
        (r"birthdays?(?!\w)|\w*geburtstag\w*|cumple(?:años)?(?!\w)", "生日"),
        (
            r"due date(?!\w)|(?:baby|babies|twins)(?: is| are|'s)? due(?!\w)|entbindungstermin\w*|salg?[oe] de cuentas",
            "预产期|預產期",
        ),
        (
            r"degrees?(?!\w)|diplomas?(?!\w)|ph\.?d(?!\w)|bachelor['’]?s?(?!\w)|master['’]s(?!\w)"
            r"|\w*(?:studium|diplom|abschluss)(?!\w)|licenciatura(?!\w)|maestría(?!\w)|doctorado(?!\w)",
            "学位|文凭|毕业证|學位",
        ),
    )
)

_ON_A_DAY = re.compile(
    r"(?<!\w)(?:yesterday|last (?:night|week|month|weekend|(?:mon|tues|wednes|thurs|fri|satur|sun)day)"
    r"|(?:vor)?gestern|letzte[nrs]? (?:nacht|woche|monat|wochenende|\w+tag|mittwoch)"
    r"|ayer|anteayer|anoche|(?:la semana|el (?:mes|fin de semana|lunes|martes|miércoles|jueves|viernes|sábado|domingo))"
    r" pasad[oa])(?!\w)|昨[天晚]|前天|上[个個]?(?:周|星期|月|礼拜|禮拜)"
)


def abides(change: ChangeSentence, fact: OpenFact) -> bool:
    """Whether a fact is of a kind that ends only by what is said of such, or of what it names."""
    said, told = folded(fact.text), folded(change.said)
    if not any(kind.search(said) is not None and kind.search(told) is None for kind in _ABIDING):
        return False
    return not (content_terms(fact.text) - content_terms(fact.subject)) & content_terms(change.said)


def may_end_whole(text: str, facts: Sequence[OpenFact]) -> bool:
    """Whether what a sentence says, of which `facts` hold, may be over altogether: it is not for good, nor what
    somebody cannot have."""
    return not is_for_good(facts) and _HARMS.search(folded(text)) is None


def is_for_good(facts: Sequence[OpenFact]) -> bool:
    """Whether a sentence states what no other takes back: a name, an age, where somebody is from, what somebody cannot
    eat, or suffers from."""
    return any(fact.predicate in _FOR_GOOD or (fact.predicate == "has" and _is_illness(fact)) for fact in facts)


def _is_illness(fact: OpenFact) -> bool:
    return ILLNESS.match(folded(fact.object)) is not None or _HAN_ILLNESS.search(fact.object) is not None


def are_two_events(text: str, later: str) -> bool:
    """Whether two sentences each tell what happened on a day of its own: "I ran 5 kilometers last Sunday", "I ran 8
    kilometers yesterday"."""
    return all(_ON_A_DAY.search(folded(each)) is not None for each in (text, later))
