# ruff: noqa: E501  # a pattern stands on one line
"""What holds for the moment only, and is no preference, habit or project that lasts. Pure."""

from __future__ import annotations

import re

from reverie_server.heuristics.cues import folded

# "I'm eating vegan" lasts.
_LASTS = (
    r"(?! (?:vegan|vegetarian|plant|gluten|halal|kosher|keto|healthy|healthier|well|better|less|more|only|no|mostly|decaf"
    r"|vegano|vegetariano|menos|más|sin|solo|sólo|mejor|sano)(?!\w))"
)
# Of the state of one's body nobody makes a project: "My feet are finished."
_BODY = re.compile(
    r"(?:feet|foot|back|knees?|head|legs?|arms?|eyes?|hands?|brain|stomach|throat|füße|fuß|rücken|knie|kopf|beine?|augen?|hände"
    r"|magen|hals|pies?|espalda|rodillas?|cabeza|piernas?|ojos|manos|estómago)"
)
_TRANSIENT = re.compile(
    r"(?<!\w)(?:today|tonight|this (?:morning|afternoon|evening|week|weekend|time)|right now|at the moment|for now"
    r"|just now|yesterday|tomorrow|heute?|gerade|im moment|momentan|diese woche|gestern|morgen früh|diesmal|hoy"
    r"|ahora mismo|esta (?:noche|mañana|tarde|semana|vez)|ayer|de momento|por ahora|aujourd'hui|en ce moment|ce soir)(?!\w)"
    rf"|(?<!\w)(?:(?:i'm|i am|we're|we are) (?:just )?(?:eating|drinking)|est(?:oy|amos) (?:comiendo|tomando|bebiendo)){_LASTS}"
    r"|正在(?:吃|喝)|(?<!\w)(?:i've|i have|we've) \w+ (?:it )?(?:once|twice|(?:two|three|four|five|\d+) times)(?! (?:a|an|per|each|every)(?!\w))"
    r"|今天|今晚|今早|现在|現在|这周|這週|昨天|目前|这次|這次"
)


def is_transient(plain: str) -> bool:
    """Whether a folded text is of one day or moment, or counts what was done. Takes time linear in it."""
    return _TRANSIENT.search(plain) is not None


def is_of_body(subject: str) -> bool:
    """Whether a subject is a part of one's body."""
    return _BODY.fullmatch(folded(subject)) is not None
