# ruff: noqa: E501  # a pattern stands on one line
"""What the writer of a message says in play: as somebody whom they pretend to be, or as the "I" of a story. Pure.

Who asks the assistant to play somebody ("Act as a nutritionist") goes on as themselves.
"""

from __future__ import annotations

import re

from reverie_server.heuristics.requests.fact_requests import aligned
from reverie_server.text.remove_spans import Span

_TEXT = (
    r"(?:stor(?:y|ies)|tales?|poems?|songs?|lyrics|raps?|monologues?|diary|diaries|scenes?|sketch(?:es)?|novels?|chapters?"
    r"|geschichte|märchen|gedicht|lied|monolog|tagebuch\w*|szene|erzählung|kapitel"
    r"|cuento|historia|relato|poema|canción|monólogo|diario|escena)"
)
_FIRST_PERSON = (
    r"(?:first[- ]person|(?:from|in) the (?:view|views|viewpoint|perspective|point of view|pov|voice|eyes|shoes) of|ich-form|ich-perspektive"
    r"|ich-erzähler|aus (?:der )?(?:sicht|perspektive)|primera persona|desde (?:el punto de vista|la perspectiva))"
)
# Where a sentence begins, behind the words that lead to what it asks.
_START = (
    r"(?:^|(?<=[.!?…\n:]))[ \t]*+(?:(?:(?:please|pls|ok|okay|now|so|hey|hi|hello|and|then|well|can you|could you|i want you to|i'd like you to|bitte|jetzt|also|komm|los|und|dann|kannst du"
    r"|por favor|ahora|vale|bueno|hola|y|puedes|¿puedes),? )*+)[¡¿]?"
)
_PLAY = re.compile(
    rf"{_START}(?:"
    # Of English.
    r"(?:let's |let us )?(?:pretend|imagine)(?: that)? (?:i'm|im|i am|i was|i were|we're|we are|we were) (?:an?|the|your|in|on|two)(?!\w)"
    r"|(?:let's |let us )?(?:pretend|imagine)(?: that)? (?:you|he|she)(?:'re| are|'s| is) [^.!?\n]{1,60}? and (?:that )?(?:i'm|im|i am) (?:an?|the|your)(?!\w)"
    r"|(?:let(?:'s| us)|(?:can|could|shall) we|i want to|i'd like to) (?:play (?:a (?:little )?(?:game|role)|pretend|make[- ]believe|out|some role)|role-?play|do (?:a |some )?(?:role[ -]?play|improv))|role[ -]?play(?:ing)?(?: time| scenario)?(?=[:.!])|play along(?=[:.,!])"
    r"|interview me (?:as|like) (?:an?|the)(?!\w)|(?:interview|treat|talk to|address|question|interrogate|greet) me (?:as (?:if|though) i (?:were|was|am)|like i'm) (?:an?|the)(?!\w)"
    # Of German.
    r"|stell dir(?: mal)? vor,? (?:dass )?ich (?:wäre|wär|sei)(?!\w)"
    r"|(?:stell dir(?: mal)? vor),? du (?:bist|wärst|wärest) [^.!?\n]{1,60}? und ich (?:bin|wäre|wär) (?:ein\w{0,2}|de[rn]|die|dein\w{0,2})(?!\w)"
    r"|(?:tu|tun wir|lass uns|wir tun)(?: mal)?(?: so)?(?: tun)?,? als (?:ob ich|wäre ich|wär ich|sei ich)(?!\w)"
    r"|(?:lass uns|wollen wir|wir spielen)(?: mal)?(?: jetzt)? (?:ein(?:en?)? )?(?:kleines )?(?:rollenspiel|spiel spielen|krimi spielen)"
    r"|(?:interview\w*|befrag\w*|verhör\w*|behandel\w*) mich,? (?:so,? )?als (?:wäre|wär|sei|ob) ich(?!\w)|interview\w* mich (?:als|wie) ein\w{0,2}(?!\w)"
    # Of Spanish.
    r"|(?:imagina|imagínate|imaginemos|finge|finjamos|hagamos como|haz como)(?: que| si)? (?:yo )?(?:soy|era|fuera|fuese)(?!\w)"
    r"|(?:imagina|imagínate|imaginemos)(?: que)? (?:tú )?eres [^.!?\n]{1,60}? y (?:yo|que yo) (?:soy|era)(?!\w)"
    r"|(?:juguemos|vamos a jugar|hagamos) (?:a |al |un )(?:un )?(?:juego|rol|que (?:yo )?(?:soy|era)|juego de rol)"
    r"|(?:entrevístame|trátame|interrógame) como (?:si (?:yo )?fuera|si (?:yo )?fuese|a un)"
    # Of texts in which another says "I".
    rf"|(?:write|tell|give|make|compose|draft|create|schreib\w*|erzähl\w*|verfass\w*|escrib\w*|escríb\w*|cuéntame|inventa)(?= )[^.!?\n]{{0,40}}? {_TEXT}(?!\w)[^.!?\n]{{0,40}}?(?<!\w){_FIRST_PERSON}(?!\w)"
    r")"
    # Of Chinese.
    r"|(?:假装|假裝|想象|想像)(?:一下)?我(?:是|在(?:扮演|演))|(?:^|(?<=[。！？，\n]))(?:(?:让|讓)?(?:我们|我們|咱们))?(?:来|來)?(?:玩(?:个|個|一个|一個)(?:游戏|遊戲)|(?:玩|做)(?:个|個|一个)?角色扮演)|我(?:来|來)?(?:扮演|假扮)"
    r"|(?:采访|採訪|审问)我[^。！？\n]{0,6}(?:当作|当成|好像|像)|[以用](?:第一人称|第一人稱|[^。！？，\n]{1,12}的(?:视角|視角|口吻|角度))[^。！？\n]{0,8}[写寫编編讲講][^。！？\n]{0,12}(?:故事|诗|詩|小说|小說|日记|歌|独白)"
    r"|[写寫编編讲講][^。！？\n]{0,12}(?:故事|诗|詩|小说|小說|日记|歌|独白)[^。！？\n]{0,6}(?:第一人称|第一人稱)"
)
# What comes back from the play.
_BACK = re.compile(
    r"(?:(?<=[.!?…\n;,])|(?<=[。！？，；]))[ \t]*+(?:(?:but|and|ok|okay|so|aber|und|ok|pero|y|不过|但是?)[, ]*+)?(?:actually|really|in reality|in real life|irl|for real|in truth|seriously|out of character|ooc"
    r"|in wirklichkeit|wirklich|eigentlich|tatsächlich|im echten leben|im ernst|en realidad|de verdad|realmente|en serio|en la vida real)(?!\w)"
    r"|(?<=[。！？，；\n])(?:不过|但是?)?(?:其实|其實|实际上|實際上|事实上|说真的|說真的|现实中|現實中)"
)


def played(message: str) -> Span | None:
    """What a message says in play: from the words on that begin it, up to those that come back from it. Takes time linear in
    the message."""
    plain = aligned(message)
    begin = _PLAY.search(plain)
    if begin is None:
        return None
    back = _BACK.search(plain, begin.end())
    return begin.start(), len(message) if back is None else back.start()
