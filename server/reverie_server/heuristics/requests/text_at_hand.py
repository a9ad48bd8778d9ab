# ruff: noqa: E501  # a pattern stands on one line
"""Orders for a text at hand, in the words of requests to forget: "The second paragraph is too long. Remove it." Pure.

To delete is what people ask of texts and programs, too. Who has just named a slide, or what a line of a poem says, means
that, unless they speak of forgetting or of the memory.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from reverie_server.heuristics.requests.fact_requests import aligned
from reverie_server.heuristics.requests.going_on import goes_on

_REMOVES = re.compile(
    r"(?<!\w)(?:delet|remov|eras|omit|scrap)\w*|(?<!\w)(?:cut|drop|strike|scratch|ditch|trim|lose|wipe|take|get rid|leave|come out)(?!\w)"
    r"|(?<!\w)(?:lösch|streich|entfern|tilg|nimm|nehm|schmeiß|wirf|verschwind)\w*|(?<!\w)(?:raus|weg)(?!\w)"
    r"|(?<!\w)(?:b[oó]rr|elim[ií]n|qu[ií]t|s[aá]c|supr[ií]m|t[aá]ch|ret[ií]r)\w*|[删划]|去掉|去除|拿掉|抹掉"
)
_OF_MEMORY = re.compile(
    r"(?<!\w)(?:(?:forg[eo]t|remember|vergiss|vergess|olvid|olvíd|recuerd)\w*|told|said|mentioned|memory|(?:your|my) (?:notes?|records?)"
    r"|gesagt|erzählt|erwähnt|eben|vorhin|gedächtnis|deine\w? (?:notizen|unterlagen)|dij\w+|dicho|cont[eé]|memoria|tus (?:notas|apuntes))(?!\w)"
    r"|[忘记]|[说讲]过|刚才"
)
# What only a text has parts of.
_PART = (
    r"(?:paragraphs?|slides?|sentences?|bullets?(?: points?)?|headings?|headlines?|subheadings?|captions?|footnotes?|subtitles?|stanzas?|intro(?:duction)?|abstract|subject line|tagline"
    r"|absatz|absätze|abschnitte?|s[aä]tze?|folien?|überschrift(?:en)?|fußnoten?|bildunterschrift(?:en)?|stichpunkte?|betreff(?:zeile)?|untertitel|strophen?"
    r"|p[aá]rrafos?|frases?|oraci[oó]n|rengl[oó]n|diapositivas?|titular|encabezado|subt[ií]tulos?|pie de foto|nota al pie|viñetas?|introducci[oó]n|estrofas?)"
)
_OWN_PART = re.compile(
    rf"(?<!\w)(?:{_PART}|(?:last|first|letzten?|erste[nr]?|[uú]ltim[ao]|primer[ao]?) (?:lines?|zeilen?|l[ií]neas?))(?!\w)"
)
_TEXT = (
    r"(?:title|conclusion|cover letter|r[eé]sum[eé]|cv|bio|drafts?|essay|poem|lyrics|article|(?:blog )?post(?! office)|tweet|thesis|report|presentation|deck|spreadsheet|script|speech|eulogy|readme|summary|slogan|function|variable"
    r"|titel|zusammenfassung|fazit|entwurf|aufsatz|gedicht|bewerbung|anschreiben|lebenslauf|bericht|artikel|beitrag|vortrag|präsentation|skript|(?:hochzeits|fest|trauer|abschieds|geburtstags|tisch)?rede|funktion|einleitung|steckbrief"
    r"|t[ií]tulo|conclusi[oó]n|resumen|borrador|ensayo|poema|curr[ií]culum|informe|art[ií]culo|presentaci[oó]n|gui[oó]n|discurso|brindis|pregón|funci[oó]n|biograf[ií]a|anuncio|tuit)"
)
# Of other things, too: these need a number, or what they say.
_OTHER = (
    r"(?:lines?|sections?|chapters?|pages?|points?|verses?|texts?|e-?mails?|letter|table|columns?|rows?|cells?|method|snippet|comments?|ad|song"
    r"|zeilen?|kapitel|seiten?|punkte?|verse?|text|brief|mail|methode|datei|anzeige|tabelle|spalten?|zelle|kommentar|lied"
    r"|l[ií]neas?|cap[ií]tulos?|secci[oó]n|apartado|p[aá]ginas?|puntos?|asunto|textos?|carta|correo|m[eé]todo|publicaci[oó]n|canci[oó]n|tabla|filas?|columnas?|celda|versos?|comentario)"
)
_THE = r"(?:the|my|our|your|this|that|his|her|their|an?|der|die|das|de[nms]|mein\w*|unser\w*|dein\w*|dies\w+|ein\w*|el|las?|los|mis?|tus?|nuestr\w+|est[ea]|una?)"
_NUMBER = r"(?:first|second|third|fourth|fifth|last|next|opening|closing|final|(?:ers|zwei|drit|vier|fünf|letz|nächs)te[nrms]?|primer\w?|segund\w|tercer\w?|cuart\w|[uú]ltim\w)"
_SAYS = (
    r"(?:says?|reads?|mentions?|states?|contains?|includes?|lists?|repeats?|quotes?|sounds?|looks?|starts?|begins?|ends?|drags|rambles|has|have|needs|doesn't|is (?:too|so|way|very|really|a bit|quite|rather|far|much|not|wrong|redundant|clumsy|boring|awkward|unclear|['\"‘“])"
    r"|steht|stehen|lautet|sagt|erwähnt|enthält|nennt|beginnt|endet|klingt|wiederholt|passt|heißt|hat|ist (?:viel|etwas|zu|so|ziemlich|sehr|doppelt|nicht|falsch|überflüssig|['\"„‚])"
    r"|dice|pone|menciona|contiene|incluye|repite|suena|queda|sobra|empieza|termina|hay|tiene|cita|se llama|es (?:muy|demasiado|tan|un poco|bastante|['\"«‘“])|est[aá] (?:mal|repetid\w))"
)
_LEAD = r"(?:(?:and|but|oh|ok|okay|so|hmm|also|well|und|aber|ach|y|pero|bueno)[ ,]++)*+"
_NAMED = re.compile(
    rf"{_LEAD}(?:{_THE} )?(?:[\w'-]+ )?(?:(?:{_NUMBER} )?{_PART}(?!\w)|(?:{_TEXT}|{_OTHER})(?!\w).{{0,60}}?(?<![\w']){_SAYS})"
    # "The last line of my poem is …", "Line 12 is broken".
    rf"|{_LEAD}(?:{_THE} )?(?:{_NUMBER} (?:{_TEXT}|{_OTHER})|(?:line|page|section|chapter|zeile|seite|kapitel|l[ií]nea|p[aá]gina|cap[ií]tulo) \d+)(?!\w)"
    r"|[^。！？]{0,8}?(?:第[^，。]{1,3}[段句行章页节条]|最后一[段句行页]|开头|结尾|标题|幻灯片|ppt|段落|脚注|引言|摘要|正文|简历|求职信|草稿|稿子|文章|作文|论文|报告|演讲稿|这首诗|歌词|代码|函数|变量|表格|海报|文案)"
    r"[^。！？]{0,12}?(?:写|说|提到|有|是|太|叫|显示|包含|重复|读起来|不)"
)
# "There's a typo in the title", "Auf Folie 3 steht", "Delete the part about cats from the draft".
_IN_TEXT = re.compile(
    rf"(?<!\w)(?:in|on|at|from|out of|auf|im|am|aus|vom|en|al) (?:{_THE} )?(?:[\w'-]+ )?(?:{_PART}|{_TEXT}|{_NUMBER} {_OTHER})(?!\w)"
)
# All that stands behind it is the text: "Here's my bio: …".
_SHOWS = re.compile(
    rf"{_LEAD}(?:here(?:'s| is| are) |this is |hier (?:ist|sind|kommt) |das ist |aqu[ií] (?:est[aá]|tienes|va) |est[ea] es )?{_THE} (?:[\w'-]+ )?(?:{_PART}|{_TEXT}|{_OTHER})(?: [\w'-]+){{0,3}}?:"
    r"|(?:这是|以下是|下面是)[^。！？]{0,12}[:：]"
)


_DRAFT = re.compile('["“„«「『][^"“”„«»「」『』]{20,}["“”»」』]')
# So many sentences before a request may show a text.
_MOST_BEFORE = 12


def is_of_text_at_hand(sentence: str, before: Sequence[str], *, is_asked_for: bool = False) -> bool:
    """Whether a request is an order for a text: one that its own sentence names, or the last `before` it that does not go
    on from another, or that an earlier one shows. `is_asked_for`: one was asked for just before."""
    plain = aligned(sentence)
    if _REMOVES.search(plain) is None or _OF_MEMORY.search(plain) is not None:
        return False
    if is_asked_for:
        return True
    near = [aligned(each) for each in before[-_MOST_BEFORE:]]
    last = next((number for number in reversed(range(len(near))) if not goes_on(near[number])), 0)
    named = [*near[last:], plain]
    return any(_NAMED.match(each) or _IN_TEXT.search(each) for each in named) or any(map(_SHOWS.match, near))


def shows_draft(answer: str) -> bool:
    """Whether an answer has a text in quotes, as one has that was asked to write one."""
    return _DRAFT.search(answer) is not None


def names_part_of_text(sentence: str) -> bool:
    """Whether a sentence names what only a text has parts of: its last sentence or line, a paragraph."""
    return _OWN_PART.search(aligned(sentence)) is not None
