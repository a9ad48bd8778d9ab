# ruff: noqa: E501  # a pattern stands on one line
"""What asks not to keep something, in the words in which others ask to remember: "Merk dir das bitte nicht". Pure.

It may stand behind what it is about: "Mi clave es 4471 pero no la apuntes".
"""

from __future__ import annotations

import re

# No negation of these verbs is "don't forget".
_NOT_TO_KEEP = re.compile(
    r"(?<!\w)(?:do not|don't|dont|never|not to|no need to|needn't|without)(?: (?:you|u|ever|please|need (?:to|2)|have (?:to|2)|even)){0,2} (?:remember|memori[sz]e|note|record|save|store|keep)(?!\w)"
    r"|(?<!\w)(?:not|isn't|wasn't)(?: \w+)? (?:for|on) the record(?!\w)|(?<!\w)(?:keep|leave) (?:that|this|it) (?:out|off)(?!\w)"
    r"|(?<!\w)(?:merk|notier|speicher|behalt|schreib)\w*(?: (?!dass|ich|wir|nicht)\w+){0,4} nicht(?! vergess)(?!\w)"
    r"|(?<!\w)nicht(?: \w+){0,2} (?:(?:zu )?merken|notieren|speichern|behalten|aufschreiben|aufzuschreiben)(?!\w)"
    r"|(?<!\w)no (?:(?:te|me|nos|lo|la|hace falta que|tienes que|hay que) )*(?:recuerd|recordar|guard|anot|apunt|memori)\w*"
    r"|(?:不要|不用|不必|不需要|别|別|勿)(?:再|帮我|幫我|替我|给我|給我|去)*(?:记|記|存|保存)"
)


def asks_not_to_keep(plain: str) -> bool:
    """Whether a sentence, folded, has a verb for keeping that it denies."""
    return _NOT_TO_KEEP.search(plain) is not None


_IT = r"(?:it|that|this|them|those)"
_ES_VERB = r"(?:guard|apunt|anot|grab|registr|almacen|memoric|conserv|recuerd)es?|escribas?"
_DE_IT = r"(?:das|es|dies|die|den|sie|ihn)"
_DE_VERB = r"(?:merken|notieren|speichern|abspeichern|behalten|aufschreiben|festhalten)"
# It may stand behind what it is about, up to the end of the sentence.
_BEHIND = re.compile(
    r"(?:(?P<pause> ?[,;:–—-]{1,3} ?)|(?<=[^\s,;:–—-]) )(?P<joined>(?:but|and|pero|y|aber|und) )?(?:(?:please|pls|just|por favor|porfa|oye|mejor|bitte),? ){0,2}"
    rf"(?:(?:do not|don't|dont)(?: ever| please)? (?:(?:write|note|jot|take|put) {_IT} down|(?:keep|save|store|record|note|log|remember|memori[sz]e|retain) {_IT}(?: down)?)"
    rf"|(?P<spanish>(?:(?:eso|esto|ést?[ao]),? )?(?:(?:por favor|porfa|mejor) )?no (?:me |te )?l[oa]s? (?:{_ES_VERB}))"
    rf"|(?:merk|notier|speicher|behalt|schreib|halt)e?(?: dir)? {_DE_IT}(?: bitte| mal| lieber| ja| bloß){{0,2}} nicht(?: (?:auf|ab|fest))?"
    rf"|{_DE_IT}(?: bitte| lieber)? nicht {_DE_VERB}|{_DE_IT} (?:musst|brauchst|sollst) du(?: dir| bitte)? nicht (?:zu )?{_DE_VERB})"
    r"(?!\w)(?:,? ?(?:please|pls|plz|ok|okay|thanks|thank you|anywhere|yeah|por favor|porfa|porfis|eh|vale|gracias|tampoco|nunca|en ning[uú]n (?:sitio|lado|lugar)|en (?:tu|la) memoria|en tus notas|bitte|danke|ja|gell|nirgends)(?!\w))*+[\s.!…)]*+$"
)
# "Dice que no lo guardes", "ich merk es nicht": without a mark before it, it is a part of what is told.
_BOUND = re.compile(
    r"(?<!\w)(?:que|si|cuando|mientras|aunque|donde|porque|para|pues|a|to|i|we|you|they|he|she|who|that|if|when|or|people|ich|wir|dass|wenn|weil|man|said|says|told (?:me|him|her|us)|sagte?|meinte?|dijo|dice)$"
)
_SAYS_NOTHING = re.compile(
    r"(?:(?:no|nein|nee|ne|nah|nope|oh|ok|okay|hey|wait|hm+|uh+m?|actually|well|so|but|and|please|pls|sorry|then|also|know|you know|what|on|second|thoughts?|hang|hold|never|mind|better|rather|maybe"
    r"|bitte|nicht|warte|moment|halt|doch|ach|äh+m?|naja|na|also|aber|und|eigentlich|lieber|besser|entschuldigung|vielleicht"
    r"|oye|espera|ay|uy|mejor|bueno|pues|perdón|perdona|pero|y|mira|en|realidad|de|verdad|la|quizás?)(?!\w)[ ,.!…]*+)*+$"
)
_IF = re.compile(r"(?:if|when|wenn|falls|sobald|si|cuando) ")
# "I write songs but don't keep them" tells of a habit; who has or is something says no more of it.
_DOES = re.compile(
    r"(?:(?:and|but|so|oh|und|also|aber)[ ,]++)*+(?:i|we|ich|wir) (?!(?:am|have|has|got|had|earn|make|owe|weigh|live|work|feel|was"
    r"|bin|habe?|hatte|verdiene?|kriege?|bekomme?|wiege|leide|wohne|arbeite|schulde|heiße?|war)(?!\w))"
)
_MAX_BOUND_CHARS = 12
_ASKS = re.compile(r"(?<!\w)(?:please|pls|bitte|dir|du)(?!\w)")


def contrary_start(plain: str) -> int:
    """Where a sentence, from `aligned`, that tells something goes on with a request not to keep it; its length where it
    does not. Takes time linear in the sentence."""
    found = _BEHIND.search(plain)
    told = plain[: found.start()].strip() if found is not None else ""
    if found is None or _IF.match(told) is not None or _SAYS_NOTHING.match(told) is not None:
        return len(plain)
    is_apart = found["pause"] is not None or found["joined"] is not None
    # "Para que mi madre no lo apunte" asks nobody.
    is_of_third = found["spanish"] is not None and not is_apart and not found["spanish"].endswith("s")
    if is_of_third or (found["pause"] is None and _BOUND.search(told[-_MAX_BOUND_CHARS:]) is not None):
        return len(plain)
    may_be_habit = found["spanish"] is None and (found["joined"] is not None or found["pause"] is None)
    is_habit = may_be_habit and _DOES.match(told) is not None and _ASKS.search(found[0]) is None
    return len(plain) if is_habit else found.start()
