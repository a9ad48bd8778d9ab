"""What somebody or an animal is called, and not what was said before, in the words that facts are read by. Pure.

"The dog isn't called Balu, it's Bruno" is read as "Our dog is called Bruno, not Balu": the user has told of their dog.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache

from reverie_server.heuristics.fact_grammar.statement import Statement, Talk
from reverie_server.heuristics.requests.fact_requests import aligned

_NAME = r"[^\W\d_a-zß-öø-ÿ][\w'’-]{0,40}(?: [^\W\d_a-zß-öø-ÿ][\w'’-]{0,40}){0,2}"
# `Sorry, `, `Ach, `.
_REMARK = re.compile(r"\w{1,12}[,!.]? ")
_START = r"(?:^|(?<=[,;:.!] ))"


@dataclass(frozen=True, slots=True)
class _Way:
    """How a language says that somebody (`role`) is called `new` and not `old`, in either order; `articles` are those
    that do not say whose they are, and `words` is the plain statement, for those and for the speaker's own."""

    denied_first: str
    denied_last: str
    articles: Mapping[str, str]
    words: str


_WAYS: Mapping[str, _Way] = {
    "english": _Way(
        r"(?P<of>[Tt]he|[Oo]ur|[Mm]y) (?P<role>[\w-]{1,20}(?: [\w-]{1,20})?)(?P<named>['’]s name)?"
        r" ?(?:isn['’]t|is not|['’]s not)(?P<called> called| named)? (?P<old>{name})"
        r"(?:,? but(?: rather)?|[,;.:] ?(?:it|he|she)(?:['’]s| is))(?: called| named)? (?P<new>{name})",
        r"(?P<of>[Tt]he|[Oo]ur|[Mm]y) (?P<role>[\w-]{1,20}(?: [\w-]{1,20})?)"
        r"(?P<called>['’]s name is| is called| is named) (?P<new>{name}),? (?:and )?not (?P<old>{name})",
        {"the": "our"},
        "{of} {role} is called {new}, not {old}",
    ),
    "german": _Way(
        r"(?P<of>[Dd]er|[Dd]ie|[Uu]nsere?|[Mm]eine?) (?P<role>\w{1,30}) (?:(?P<called>heißt)|ist)"
        r"(?: doch| ja| eigentlich| gar)? nich?t? (?P<old>{name}),? ?(?:sondern|(?:er|sie) heißt)(?: jetzt)?"
        r" (?P<new>{name})",
        r"(?P<of>[Dd]er|[Dd]ie|[Uu]nsere?|[Mm]eine?) (?P<role>\w{1,30}) (?P<called>heißt)(?: doch| ja| eigentlich)?"
        r" (?P<new>{name}),? (?:und )?nicht (?P<old>{name})",
        {"der": "unser", "die": "unsere"},
        "{of} {role} heißt {new}, nicht {old}",
    ),
    "spanish": _Way(
        r"(?P<of>[Ee]l|[Ll]a|[Mm]i|[Nn]uestr[oa]) (?P<role>\w{1,30}) (?P<called>no se llama) (?P<old>{name}),?"
        r" (?:sino(?: que se llama)?|se llama) (?P<new>{name})",
        r"(?P<of>[Ee]l|[Ll]a|[Mm]i|[Nn]uestr[oa]) (?P<role>\w{1,30}) (?P<called>se llama) (?P<new>{name}),?"
        r" (?:y )?no (?P<old>{name})",
        {"el": "nuestro", "la": "nuestra"},
        "{of} {role} se llama {new}, no {old}",
    ),
}


def with_new_name(statement: Statement, talk: Talk) -> Statement:
    """The sentence with the name that it gives somebody or an animal before the one that it takes back. Takes time
    linear in the sentence."""
    language = statement.phrases.language
    for pattern in _patterns().get(language, ()):
        for found in pattern.finditer(statement.core):
            of = _whose(found, statement, talk)
            if of is None or found["new"] == found["old"]:
                continue
            parts = {"of": of, "role": found["role"], "new": found["new"], "old": found["old"]}
            said = _WAYS[language].words.format(**parts)
            before, after = statement.core[: found.start()], statement.core[found.end() :]
            if _REMARK.fullmatch(before):
                before, said = "", f"{said[:1].upper()}{said[1:]}"
            return replace(statement, core=f"{before}{said}{after}")
    return statement


def _whose(found: re.Match[str], statement: Statement, talk: Talk) -> str | None:
    """The word for whose somebody is: the speaker's, by their words or since they have told of one of that name; None
    where nobody says so, or the word is for no person and no animal."""
    role = statement.phrases.relations.pattern.fullmatch(aligned(found["role"]))
    if role is None:
        return None
    of = found["of"]
    own = _WAYS[statement.phrases.language].articles.get(of.casefold())
    # "My boss is not American, she's Canadian" says no name.
    is_told = bool(found["called"] or found.groupdict().get("named"))
    if own is None and is_told:
        return of
    if talk.people.of_role(role["role"]) not in (found["old"], found["old"].split(" ")[0]):
        return None
    return of if own is None else own.capitalize() if of[0].isupper() else own


@cache
def _patterns() -> Mapping[str, tuple[re.Pattern[str], ...]]:
    return {
        language: tuple(
            re.compile(f"{_START}{each.replace('{name}', _NAME)}(?!\\w)")
            for each in (way.denied_first, way.denied_last)
        )
        for language, way in _WAYS.items()
    }
