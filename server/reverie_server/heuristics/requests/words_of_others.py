# ruff: noqa: E501  # a pattern stands on one line
"""What of a message somebody else says, or is a text to work on: no word of it asks memory for anything. Pure.

"Can you polish this mail?" goes on with the mail, "Translate to French:" with what is to be translated, "He wrote me:"
with what he wrote; and what stands in quotation marks is quoted, also over several sentences.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from reverie_server.heuristics.cues import cues_of, folded
from reverie_server.heuristics.requests.fact_requests import aligned
from reverie_server.heuristics.requests.for_others import is_for_somebody_else
from reverie_server.heuristics.requests.in_play import played
from reverie_server.heuristics.requests.memory_requests import remembered_from
from reverie_server.heuristics.requests.request_model import is_han
from reverie_server.text.remove_spans import Span, merged
from reverie_server.text.statement_spans import statement_spans

# A single mark may be an apostrophe: what begins behind a comma or a colon, and ends with its sentence, is quoted.
_QUOTED = re.compile(
    '"[^"]{8,}"|“[^“”]{4,}”|„[^„“”"]{8,}[“”"]|«[^«»]{4,}»|「[^「」]{4,}」|『[^『』]{4,}』|‹[^‹›]{8,}›'
    r"|(?:(?<=[,:] )|(?<=[,:])|^)['‘](?=\w)(?:[^'‘’]|(?<=\w)['’](?=\w)){8,}(?:(?<=[.!?,…])['’]|['’](?=[.!?,…]|$))",
    re.MULTILINE,
)
# What is to be kept may be quoted.
_TO_KEEP = re.compile(
    r"(?<!\w)(?:remember|keep|save|store|memor\w+|merk\w*|notier\w*|speicher\w*|behalt\w*|rec[uú][eé]rd\w*|ap[uú]nt\w*|an[oó]t\w*|gu[aá]rd\w*)(?!\w)|[记記存]"
)
_TEXT = (
    r"(?:e-?mails?|mails?|messages?|texts?|letters?|notes?|repl(?:y|ies)|drafts?|sentences?|paragraphs?|posts?|poems?|stor(?:y|ies)"
    r"|songs?|lyrics|scripts?|dialogues?|speech(?:es)?|scenes?|subtitles?|bios?|essays?|articles?|tweets?|captions?|slogans?|cv|resume|résumé|this|these|the following|it"
    r"|nachricht(?:en)?|brief(?:e|s)?|antwort|entwurf|sätze?|absatz|gedicht|geschichte|dialog|rede|szene|whatsapp|sms|aufsatz|artikel|bewerbung|lebenslauf|steckbrief|text|das|dies(?:en|e|es)?|folgende[nrs]?"
    r"|correos?|mensajes?|cartas?|textos?|respuestas?|borrador|frases?|párrafos?|poemas?|cuentos?|diálogos?|discurso|ensayo|artículo|resumen|biografía|currículum|anuncio|esto|este|esta)"
)
# Who asks for work on a text, with that text behind it.
_TASK = re.compile(
    r"(?<!\w)(?:reply|respond|write|comment|complain|post) as an? [^.:!?\n]{2,40}(?=:)|(?<!\w)(?:antwort|schreib)\w* als (?:ein\w{0,2} )?[^.:!?\n]{2,40}(?=:)|(?<!\w)(?:respond|escrib|contest)\w* como (?:una? )?[^.:!?\n]{2,40}(?=:)|"
    rf"(?<!\w)(?:translat(?:e|ing|ion)|proof-?read|polish|tid(?:y|ying) up|clean up|rewrite|rephrase|reword|paraphrase|edit|improve|shorten|correct|fix|summari[sz]e|reply|respond|answer"
    rf"|(?:write|draft|compose|send)(?: me| him| her| them| up)?(?! down))(?: \w+(?:'s)?){{0,4}}? (?:{_TEXT}|(?:in)?to \w+)(?!\w)"
    rf"|(?<!\w)(?:übersetz|korrigier|überarbeit|formulier|verbesser|kürz|antwort|fass|verfass|entwirf|lies|schreib)\w*(?: \w+){{0,4}}? (?:{_TEXT}|(?:ins?|auf) (?:\w+e|deutsch|englisch)|zusammen|gegen)(?!\w)"
    rf"|(?<!\w){_TEXT}(?: \w+){{0,4}} (?:übersetzen|korrigieren|überarbeiten|umformulieren|umschreiben|glätten|verbessern|kürzen|gegenlesen|durchlesen|schöner schreiben)(?!\w)"
    rf"|(?<!\w)mach\w*(?: \w+){{0,3}}? (?:{_TEXT}|bewertung|anzeige|beschreibung)(?: \w+)? (?:hübsch|schön|nett|kurz|kürz|förmlich|höflich|lesbar)(?:er)?(?!\w)"
    rf"|(?<!\w)(?:trad[uú][cz]|corr[ií]g|mej[oó]r|red[aá]ct|reescr[ií]b|res[uú]m|resp[oó]nd|cont[eé]st|rev[ií]s|pul[ei]|escr[ií]b|arr[eé]gl|acort|arm)\w*(?: \w+){{0,4}}? (?:{_TEXT}|al? \w+)(?!\w)"
    r"|(?<!\w)(?:translate|übersetz\w*|trad[uú]c\w*)(?: (?:for me|please|pls|bitte|mal|mir|por favor|porfa))*(?= ?[:'‘\"“„«])"
    r"|(?<!\w)how (?:do|would|can) (?:you|i|we|they) say(?!\w)|(?<!\w)(?:correct|check|fix|improve) my (?:english|german|spanish|chinese|french|italian|grammar|spelling)"
    r"|(?<!\w)wie (?:sagt man|heißt)(?= ?[:'‘\"“„«])|(?<!\w)cómo se dice(?!\w)|怎么说[:：“]|用\w{1,4}怎么说"
    r"|翻译|翻譯|翻翻|[译譯翻](?:成|一下)|通顺|通順|改一?[封篇段份下]|改[个個](?:自我|[简簡][历歷]|文)|润色|潤色|改写|改寫|校对|校對|[写寫](?:一)?(?:封|篇|段|首|个|個)|回复|回覆|回信|总结|總結"
)
_OF_MEMORY = re.compile(
    r"(?<!\w)(?:down|memory|notes?|for me to remember|auf(?=\s*(?:$|[:.!?,]))|gedächtnis|notizen|memoria|notas|apunta\w*)(?!\w)|记下|記下"
)
# Who says what stands behind a colon, unless it is the one who speaks.
_SAYS = re.compile(
    r"(?<!\w)(?:said|says?|wrote|writes?|texted|replied|told|tells|orders|commands|begs|sings|sang|shouted|whispered|goes|reads"
    r"|sagte?|sagt|schrieb|schreibt|meinte?|antwortete|rief|stand|steht|befiehlt|befahl|singt|sang"
    r"|dijo|dice|decía|escribió|escribe|contestó|respondió|gritó|pone|ponía|ordena|pide|canta|cantaba)(?: \w+){0,3}?$|(?:写|寫|说|說|道|讲|講|回|唱|命令)(?:道|着|著|我|你)?$"
)
_I_SAY = re.compile(
    r"(?<!\w)(?:i|what i|ich|yo|te|as i|like i)(?: \w+){0,2} (?:said|say|wrote|told|sagte|sage|schrieb|meinte?|dije|digo|decía)(?!\w)|(?:^|[^说說])我(?:刚才|剛才|之前|想|要|来|來)?(?:说|說|讲|講)"
)
# A line of a chat or a mail: "Tom: …", "> …", "[mail] …", "老板：…". Words that lead to one's own are no name: "Sorry: …".
_TAGGED = re.compile(
    r"^[ \t]*+(?:>|\[[^\[\]\n]{1,40}\][ \t]*+\S|<[\w .-]{1,30}>[ \t]*+\S"
    r"|(?P<speaker>[^\W\d_][\w.'-]*+(?: [^\W\d_][\w.'-]*+){0,2})(?: ?[(\[][^()\[\]\n]{1,40}[)\]])?[ \t]*+[:：](?![/\d]|[ \t]*[\d+#]))",
    re.MULTILINE,
)
_IN_BRACKETS = re.compile(r"[ \t]*+[\[<]")
_NOBODY = re.compile(
    r"(?:(?:and|but|oh|und|aber|y|pero) )?(?:(?:my|one|mein\w*|mi|un[ao]?|noch|eine?|great|small|kleine|letzte|last|quick) )*+(?:notes?|ps|nb|edit|sorry|updates?|corrections?|important|urgent|also|actually|btw|fyi|please|pls|plz|requests?|reminders?|questions?|warning"
    r"|wait|ok|okay|so|no|yes|s[ií]|hey|hi|hello|thanks|listen|tldr|privacy|memory|assistant|ai|bot|computer|reverie|to ?do|task|wish|favou?r|thing|order|private|confidential|forget|remember|delete|remove"
    r"|(?:\w+[- ])?(?:pin|iban|codes?|passw\w*|salary|income|address|phone|number|e-?mail|birthday|name|age|weight|diagnosis|gehalt|kennwort|adresse|\w*nummer|telefon|geburtstag|diagnose|clave|contraseña|sueldo|direcci[oó]n|tel[eé]fono|nombre|edad)"
    r"|.{0,4}(?:密码|口令|工资|地址|电话|号码?|生日|名字|年龄|体重|诊断)|nachtrag|notiz|hinweis|wichtig|bitte|korrektur|übrigens|achtung|frage|wunsch|aufgabe|also|nein|ja|moment|entschuldigung|danke|merke|privat|vertraulich|gedächtnis|ki|assistent|was|außerdem|vergiss|lösch\w*"
    r"|nota|aviso|rectifi\w+|corri[gj]\w+|importante|correcci[oó]n|por favor|porfa|favor|perd[oó]n|pregunta|recordatorio|petici[oó]n|oye|adem[aá]s|gracias|privado|memoria|asistente|ia|cosa|posdata|olvida\w*|borra\w*"
    r"|.{0,3}(?:对了|注意|声明|重要|补充|更正|麻烦|拜托|请|抱歉|不好意思|还有|另外|备注|备忘|助手|秘密|隐私|件事|[记忘删]).{0,4}|事)(?!\w).{0,12}",
    re.DOTALL,
)
_OF_ONESELF = re.compile(
    r"(?<!\w)(?:i|my|we|our|ich|mein\w{0,2}|wir|unser\w{0,2}|yo|mi|mis|soy|estoy|nosotros|nuestr[oa]s?)(?!\w)|[我俺咱]"
)
# What a bio is made of is true of its writer: "Write me a short bio: I'm Sam, …".
_ABOUT_ONESELF = re.compile(
    r"(?<!\w)(?<!her )(?<!his )(?<!their )(?<!ihre )(?<!ihren )(?<!seine )(?<!seinen )"
    r"(?:bios?|cv|resume|résumé|profile|cover letter|about (?:me|myself|my)|lebenslauf|steckbrief|bewerbung|über mich"
    r"|currículum|biografía|sobre mí|presentación)(?!\w)|简历|簡歷|自我介绍|自我介紹"
)
_TASK_OF_BIO = re.compile(
    r"(?<!\w)(?:write|draft|compose|create|make|schreib\w*|verfass\w*|entwirf|escrib\w*|escríb\w*|redact\w*)(?: [\w-]+){0,4}? "
    r"(?:bios?|cv|resume|résumé|profile|summary|cover letter|lebenslauf|steckbrief|bewerbung|profil|currículum|biografía|presentación|perfil)(?!\w)"
    r"|[写寫][^。！？\n]{0,6}(?:简历|簡歷|自我介绍|自我介紹)"
)
_BEGINS_WITH_ONESELF = re.compile(
    r"\s*(?:(?:i|i'm|im|my|ich|mein\w{0,2}|yo|mi|me llamo|soy|tengo|vivo|trabajo)(?!\w)|我)"
)
# Who speaks to somebody else without a colon: "er sagte ich liebe dich und ich wohne bei dir".
_SAID_TO = re.compile(
    r"(?<!\w)(?:he|she|er|sie|él|ella) (?:said|says|sagt|sagte|meinte|schrieb|dijo|dice)(?: (?:to me|zu mir))?,? (?:i|ich|yo|te) [^.!?\n]{0,60}?(?<!\w)(?:you|dich|dir|dein\w{0,2}|ti|contigo)(?!\w)[^.!?\n]{0,80}"
)
_COLON = re.compile(r"[:：]\s*(?=\S)")
# A text in quotation marks may follow the words that ask for work on it.
_OPENING = re.compile(r"(?<!\w)['‘\"“„«](?=\w)")
_TOLD_OF = re.compile(r"(?<!\w)(?:i|we|he|she|they|you|who|to|ich|wir|er|sie|yo|él|ella) $")
_NEAR = 12
# A sentence that ends there may be followed by one of the user's: "Fix this in my profile."
_LINE_END = re.compile(r"(?<![.。!！\s])[ \t]*\n\s*(?=\S)|\n[ \t]*\n\s*(?=\S)")
_SENTENCE_BEGIN = re.compile(r"[.!?。！？\n]")
_SENTENCE_END = re.compile(r"[.!?](?=\s|$)|[。！？\n]")
# What asks for work stands so near to the beginning of the text, and a sentence in which somebody speaks is no longer.
_MOST_CHARS = 240
_MOST_OF_HAN_NAME = 4
_LEADS_TO_QUOTE = 60
_LEAST_WORDS, _LEAST_HAN = 5, 10


def others_words(message: str) -> list[Span]:
    """The spans of a message that are somebody else's words, from left to right. Takes time linear in the message."""
    return merged(
        sorted(
            [
                *(found.span() for found in _QUOTED.finditer(message)),
                *_worked_on(message),
                *_said(message),
                *_tagged(message),
            ]
        )
    )


def own_words(message: str) -> str:
    """What the writer of a message says in it: the message up to a text that it asks to work on, with an empty line in place of
    what somebody else says of themselves and of quoted texts. Takes time linear in the message."""
    end = next((start for start, _ in _worked_on(message)), len(message))
    task = message[max(0, end - _MOST_CHARS) : end]
    is_of_writer = _ABOUT_ONESELF.search(aligned(task)) is not None and not is_for_somebody_else(task)
    end = min(len(message) if is_of_writer else end, _bio_of_another(message), _in_another_language(message))
    said = [] if is_of_writer else [*_quoted(message[:end])]
    said += [span for span in _said(message[:end]) if _OF_ONESELF.search(aligned(message[slice(*span)])) is not None]
    said += [found.span() for found in _SAID_TO.finditer(aligned(message[:end]))]
    in_play = played(message[:end])
    pieces: list[str] = []
    done = 0
    for start, stop in merged(sorted([*said, *([in_play] if in_play is not None else [])])):
        pieces += [message[done:start], "\n\n".rjust(stop - start)]
        done = stop
    return "".join([*pieces, message[done:end]])


def _quoted(message: str) -> Iterator[Span]:
    """The texts that stand in quotation marks, which names and titles are too short for, but for what is to be kept."""
    for found in _QUOTED.finditer(message):
        is_text = len(found[0].split()) >= _LEAST_WORDS or sum(map(is_han, found[0])) >= _LEAST_HAN
        if (
            is_text
            and _TO_KEEP.search(aligned(message[max(0, found.start() - _LEADS_TO_QUOTE) : found.start()])) is None
        ):
            yield found.span()


def asks_for_work(message: str) -> bool:
    """Whether a message asks in its beginning for work on a text: "Write me a short bio." """
    return _TASK.search(opening := aligned(message[:_MOST_CHARS])) is not None and _OF_MEMORY.search(opening) is None


def own_statements(message: str) -> list[tuple[str, str]]:
    """The statements of a message, each with what of it are the words of the one who writes it ("" where none is)."""
    others = others_words(message)
    found: list[tuple[str, str]] = []
    first = 0
    for start, end in statement_spans(message):
        while first < len(others) and others[first][1] <= start:
            first += 1
        own, at, index = "", start, first
        while index < len(others) and others[index][0] < end:
            own += f"{message[at : max(at, others[index][0])]} "
            at, index = others[index][1], index + 1
        found.append((message[start:end], f"{own}{message[at:end]}".strip()))
    return found


def _worked_on(message: str) -> Iterator[Span]:
    """What stands behind words that ask for work on it: behind their colon, in quotation marks, or from the
    next line on."""
    opening = aligned(message[:_MOST_CHARS])
    task = _TASK.search(opening)
    if task is None:
        return
    ends = [found for each in (_COLON, _LINE_END) if (found := each.search(message, task.start(), _MOST_CHARS + 40))]
    # "I write letters to 'Amnesty'" asks for nothing.
    is_told = _TOLD_OF.search(opening, 0, task.start()) is not None
    if not is_told and (quoted := _OPENING.search(message, task.start(), task.end() + _NEAR)) is not None:
        ends.append(quoted)
    end = min(ends, key=lambda found: found.start(), default=None)
    # "Write this down: …" is to be kept.
    leading = "" if end is None else opening[task.start() : end.start()]
    if end is not None and not any(kept.search(leading) for kept in (_OF_MEMORY, _TO_KEEP)):
        yield end.end(), len(message)


def _bio_of_another(message: str) -> int:
    """Where a text begins in which somebody else says who they are, behind the sentence that asks for it: "Draft a dating
    profile for my brother. I'm 29." The end of the message where there is none."""
    opening = aligned(message[:_MOST_CHARS])
    task = _TASK_OF_BIO.search(opening)
    end = _SENTENCE_END.search(opening, task.end()) if task is not None else None
    if task is None or end is None or not is_for_somebody_else(message[task.start() : end.start()]):
        return len(message)
    return end.end() if _BEGINS_WITH_ONESELF.match(opening, end.end()) else len(message)


def _in_another_language(message: str) -> int:
    """Where a text begins, behind a colon, in another language than what leads to it. The end of the message where there
    is none."""
    colon = _COLON.search(message, 0, _MOST_CHARS + 40)
    if colon is None:
        return len(message)
    leading, text = (folded(part[:_MOST_CHARS]) for part in (message[: colon.start()], message[colon.end() :]))
    before = cues_of(leading, cues_of(text))
    after = cues_of(text, before)
    is_foreign = before is not None and after is not None and before.language != after.language
    return colon.end() if is_foreign else len(message)


def _said(message: str) -> Iterator[Span]:
    """What stands behind a colon behind which somebody else speaks: a sentence, or what begins on the next line."""
    said_to = 0
    for colon in _COLON.finditer(message):
        if colon.start() < said_to:
            continue
        first = max(0, colon.start() - _MOST_CHARS)
        begins = [found.end() for found in _SENTENCE_BEGIN.finditer(message, first, colon.start())]
        before = aligned(message[begins[-1] if begins else first : colon.start()]).rstrip()
        if _SAYS.search(before) is None or any(each.search(before) for each in (_I_SAY, _OF_MEMORY)):
            continue
        if remembered_from(f"{before}: "):
            # "I never know what to answer them, so hold on to this: …" is to be kept.
            continue
        end = None if "\n" in colon[0] else _SENTENCE_END.search(message, colon.end())
        said_to = len(message) if end is None else end.end()
        yield colon.end(), said_to


def _tagged(message: str) -> Iterator[Span]:
    """The lines that begin as those of somebody else in a chat or a mail."""
    for found in _TAGGED.finditer(message):
        speaker = found["speaker"]
        if speaker is not None and not _is_name(speaker):
            continue
        if _IN_BRACKETS.match(found[0]) and _NOBODY.fullmatch(aligned(found[0].strip(" \t[<"))) is not None:
            continue
        end = message.find("\n", found.end())
        yield found.start(), len(message) if end < 0 else end


def _is_name(speaker: str) -> bool:
    """Whether what stands before a colon names who speaks: one word, or some that all begin as names do."""
    words = speaker.split()
    if is_han(speaker[0]) and len(speaker) > _MOST_OF_HAN_NAME:
        return False
    is_capitalised = all(not word[0].islower() for word in words)
    return (is_capitalised or len(words) == 1) and _NOBODY.fullmatch(aligned(speaker)) is None
