# ruff: noqa: E501  # a pattern stands on one line
"""The facts of lines of a file that are no sentences: `**key**: value`, a heading and the line below it. Pure."""

from __future__ import annotations

import re
from datetime import datetime
from typing import cast

from reverie_server.heuristics.fact_grammar.clauses import is_quoted
from reverie_server.heuristics.fact_grammar.objects import is_vague, is_value, tidy
from reverie_server.heuristics.fact_grammar.statement import Statement
from reverie_server.heuristics.fact_grammar.terms import word_set
from reverie_server.heuristics.requests.fact_requests import aligned, split_request
from reverie_server.heuristics.stated_fact import SELF, Category, StatedFact

# The colon of "19:30" ends no key.
_KEYED = re.compile(
    r"\*{0,2}(?P<key>[^\W_][^:：*|\n]{0,60}?)\*{0,2}(?:(?:[:：](?!\d)|(?<!\d)[:：])\*{0,2})\s*(?P<value>\S.{0,400})",
    re.DOTALL,
)
# "[17:55] User: …" is a line of a conversation, and not said of what stands above it.
_HEADED = re.compile(r"#{1,6}\s+(?P<head>\S[^\n]{0,80})\n+(?P<first>(?![#\-*+>|`\d\n]|\[\d)[^\n]{2,400})")
_MAX_VALUE_WORDS = 8
# What keys of a profile say of the user, by predicate.
_PROFILE: dict[str, tuple[str, bool, Category]] = {
    key: (predicate, is_functional, cast(Category, category))
    for predicate, is_functional, category, keys in (
        ("name", True, "profile", "name|full name|nombre|姓名|名字"),
        (
            *("works_as", True, "profile"),
            "job|occupation|role|profession|position|work|job title|beruf|trabajo|profesión|ocupación|职业|工作",
        ),
        ("works_at", True, "profile", "employer|company|works at|arbeitgeber|firma|empresa|公司|单位"),
        (
            *("lives_in", True, "profile"),
            "location|city|home|lives in|town|based in|residence|wohnort|stadt|ort|ciudad|residencia|ubicación|城市"
            "|住址|居住地",
        ),
        ("speaks", False, "profile", "languages|language|sprachen|idiomas|语言"),
        ("age", True, "profile", "age|alter|edad|年龄"),
        ("allergic_to", False, "profile", "allergies|allergy|allergien|alergias|过敏"),
        ("diet", True, "profile", "diet|ernährung|dieta|饮食"),
        ("boss", True, "profile", "boss|manager|chef|chefin|jefe|jefa|老板"),
        ("likes", False, "preference", "likes|mag|gustos|喜好"),
        ("dislikes", False, "preference", "dislikes|abneigungen|讨厌"),
    )
    for key in keys.split("|")
}
_NO_KEYS = word_set(
    "http https note notes todo tip warning example p.s ps re fwd notiz hinweis nota ejemplo user assistant here"
    " so also"
    " but and update question frage pregunta answer"
)
_COMMON_KEYS = word_set(
    "status date owner time deadline version due priority type author id number day datum"
    " stand fecha estado 日期 状态 时间"
    " decided decision decisions agreed open next now today tomorrow left done result results numbers links summary"
    " entschieden entscheidung beschlossen offen heute morgen erledigt ergebnis"
    " decidido decisión acordado abierto pendiente hoy mañana hecho resultado"
    " 决定 待办 今天 明天 完成 结果"
)
# What leads to a sentence: "One more thing: I have to write to them", "She writes: the house is sold".
_LEADS = re.compile(
    r"(?:(?:and|but|just|only|oh|und|y|one|an?|the|another|last|first|more|quick|small|eine?|noch|kleine|weitere|letzte|una?|otra"
    r"|última) )*+(?:things?|points?|questions?|requests?|favou?rs?|sache|bitte|anliegen|cosa|favor|petición)"
    r"(?: (?:more|though|noch|más))?|by the way|übrigens|noch was|außerdem|por cierto|对了|另外|还有(?:一件事)?|顺便(?:说一下|一提)?"
)
# Clauses, which are no keys: with a pronoun first, with a word that subordinates them, with a verb that has another.
_CLAUSE = re.compile(
    r"(?:i|we|he|she|they|you|ich|wir|du|yo|nosotros|él|ella|ellos|ellas)(?:'\w+)? \w|(?:er|sie|es) \w+t(?!\w)"
    r"|(?:before|after|when|while|if|as|because|bevor|nachdem|wenn|während|falls|weil|als|antes de|después de|cuando|mientras"
    r"|si|porque) .*(?<!\w)(?:i|we|my|me|ich|wir|mein\w*|mir|yo|mi|me)(?!\w)"
    r"|.{2,60} (?:has|have|had|hat|haben|hatte|ha|han|había) (?:just |gerade |eben |mir |uns |me |nos )*\w+(?:ed|t|en|ado|ido)"
    r"|[我你他她它][们們]?[^，。]{0,12}[说說写寫问問讲講]"
)
_EMPTY = word_set("- – — none n/a unknown tbd ? keine unbekannt ninguno 无 未知")


def fact_of_line(line: str, statement: Statement) -> StatedFact | None:
    """The fact of a line `key: value`; None where it is none."""
    found = _KEYED.fullmatch(line)
    if found is None or is_quoted(line):
        return None
    key, value = tidy(found["key"]), tidy(found["value"])
    plain = key.casefold()
    if plain in _NO_KEYS or not value or value.casefold() in _EMPTY or is_vague(value) or len(plain.split()) > 6:
        return None
    if _LEADS.fullmatch(plain) or _CLAUSE.match(plain) or _is_clause(value, statement):
        return None
    known = _PROFILE.get(plain)
    # `Status: open` stands in many places: a key of one word is none that another line replaces, nor is a whole clause
    # a value that another one takes the place of.
    is_specific = (len(plain.split()) > 1 or is_value(value)) and len(value.split()) <= _MAX_VALUE_WORDS
    predicate, is_functional, category = known or ("is", is_specific and plain not in _COMMON_KEYS, "general")
    return statement.fact(
        SELF if known else key,
        predicate,
        value,
        category,
        text=line,
        is_functional=is_functional,
        about_user=known is not None,
        confidence=0.9,
    )


def _is_clause(value: str, statement: Statement) -> bool:
    """Whether what stands behind a colon says something of the speaker itself: `New number: my phone is 0161 …`."""
    plain, phrases = aligned(value), statement.phrases
    own = phrases["self"].match(plain)
    if own is not None and own[0]:
        return True
    mine = phrases["possessive"].match(plain)
    return mine is not None and phrases["finite"].search(plain, mine.end()) is not None


def headed_fact(text: str, said_at: datetime) -> tuple[str, StatedFact] | None:
    """The fact of a heading and the first line below it, and that line; None where a text does not begin so."""
    found = _HEADED.match(text)
    if found is None:
        return None
    head, first = tidy(found["head"]), found["first"].strip()
    # A date alone names nothing.
    if not any(letter.isalpha() for letter in head) or split_request(first).kind != "none":
        return None
    statement = Statement.plain(first, said_at)
    return first, statement.fact(head, "is", tidy(first), "general", text=f"{head}: {first}", about_user=False)
