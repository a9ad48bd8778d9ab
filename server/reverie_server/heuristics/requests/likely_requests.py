# ruff: noqa: E501  # a pattern stands on one line
"""Sentences that may ask to remember or to forget in words that no pattern has, and what they are about. Pure.

`request_model` says how likely a sentence asks. Its own words tell what it is about: those that speak for no request.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from reverie_server.heuristics.lasting import wants_a_text
from reverie_server.heuristics.requests.answer_style import is_of_style
from reverie_server.heuristics.requests.confidences import is_of_any_store
from reverie_server.heuristics.requests.errands import is_errand
from reverie_server.heuristics.requests.fact_requests import Request, aligned
from reverie_server.heuristics.requests.forget_requests import ForgetRequest, asks_contrary, everything_about
from reverie_server.heuristics.requests.memory_requests import Kind, clauses
from reverie_server.heuristics.requests.not_to_be_lost import is_not_to_be_lost
from reverie_server.heuristics.requests.request_model import (
    by_words,
    is_han,
    is_of_request,
    is_worth_a_vector,
    words_of,
)
from reverie_server.heuristics.small_talk import bare, meaningless_words

# Longer sentences are no requests; of a message so many are looked at.
_MAX_SENTENCE_CHARS, _MAX_SENTENCES, _MAX_PARTS = 300, 12, 6
_ENDS = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])|\n+")
_FEWEST_OF_CLAUSE = 3
_MAX_OF_NAME, _MAX_OF_HAN_NAME = 6, 8
_ENCLITIC = re.compile(r"\w{3}l[oa]s?$")
# Why something is to be remembered, behind the request.
_WHY = re.compile(
    r"\W*(?:(?:and|y|und) )?(?:(?:q|que|qué|porque|xq|pq|por si|as[ií]|para|pa|no vaya|si no|luego|because|cos|cause|so"
    r"|in case|otherwise|or|i always|i never|i keep|i'?ll|weil|damit|sonst|falls|nicht dass|denn|ich vergess"
    r"|ich verlier)(?!\w)|免得|不然|省得|怕|以免|万一|萬一|因为|因為|我(?:老|总|肯定|怕|又|三天))"
)
_THIS = re.compile(r"(?<!\w)esto(?!\w)")
# Nor does who keeps doing a thing: "I keep having to look it up".
_KEEPS_DOING = re.compile(
    r"(?<!\w)(?:i|we|you|he|she|it|they)(?:'ve|'ll| have| will)? (?:always |just |still )?(?:keeps?|kept) (?:on )?[a-z]{2,20}ing(?!\w)"
)
# Who forgets a thing asks nobody to: "and I forget everything that isn't a knee".
_FORGETS_ONESELF = re.compile(
    r"(?:(?<!\w)i(?:'m|'ve|'ll|'d)?(?: (?:always|never|often|usually|just|also|totally|completely|simply|sometimes"
    r"|even|still|almost|nearly|am|have|had|will|would|might|may|can't|won't|don't|didn't|keep|kept|tend|to)){0,3}"
    r" forg[eo]t(?:ten|ting|s)?(?!\w)"
    r"|(?<!\w)ich(?: (?:immer|ständig|oft|dauernd|manchmal|auch|nie|leider))?+ verg(?:esse?|aß)(?!\w)"
    r"|(?<!\w)verg(?:esse?|aß) ich(?!\w)"
    r"|(?<!\w)(?:ich hab|ich habe|ich hatte|habe? ich|hatte ich)(?: [\wäöüß]+){0,5} vergessen(?!\w)"
    r"|(?<!\w)(?:se )?me (?:lo |la |los |las )?olvid(?:o|é|a|an|ó|aba|aron)(?!\w)"
    r"|(?<!\w)(?:lo |la |siempre |nunca )*+olvid(?:o|é)(?!\w)"
    r"|(?<!\w)(?:(?:se )?me )?(?:he|había|ha|han) olvidado(?!\w)"
    r"|我(?:总是|總是|老是|经常|經常|常常|一直|总|總|老|又|都|就|也|差点|可能)?(?:会|會)?忘)[^,;:.!?，。；：！？]*+"
)
# Praise of the one who helps: "See, this is why I keep you."
_PRAISES = re.compile(
    r"\W*(?:\w+ )?(?:that's|this is|and that's) (?:exactly )?why i (?:keep|have|need|love|like|use) you\W*"
    r"|\W*(?:genau )?(?:dafür|deswegen|deshalb) (?:hab|habe|brauch|brauche|mag) ich dich(?: ja| doch)?\W*"
    r"|\W*(?:si )?(?:para|por) eso (?:te|lo|la) (?:tengo|quiero|guardo|necesito)(?: a (?:ti|vos|usted))?\W*"
    r"|(?:see |ves )?(?:if [^,]{1,30}, )?(?:also )?(?:be|stay|keep) quiet\W*"
)
_NOT_TO_KEEP = re.compile(
    r"forg[eo]t|keep|save|store|record|note|delet|eras|remov|vergiss|vergess|vergisst|lösch|streich|behalt|merk|speicher"
    r"|notier|olvid|borr|guard|apunt|anot|elimin|忘|删|刪|别|不要|当我"
)
# What one told, or a place where it is kept: of such words a sentence has one that asks for its being forgotten. A plan
# that fell through ("Aus Bremen wird nichts") is no request.
_OF_MEMORY = re.compile(
    r"(?<!\w)(?:i|i've|i have) (?:(?!was |were )\w+ )?(?:told|said|mentioned|wrote|written|shared|brought)(?!\w)"
    r"|(?<!\w)told you(?!\w)|memory|on file|logs?(?!\w)|remember|(?<!\w)(?:heard|hear|writ(?:e|ten|ing))(?!\w)"
    r"|(?<!\w)(?:wip|scrub|scratch|strike|drop|toss|bin|purg|clear|los|reset)(?:e|es|ed|ing|ting)?(?!\w)"
    r"|you(?:'ve| have) (?:got )?(?:about|on|down)(?!\w)|(?<!\w)take (?:it|that|this|them) out(?!\w)"
    r"|(?<!\w)du [^,.!?]{0,60}hast(?!\w)|(?<!\w)que (?:teng|tien)as?(?!\w)"
    r"|(?:can|should|must) go(?!\w)|get rid|between us|to yourself|gedächtnis"
    r"|(?<!\w)(?:weg|raus|tilg\w*|entfern\w*|wegwerfen|verschwinden|ausmisten|kübeln)(?!\w)|auf null"
    r"|(?<!\w)(?:gesagt|erzählt|verraten|anvertraut|erwähnt|gehört|(?:\w{1,6})?(?:ge)?schr(?:ie|ei)b\w*)(?!\w)"
    r"|unter uns|für dich|memoria"
    r"|(?<!\w)(?:dije|dicho|dich[oa]s?|conté|contado|solté|mencioné|o[ií]ste|oído|escrib\w+|escrit[oa]s?"
    r"|quita\w*|quíta\w*|saca\w*|sáca\w*|tira\w*|tíra\w*|vol[aá]\w*|elimin\w*|b[oó]rr\w*|desha(?:z|ce)\w*|resete\w+|vac[ií]a\w*"
    r"|de baja|entre nosotros)(?!\w)"
    r"|[留丢丟抹扔擦清消记記存]|[说說讲講聊提]的|[说說讲講提](?:过|過|了)|告诉|告訴|[写寫][下着著了]|[拿去弄][掉没沒]|没听|沒聽"
)
_COLON = re.compile(r"[:：]\s*(?=\w)")
_FEWEST_HAN, _FEWEST_OF_CONTENT = 2, 2
# Why something is to be forgotten.
_REASON = re.compile(
    r"(?<!\w)(?:before|because|since|in case|so that|unless|bevor|weil|damit|falls|ehe|sonst|porque|antes de|para que"
    r"|por si|no vaya|que si no)(?!\w)|因为|因為|免得|省得|不然|以免"
)
# What is put in the place of another is to be kept.
_REPLACES = re.compile(
    r"(?<!\w)(?:replac\w+|swap\w*|instead of|in place of|ersetz\w*|tausch\w*|an (?:die )?stelle"
    r"|statt (?:de[rsmn]|dies\w+)|sustitu\w+|reemplaz\w+|c[aá]mbia(?:l[oa]s?)?|en lugar de)(?!\w)|换掉|换成|替换|更新"
)
# What an assistant deletes for somebody is no memory: "delete the second paragraph", "remove that row from the table".
_OF_A_TASK = re.compile(
    r"(?<!\w)(?:delet|remov|eras|clear|wip|bin|trash|drop|cut|take|tak)(?:e|es|ed|ing)?(?: \w+){0,4}? (?:photo|picture|image|video|file|folder"
    r"|paragraph|row|column|table|e-?mail|draft|slide|page|tab|branch|attachment|reminder|alarm|playlist|app|download|screenshot|comma|footnote|shopping list)s?(?!\w)"
    r"|(?<!\w)(?:lösch|entfern|streich|nimm|wirf)\w*(?: \w+){0,4}? (?:\w*foto|\w*bild|video|datei|ordner|absatz|zeile|spalte|tabelle|e-?mail|mail|entwurf|folie"
    r"|seite|anhang|erinnerung an|wecker|playlist|app|fußnote|komma|einkaufsliste)(?:s|n|en|er|e)?(?!\w)"
    r"|(?<!\w)(?:borr|elimin|quit|suprim|tach)\w*(?: \w+){0,4}? (?:fotos?|imagen(?:es)?|v[ií]deos?|archivos?|carpetas?|p[aá]rrafos?|filas?|columnas?|tablas?|correos?|borrador"
    r"|diapositivas?|p[aá]ginas?|l[ií]neas?|adjuntos?|recordatorios?|alarmas?|app|carteles?)(?!\w)"
    r"|(?<!\w)(?:cartel|lista de la compra)(?: \w+){0,2} (?:borr|elimin|quit|suprim|tach)\w*"
    r"|(?:[删刪]|去掉)\S{0,8}(?:照片|图片|圖片|视频|影片|文件|檔案|文件夹|段落|第.段|那段|行|列|表格|邮件|郵件|草稿|幻灯片|页|附件|提醒|闹钟)"
    r"|(?:照片|图片|圖片|视频|文件|檔案|段落|第.段|第.章|表格|邮件|郵件|草稿|附件|提醒|闹钟|清单|清單|记事本|名单|名單)[^，。,.!?！？]{0,16}[删刪划]"
    r"|第.章[^。!?！？]{0,24}[删刪]"
)
_TOLD = re.compile(
    r"(?<!\w)(?:told|said|mentioned|memory|notes|records|gesagt|erzählt|gedächtnis|notizen|dije|dicho|conté|memoria|notas)(?!\w)|[说說讲講]|记忆|記憶"
)
# What stands for something that was said just before.
_POINTS = re.compile(
    r"(?<!\w)(?:that|this|it|those|das|dies\w*|es|eben|gerade|vorhin|letzte[ns]?|eso|esto|ese|esa|lo|la|últim[oa]|just)(?!\w)"
    r"|[这那這它]|刚|剛|上面|前面"
)


@dataclass(frozen=True, slots=True)
class LikelyRequest:
    """A sentence of a message that may ask for something, by its number among them, and those of its parts that may."""

    sentence: str
    number: int
    parts: tuple[str, ...]


def likely_requests(kind: Kind, sentences: Sequence[str]) -> list[LikelyRequest]:
    """The sentences of a message that may ask for it."""
    found: list[LikelyRequest] = []
    for number, sentence in enumerate(sentences):
        if len(sentence) > _MAX_SENTENCE_CHARS or asks_contrary(sentence):
            continue
        if kind == "forget" and (_REPLACES.search(plain := aligned(sentence)) or _is_of_a_task(plain)):
            continue
        parts = tuple(part for part in parts_of(sentence) if _may_ask(kind, part))[:_MAX_PARTS]
        if parts:
            found.append(LikelyRequest(sentence, number, parts))
    return found[:_MAX_SENTENCES]


def _is_of_a_task(plain: str) -> bool:
    """Whether what is to be deleted is a thing of its own, and nothing that was told."""
    return _OF_A_TASK.search(plain) is not None and _TOLD.search(plain) is None


def _may_ask(kind: Kind, part: str) -> bool:
    """Whether a part of a sentence may ask for it, beside what it says of the forgetting of the one who speaks."""
    plain = aligned(part)
    if not is_worth_a_vector(kind, part) or (kind == "remember" and _asks_otherwise(plain)):
        return False
    # "Vergiss mir das ja nich" has the words of the contrary.
    if kind == "forget" and is_not_to_be_lost(part):
        return False
    if kind == "remember" and _KEEPS_DOING.search(plain) is not None:
        return _NOT_TO_KEEP.search(_KEEPS_DOING.sub(" ", plain)) is not None
    if kind != "forget" or _FORGETS_ONESELF.search(plain) is None:
        return True
    return _NOT_TO_KEEP.search(_FORGETS_ONESELF.sub(" ", plain)) is not None


def _asks_otherwise(plain: str) -> bool:
    """Whether a part of a sentence asks how a text is to be, or for one, or praises: it asks to keep nothing."""
    return (
        is_of_style(plain) or is_errand(plain) or wants_a_text(plain) or _PRAISES.fullmatch(plain.strip()) is not None
    )


def names_forgetting(sentence: str) -> bool:
    """Whether a sentence has a word for keeping or deleting."""
    return _NOT_TO_KEEP.search(aligned(sentence)) is not None


def speaks_of_forgetting(sentence: str) -> bool:
    """Whether a sentence has a word for keeping or deleting, or for what was told."""
    plain = aligned(sentence)
    return _NOT_TO_KEEP.search(plain) is not None or _OF_MEMORY.search(plain) is not None


def sounds_like_forgetting(sentence: str) -> bool:
    """Whether a sentence, by its words alone, rather asks to forget something than states it: of the statements that
    talks ask to forget one in a hundred does, of the requests three of four."""
    return any(by_words("forget", part) > 0 for part in parts_of(sentence[:_MAX_SENTENCE_CHARS]))


def parts_of(sentence: str) -> list[str]:
    """A sentence and its clauses, each once: what a person asks may be one of many."""
    found = [sentence]
    for part in _ENDS.split(sentence):
        spans = clauses(part)
        cut = [part[start:end].strip() for start, end in spans] if len(spans) > 1 else []
        found += [part.strip(), *(each for each in cut if len(words_of(each)) >= _FEWEST_OF_CLAUSE)]
    return list(dict.fromkeys(each for each in found if each))


def forgetting_asked(said: Sequence[str], likely: LikelyRequest, language: str) -> ForgetRequest:
    """What one of the sentences of a message asks to forget, given that it does: the kind is `told`."""
    sentence = likely.sentence
    asking, others = "", [""]
    for part in filter(str.strip, _ENDS.split(sentence)):
        cut = [part[start:end] for start, end in clauses(part)] or [part]
        clause = max(cut, key=lambda each: by_words("forget", each))
        if not asking or by_words("forget", clause) > by_words("forget", asking):
            asking, others = clause, [each for each in cut if each is not clause]
    reason = _REASON.search(aligned(asking))
    topic = topic_of(asking[: reason.start()] if reason else asking, language)
    has_content = any(
        not is_worth_a_vector("forget", other)
        and not is_of_any_store(other)
        and len(topic_of(other, language).split()) >= _FEWEST_OF_CONTENT
        for other in others
    )
    before, after = tuple(said[: likely.number]), tuple(said[likely.number + 1 :])
    if of_whom := topic_of(everything_about(sentence), language):
        return ForgetRequest("topic", sentence, of_whom, before, after)
    return ForgetRequest("told", sentence, topic, before, after, has_content=has_content)


def remembering_asked(sentence: str) -> Request:
    """What a sentence asks to remember, given that it does: what its clauses before or behind the request say, itself
    where it is in one clause with words of its own, or else what was said before it, which it may name.
    """
    spans = _clauses_of(sentence)
    asking = max(spans, key=lambda span: by_words("remember", sentence[span[0] : span[1]]))
    before = [span for span in spans if span < asking]
    plain = aligned(sentence)
    behind = [
        span for span in spans if span > asking and (_WHY.match(plain, *span) is None or _is_told(plain, asking, span))
    ]
    is_pointing = _points(sentence, [asking])
    # "What I said of the lock, keep it" says nothing of the lock.
    told = before if not _points(sentence, before) or not _is_short(sentence, before) else []
    if _says_something(sentence, told):
        is_whole = _says_something(sentence, behind) or (_says_something(sentence, [asking]) and not is_pointing)
        return Request("inside", 0, len(sentence)) if is_whole else Request("inside", told[0][0], told[-1][1])
    if _says_something(sentence, behind):
        is_own = _says_something(sentence, [asking])
        return Request("inside", 0 if is_own else behind[0][0], len(sentence) if is_own else behind[-1][1])
    if _says_something(sentence, [asking]) and not is_pointing and told is before:
        return Request("inside", 0, len(sentence))
    return Request("before", len(sentence), len(sentence))


def _is_told(plain: str, asking: tuple[int, int], behind: tuple[int, int]) -> bool:
    """Whether "que" tells what is to be kept, and not why: "téngame esto presente, que Sara es alérgica"."""
    return plain[slice(*behind)].startswith("que ") and _THIS.search(plain, *asking) is not None


def _clauses_of(sentence: str) -> list[tuple[int, int]]:
    """Where the clauses of a sentence are; where it asks before a colon, what stands on either side of that."""
    colon = _COLON.search(sentence)
    if colon is not None and is_worth_a_vector("remember", sentence[: colon.start()]):
        # "You are my memory for this: …".
        return [(0, colon.start()), (colon.end(), len(sentence))]
    found: list[tuple[int, int]] = []
    start = 0
    for end in [*(mark.start() for mark in _ENDS.finditer(sentence)), len(sentence)]:
        found += [(start + first, start + last) for first, last in clauses(sentence[start:end])]
        start = end
    return found or [(0, len(sentence))]


def _points(sentence: str, spans: Sequence[tuple[int, int]]) -> bool:
    """Whether clauses have a word for what was said before, also at the end of a verb ("guárdalo")."""
    said = "".join(sentence[start:end] for start, end in spans)
    return points_back(said) or any(
        _ENCLITIC.search(aligned(word)) is not None and is_of_request("remember", word) for word in words_of(said)
    )


def _is_short(sentence: str, spans: Sequence[tuple[int, int]]) -> bool:
    """Whether clauses have no more words than name a thing."""
    said = words_of("".join(sentence[start:end] for start, end in spans))
    return len(said) <= (_MAX_OF_HAN_NAME if any(map(is_han, said)) else _MAX_OF_NAME)


def _says_something(sentence: str, spans: Sequence[tuple[int, int]]) -> bool:
    """Whether clauses have words of their own, beside those of a request."""
    said = "".join(sentence[start:end] for start, end in spans)
    own = [word for word in words_of(said) if not is_of_request("remember", word) and (is_han(word) or len(word) > 1)]
    return len(own) >= _FEWEST_OF_CONTENT + sum(map(is_han, own)) // _FEWEST_HAN


def points_back(sentence: str) -> bool:
    """Whether a sentence has a word for what was said just before."""
    return _POINTS.search(aligned(sentence)) is not None


def topic_of(text: str, language: str, kind: Kind = "forget") -> str:
    """The words of a request that say what it is about; "" where all are of the request, or carry no meaning."""
    without_meaning = meaningless_words(text, language).anywhere
    found: list[str] = []
    run = ""
    for word in words_of(text):
        is_own = is_of_request(kind, word)
        if is_han(word):
            run = "" if is_own else run + word
            if len(run) == _FEWEST_HAN:
                found.append(run)
            elif len(run) > _FEWEST_HAN:
                found[-1] = run
            continue
        run = ""
        if not is_own and len(word) > 1 and bare(word) not in without_meaning:
            found.append(word)
    return " ".join(found)
