# ruff: noqa: E501  # a pattern stands on one line
"""What says nothing alone: the sentence before it has whom, what, or why, or it is none. Pure."""

from __future__ import annotations

import re

from reverie_server.heuristics.cues import folded
from reverie_server.heuristics.small_talk import says_nothing

_WORD = re.compile(r"\w+")
_HAN = re.compile("[\u3400-\u9fff]")
# Of longer sentences the beginning tells.
_BEGINNING_CHARS = 120
# A condition of so many words has no main clause behind it: "If you know.", "Wenn du welche hast".
_CONDITION = re.compile(
    r"\W*(?:(?:and|but|und|aber|y|pero) )?(?:if|unless|whenever|wenn|falls|sofern|si|cuando|siempre que)(?!\w)"
    r"|\W*(?:如果|要是|万一|萬一)"
)
_MOST_OF_CONDITION, _MOST_OF_HAN_CONDITION = 4, 8
_OPENS = re.compile(r"[:：]\W*$")
# A quotation behind a colon or a comma; an inch or a nickname stands behind a word.
_OPENS_QUOTATION, _CLOSING = re.compile(r"[:：,，] ?[\"“„«「『](?=\w)"), '"”“»」』'
_MOST_ASKED, _MOST_ASKED_HAN = 2, 4
# It points to what was said, and says no value of it: "keep what I told you of the cat".
_POINTS = re.compile(
    r"(?<!\w)what (?:i|i've|i have)(?: just| already)? (?:said|told you|mentioned|gave you)(?: (?:just now|earlier|before))? (?:about|of|on)(?!\w)"
    r"|(?<!\w)was i(?:ch)?(?: dir| euch)?(?: da| grade?| gerade| eben| vorhin| schon)? (?:ge?sagt|erzählt|erwähnt|geschrieben) hab(?!\w)"
    r"|(?<!\w)lo que (?:te|le|os|les) (?:acabo de (?:decir|contar)|dije|conté|comenté|he (?:dicho|contado))(?: recién| ahora| antes)? (?:de|del|sobre)(?!\w)"
    r"|我[刚剛](?:才|刚|剛)?(?:跟你)?(?:说|說|讲|講)的"
)
_VALUE = re.compile(r"\d")
# Chinese asks without a mark; "我知道怎么去" and "什么都吃" ask nothing.
_ASKS_HAN = re.compile(
    r"(?:[^，。！；,.!;]*[，。！；,.!;])*+(?P<before>[^，。！；,.!;]{0,20}?)(?:怎么|怎麼|怎样|咋个?|为什么|為什麼|为啥|什么|什麼|啥(?!子?[都也])|哪里|哪儿|哪个|哪裡|几点|幾點|多少(?!有))"
    r"(?![都也])(?P<behind>[^，。！；,.!;]{0,20})"
)
_ASKS_NOTHING = re.compile(
    r"知道|晓得|曉得|告诉|告訴|无论|無論|不管|[没沒不]$|忘|[记記]|[学學]|教|看|问|問|明白|清楚|了解|研究|[说說讲講]|想|就|随便|隨便"
)
# Another person or thing, whom the same clause does not name: "My dad sawed him a leg", "Erst mal soll ich ihm helfen".
_SOMEBODY = re.compile(
    r"(?:(?!(?:because|that|who|als|dass|weil|wie|when|if|wenn|call|calls|nenne?n?|nennt|let|lass)(?!\w))[\w'-]+ ){1,4}"
    r"(?:him|them|ihn|ihm|ihnen)(?!\w)"
)
# Where something is, beside or in a thing that was named before: "Ich stehe immer davor".
_BESIDE_IT = re.compile(
    r"(?:[\w'-]+ ){1,4}?(?:davor|dahinter|daneben|darunter|darin|darauf|daran)(?!\w|, )"
    r"|(?:ich|wir) (?:\w+ )?dann(?: immer| nie| meistens| oft)"
    r"|(?:i|we) then (?:always|never|usually)(?!\w)|(?:and )?then (?:i|we) (?:always|never|usually)(?!\w)"
    r"|(?:y )?entonces (?:yo )?(?:siempre|nunca)(?!\w)"
)
# It says why one asks, or what was said before: "Ich frage nämlich jedes Mal". "Die Pohls haben nämlich 64 Wohnungen"
# says something of its own.
_WHY = re.compile(
    # "The ladder is because the attic has no stairs" explains something that was said.
    r"(?:the|this|that|der|die|das|el|la|lo) (?:[\w-]+ ){1,3}?(?:is|was|ist|war|es|era|fue) (?:because|weil|wegen|porque|por culpa)(?!\w)"
    r"|ich \w+ (?:das |es |sie |ihn )?nämlich (?:jedes mal|immer|dauernd|ständig|oft|nie)(?!\w)|(?:that's|this is) (?:why|because)(?!\w)"
)
# What stands for a thing that was named: "I have one every morning", "I always buy the wrong ones".
_ONE = re.compile(
    r"(?:i|we)(?:'ve|'d)? (?:\w+ ){0,2}?(?:have|had|take|took|buy|bought|drink|eat|get|got|make|use|need|want|order|keep|pick|choose|forget|lose|wear)"
    r" (?:(?:another |just )?one|mine|ours|the (?:\w+ )?ones?)(?! (?:of|who|that|in|from|on|with|for|by|at|near|thing|day|more|or two)(?!\w))"
    r"(?=\W*$|,| (?:every|each|before|after|always|again|too)(?!\w))"
    r"|(?:ich|wir) (?:\w+ ){1,2}?(?:welche[ns]?|eine[ns]?)(?=\W*$| (?:jeden|jede|jedes|immer|wieder|davon)(?: (?:tag|morgen|abend|woche))?\W*$)"
    r"|(?:siempre |nunca )?(?:me )?(?:tomo|compro|como|bebo|pido|uso) (?:un[oa]s?)(?=\W*$| (?:cada|todos|todas|siempre)(?!\w))"
)
_LEADS = re.compile(r"\W*(?:(?:and|but|so|well|oh|und|aber|also|na|y|pero|bueno|pues),? )*+")


def needs_context(text: str) -> bool:
    """Whether a sentence says nothing without the one before it: it names neither whom nor what it is of, or says why
    that is so. Takes time linear in it."""
    plain = folded(text)[:_BEGINNING_CHARS]
    lead = _LEADS.match(plain)
    start = lead.end() if lead is not None else 0
    return any(pattern.match(plain, start) is not None for pattern in (_SOMEBODY, _BESIDE_IT, _WHY, _ONE))


def says_why(text: str) -> bool:
    """Whether a sentence says why one asks, and nothing else. Takes time linear in it."""
    return _WHY.match(folded(text[:_BEGINNING_CHARS])) is not None


def is_no_statement(text: str) -> bool:
    """Whether a sentence states nothing: small talk, what opens a text ("Help me with this:"), what points to what was
    said, a condition without what follows from it."""
    if _OPENS.search(text[-_BEGINNING_CHARS:]) is not None or _has_open_quotation(text) or _is_word_asked(text):
        return True
    if _VALUE.search(text) is None and _POINTS.search(folded(text)) is not None:
        return True
    if len(text) > _BEGINNING_CHARS:
        return False
    if says_nothing(text) or _asks_in_chinese(text):
        return True
    plain = folded(text)
    if "," in plain or "，" in plain or _CONDITION.match(plain) is None:
        return False
    count, han = len(_WORD.findall(plain)), len(_HAN.findall(plain))
    return han <= _MOST_OF_HAN_CONDITION if han else count <= _MOST_OF_CONDITION


def _has_open_quotation(text: str) -> bool:
    """Whether a sentence is the first of a text that is quoted: "Translate this: "Dear Mr Holm, the roof is done."""
    opened = _OPENS_QUOTATION.search(text)
    return opened is not None and not any(mark in text[opened.end() :] for mark in _CLOSING)


def _is_word_asked(text: str) -> bool:
    """Whether a text asks back with hardly a word: "Spoons?"."""
    asked = text.strip()
    return (
        asked[-1:] in ("?", "？")
        and len(_WORD.findall(asked)) <= _MOST_ASKED
        and len(_HAN.findall(asked)) <= _MOST_ASKED_HAN
    )


def _asks_in_chinese(text: str) -> bool:
    found = _ASKS_HAN.fullmatch(text.rstrip("。！! \n"))
    return found is not None and _ASKS_NOTHING.search(found["before"]) is None and "我" not in found["behind"]
