# ruff: noqa: E501  # a pattern stands on one line
"""Sentences, and parts of them, that ask for something without a question mark, and so say of nothing that it is
otherwise. Pure."""

from __future__ import annotations

import re

from reverie_server.heuristics.requests.fact_requests import aligned, split_request

# A question without its mark behind a comma: "bueno, qué guiso con esto", "rain tomorrow, what do i wear".
_ASKS_BEHIND = re.compile(
    r"[,.;:] (?:y |pero |entonces )?(?:(?:a |de |con |en |por |para )?(?:qué(?! (?:rico|lindo|bonito|bien|bueno|mal|pena|lata|risa|gusto|alegría|raro|horror|asco|susto|miedo|lástima|suerte|calor|frío|hambre|sueño|más)(?!\w))|cuándo|dónde|cuáles?|cuánt[oa]s?|quién(?:es)?|cómo)(?= \w)"
    r"|(?:what|how|where|when|which \w+) (?:do|should|can|could|would|shall) (?:i|we)(?!\w)|(?:should|can|shall) i(?!\w)|what ?(?:'?s|is) (?:a|the) (?:good|best|fair|nice))",
    re.IGNORECASE,
)
# What begins a clause that asks for work: "hazme algo corto: redacta un aviso", "给我想个菜名".
_MOST_BEFORE = 5
_FAVOUR = re.compile(
    r"(?:^|[,;:.] )(?:(?:and|so|ok|now|please|can you|could you|und|also|bitte|dann|y|oye|a ver|ya|bueno|por favor) ){0,2}"
    r"(?:(?:write|draft|give|tell|show|help|find|read|send|explain|suggest|make) (?:me|us|him|her|them|a|an|the|my|some|something)"
    r"|(?:schreib|formulier|gib|zeig|hilf|erklär|übersetz|entwirf|verfass|nenn)(?:e|en sie)? (?:mir|uns|ihm|ihr|bitte|mal|eine?n?|das|den|die)"
    r"|(?:ayúd|haz|pon|d[ai]|dí|escríb|redáct|explíc|búsc|pás|árm|cuént|tradúc|corríg|calcúl|muéstr|recomiénd)[ae]?(?:me|nos)|(?:redacta|escribe|traduce|corrige|calcula|resume|inventa|arma) (?:una?|el|la|esto|eso|cuánto))(?!\w)"
    r"|(?:^|[，。；！,;!] ?)(?:你|先|再|就|快|来|那|麻烦|请)*(?:帮我|替我|给我|帮忙)(?:再|也|先)?(?!买|带|送|做了|寄|找到|介绍|拿到)[^，。]"
)


def asks_a_favour(sentence: str) -> bool:
    """Whether a sentence asks for a text, or to keep what was said before: it says of nothing that it is otherwise."""
    plain = aligned(sentence)
    return _FAVOUR.search(plain) is not None or split_request(sentence).kind in ("before", "next", "named", "update")


def is_a_favour(sentence: str) -> bool:
    """Whether a sentence begins by asking for a text, or the like: what else it says is for that. Takes time linear in
    it."""
    favour = _FAVOUR.search(aligned(sentence))
    return favour is not None and favour.start() <= _MOST_BEFORE


def before_asking(sentence: str) -> str:
    """A sentence up to a question without its mark; all of it where there is none. Takes time linear in it."""
    asked = _ASKS_BEHIND.search(sentence)
    return sentence if asked is None else sentence[: asked.start()]
