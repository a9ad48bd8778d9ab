"""Whether a message asks about the life of the person who writes it: "Where do I work?". Pure.

Such a question is answered by memory or not at all, so that less evidence is enough to take a passage for the answer.
It has a word of the first person behind its asking word. Asking for advice ("What should I wear?", "How do I boil
eggs?") is about the world. In English, German, Spanish and Chinese.
"""

from __future__ import annotations

import re

from reverie_indexer.text.analyse import fold

_SENTENCE = re.compile(r"[^.!?。！？\n]*[.!?。！？]?")
# What a request to the assistant says of the one who asks: "Remind me which town …".
_REQUEST = re.compile(
    r"(?<!\w)(?:(?:remind|tell|give|show|help|let|ask) (?:me|us)"
    r"|sag\w* (?:mir|uns)|erinner\w* (?:mich|uns)|hilf (?:mir|uns)"
    r"|(?:dime|dinos|recu[ée]rdame|cu[ée]ntame|ay[úu]dame))(?!\w)|(?:告诉|提醒|帮|给|教)我们?"
)
_ASKS = re.compile(
    r"(?<!\w)(?:who\w*|what|what's|which|when|where|where's|who's|why|how"
    r"|wer|was|wann|wo(?:hin|her|mit|rauf|rin|ran|von|zu|für)?|wie|welch\w*|warum|wieso|weshalb|wen|wem|wessen"
    r"|qu[ée]|qui[ée]n(?:es)?|cu[áa]ndo|ad?[óo]nde|d[óo]nde|cu[áa]l(?:es)?|c[óo]mo|cu[áa]nt[oa]s?)(?!\w)"
)
_SELF = re.compile(
    r"(?<!\w)(?:i|i'm|i've|i'd|me|my|mine|we|we're|we've|us|our|ours|myself"
    r"|ich|mir|mich|mein\w{0,2}|wir|uns|unser\w{0,2}"
    r"|yo|m[ií]|mis|me|nos|nuestr[oa]s?|conmigo|nosotr[oa]s"
    r"|vivo|trabajo|tengo|soy|estoy|voy|hago|tomo|bebo|uso|manejo|conduzco|prefiero|estudio|juego|leo|llevo|gano|pago"
    r"|peso|mido|duermo|desayuno|ceno|escucho|toco|practico|cocino|nac[ií]|fui|hice|tuve|dije|puse|puedo"
    r"|(?!podemos|debemos|hacemos|usamos|decimos|sabemos)\w{2,}(?:amos|emos|imos|íamos)"
    r"|(?!qu|tambi|caf|beb|aqu|all|ah|as|cas|jam|comit|chef|champ)\w{2,}[éí])(?!\w)"
)
_ADVICE = re.compile(
    r"(?<!\w)(?:(?:should|can|could|must|would|may|shall|might) (?:i|we)|do (?:i|we) need"
    r"|how (?:do|to|would) (?!(?:i|we) [^.?!]*(?<!\w)(?:my|our)(?!\w))(?:i |we )?"
    r"|(?:soll|sollte|kann|könnte|muss|müsste|darf|dürfte|brauche|würde)n? (?:ich|wir|man)"
    r"|(?:debo|deber[ií]a|necesito|conviene|puedo (?!comer|tomar|beber))\w*)"
)
# A question without an asking word: "Do I smoke?", "Esse ich Fleisch?", "¿Tengo alergias?".
_WHETHER = re.compile(
    r"(?:(?:and|so|und|also|y|entonces),? )?(?:"
    r"am i (?:still|allergic|vegetarian|vegan|an? |in |going|seeing|meeting|booked|working|living|married)"
    r"|do i (?:still|smoke|drink|eat|have (?!to)|own|like|live|work|drive|speak|play|wear)"
    r"|have i (?:got (?!to)|told|already|been)|did i (?:tell|say|mention|book|cancel|move|quit|stop|buy|sell)"
    r"|(?:esse|trinke|rauche|hab|habe|bin|wohne|arbeite|fahre|mag|spiele|trage|nehme|lebe|besitze) ich(?!\w)"
    r"|¿ ?(?:todav[ií]a |a[uú]n |ya |sigo )?(?:fumo|fumando|bebo|tengo|vivo|soy|estoy|trabajo|conduzco|toco"
    r"|como (?:carne|pescado|de todo|gluten))(?!\w)"
    r")[^?]*\?$"
)
_OPEN = re.compile(r"(?<!\w)(?:my|our|mein\w{0,2}|unser\w{0,2}|mis?|nuestr[oa]s?)(?!\w)[^?]*\?")
# Words that are somebody's, and to be translated or explained.
_QUOTED = re.compile(r"\"[^\"\s]+ [^\"\n]*\"|[“„][^“”„\s]+ [^“”„\n]*[“”]|«[^«»\s]+ [^«»\n]*»")
_CHINESE_ASKS = re.compile(r"什么|甚么|哪|谁|几|多少|怎么样|为什么|何时|[?？]|吗")
_CHINESE_ADVICE = re.compile(r"怎么(?:选|做|办|弄|挑|学|写|用)|我们?(?:应该|该|可以|能不能|能|需要|要怎么|怎么|如何)")


def asks_about_self(message: str) -> bool:
    """Whether a sentence of the message asks about its writer's own life."""
    text = _QUOTED.sub(" ", fold(message))
    return any(_asks(sentence[0]) for sentence in _SENTENCE.finditer(text) if sentence[0].strip())


def _asks(sentence: str) -> bool:
    text = _REQUEST.sub(" ", sentence)
    if "我" in text or "咱" in text:
        return _CHINESE_ASKS.search(text) is not None and _CHINESE_ADVICE.search(text) is None
    asking = _ASKS.search(text)
    if asking is None:
        # "My deadline?"
        return _OPEN.match(text.strip(" ¿¡")) is not None or _asks_whether(text.strip())
    question = text[asking.start() :]
    return _SELF.search(question, asking.end() - asking.start()) is not None and _ADVICE.search(question) is None


def _asks_whether(text: str) -> bool:
    return _WHETHER.match(text) is not None and _ADVICE.search(text) is None
