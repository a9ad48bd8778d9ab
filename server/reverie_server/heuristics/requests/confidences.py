# ruff: noqa: E501  # a pattern stands on one line
"""Words by which somebody says that what they tell is for nobody else, and what a request to forget is about. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from reverie_server.heuristics.requests.fact_requests import aligned
from reverie_server.heuristics.requests.forget_requests import last_statement
from reverie_server.heuristics.requests.going_on import goes_on
from reverie_server.heuristics.requests.secrecy import is_private
from reverie_server.text.questions import is_question
from reverie_server.text.statement_spans import is_statement

_TO_BE_TOLD = re.compile(
    r"(?<!\w)(?:what i(?:'m| am) (?:about|going) to (?:tell|say)|(?:i'll|i will|i'm going to|let me) tell you (?:something|this)|here (?:goes|comes)|what (?:comes|follows)(?: now| next)?|(?:the|my) (?:next|following|coming) (?:thing|bit|line|part|message|sentence)"
    r"|was (?:jetzt|nun|gleich|als nächstes) kommt|(?:jetzt|nun|gleich) (?:kommt )?(?:was|etwas|mal was)|(?:was|wovon) ich dir (?:jetzt|gleich|nun)"
    r"|(?:das|der) (?:nächste|folgende|kommende)|lo (?:próximo|siguiente) que|(?:te |os |le )?voy a (?:contar|decir|confesar)(?:te|le|os)?|(?:ahora|ahí) va(?: una| algo)?)(?!\w)"
    r"|接下来|下面|以下|[我]?(?:要|想)(?:跟|和|对)你(?:说|讲)"
)
_TIME = (
    r"(?<!\w)(?:the other (?:day|night|morning|afternoon|evening|week)|last (?:night|week|month|time|\w+day)|yesterday"
    r"|(?:days|weeks|months|a while|some time) (?:ago|back)|earlier this (?:week|month)"
    r"|neulich|letztens|kürzlich|gestern|vorgestern|letzte[nsr]? (?:mal|woche|monat|nacht)|vor (?:\w+ )?(?:\w+ )?(?:tagen|wochen|monaten)"
    r"|(?:montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag)\w*"
    r"|la otra (?:noche|tarde|mañana|semana|vez)|el otro día|ayer|anteayer|anoche|la (?:semana|vez) pasada"
    r"|el (?:lunes|martes|miércoles|jueves|viernes|sábado|domingo|mes) pasado|hace (?:\w+ )?(?:\w+ )?(?:días|semanas|meses|tiempo))(?!\w)"
    r"|上(?:个?(?:星期|礼拜|月)|周|週)[一二三四五六日天]?|昨[天晚]|前(?:[天几]|些天|阵子|陣子|一阵|段时间)|那天|上[次回]"
)
_ANOTHER_DAY = re.compile(_TIME)
_JUST_NOW = re.compile(
    r"(?<!\w)(?:just (?:said|told|typed|wrote|mentioned|shared)|(?:eben|gerade|soeben)(?: \w+){0,3}? (?:gesagt|erzählt|geschrieben|verraten|getippt)"
    r"|was (?:ich|i) (?:dir )?(?:da )?(?:eben|gerade?|soeben)|acab\w+ de (?:cont|dec|solt|escrib|mand|pon)\w+|recién (?:te )?(?:conté|dije|escribí|solté|mandé))(?!\w)"
    r"|[刚剛][才刚剛]?我?(?:[跟和对對给給向][你您])?[说說讲講提告写寫聊]"
)
# "That last bit" is the last statement, whatever else was said before it.
_LAST = re.compile(
    r"(?<!\w)(?:that|the|this|my) (?:very )?last (?:one|bit|thing|part|sentence|line|remark|comment|statement|message)(?!\w)"
    r"|(?<!\w)(?:das|den|diesen) letzten?(?: (?:satz|teil|punkt))?(?!\w)(?! mal)"
    r"|(?<!\w)(?:meine[nr]?|diese[nr]?|die) letzten? (?:bemerkung|äußerung|aussage|mitteilung|zeile|nachricht|satz)(?!\w)"
    r"|(?<!\w)(?:eso|esto|lo) [uú]ltimo(?!\w)|(?<!\w)(?:(?:mi|ese|el) [uú]ltimo (?:comentario|mensaje)|(?:mi|esa|la) [uú]ltima (?:frase|parte|línea|cosa))(?!\w)"
    r"|(?:最后|[刚剛][刚剛才]?|上)[那这]?一?[句条]|(?:^|[，,。 ]|把)[那这]一?句(?!.{0,12}的)|[刚剛][刚剛才][那这]个(?!.{0,12}的)"
)
_ANY_STORE = re.compile(
    r"(?<!\w)(?:memory|anywhere|nowhere|on file|your (?:notes|records|logs)|nirgend\w*|gedächtnis|speicher|auftauch\w*"
    r"|memoria|(?:ning[uú]n|ninguna) (?:lado|sitio|parte)|(?:tus|los) (?:notas|registros))(?!\w)|记忆|記憶|哪(?:里|儿)都|任何地方"
)
_OF_TALK = re.compile(
    r"(?<!\w)(?:her|him|it|them|she|he|they|that|this|ihr|ihm|ihn|sie|es|das|darüber|damit|l[oea]s?|ella|él|eso|esto)(?!\w)"
    r"|[她他它这那]"
)
_DIGIT_OR_NAME = re.compile(r"\d|(?<=\w )[A-ZÄÖÜÁÉÍÓÚÑ]")
_HAN = re.compile("[\u3400-\u9fff]")
_MAX_REPLY_WORDS, _MAX_REPLY_HAN = 5, 8
# So many sentences go on from the one that was announced.
_MAX_TOLD = 20


def is_to_be_told(sentence: str) -> bool:
    """Whether a sentence says that what it speaks of comes next."""
    return _TO_BE_TOLD.search(aligned(sentence)) is not None


def is_of_another_day(sentence: str) -> bool:
    """Whether a sentence speaks of what was said on another day."""
    return _ANOTHER_DAY.search(aligned(sentence)) is not None


def is_told_just_now(sentence: str) -> bool:
    """Whether a sentence speaks of what was said last."""
    return _JUST_NOW.search(aligned(sentence)) is not None


def says_last(sentence: str) -> bool:
    """Whether a sentence means the last thing that was said, and says so."""
    return _LAST.search(aligned(sentence)) is not None


def is_of_any_store(sentence: str) -> bool:
    """Whether words speak of where things are kept: "I don't want it turning up anywhere"."""
    return _ANY_STORE.search(aligned(sentence)) is not None


def told_next(after: Sequence[str]) -> list[str]:
    """The statement that follows a request, with those that go on from it, so many; what states nothing is passed over."""
    found: list[str] = []
    for sentence in after:
        if len(found) == _MAX_TOLD or (found and not goes_on(sentence)):
            break
        if found or is_statement(sentence) or is_private(sentence) or _DIGIT_OR_NAME.search(sentence):
            found.append(sentence)
    return found


def confided(messages: Sequence[Sequence[str]]) -> list[str]:
    """What the newest message that states something tells, where it says that this is in confidence. `messages` are by their
    sentences, the newest first."""
    newest = next((sentences for sentences in messages if last_statement(sentences)), ())
    if not any(map(is_private, newest)):
        return []
    return [each for each in newest if not is_question(each)]


def confided_once(messages: Sequence[Sequence[str]]) -> list[str]:
    """What the one of some messages tells that says it does so in confidence; nothing where it is not one alone."""
    private = [sentences for sentences in messages if any(map(is_private, sentences))]
    return [each for each in private[0] if not is_question(each)] if len(private) == 1 else []


def leans(sentences: Sequence[str], request: str, answer: str) -> bool:
    """Whether what stands before a request in its message only replies to what was said before.

    It takes up somebody or something of it, and the request wants it gone wherever it is; or it is a few words behind a
    question of the assistant's.
    """
    stated = last_statement(sentences)
    if not stated:
        return False
    if is_of_any_store(request) and all(_OF_TALK.search(aligned(each)) for each in stated):
        return True
    is_reply = all(_is_few_words(each) for each in sentences if is_statement(each))
    return is_reply and is_question(answer)


def _is_few_words(sentence: str) -> bool:
    """Whether a sentence is no more than a reply, without a name or a number."""
    is_short = len(sentence.split()) <= _MAX_REPLY_WORDS and len(_HAN.findall(sentence)) <= _MAX_REPLY_HAN
    return is_short and not _DIGIT_OR_NAME.search(sentence)
