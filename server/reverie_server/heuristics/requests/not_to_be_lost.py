# ruff: noqa: E501  # a pattern stands on one line
"""Words by which somebody says that a thing is not to be lost ("see that it doesn't slip your mind"). Pure.

They share their words with requests to forget, and their vectors: what they ask is the contrary. A negation does it
that stands a few words before a verb of loss, in one clause.
"""

from __future__ import annotations

import re

from reverie_server.heuristics.requests.fact_requests import aligned

_NOT_TO_BE_LOST = re.compile(
    r"(?<!\w)(?:don'?t|not|never|must ?n[o']t|can'?t|cannot|dinn?ae?|donn?ae?|mustnae|shouldn'?t|doesn'?t|won'?t|wouldn'?t|isn'?t|nor)"
    r"(?: [\w']+){0,4}? (?:los(?:e|es|t)(?! (?:sleep|the key))|slips?|drops?|go(?:es)? (?:missing|astray|walkabout|adrift)"
    r"|vanish(?:es)?|disappears?|falls? (?:through|out)|fades?|escapes?|gets? away|mislay|misplace|without|forget(?! to)"
    r"|out of (?:your|the) (?:sight|mind|head|memory))(?!\w)"
    r"|(?<!\w)(?:no|nunca|jam[aá]s|ni)(?: \w+){0,4}? (?:pierd[ae]s?|perder(?:l[oa]s?|se)?|olvid\w+|esfum\w+|desaparez\w+|traspapel\w+|extrav\w+"
    r"|l[oa]s? suelt[ae]s?|dej\w+ (?:l[oa]s? )?caer)(?!\w)"
    r"|(?<!\w)(?:no|nunca|jam[aá]s|ni)(?: \w+){0,2}? se (?:me |te |le |nos )?(?:l[oa]s? )?(?:va(?:ya)?(?! a creer)|irá|pas[ae]|borr[ae]|escap[ae]"
    r"|(?:(?:va(?:ya)?|puede|pueda) (?:a )?(?:pasar|borrar|escapar|ir)))(?!\w)"
    r"|(?<!\w)(?:vergiss|vergesst|vergessen sie|verlier|verschlamp\w*|verbummel\w*)"
    r"(?: (?:mir|mia|uns|das|des|dat|es|sie|ihn|ja|bitte|bloß|bloss|mal|ma|aber|auch|nur|doch|du|dir|jetzt"
    r"|(?:die|den|das|meine?n?|unsere?n?) (?!(?:nicht?|net|ned|nid|nöd|nit|nie)(?!\w))\w+)){0,4}"
    r" (?:nicht?|net|ned|nid|nöd|nit|nie|niemals)(?!\w)(?! (?:mehr|wieder))"
    r"|(?<!\w)(?:nicht?|net|ned|nid|nöd|nie|niemals|nimmer|kein\w*)(?: \w+){0,3}? (?:verlier\w*|verlor\w*|in vergessenheit|verge(?:ss|ß)\w*|vergiss|entfall\w*|entfäll\w*|untergeh\w*"
    r"|wegkomm\w*|abhanden\w*|durchrutsch\w*|entwisch\w*|verschwind\w*|flöten\w*|verschütt\w*|verschlamp\w*|verbummel\w*)(?!\w)"
    r"|(?<![能要])(?:别|別|不要|不能|不许|不許|甭|勿|(?<!可)不可)[^，。,.；;！!？?\s]{0,6}?(?:忘|[丢丟](?![人脸脑臉腦])|弄[没沒]|[没沒]了|落下|漏(?![出嘴风風口给給]))"
)


def is_not_to_be_lost(text: str) -> bool:
    """Whether a text says of something that it must not be lost or forgotten."""
    return _NOT_TO_BE_LOST.search(aligned(text)) is not None
