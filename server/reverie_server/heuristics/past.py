"""Whether a message asks about the past, so that what no longer holds is an answer to it. Pure."""

from __future__ import annotations

import re

from reverie_indexer.text.analyse import fold

# What one asks about as it was. "What was my locker code again?" asks about what is.
_STATIVE_DID = (
    r"live|work|drive|have|use|own|study|play|weigh|earn|pay|teach|like|prefer|drink|eat|smoke|rent|report|belong"
)
_WORDS = (
    # English
    *(r"before", r"used? to", r"previous(?:ly)?", r"former(?:ly)?", r"earlier", r"in the past", r"back then", r"prior"),
    r"predecessors?",
    *(r"original(?:ly)?", r"at first", r"in those days", r"at the time"),
    r"(?:my|our) (?:old|last|ex|first)",
    rf"(?:did|didn't) (?:i|we) (?:once |ever |first )?(?:{_STATIVE_DID})",
    r"(?:was|were) (?:i|we) [a-z]+ing",
    r"(?:what|who|where|which)[^.?!]{0,40} (?:was|were) (?:my|our)(?![^.?!]{0,60} (?:again|called))",
    r"when did [^.?!]{0,80}(?:chang|mov|switch|stop|quit|leave|left|end|cancel|replac|renam|postpon"
    r"|resched|give up)\w*",
    # German
    *(r"früher\w*", r"vorher\w*", r"zuvor", r"damals", r"damalig\w*", r"ehemal\w*", r"vorig\w*", r"ursprünglich\w*"),
    *(r"bisher\w*", r"einst", r"seinerzeit", r"zuerst", r"anfangs"),
    r"(?:mein|unser)\w{0,2} (?:alt|letzt|erst|ex)\w*",
    r"(?:wohnte|lebte|arbeitete|fuhr|hatte|trank|ass|hiess|besass|studierte)n? (?:ich|wir|mein\w*|unser\w*)",
    r"(?:wer|was|wo|welch\w*|wie)[^.?!]{0,40} (?:war|waren) (?:mein|unser)\w*"
    r"(?![^.?!]{0,60} (?:noch ?mal|nochmals|noch gleich))",
    r"(?:habe?n?|hab) (?:ich|wir) [^.?!]{0,80}(?:gewohnt|gelebt|gearbeitet|gefahren|getrunken|gegessen"
    r"|geheissen|gehabt)",
    *(r"vorgänger\w*", r"(?:wer|was|wo|wie) (?:war|waren) [^.?!]{0,60} ?vor"),
    r"wann [^.?!]{0,80}(?:geändert|gewechselt|umgezogen|aufgehört|verlassen|beendet|abgesagt|verschoben|verlegt"
    r"|gekündigt|umbenannt)",
    # Spanish
    *(r"antes", r"anterior\w*", r"previ[oa]s?", r"previamente", r"sol[ií]a\w*", r"antigu[oa]\w*", r"originalmente"),
    *(r"en el pasado", r"al principio", r"en aquel entonces", r"predeces\w*"),
    r"mis? (?:viej[oa]s?|ex|últim[oa]s?)",
    r"(?:viv|ten|conduc|beb|com|prefer)[ií]a(?:mos)?|(?:trabaj|manej|tom|us|estudi|pag|gan|llam|est)[aá]ba(?:mos)?|éramos",
    r"era (?:mi|nuestr[oa])",
    r"cuándo [^.?!]{0,80}(?:cambi|mud|dej|termin|cancel|renunci|aplaz|pospus|movi)\w*",
)
_SPACED = re.compile(rf"(?<!\w)(?:{'|'.join(_WORDS)})(?!\w)")
_CHINESE = re.compile(
    r"以前|之前|过去|從前|从前|曾经|曾經|原来|原來|当时|當時|原先|先前|本来|最初|一开始|起初|早先|当初|上一(?:个|份|家|任|次)"
    r"|前(?:一个|一份|一家|任|老板|领导|上司|公司|同事|女友|男友|妻|夫)|旧(?:的|地址|号码|公司|房|车|家|手机|名)"
    r"|什么时候[^。？！]{0,40}(?:改|换|搬|停|离|取消|推迟|辞)"
)


def asks_about_past(message: str) -> bool:
    """Whether the message has a word that asks about what was, in English, German, Spanish or Chinese."""
    text = fold(message)
    return _SPACED.search(text) is not None or _CHINESE.search(text) is not None
