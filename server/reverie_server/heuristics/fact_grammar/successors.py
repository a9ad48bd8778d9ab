"""Who comes in the place of somebody, in the words of several languages: `his successor is Petra`. Pure.

Whose boss that is they do not say; it is who had the one before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from reverie_server.heuristics.fact_grammar.objects import is_trade_or_diet
from reverie_server.heuristics.fact_grammar.statement import Statement, Talk
from reverie_server.heuristics.fact_grammar.terms import is_unspaced
from reverie_server.heuristics.requests.fact_requests import aligned
from reverie_server.heuristics.stated_fact import SELF, Change, StatedFact

_WORD = r"[^\W\d_a-zß-öø-ÿ][\w-]{0,40}+"
# What begins a sentence with a capital, and is no name.
_NO_NAME = (
    r"(?!(?:The|My|Our|His|Her|Their|He|She|It|They|We|You|And|But|So|Now|Then|Who|Der|Die|Das|Dem|Den|Eine?|Meine?"
    r"|Unsere?|Seine?|Ihre?|Er|Sie|Es|Und|Aber|Jetzt|Nun|Wer|El|La|Los|Las|Mi|Su|Una?|Nuestr[oa]|Y|Pero|Ahora)(?!\w))"
)
_NAME = rf"(?<!\w){_NO_NAME}(?:(?:Dr|Mr|Mrs|Ms|Frau|Herrn?|Sra?|Don|Doña)\.? )?{_WORD}(?: {_WORD}){{0,2}}"
_HAN = r"[\u4e00-\u9fff]{2,5}?"
# `{name}` comes, `{of}` was there before, or `{him}` stands for who was.
_WAYS: Mapping[str, Sequence[str]] = {
    "english": (
        r"(?:{him}|{of}['’]s) (?:successor|replacement)(?: is|['’]s| will be)(?: called| now)? {name}",
        r"{name}(?: is|['’]s| will be| becomes?| became) (?:{him}|{of}['’]s) (?:successor|replacement)(?!\w)",
        r"{name} (?:is|will be|becomes?|became) the (?:successor|replacement) (?:of|for) {of}",
        r"{of} (?:was|is|has been|is being|will be|got) (?:succeeded|replaced) by {name}",
        r"{name} (?:has |is |will )?(?:(?:tak(?:es?|en|ing)|took) over from|replac(?:es?|ed|ing)|succe(?:eds?|eded))"
        r" (?:{whom}|{of})",
    ),
    "german": (
        r"{him} Nachfolger(?:in)? (?:ist|wird|heißt)(?: jetzt| nun)? {name}",
        r"{of} Nachfolger(?:in)? (?:ist|wird|heißt)(?: jetzt| nun)? {name}",
        r"Nachfolger(?:in)? von {of} (?:ist|wird)(?: jetzt| nun)? {name}",
        r"{name} (?:ist|wird)(?: jetzt| nun)? (?:{him} Nachfolger(?:in)?|(?:der|die) Nachfolger(?:in)? von {of})(?!\w)",
        r"{name} (?:ersetzt|beerbt)(?: jetzt| nun)? (?:{whom}|{of})",
        r"{name} (?:übernimmt|hat) (?:jetzt |nun )?(?:für|von) (?:{whom}|{of})(?: übernommen)?",
    ),
    "spanish": (
        r"{him} (?:sucesora?|sustitut[oa]|reemplazo|relevo|remplazo) (?:es|será|va a ser|se llama)(?: ahora)? {name}",
        r"{name} (?:es|será|va a ser) (?:ahora )?{him} (?:sucesora?|sustitut[oa]|reemplazo|relevo|remplazo)(?!\w)",
        r"(?:el sucesor|la sucesora|el sustituto|la sustituta) de {of} (?:es|será)(?: ahora)? {name}",
        r"{whom} (?:sustituye|reemplaza|remplaza|releva|sucede|sustituyó|reemplazó|remplazó|sucedió)(?: ahora)? {name}",
        r"{name} (?:sustituye|reemplaza|remplaza|releva|sucede|sustituyó|reemplazó|remplazó|sucedió) a {of}",
    ),
    "chinese": (
        r"{him}的?(?:继任者?|接班人|接替者|接任者)(?:是|叫){name}",
        r"{of}的(?:继任者?|接班人|接替者|接任者)(?:是|叫){name}",
        r"(?:现在|现|由|后来|以后)*{name}(?:已经|来|将|会)*(?:接替|接任|顶替|取代)了?(?:{whom}|{of}(?=$|[^\u4e00-\u9fff]))",
    ),
}
# Whom one goes to now, by a title, without a word for what they are. The point of a title may be read as a letter.
_TITLED = rf"(?:la |el )?(?P<name>(?:Frau |Herrn? |doctora? )?(?:Dra?[.\ua78f]? )?{_NAME})"
# Who has something of their own to go for has the other one still.
_FOR = r"(?!\w)(?! (?:for|about|because|wegen|mit|por|para)(?!\w))"
_VISITS: Mapping[str, Sequence[str]] = {
    "english": (
        rf"(?<!\w)(?:[Ii]|[Ww]e)(?:['’]m| am|['’]re| are)? (?:go(?:ing)? to|see(?:ing)?) {_TITLED}"
        rf" (?:now|these days|nowadays|instead|from now on){_FOR}",
        rf"(?<!\w)(?:[Ii]|[Ww]e)(?: am|['’]m|['’]re| are)? now (?:go(?:ing)? to|see(?:ing)?) {_TITLED}{_FOR}",
    ),
    "german": (
        rf"(?<!\w)(?:[Ii]ch|[Ww]ir) (?:gehen?|bin|sind) (?:jetzt|nun) (?:zu|bei) {_TITLED}{_FOR}",
        rf"(?<!\w)(?:[Jj]etzt|[Nn]un) (?:gehen?|bin|sind) (?:ich|wir) (?:zu|bei) {_TITLED}{_FOR}",
    ),
    "spanish": (
        rf"(?<!\w)[Aa]hora (?:voy|vamos) (?:con|a|donde) {_TITLED}{_FOR}",
        rf"(?<!\w)(?:[Vv]oy|[Vv]amos) ahora (?:con|a|donde) {_TITLED}{_FOR}",
    ),
}
_TITLE = re.compile(r"(?:^|(?<= ))(?:Dra?[.\ua78f]?|[Dd]octora?) ")
_OF_CARE = ("doctor", "dentist", "therapist", "physio", "vet")
_HIM: Mapping[str, tuple[str, str]] = {
    "english": (r"(?<!\w)(?:[Hh]is|[Hh]er|[Tt]heir)", r"(?:him|her|them)(?!\w)"),
    "german": (r"(?<!\w)(?:[Ss]eine?|[Ii]hre?)", r"(?:ihn|ihm|sie|ihr)(?!\w)"),
    "spanish": (r"(?<!\w)[Ss]u", r"(?<!\w)(?:[Ll][oae])"),
    "chinese": ("[他她]", "[他她]"),
}
# Of these one has one, and another where that one has left.
_ONE_AT_A_TIME = (
    *("boss", "manager", "team lead", "supervisor", "mentor", "doctor", "dentist", "therapist", "physio", "trainer"),
    *("coach", "landlord"),
)
_SAYS = ("is", "works_as", "works_at")
_S = re.compile(r"s$")
_WORDS = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Succession:
    """Somebody comes in the place of another; `of` is None where a pronoun stands for them. `start` is where in the
    text it is said."""

    name: str
    of: str | None
    start: int


def successions_in(text: str, language: str) -> Iterator[Succession]:
    """Who comes in whose place by the words of a text. Takes time linear in the text."""
    for pattern in _patterns().get(language, ()):
        for found in pattern.finditer(text):
            name, of = found["name"], found.groupdict().get("of")
            if name != of and not is_trade_or_diet(name):
                yield Succession(name, of, found.start())


def visits_in(text: str, language: str) -> Iterator[Succession]:
    """To whom with a doctor's title one goes now by the words of a text. Takes time linear in the text."""
    for pattern in _visits().get(language, ()):
        for found in pattern.finditer(text):
            if _TITLE.search(found["name"]) is not None:
                yield Succession(found["name"], None, found.start())


def with_successors(statement: Statement, found: list[StatedFact], talk: Talk) -> list[StatedFact]:
    """The facts of a sentence with those who come in the place of somebody whom the user has as a boss or the like."""
    if statement.phrases["drop"].search(aligned(statement.core)) is not None:
        return found
    told = []
    language, text = statement.phrases.language, statement.core
    comers = [(each, _role_of(each, text[: each.start], talk)) for each in successions_in(text, language)]
    comers += [(each, _role_of_titled(text[: each.start], talk)) for each in visits_in(text, language)]
    for each, role in comers:
        if role is None or any((fact.predicate, fact.object) == (role, each.name) for fact in found):
            continue
        talk.people.named(each.name, role, is_single=True)
        told.append(
            statement.fact(
                SELF, role, each.name, "profile", is_functional=True, change=Change("replaces", "successor", None)
            )
        )
    names = {fact.object for fact in told}
    # "Bruno's successor is Petra" and "Petra is the successor", as what she does, say no more. Who "is with Dr. Ruiz"
    # does not work there.
    return [*told, *(fact for fact in found if fact.predicate not in _SAYS or not {fact.subject, fact.object} & names)]


def _role_of(each: Succession, before: str, talk: Talk) -> str | None:
    """What the one whose place is taken is to the user; None where they are nothing, or it is not plain who is meant.
    `before` is what stands before it in the sentence."""
    had = {role: name for role in _ONE_AT_A_TIME if (name := talk.people.of_role(role)) is not None}
    for role, name in had.items():
        if each.of is not None and _is_one(each.of, name):
            return role
        if each.of is None and _is_named(name, before):
            return role
    if each.of is not None:
        return None
    meant = talk.people.meant(talk.number, "unknown")
    return next((role for role, name in had.items() if name == meant), None)


def _role_of_titled(before: str, talk: Talk) -> str | None:
    """What the one with a doctor's title is to the user to whom they no longer go: the one that is named before, or the
    only one there is."""
    had = {role: name for role in _OF_CARE if (name := talk.people.of_role(role)) is not None}
    titled = [role for role, name in had.items() if _TITLE.search(name)]
    named = [role for role, name in had.items() if _is_named(name, before)]
    return next((roles[0] for roles in (named, titled) if len(roles) == 1), None)


def _is_one(said: str, name: str) -> bool:
    """Whether a name as it is said is a known one, or its first or last: `Brunos` of Bruno Hart, too."""
    said, names = said.replace("\ua78f", "."), {name, *name.split(" ")}
    return said in names or _S.sub("", said) in names


def _is_named(name: str, text: str) -> bool:
    """Whether a text has a name, or its first or last."""
    words = set(_WORDS.findall(text))
    return name in text if is_unspaced(name) else any(word in words for word in name.split(" "))


@cache
def _visits() -> Mapping[str, Sequence[re.Pattern[str]]]:
    return {language: [re.compile(way) for way in ways] for language, ways in _VISITS.items()}


@cache
def _patterns() -> Mapping[str, Sequence[re.Pattern[str]]]:
    return {language: [_pattern(way, language) for way in ways] for language, ways in _WAYS.items()}


def _pattern(way: str, language: str) -> re.Pattern[str]:
    his, whom = _HIM[language]
    name = _HAN if language == "chinese" else _NAME
    end = r"(?=$|[^\u4e00-\u9fff])" if language == "chinese" else r"(?!\w)"
    for part in ("of", "name"):
        way = way.replace(f"{{{part}}}", rf"(?P<{part}>{name}){end if way.endswith(f'{{{part}}}') else ''}", 1)
    return re.compile(way.replace("{him}", his).replace("{whom}", whom))
