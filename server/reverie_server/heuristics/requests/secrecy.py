# ruff: noqa: E501  # a pattern stands on one line
"""Words that say of what is told that it is for nobody else. Pure."""

from __future__ import annotations

import re

from reverie_server.heuristics.requests.fact_requests import aligned

_PRIVATE = re.compile(
    r"(?<!\w)(?:between (?:us|you and me|the two of us)|(?:stays|keep (?:it|this)) (?:here|between|to yourself)"
    r"|(?:don't|do not|dont) (?:want this kept|tell (?:anyone|anybody|a soul|them|him|her))|(?:nobody|no one) (?:must|may|can|else)"
    r" (?:know|knows)|off the record|in confidence|confidential(?:ly)?|(?:it's|this is|that's) (?:a )?(?:secret|private)"
    r"|(?:asked|told|begged) me not to tell(?: (?:a soul|anyone|anybody))?|(?:not|wasn't|isn't) mine to tell"
    r"|just (?:listen|to get it off my chest)|get (?:it|this) off my chest"
    r"|(?:told|tell|telling) (?:nobody|no one|noone|not a soul)|(?:never|haven't|havent|hadn't|not) (?:told|breathed a word to) (?:anyone|anybody|a soul|another soul)|(?:nobody|no one|not a soul) (?:else )?knows"
    r"|(?:don't|dont|never) (?:breathe|say) a word|hush-hush|on the quiet|if (?:it|that|this|word) (?:ever )?(?:gets|got) out|swore (?:me )?to secrecy|made me (?:swear|promise)(?: not to tell)?"
    r"|(?:nie|niemals|noch nie) (?:jemandem|wem|jemand|einem menschen|einer seele)(?: \w+){0,2} (?:gesagt|erzählt|anvertraut|verraten)|niemande[mn](?: \w+){0,2} (?:gesagt|erzählt|anvertraut|verraten)|keinem (?:menschen )?(?:gesagt|erzählt)"
    r"|weiß(?: \w+){0,3} (?:keiner|niemand|kein mensch)|keine menschenseele|wenn das (?:raus|heraus|bekannt)\w*|unter uns|im vertrauen|vertraulich|(?:bitte )?nur zuhören|hör (?:mir )?(?:bitte )?(?:nur|einfach) zu|(?:was|etwas) heikles"
    r"|geheim|behalt(?:e|s|'s)? (?:das|es) (?:bitte )?für dich|(?:sag|erzähl)(?:e|s|'s)? (?:das |es )?(?:bitte )?(?:niemand|keinem)\w*"
    r"|niemand (?:darf|soll|weiß)"
    r"|entre nos|no lo (?:sabe|supo) nadie|(?:nunca |no )?se l[oa] (?:he (?:contado|dicho)|conté|dije|contaba|contara) a nadie|no se l[oa] (?:he (?:contado|dicho)|conté|dije) ni|si se (?:sabe|enteran?|llega a saber)|que no se (?:entere|sepa|enteren)|me hizo (?:jurar|prometer)|chitón"
    r"|entre (?:nosotr[oa]s|tú y yo|tu y yo|vos y yo)|en confianza|confidencial|es (?:un )?secreto|(?:solo|sólo) escúchame"
    r"|(?:que )?(?:quede|queda) (?:aquí|entre)|no (?:salga|sale) de aquí|te (?:lo )?vas a callar|no se lo (?:digas|cuentes) a nadie"
    r"|nadie (?:sabe|lo sabe|tiene que|puede saber))(?!\w)"
    r"|没(?:有)?(?:跟|和|对|向|告诉)(?:任何|别|外|其他)?(?:人|谁|哪个)(?:都)?(?:没)?[讲说提]?|谁(?:也|都)没(?:有)?(?:讲|说|提|告诉)|没(?:有)?(?:人|谁|别人)(?:知道|晓得)|以为我不(?:晓得|知道)|[说讲传]出去|不(?:想|要|能|好)[让给](?:别|外|其他)?[人个]?(?:家)?(?:知道|晓得)|瞒[着到了]"
    r"|秘密|保密|[你咱]俩知道|(?:别|不要)(?:跟|和|对|告诉)[^,，。!！?？]{0,6}(?:说|讲|人)|(?:只|就)(?:跟|和)你(?:一个人)?(?:说|讲)|听我说就(?:好|行)"
)
# Who else does not know, or is not to: "not deb, not anybody", "ni mi hermano", "nicht einmal meiner Frau", "连他都没讲".
_OTHERS = re.compile(
    r"(?<!\w)(?:not even|not|nor|ni siquiera|ni|nicht (?:ein)?mal|auch nicht)(?: \w+){1,3}|[连連][^，,。]{1,8}[都也]没[^，,。]{0,4}"
)
_IDLE = frozenset(
    re.findall(
        r"\S+",
        "i i've have had it it's its this that so and just please ok okay ever yet still really to at all yes no with"
        " ich hab habe es das dies und ja nein bitte noch bisher bis heute nur auch so sonst davon darüber gesagt"
        " yo lo la le se y e eso esto que por favor ya sí aún todavía hasta hoy",
    )
)
_WORD = re.compile(r"[^\W\d_\u3400-\u9fff]+(?:['’]\w+)?|\d+|[\u3400-\u9fff]")
_IDLE_HAN = frozenset("我这那事呢啊哈嘛的了哦唉你也都就")


def is_private(sentence: str) -> bool:
    """Whether a sentence says that what is told with it is for nobody else."""
    return _PRIVATE.search(aligned(sentence)) is not None


def only_confides(sentence: str) -> bool:
    """Whether a sentence says that what stands beside it is secret, and no more: "Told nobody, not even Ann." """
    plain = aligned(sentence)
    rest = _PRIVATE.sub(" ", plain)
    if rest == plain:
        return False
    return all(word in _IDLE or word in _IDLE_HAN for word in _WORD.findall(_OTHERS.sub(" ", rest)))
