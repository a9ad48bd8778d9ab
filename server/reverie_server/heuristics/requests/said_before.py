# ruff: noqa: E501  # a pattern stands on one line
"""Sentences about what their speaker said before in the talk, and that tell nothing new of it. Pure."""

from __future__ import annotations

import re

# It opens with what the speaker has told before ("the code I just gave you"), and says nothing new of it.
_SAID_BEFORE = re.compile(
    r"(?:(?:and|und|y|oh|so|please|bitte|por favor|oye|ach|du),? )*+"
    r"(?:(?:that|the(?: \w+){1,3}) (?:that )?i(?:'ve)? just (?:told|gave|mentioned)(?: you)?(?!\w)"
    r"|das von (?:eben|vorhin)(?!\w)|lo de (?:antes|hace un (?:rato|momento))(?!\w)"
    r"|lo que (?:te|le|os) (?:he (?:puesto|escrito|dicho|contado|mandado|pasado)|(?:puse|escribí|mandé|pasé)|acabo de \w+)(?: (?:antes|ahora|hace un rato))?(?=,)"
    r"|我?[刚剛][才刚剛]?[说說讲講提][的过過]*那[个個组組把条條句件串些])"
)
_TELLS = re.compile(
    r"(?<!\w)(?:is|are|was|were|isn't|wasn't|has|had|ist|sind|war|waren|heißt|hat|es|son|era|fue|está"
    r"|se llama|ya no)(?!\w)"
    r"|[是叫错錯]|不[对對]|没有|取消|\d"
)
# What was said is named with what it was about: "what I told you about the cat", "lo que le acabo de decir del gato".
_WHAT_WAS_SAID = re.compile(
    r"(?<!\w)(?:what|the (?:thing|bit|stuff)|everything|all)(?: that)? i(?:'ve| have)?(?: just| already)? (?:said|told you|told u|mentioned|wrote)(?: \w+)? (?:about|of|on|regarding)(?!\w)"
    r"|(?<!\w)(?:das|die sache|alles)(?: \w+){1,6},? was (?:ich|i) (?:dir )?(?:(?:grad|gerade|grade|eben|vorhin|vorher|da|gestern|vorgestern|neulich|letztens|heute|schon) )*(?:gesagt|gsagt|erzählt|geschrieben|gschrieben)(?: habe?| hob)?"
    r"|(?<!\w)was (?:ich|i) (?:dir )?(?:(?:grad|gerade|grade|eben|vorhin|vorher|da|gestern|vorgestern|neulich|letztens|heute|schon) )*(?:über|von|vom|zu|zum|zur|wegen)(?: \w+){1,6} (?:gesagt|gsagt|erzählt|geschrieben)"
    r"|(?<!\w)lo que (?:(?:te|le|os|les) )?(?:acabo de (?:decir|contar|escribir)(?:te|le)?|dije|conté|he dicho|he contado|comenté)(?: (?:antes|ahora|hace \w+|hoy))? (?:de|del|sobre|acerca de)(?!\w)"
    r"|(?:[刚剛][才刚剛]?|前面|上面|之前)我?(?:跟你|给你|給你)?[说說讲講提][的过過到]*(?:关于)?(?=[^，。,的]{1,12}(?:那|这)?[个件事病条]?)"
)
_IS_TO_BE_KEPT = re.compile(
    r"(?:^|[,;.] ?|(?<!\w)(?:and|oh|so|please|do|to|you|can you|could you|will you|would you) )(?:remember|keep|don't forget|never forget|hang on to|hold on to|save|store|make a note of|note)(?!\w)"
    r"|(?<!ich )(?<!i )(?<!\w)(?:merk|behalt|notier|speicher|heb|schreib)e?(?= (?:\w+ ){0,3}?(?:dir|das|es|des|bitte|auf))|(?<!\w)vergiss (?:\w+ ){0,4}nicht"
    r"|(?<!\w)(?:acu[eé]rd[ae](?:te|se)|recu[eé]rd[ae](?:me|lo|la|los|las|melo)?|no (?:se |te |me )*olvid[ae](?:s|n)?|(?:gu[aá]rd|ap[uú]nt|an[oó]t)[ae](?:me|te|se)?(?:l[oa]s?)?|t[eé]nga?(?:me|lo|la)+ (?:presente|en cuenta))(?!\w)"
    r"|(?:你|要|给我|帮我|请)[^，。]{0,6}[记記存]|别忘|莫忘"
)
_CLAUSE_END = re.compile(r"[,;.:!?，。；：！？]|你要|(?<!\w)(?:and|und|y)(?!\w)")
_ASKS_WHETHER = re.compile(
    r"(?<!\w)(?:do|did) you(?: still)? remember|(?<!\w)(?:weißt|erinnerst) du|(?<!\w)(?:te|se) acuerda?s?(?!\w)|[吗嗎]\W*$"
)


def what_was_said(plain: str) -> str | None:
    """What a sentence, from `aligned`, names that asks to remember what was said before of a thing ("what I told you about the cat"); None
    where it is no such sentence. Takes time linear in it."""
    said = _WHAT_WAS_SAID.search(plain)
    if said is None or _IS_TO_BE_KEPT.search(plain) is None or _ASKS_WHETHER.search(plain) is not None:
        return None
    end = _CLAUSE_END.search(plain, said.end())
    behind = plain[said.end() : len(plain) if end is None else end.start()].strip()
    return behind or said[0]


def points_back(plain: str) -> bool:
    """Whether a sentence, from `aligned`, is about what its speaker said before in the talk, and tells nothing new of it."""
    text = plain.lstrip()
    is_said = _SAID_BEFORE.match(text) is not None or what_was_said(text) is not None
    return is_said and _TELLS.search(_WHAT_WAS_SAID.sub(" ", text)) is None
