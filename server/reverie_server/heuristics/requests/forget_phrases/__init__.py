"""More ways to ask for forgetting, by language: with the verb elsewhere, politely, or by the place it is to leave.

To delete a thing may be a task ("delete the branch"): without "what I said", "the thing with" or the memory itself as
the place, only words of private things ("the PIN of the cellar") name what is to be forgotten. Texts are folded. Pure.
"""

from __future__ import annotations

from reverie_server.heuristics.requests.forget_phrases.chinese import CHINESE
from reverie_server.heuristics.requests.forget_phrases.english import ENGLISH
from reverie_server.heuristics.requests.forget_phrases.german import GERMAN
from reverie_server.heuristics.requests.forget_phrases.remarks import (
    ADDRESSED,
    BARE,
    EVERYTHING,
    NOT_FOR_STORE,
    PRONOUN,
    REGRET,
    TOLD,
    UNWANTED,
    WANTED_GONE,
)
from reverie_server.heuristics.requests.forget_phrases.spanish import SPANISH

__all__ = [
    "ADDRESSED",
    "BARE",
    "CHINESE",
    "ENGLISH",
    "EVERYTHING",
    "GERMAN",
    "NOT_FOR_STORE",
    "PRONOUN",
    "REGRET",
    "SPANISH",
    "TOLD",
    "UNWANTED",
    "WANTED_GONE",
]
