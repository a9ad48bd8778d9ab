# ruff: noqa: E501  # a pattern stands on one line
"""What has the words of a request to forget and is none: a reproach, an order for the work at hand, a slip. Pure."""

from __future__ import annotations

import re

from reverie_server.heuristics.requests.fact_requests import aligned
from reverie_server.heuristics.requests.not_to_be_lost import is_not_to_be_lost

# What reproaches, or only asks what would be: "How could you forget my birthday?", "Would you forget me if …".
_RHETORICAL = re.compile(
    r"(?:(?:but|and|oh|well|aber|und|ach|pero|y)[ ,]++)*+(?:how|who|wie|wer|cómo|quién) (?:on earth |in the world )?(?:can|could|would|will|did|do|does"
    r"|kann|konnt|könn|würd|hast|hat|pud|pued|has|va)\w*(?!\w)|[^,，]{0,8}怎么(?:能|会|可以|就)"
    r"|(?:would|will|could) you (?:ever )?(?:forget|delete|lose)(?!\w).{2,80}? (?:if|when|once) (?:they|he|she|somebody|someone|i|you|we)(?!\w)"
)
# "Forget the bullet points and write it as prose" is of the work at hand.
_GOES_ON_WITH_TASK = re.compile(
    r"(?<!\w)(?:and|und|y)(?: (?:then|just|please|instead|bitte|dann|einfach|luego|mejor|mich|me))*+ (?:give|gimme|write|go|make|use|start|tell|show|suggest|try|focus|explain|be|help|answer|continue"
    r"|pretend|act|look|find|list|translate|gib|schreib|mach|nimm|erklär|duz|zeig|hilf|antwort|fang|nenn|such|dame|dime|haz|hazlo|escrib|explic|expl[ií]c|usa|prueba|ve|vamos|sugi|respond|busca|tut[eé])\w*"
)
_OF_TOLD = re.compile(
    r"(?<!\w)(?:told|said|mentioned|shared|memory|notes?|records?|erzählt|gesagt|erwähnt|gedächtnis|notizen|dij\w+|dicho|cont\w+|memoria|apuntes|notas)(?!\w)"
)
# Behind what is to be forgotten stands why, or please: "lo del pin porfa ya lo hemos cambiado", "the pin pls we changed it".
_WHY = re.compile(
    r"(?<=[^\W_]{2})(?<!\bhow)(?<!\bwhy)(?<!\bque)(?<!\bque ya) (?:(?:please|pls|plz|because|cause|cuz|cos)(?!\w)|(?<!that )(?<!when )(?:it|that)(?: was|'s| is| isn't| wasn't) |its (?:private|secret|a secret|wrong|not)(?!\w)"
    r"|(?:we|i|they)(?:'ve| have)? (?:\w+ )?(?:changed|fixed|solved|sorted|sold|made|invented|lied) (?:it|that|this|them)(?!\w)|i (?:don't|dont|do not|didn't|shouldn't|shouldnt) (?:want|wish|mean|have)(?!\w)|i lied"
    r"|(?:porfa|porfis|por favor|plis|porque|pq)(?!\w)|(?:no (?:quiero|quisiera)|ya (?:l[oa]s? |no(?!\w)|est[aá]))|es que(?!\w)"
    r"|(?:que )?(?:es|era|eran|fue) (?:muy |todo |una? )?(?:privad|secret|mentira|broma|error|fals|personal|inventad|tonter|cosa m[ií]a)\w*"
    r"|(?<!r )(?<!e )bitte(?!\w)|(?:weil|denn)(?!\w)|ich (?:will|möchte) (?:nicht|net|nich)(?!\w)|ich hab(?:e)? (?:mir )?(?:das|es) (?:nur )?(?:erfunden|ausgedacht|geändert)"
    r"|(?:das|es) (?:war|ist|stimmt|geht)(?!\w)|(?:das|die|den) (?:haben wir|hab(?:e)? ich|hat (?:er|sie))(?!\w))"
)
_SAID_TAIL = re.compile(r" (?:gesagt|erzählt|geschrieben) habe?$")
# A thing of the conversation, or of the day, is nothing that was told: "forget my last question", "don't save my seat".
_NOTHING_TOLD = re.compile(
    r"(?:(?:my|our|the|that|mein\w*|unser\w*|mi|mis|nuestr\w+) )?(?:(?:last|first|previous|earlier|other|silly|stupid|letzte\w*|erste\w*|vorige\w*|blöde\w*|últim\w|primer\w?|anterior|otr\w) )*+"
    r"(?:questions?|quer(?:y|ies)|requests?|prompts?|instructions?|orders?|ideas?|suggestions?|seats?|spots?|places?|tables?|worr(?:y|ies)|troubles|manners|reservations?|plans?"
    r"|(?:an)?fragen?|bitten?|ideen?|vorschl[aä]ge?|plän?e|plan|sorgen|platz|plätze|manieren|bestellung|anweisung(?:en)?|nicht"
    r"|preguntas?|petici[oó]n(?:es)?|pedidos?|ideas?|propuestas?|planes|sillas?|sitios?|asientos?|mesas?|preocupaciones|penas)(?: .*)?"
    r"|.* (?:today|tonight|this time|for (?:a|one) (?:second|sec|moment|minute|bit)|heute|diesmal|hoy|esta vez|por un (?:momento|rato|segundo))"
)
# Who tells that it slipped their mind: without a word for asking it is no order.
_SLIPPED = re.compile("(?<!忘了)(?:忘了|忘記了|忘记了)[了啊呀啦呢哈]*$")
# "Olvide mi clave" is written for "olvidé".
_OLVIDE = re.compile(
    r"(?:(?:ayer|hoy|otra vez|siempre|ya|uy|ay|es que|creo que|perdón|hola)[ ,]++)*+(?:me )?olvid[eé] (?:mis?|la|el|las|los|que|cómo|dónde|\w+[aei]r)(?!\w)(?!.*(?:por favor|porfa|usted|(?<!\w)le ))"
)
_ASKS_HAN = re.compile("[请請吧您你帮幫]|麻烦|麻煩|拜托|拜託|能不能|可以|好[吗嗎]|行[吗嗎]|不要|给我|給我")
_NO_CHANCE = re.compile(
    r"(?:das|dies|es) kannst du (?:(?:gleich|ja|doch|wohl|jetzt|auch|echt|total) )*+vergessen"
    r"(?:[,;:–—-] ?(?!.*(?:geheim|privat|gesagt|erzählt|unter uns|peinlich)).{1,120})?"
)


def only_looks_like_it(plain: str) -> bool:
    """Whether a sentence, folded, is a reproach, says "no chance" in German, tells what slipped one's mind, or that
    something must not be lost."""
    if is_not_to_be_lost(plain) or any((_RHETORICAL.match(plain), _NO_CHANCE.fullmatch(plain), _OLVIDE.match(plain))):
        return True
    return _SLIPPED.search(plain) is not None and _ASKS_HAN.search(plain) is None


def is_for_task(sentence: str) -> bool:
    """Whether a sentence that speaks of nothing told goes on with the work at hand: "Forget that I'm a boss and be honest"."""
    plain = aligned(sentence)
    return _GOES_ON_WITH_TASK.search(plain) is not None and _OF_TOLD.search(plain) is None


def told_topic(topic: str, sentence: str) -> str | None:
    """What of a topic was told, without the order for the work at hand or why behind it; None where nothing was.

    "Forget what I told you about my sister and give me a recipe" names a sister, "forget the bullet points and write
    prose" nothing.
    """
    task = _GOES_ON_WITH_TASK.search(topic)
    is_told = _OF_TOLD.search(aligned(sentence)) is not None
    if not is_told and (task is not None or _NOTHING_TOLD.fullmatch(aligned(topic)) is not None):
        return None
    topic = topic if task is None else topic[: task.start()].strip()
    why = _WHY.search(aligned(topic))
    return topic if why is None else _SAID_TAIL.sub("", topic[: why.start()])
