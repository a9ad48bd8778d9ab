# ruff: noqa: E501  # a pattern stands on one line
"""Requests to forget, said in a conversation: what each is about. Pure.

A whole sentence that asks for it counts, or a clause of a sentence in the words of `memory_requests`. "Forget it, let's
move on", "don't forget to …" and "I forgot that" ask for nothing of the kind.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from reverie_server.heuristics.cues import folded
from reverie_server.heuristics.requests import forget_phrases, plain_forget_phrases
from reverie_server.heuristics.requests.fact_requests import aligned
from reverie_server.heuristics.requests.going_on import goes_on, only_assents
from reverie_server.heuristics.requests.looks_like_forgetting import is_for_task, only_looks_like_it, told_topic
from reverie_server.heuristics.requests.memory_requests import any_verb, clauses, is_idle, read_request
from reverie_server.heuristics.requests.not_to_be_kept import contrary_start
from reverie_server.heuristics.requests.secrecy import only_confides
from reverie_server.heuristics.requests.spelled_out import spelled_out
from reverie_server.heuristics.requests.text_at_hand import is_of_text_at_hand
from reverie_server.heuristics.requests.words_of_others import own_statements
from reverie_server.heuristics.simplified import simplified
from reverie_server.text.questions import is_question
from reverie_server.text.statement_spans import is_statement

# Longer messages and sentences are no requests.
MAX_CHARS, _MAX_SENTENCE_CHARS = 4_000, 300
_MARKS = " \t\r\n.!?…。！？,，\"'”“¡¿～~"
_MORE = (forget_phrases.ENGLISH, forget_phrases.GERMAN, forget_phrases.SPANISH, forget_phrases.CHINESE)
_BY_KIND = {"topic": 0, "nearby": 0, "next": 1, "message": 2, "previous": 3, "own": 4, "told": 5}
# What names a thing is tried first, and what is about the sentence itself last.
_PATTERNS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), kind) for table in plain_forget_phrases.TABLES for pattern, kind in table
)
_MORE_PATTERNS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), kind)
    for pattern, kind in sorted((each for table in _MORE for each in table), key=lambda each: _BY_KIND[each[1]])
)
_TOLD, _UNWANTED = re.compile(forget_phrases.TOLD), re.compile(forget_phrases.UNWANTED)
_ADDRESSED = re.compile(forget_phrases.ADDRESSED)
_EVERYTHING, _WANTED_GONE = re.compile(forget_phrases.EVERYTHING), re.compile(forget_phrases.WANTED_GONE)
_PRONOUN, _NOT_FOR_STORE = re.compile(forget_phrases.PRONOUN), re.compile(forget_phrases.NOT_FOR_STORE)
_BARE = re.compile(forget_phrases.BARE)
_FEWEST_TOPIC_CHARS = 2
# "What I told you about what my sister went through", "das mit dem Gehalt", "lo de la pedida".
_NAMES = re.compile(
    r"(?<!\w)(?:what(?:ever)?|(?:that|everything|all)(?= i(?!\w))|(?:the|that) (?:thing|stuff|bit|part|story|business|matter)s?)(?: i(?:'ve| have)?"
    r"(?: \w+){0,2}? (?:told|said|mentioned|shared|wrote|typed|let)(?: \w+){0,3}?)? (?:about|regarding|concerning|with)"
    r" (?!(?:it|that|this|them|him|her|you|us|immediate|no|all|everything)(?!\w))\w"
    r"|(?<!\w)(?:das|die (?:sache|geschichte)|was ich (?:dir )?(?:\w+ ){0,3}?)(?: (?:da|eben|vorhin|neulich))? ?(?:mit|über|von|vom|zum|wegen)"
    r" (?!(?:dir|mir|ihm|ihr|ihnen|euch|uns|eben|gerade|vorhin|gestern|heute|neulich|jetzt|sofortiger|da|dem da)(?!\w)|(?:deine[mnr]?|de[mnr])? ?(?:speicher|gedächtnis|notizen|liste|kopf))\w"
    r"|(?<!\w)(?:eso|lo)(?: que (?:te |os |le )?+(?!acab)(?:\w+ ){1,4}?)? ?(?:de|del|sobre|con) (?!(?:eso|esto|ello|antes|ahora|ayer|hoy|anoche|ahí|aquí|allí|todo|ti|tus?)(?!\w)|(?:la|las|los|mi|mis)? ?(?:memoria|notas|apuntes|registros?|libreta|historial))\w"
)
# A time, or a place where things are kept, is nothing that was told.
_NO_THING = re.compile(
    r"(?:(?:las?|los|el|tus?|mis?|der|die|das|dem|den|deine[mnr]?|the|your|my) )*+(?:memoria|notas|apuntes|registros?|libreta|historial|ahí|aquí|hoy|ayer|anoche|antes"
    r"|speicher|notizen|gedächtnis|liste|kopf|heute|gestern|vorgestern|neulich|eben|vorhin|memory|notes|records?|list|head|here|there|today|yesterday|earlier|immediate effect"
    r"|sofortiger wirkung|sicherheit)|(?:去年|昨天|今天|前天|上次|刚才|之前)?(?:跟你|和你)?[说讲提]?"
)
# "刚才唐倩身体的那件事" names what was told, and when.
_WHEN_TOLD = re.compile(
    "^(?:刚才|剛才|刚刚|剛剛|前面|上面|之前|我|你|跟|和|说的|說的|讲的|講的|提的|提过的?|提過的?)++"
)
# "Das mit dem Urlaub kann ich streichen" asks nobody.
_TOLD_OF_ONESELF = re.compile(
    r"(?<!\w)(?:kann|muss|will|werde|darf|soll|sollte|möchte|können|müssen|wollen|werden|sollten|dürfen) (?:ich|wir)(?! (?:hier |da |das )?(?:nirgends|nirgendwo|nicht|bitte|wieder))(?!\w)"
    r"|(?<!\w)(?:i|we) (?:(?:had|have|need|want|wanted|got|decided|tried) to|'?ll|will|must|should) (?:remove|delete|erase|cut|drop|scrap|strike|lose|take)(?!\w)"
)
# "The bit about prices in the report" is a part of something else than what was told.
_PART_OF_ANOTHER = re.compile(
    r"(?<!\w)(?:from|in|of|on) (?:the|my|our|this|that|his|her|their|a) (?:\w+ )?(?:report|draft|e-?mail|mail|letter|book|film|movie|text|document|essay|story|script|presentation|slides?|speech|page|code|article|post|list|chapter|thesis|paper|contract|menu|website|recipe|song|poem|whiteboard|board)s?(?!\w)"
)
_ASKS_FOR = re.compile(
    r"(?<!\w)(?:(?:could|can|would|will) (?:you|we)|(?:kannst|könntest|würdest|magst) du|(?:können|könnten) wir|puedes|podrías|me (?:borras|quitas|sacas|olvidas)|"
    r"(?:ja|ok|okay|verstanden|klar|gut|vale|s[ií]|de acuerdo|right|understood|got it)\?)|能不能|可以|你能|好吗|行吗"
)
_REGRET = re.compile(
    rf"(?:[^,，;]{{0,12}}[ ,，]++)?(?:[这那](?:话|事|句|件事))?{forget_phrases.REGRET}[^,，;–—:]{{0,80}}[,，;–—:]++[ ]*+"
)
# "Forget that, I shouldn't have said it."
_REGRET_BEHIND = re.compile(
    rf"[,，;–—:] ?(?:{forget_phrases.REGRET}|i wasn't (?:supposed|meant) to|(?:it|that)(?:'s| is| was|'s not| isn't| wasn't| is not| was not) (?:not )?mine to"
    r"|das (?:hätte|darf|durfte|sollte) ich|(?:eso |yo )?no deber[ií]a|no es (?:cosa|asunto) m[ií][oa]|那是(?:秘密|私事))[^,，;–—:]{0,80}$"
)
# Of "my salary please" the topic is the salary.
_TOPIC_TAIL = re.compile(
    r"(?:^|(?<=\s))(?:please|again|bitte|wieder|por favor|porfa|yesterday|earlier|gestern|vorhin|ayer|antes|for now)$|(?:的事情|的事|这件事|的)$"
)
_POINTS = re.compile(
    r"(?:eben|gerade|vorhin)(?: |$)|这|那|刚|剛|上面|前面|下面|以下|它|(?:that|this|what|eso|esto|lo que|das) ?(?:last|just)?(?: |$)"
)
_TITLE, _DIGIT = re.compile(r"(?<!\w)(dr|dra|mr|mrs|ms|prof|st|sr|sra|hr|fr|nr)\.(?= )"), re.compile(r"\d")
_LATER = re.compile(
    r"for (?:now|a (?:moment|second|minute|while|bit)|today)$|por ahora$|por un (?:rato|momento)$|fürs erste$"
)
# A sentence without one of these words asks for nothing of the kind.
_ANY = re.compile(
    r"forget|4get|frget|vergi|vagiss|erase|delete|unlearn|scrub|wipe|don't|dont|do not|never|vergiss|vergessen|lösch|nicht|olvid|olvíd|borr|bórr|elim|quit|saca|suprim|remov|strike|\bdrop\b|pretend|act |memory|notes|record|n't |not |nirgend|rather|no need|keep|leave|streich|entfern|tilge|nimm|tu |nunca|que no|haz |has |hag|forgotten|cross out|can go|unsaid|sácal|sacal|get rid|unremember|clear |scrap|purge|\bweg\b|\braus\b|\bno\b|ungeschehen|schmeiß|schmeiss|\bnie\b|quít|tach|tách|retir|fuera|come out|vanish|disappear|verschwind|verloren|ni se te ocurra|tienen? que|desaparec|deber[ií]a"
    r"|忘|删|刪|不|甭|别|別|勿|当我|當我|抹|清|去掉|没说|擦|oubli|efface|pas\b"
)
_NEVER = re.compile(
    r"(?:don't|do not|dont) (?:you )?(?:ever )?(?:let me )?(?:forget|lose)|do not forget|dont forget|never forget|vergiss (?:bitte |ja |mir )?nicht|nicht vergessen|(?<!\w)no (?:te |se |me )?(?:lo )?olvid|\bno olvid"
    r"|别(?:给我|再)?忘|別忘|不要忘|不能忘|不会忘|没忘|别删|不要删|n'oublie"
)
_LET_BE = re.compile(
    r"(?:(?:ach|oh|ok|okay|na|nah|ah|bah|bueno|nada|哎|唉)[ ,]++)*+(?:forget (?:about )?it|never ?mind|vergiss(?: es|'s)|schon gut|egal|olv[ií]dalo"
    r"|olvidate|no importa|da igual|déjalo|dejalo)(?!\w)(?! (?:ever|all|entirely|completely|please|por favor|bitte))|算了(?!.*[删刪忘记記划抹擦清])(?!.*当我没)"
)
# What is never a topic: "forget what I said about it" names nothing.
_NO_TOPIC = frozenset(
    {"it", "that", "this", "them", "das", "es", "eso", "esto", "ello", "ça", "cela", "mind", "manners"}
)
_FILLER = _NO_TOPIC | {
    "bitte",
    "mal",
    "wieder",
    "auch",
    "doch",
    "lieber",
    "schnell",
    "einfach",
    "gleich",
    "please",
    "again",
}


# Who would rather not talk of a thing asks for nothing.
_NOT_TO_TALK = re.compile(
    r"(?<!\w)(?:don't|do not|don't really|would rather not|'d rather not) (?:really |even )?(?:(?:want|wish|need|like) to )?"
    r"(?:talk|speak|think|hear) (?:about|of) (?:it|that|this)(?!\w)|(?<!\w)let's (?:not talk about|change the subject)"
    r"|(?<!\w)nicht (?:mehr |weiter )?(?:darüber|davon|drüber) (?:reden|sprechen|nachdenken)(?!\w)"
    r"|(?<!\w)no (?:quiero|queremos|me apetece|quisiera) hablar (?:más )?(?:de|sobre) (?:eso|esto|ello|el tema)(?!\w)"
    r"|不想(?:再)?(?:说|說|聊|谈|談|提)"
)


@dataclass(frozen=True, slots=True)
class ForgetRequest:
    """What one sentence of a message asks to forget.

    `previous`: the statement before it; `next`: the statement after it; `message`: the whole message before it; `own`: the
    sentence itself; `topic`: what was said about `topic`; `nearby`: the same, just before; `told`: it was asked in
    words that no pattern has, and `topic` are those that may name what (`has_content`: it says more). `sentence` is the request as it stands, `before`
    and `after` are the sentences of the message around it. `chance` says how likely it is a request at all.
    """

    kind: str
    sentence: str
    topic: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    has_content: bool = False
    chance: float = 1.0

    @property
    def is_about_what_follows(self) -> bool:
        """Whether it opens its message: "Don't save this. My code is 1234." """
        if self.kind == "next":
            return bool(self.after)
        return (
            self.kind == "previous"
            and not self.before
            and bool(self.after)
            and _THIS.search(folded(self.sentence)) is not None
        )


_THIS = re.compile(r"(?<!\w)(?:this|dies|dieses|esto)(?!\w)|这")
# Who offers to tell something has not told it yet: "Can I tell you something that stays between us?"
_OFFERS_TO_TELL = re.compile(
    r"(?<!\w)(?:tell you|let you in on|share|confess|admit|say) (?:something|one thing|a secret)(?!\w)"
    r"|(?<!\w)(?:was|etwas|ein geheimnis) (?:sagen|erzählen|verraten|anvertrauen|gestehen|beichten)(?!\w)"
    r"|(?<!\w)(?:contar|decir|confesar)(?:te|os|le)? (?:algo|una cosa|un secreto)(?!\w)"
    r"|(?:说|說|讲|講|告诉你|告訴你)(?:一)?(?:个|個|件)(?:事|秘密)"
)
_BEFORE_CONTENT = re.compile(r"[^:：]{8,120}(?=[:：]\s*(?:\S.{5}|[\u3400-\u9fff]{4}))")


def forget_requests(message: str) -> list[ForgetRequest]:
    """The requests to forget in what a user says, in order."""
    if len(message) > MAX_CHARS or not (
        _ANY.search(simplified(folded(message))) or any_verb().search(aligned(message))
    ):
        return []
    both = own_statements(message)
    said = [sentence for sentence, _ in both]
    found = []
    for index, (sentence, own) in enumerate(both):
        # What is quoted asks for nothing, and what is to be forgotten may be named so.
        request = _request(sentence) if own == sentence or _request(own) is not None else None
        if request is None and len(said) == 1 and _BARE.fullmatch(_plain(sentence)):
            request = "previous", ""
        if request is not None and not is_of_text_at_hand(sentence, said[:index]):
            kind, topic = request
            found.append(ForgetRequest(kind, sentence, topic, tuple(said[:index]), tuple(said[index + 1 :])))
    return found


def everything_about(sentence: str) -> str:
    """Of whom or what a sentence speaks as of all that was told about them, folded; "" where by no name, or of a part of
    a text."""
    text = _plain(sentence)
    found = _EVERYTHING.search(text)
    if found is None or _PART_OF_ANOTHER.search(text) is not None:
        return ""
    topic = next(part for part in found.groups() if part is not None).strip()
    return "" if _PRONOUN.match(topic) else topic


def asks_contrary(sentence: str) -> bool:
    """Whether a sentence asks not to forget something, or to let a matter be ("Forget it, let's move on")."""
    text = " ".join(folded(sentence).split()).strip(_MARKS)
    if _NOT_TO_TALK.search(text) is not None and any_verb().search(aligned(sentence)) is None:
        return True
    return _NEVER.search(text) is not None or _LET_BE.match(text) is not None


def last_statement(said: Sequence[str]) -> list[str]:
    """The last of some sentences that states something, with those that it goes on from ("It is for Ann.", "Told nobody.")."""
    stated = [
        sentence
        for sentence in said
        if is_statement(sentence) and not (is_question(sentence) or only_assents(sentence) or _request(sentence))
    ]
    taken: list[str] = []
    for sentence in reversed(stated):
        taken.append(sentence)
        if not (goes_on(sentence) or only_confides(sentence)):
            break
    return taken[::-1]


def _plain(sentence: str) -> str:
    return simplified(" ".join(folded(sentence).split()).strip(_MARKS))


def _request(sentence: str) -> tuple[str, str] | None:
    if only_looks_like_it(_plain(sentence)):
        return None
    found = _read(sentence := spelled_out(sentence))
    if found is not None and found[0] == "told":
        only_asks = is_question(sentence) and _ASKS_FOR.search(aligned(sentence)) is None
        return None if only_asks or is_for_task(sentence) else found
    if found is not None and found[1]:
        if (topic := told_topic(found[1], sentence)) is None:
            return None
        found = found[0], topic
    # "Borra eso de las notas" is about no marks at school.
    is_no_thing = found is not None and found[1] and _NO_THING.fullmatch(aligned(found[1]).strip()) is not None
    return ("previous", "") if is_no_thing else found


def _read(sentence: str) -> tuple[str, str] | None:
    text = " ".join(folded(sentence).split()).strip(_MARKS)
    if len(text) > _MAX_SENTENCE_CHARS:
        return None
    found = _announced(text) or _plain_request(sentence, text)
    if found in (None, ("previous", "")) and _tells_what_is_not_to_be_kept(aligned(sentence)):
        found = "own", ""
    is_asked = found is not None or _WANTED_GONE.search(text) is not None
    if is_asked and (found is None or found[0] != "topic") and (topic := everything_about(sentence)):
        return "topic", topic
    if found is None and not is_question(sentence) and _NOT_FOR_STORE.search(_plain(sentence)):
        return "previous", ""
    if found == ("previous", "") and _OFFERS_TO_TELL.search(text):
        return "next", ""
    names_none = found is None or (found[1] == "" and (found[0] != "own" or _DIGIT.search(text) is None))
    if names_none and not _NEVER.search(text) and (told := _of_told(sentence)):
        return told
    return found


def _tells_what_is_not_to_be_kept(plain: str) -> bool:
    """Whether a sentence, from `aligned`, tells something and goes on with a request not to keep it."""
    told = plain[: contrary_start(plain)].strip(_MARKS)
    names = _POINTS.match(told) is None or _DIGIT.search(told) is not None
    return len(told) < len(plain.strip(_MARKS)) and " " in told and names and not is_idle(told, 0, len(told))


def _announced(text: str) -> tuple[str, str] | None:
    """A request about what follows that stands before a colon, with that behind it: the sentence itself is meant."""
    before = _BEFORE_CONTENT.match(text)
    if before is None:
        return None
    if _matched(before[0].strip(), _MORE_PATTERNS) == ("next", ""):
        return "own", ""
    # "Between us, and don't save this: …".
    _, comma, asking = before[0].replace("，", ",").rpartition(",")
    asks = _matched(asking.strip(), (*_PATTERNS, *_MORE_PATTERNS)) if comma else None
    return ("own", "") if asks in (("previous", ""), ("next", "")) else None


def _plain_request(sentence: str, text: str) -> tuple[str, str] | None:
    """What a sentence asks to forget; `text` is the sentence, folded."""
    # "Dr. Quimby" ends no sentence.
    text = _TITLE.sub(r"\1", text)
    if not _ANY.search(text) or _NEVER.search(text):
        return _request_of_clauses(sentence)
    if _LATER.search(text):
        return None
    regret = _REGRET.match(text)
    text = text[regret.end() :] if regret else text
    if (behind := _REGRET_BEHIND.search(text)) is not None and regret is None:
        text = text[: behind.start()].rstrip()
    found = _matched(text, _PATTERNS)
    if found is not None:
        return found
    if regret is None:
        found = _request_of_clauses(sentence)
    if found is not None and found[0] != "previous":
        return found
    # "My PIN is 3321, don't keep it" is about itself.
    found = _matched(text, _MORE_PATTERNS) or found
    if found is None and regret is not None and _only_forgets(text):
        # "That was private, please delete."
        return "previous", ""
    return found


def names_told(sentence: str) -> bool:
    """Whether a sentence names what was told: "the thing about my boss's drinking"."""
    plain = aligned(sentence)
    if _NAMES.search(plain) is not None:
        return True
    named = _TOLD.search(plain)
    return named is not None and bool(_named_topic(named))


def _named_topic(named: re.Match[str]) -> str:
    """What a pattern of something told has found; "" where that names nothing."""
    topic = next(part for part in named.groups() if part is not None).strip()
    topic = _WHEN_TOLD.sub("", topic)
    is_filler = all(word in _FILLER for word in topic.split()) or _NO_THING.fullmatch(topic) is not None
    return "" if is_filler or len(topic) < _FEWEST_TOPIC_CHARS or _POINTS.match(topic) else topic


def _of_told(sentence: str) -> tuple[str, str] | None:
    """What a sentence names of what was told, where the rest of it says that this is not to be kept."""
    text = aligned(sentence)
    named = _ADDRESSED.search(text)
    if named is None and ((named := _TOLD.search(text)) is None or not _UNWANTED.search(text)):
        return None
    topic = _named_topic(named)
    # "What I told you about the loan, did you remove it?" asks for nothing.
    only_asks = is_question(text) and _ASKS_FOR.search(text) is None
    is_told = not is_question(text) and _TOLD_OF_ONESELF.search(text) is not None
    is_another = _PART_OF_ANOTHER.search(text) is not None
    return ("nearby", topic) if topic and not only_asks and not is_told and not is_another else None


def _only_forgets(rest: str) -> bool:
    """Whether what stands behind words of regret asks to forget and says no more than that."""
    spans = clauses(text := aligned(rest))
    requests = [read_request(text, start, end, needs_object=False) for start, end in spans]
    is_asked = any(request is not None and request.kind == "forget" for request in requests)
    return is_asked and all(
        request is not None or is_idle(text, *span) for request, span in zip(requests, spans, strict=True)
    )


def _matched(text: str, patterns: tuple[tuple[re.Pattern[str], str], ...]) -> tuple[str, str] | None:
    """The kind and the topic of the first of the patterns that is the whole text."""
    plain = simplified(text)
    for pattern, kind in patterns:
        match = pattern.fullmatch(plain)
        if match is None:
            continue
        if kind not in ("topic", "nearby"):
            return kind, ""
        named = next((name for name in ("topic", "private") if match.groupdict().get(name)), None)
        topic = _TOPIC_TAIL.sub("", text[slice(*match.span(named))].strip()).strip() if named else ""
        if (
            topic not in _NO_TOPIC
            and len(topic) >= 2
            and not _POINTS.match(topic)
            and not _TOLD_OF_ONESELF.search(topic)
        ):
            return kind, topic
    return None


def _request_of_clauses(sentence: str) -> tuple[str, str] | None:
    """What the clauses of a sentence ask to forget: what is named, or else what was said before."""
    text = aligned(sentence)
    spans = clauses(text)
    requests = [read_request(text, start, end) for start, end in spans]
    asked = [request for request in requests if request is not None and request.kind == "forget"]
    topics = [sentence[request.start : request.end] for request in asked if request.start < request.end]
    if topics:
        is_other = _TOLD_OF_ONESELF.search(text) is not None or _PART_OF_ANOTHER.search(text) is not None
        return None if is_other else ("nearby", topics[0])
    # "Forget that, let's have lunch": nothing is asked for where the sentence goes on to something else.
    is_whole = all(request is not None or is_idle(text, *span) for request, span in zip(requests, spans, strict=True))
    if any(is_whole or not request.is_vague for request in asked):
        return "previous", ""
    return None
