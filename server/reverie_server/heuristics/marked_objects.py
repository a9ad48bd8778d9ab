# ruff: noqa: E501  # a pattern stands on one line
"""What cannot be what a mark says it is, by its own words and those around it. Pure.

The model of marks knows spans by their looks: who waits at an airport works at none, and who has changed dentists is
none.
"""

from __future__ import annotations

import re

from reverie_indexer.embed.marks import Mark
from reverie_server.heuristics.cues import cues_of, folded
from reverie_server.heuristics.fact_grammar.han import is_titled_han_name
from reverie_server.heuristics.fact_grammar.terms import is_unspaced
from reverie_server.heuristics.marked_people import known_relation
from reverie_server.heuristics.simplified import simplified

_BEFORE_CHARS, _BEHIND_CHARS = 60, 40
# Who is changed for somebody else.
_CHANGED = re.compile(
    r"(?<!\w)(?:chang|switch|replac|wechs|gewechs|cambi)\w*(?: \w+){0,3} $|换(?:了|掉)?(?:一?个|新的?)?$|換(?:了|掉)?(?:一?個|新的?)?$"
)
# Where somebody is for the moment, in a place without a name.
_IS_THERE = re.compile(
    r"(?<!\w)(?:(?:i'?m|i am|we'?re|we are) (?:still |just |already |currently |sitting |stuck |waiting )*at (?:the |an? )?"
    r"|(?:(?:ich )?(?:bin|sitze|stehe|warte)|wir sind)(?: ich| gerade| noch| jetzt| schon)* (?:am |im |in der |auf dem |an der )"
    r"|(?:estoy|estamos|sigo) (?:ya |aún |todavía |ahora )*en (?:el |la |un |una )?)$|我们?(?:现在|现|还|正|刚|已经)*在$"
)
# A code is of a thing, and no thing of one's own.
_CODE = re.compile(r"(?=(?:\D*\d){3})[A-Za-z]{0,6}[ ./-]?[\dA-Za-z][\d./-]*\d[A-Za-z]?")
_MANY = re.compile(r"(?:an|in|es|on|ol|ch)[oa]s$")
_WORK = re.compile(
    r"(?<!\w)(?:work|job|shift|hire|employ|night|intern|arbeit|schicht|dienst|stelle|angestellt|beruf|trabaj|turno|emple|curr)\w*"
    r"|工作|上班|值班|实习|打工"
)
# Where somebody has a business, and need not live.
_BUSINESS = (
    r"(?:workshop|shop|store|caf[eé]|restaurant|bar|studio|office|practice|bakery|business|company|werkstatt|laden|geschäft|lokal"
    r"|praxis|büro|firma|betrieb|bäckerei|atelier|taller|tienda|negocio|restaurante|oficina|consulta|clínica|estudio|cafetería"
    r"|panadería|empresa|local|despacho)"
)
_BUSINESS_BEFORE = re.compile(rf"(?<!\w){_BUSINESS} (?:\w+ )?(?:in|en|near|bei|at) (?:the )?$")
_BUSINESS_BEHIND = re.compile(
    r"[^，。！？]{0,3}(?:开了?|經?营|经营|開了?)一?[家间間个個][^，。！？]{1,10}(?:店|馆|館|公司|厅|廳|吧|铺|鋪|室)"
)


def is_none(text: str, mark: Mark, value: str) -> bool:
    """Whether the value of a mark in a text cannot be what its label says. Takes time linear in the text."""
    before = folded(text[max(0, mark.start - _BEFORE_CHARS) : mark.start])
    match mark.label:
        case "job":
            is_changed = bool(known_relation(value)) and _CHANGED.search(before) is not None
            return is_changed or _is_no_job(text, value)
        case "employer":
            is_named = value[:1].isupper() and _nouns_are_small(text)
            return not is_named and _IS_THERE.search(before) is not None and _WORK.search(folded(text)) is None
        case "speaks":
            # Of a language there is one: "helados italianos" speak none.
            return " " not in value and _MANY.search(folded(value)) is not None
        case "has":
            return _CODE.fullmatch(value) is not None
        case "home":
            behind = text[mark.end : mark.end + _BEHIND_CHARS]
            return _BUSINESS_BEFORE.search(before) is not None or _BUSINESS_BEHIND.match(simplified(behind)) is not None
    return False


def _is_no_job(text: str, value: str) -> bool:
    """Whether a word is no trade by its form: a German noun without a capital, characters that tell what happened, and
    somebody with a title."""
    if is_unspaced(value):
        plain = simplified(value)
        return "了" in plain or is_titled_han_name(plain)
    is_written_small = value == value.lower() and text[1:] != text[1:].lower()
    return is_written_small and not _nouns_are_small(text)


def _nouns_are_small(text: str) -> bool:
    cues = cues_of(folded(text))
    return cues is None or not cues.nouns_capitalised
