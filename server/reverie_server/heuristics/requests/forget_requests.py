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
from reverie_server.heuristics.requests import forget_phrases
from reverie_server.heuristics.requests.fact_requests import aligned
from reverie_server.heuristics.requests.memory_requests import any_verb, clauses, is_idle, read_request
from reverie_server.heuristics.simplified import simplified
from reverie_server.text.questions import is_question
from reverie_server.text.statement_spans import is_statement, statements

# Longer messages and sentences are no requests.
MAX_CHARS, _MAX_SENTENCE_CHARS = 4_000, 300
_TOPIC = r"(?P<topic>[^,;:.!?，。！？；：]{2,80})"
_MARKS = " \t\r\n.!?…。！？,，\"'”“¡¿～~"

# English.
_PLEASE = (
    r"(?:(?:ok|okay|actually|wait|sorry|oh|hmm|no|oops|please|and|but|also|so|on second thought|one more thing|another thing|by the way|btw)[ ,]++)*+"
    r"(?:(?:could|can|would|will) you (?:please )?|i want you to |i'd like you to |i would like you to )?(?:please )?"
)
_NOW = (
    r"(?:that|this|what i (?:have |'ve )?(?:just )?(?:said|told you|wrote|mentioned)(?: just now| to you)?|what i've just said"
    r"|the last (?:thing|bit|part|sentence)(?: i said)?|that last (?:thing|bit|part)|that one)"
)
_WHOLE = (
    r"(?:everything i (?:have |'ve )?just (?:said|told you)|(?:my|the) last message|all (?:of )?that|all (?:of )?this)"
)
_TAIL = (
    r"(?:,? (?:please|again|right away|immediately|now|anywhere|in your memory|from your memory|in memory|from memory|for me|"
    r"on record|in your notes|anywhere in your notes|i said that|i said it|i told you|ok|okay|though|either|for good))*+"
)
_FORGET = r"(?:forget|erase|delete|unlearn|scrub|wipe)"
_KEEP = r"(?:do not|don't|dont|never) (?:keep|save|store|record|note|write|log|retain|memorize|memorise)(?: down)?"
_SAID = r"(?:i(?:'ve| have)? (?:just |ever )?(?:said|told you|mentioned|wrote|shared)|you know|you(?:'ve| have) got|you have|you saved|you stored|you remember)"
_ENGLISH = (
    (rf"{_PLEASE}{_FORGET} {_NOW}{_TAIL}", "previous"),
    (rf"{_PLEASE}{_FORGET} {_WHOLE}{_TAIL}", "message"),
    (rf"{_PLEASE}{_KEEP} (?:this|{_NOW}|it)(?: down)?{_TAIL}", "previous"),
    (rf"{_PLEASE}{_KEEP} {_WHOLE}{_TAIL}", "message"),
    (rf"{_PLEASE}please (?:do not|don't) remember (?:this|{_NOW}){_TAIL}", "previous"),
    (
        rf"{_PLEASE}(?:{_KEEP}|(?:do not|don't) remember) (?:this|that|it|(?:this|that|the next) (?:one|part|bit|thing)|(?:the |this )?(?:following|next)(?: (?:part|bit|thing|one))?)(?: down)?(?:,? please)? ?(?:[:,–—-]|but) ?.+",
        "own",
    ),
    (rf"(?:.+?)[,;–—-]? ?(?:but|and|so)? ?(?:please )?{_KEEP} (?:this|that|it){_TAIL}", "own"),
    (
        rf"{_PLEASE}{_FORGET} (?:everything|all|anything|whatever|what) (?:that )?(?:{_SAID} )?(?:to you )?"
        rf"(?:about|regarding|concerning|of) {_TOPIC}",
        "topic",
    ),
    (rf"{_PLEASE}{_FORGET} that i (?:said|told you|mentioned) (?:that )?{_TOPIC}", "topic"),
    (rf"{_PLEASE}(?:forget|(?:do not|don't) (?:keep|save|store|record)) (?P<my>my |our ){_TOPIC}", "topic"),
)
_BITTE = r"(?:(?:ok|okay|bitte|ach|oh|nein|moment|und|aber|doch)[ ,]++)*+(?:kannst du |könntest du |konntest du )?(?:bitte )?"
_NUN = (
    r"(?:das|dies|dieses|das eben|das gerade|was ich (?:dir )?(?:gerade|eben|soeben|zuletzt)? ?(?:gesagt|erzählt|geschrieben) habe"
    r"|den letzten satz)"
)
_DE_TAIL = r"(?:,? (?:bitte|wieder|sofort|gleich|jetzt|nirgends|mal|doch))*+"
_GERMAN = (
    (rf"{_BITTE}(?:vergiss|lösch|lösche)(?: bitte)?,? {_NUN}{_DE_TAIL}", "previous"),
    (rf"{_BITTE}{_NUN} (?:bitte )?(?:vergessen|löschen)", "previous"),
    (
        rf"{_BITTE}(?:vergiss|lösche?)(?: bitte)?,? (?:alles|die letzte nachricht|meine letzte nachricht){_DE_TAIL}(?:,? was ich (?:dir )?(?:gerade|eben) gesagt habe)?",
        "message",
    ),
    (
        rf"{_BITTE}(?:speicher|speichere|behalt|behalte|notier|notiere|schreib|schreibe|merk|merke)(?: dir)?(?: bitte)? {_NUN}(?: bitte)? nicht(?: auf| ab)?{_DE_TAIL}",
        "previous",
    ),
    (rf"{_BITTE}(?:das|dies) (?:bitte )?nicht (?:speichern|behalten|merken|notieren|aufschreiben)", "previous"),
    (
        rf"{_BITTE}(?:speicher|speichere|behalt|behalte|notier|notiere|merk|merke)(?: dir)?(?: bitte)? (?:das|dies|folgendes)(?: bitte)? nicht ?[:,–—-] ?.+",
        "own",
    ),
    (
        rf"(?:.+?)[,;–—-] ?(?:aber|und)? ?(?:bitte )?(?:speicher|speichere|behalt|behalte|notier|notiere|merk|merke)(?: dir)?(?: bitte)? (?:das|dies|es)(?: bitte)? nicht{_DE_TAIL}",
        "own",
    ),
    (
        rf"{_BITTE}vergiss(?: bitte)?,? (?:alles,? )?was (?:ich )?(?:dir )?(?:über|uber|zu|von) {_TOPIC} (?:gesagt|erzählt|geschrieben) habe",
        "topic",
    ),
    (rf"{_BITTE}vergiss(?: bitte)?,? alles (?:über|uber|zu) {_TOPIC}", "topic"),
    (rf"{_BITTE}vergiss(?: bitte)? (?P<my>mein|meine|meinen|unsere|unseren|unser) {_TOPIC}", "topic"),
)
_POR_FAVOR = r"(?:(?:por favor|ok|vale|espera|y|pero|perdona)[ ,]++)*+(?:puedes |podrías )?"
_ES_TAIL = r"(?:,? (?:por favor|ya|ahora|de nuevo|en ningún sitio|en tu memoria|de tu memoria))*+"
_ESO = r"(?:eso|esto|lo que (?:te )?(?:acabo de (?:decir|contar|escribir)(?:te)?|dije|he dicho|conté)|lo último(?: que dije)?)"
_SPANISH = (
    (rf"{_POR_FAVOR}(?:olvida|olvidar|borra|borrar|elimina) {_ESO}{_ES_TAIL}", "previous"),
    (
        rf"{_POR_FAVOR}(?:olvida|borra) (?:todo (?:lo que (?:te )?acabo de decir|eso)|mi último mensaje){_ES_TAIL}",
        "message",
    ),
    (rf"{_POR_FAVOR}no (?:guardes|recuerdes|anotes|apuntes|almacenes|registres) {_ESO}{_ES_TAIL}", "previous"),
    (rf"{_POR_FAVOR}no lo (?:guardes|anotes|apuntes|almacenes|registres){_ES_TAIL}", "previous"),
    (rf"{_POR_FAVOR}no (?:guardes|recuerdes|anotes|apuntes) (?:eso|esto|lo siguiente) ?[:,–—-] ?.+", "own"),
    (
        rf"(?:.+?)[,;–—-] ?(?:pero|y)? ?(?:por favor,? )?no (?:lo (?:guardes|anotes|apuntes)|(?:guardes|anotes|apuntes) (?:eso|esto)){_ES_TAIL}",
        "own",
    ),
    (
        rf"{_POR_FAVOR}olvida (?:todo )?lo que (?:te )?(?:dije|he dicho|conté|sabes) (?:sobre|de|acerca de) {_TOPIC}",
        "topic",
    ),
    (rf"{_POR_FAVOR}olvida todo (?:sobre|acerca de) {_TOPIC}", "topic"),
    (rf"{_POR_FAVOR}(?:olvida|no guardes) (?P<my>mi |mis |nuestro |nuestra ){_TOPIC}", "topic"),
)
_QING = r"(?:好的?|等等|请|請|麻烦|麻煩|拜托|你|帮我|把|能不能|可以|,|，| )*+"
_GANG = r"(?:这个|這個|那个|那個|这件事|這件事|那件事|这些|這些|这句话|這句話|(?:我)?(?:刚才|剛才|刚刚|剛剛|刚|剛)(?:说|說|讲|講|告诉你|告訴你)的(?:话|話|事|事情|内容|那句话)?)"
_CHINESE = (
    (rf"{_QING}(?:忘掉|忘记|忘記|忘了|删掉|删除|刪除){_GANG}(?:吧|好吗)?", "previous"),
    (rf"{_QING}{_GANG}(?:忘掉|忘记|忘記|忘了|删掉|删除|刪除)(?:吧|好吗)?", "previous"),
    (
        rf"{_QING}(?:不要|别|別|勿)(?:记住|記住|记录|記錄|记下|記下|保存|存储|储存|存|留)(?:下来|下來)?(?:{_GANG})?(?:吧|好吗)?",
        "previous",
    ),
    (
        rf"{_QING}我?(?:刚才?|剛才?|刚刚|剛剛|之前|上面)(?:跟你|和你)?(?:说|說|讲|講|提)(?:过)?的(?P<topic>[^，。！？,.!?]{{1,16}}?)(?:的|那|这|這)件?(?:事儿?|事情|话|話)[,， ]*(?:你?就|请|請|麻烦|都)?(?:忘|删|刪|抹)(?:掉|了|除)(?:吧|好了|好吗)?",
        "topic",
    ),
    (rf"{_GANG}{_QING}(?:不要|别|別|勿)(?:记住|記住|记录|記錄|记下|記下|保存|存储|储存|存)(?:下来|下來)?", "previous"),
    (
        rf"{_QING}(?:不要|别|別|勿)(?:记住|記住|记录|記錄|记下|記下|保存|存)(?:这个|這個|下面的|以下)?(?:内容)?[:：,，].+",
        "own",
    ),
    (
        rf".+[,，](?:但|不过)?{_QING}(?:不要|别|別)(?:记住|記住|记录|記錄|记下|記下|保存|存)(?:下来|下來|这个|這個)?",
        "own",
    ),
    (
        rf"{_QING}(?:忘掉|忘记|忘記|忘了|删掉)(?:我)?(?:说过的|說過的|告诉你的)?(?:所有)?关于{_TOPIC}?(?:的)(?:事|话|一切|事情|内容|信息)",
        "topic",
    ),
    (rf"{_QING}(?:忘掉|忘记|忘記|删掉)(?P<my>我的){_TOPIC}", "topic"),
)
_FRENCH = (
    (
        r"(?:(?:ok|non|attends|s'il te plaît)[ ,]++)*+(?:oublie|efface|oubliez) (?:ça|cela|ce que je viens de (?:te |vous )?dire)(?:,? s'il te plaît|,? s'il vous plaît)?",
        "previous",
    ),
    (
        r"(?:(?:ok|non|s'il te plaît)[ ,]++)*+(?:ne (?:garde|note|retiens|sauvegarde)|n'enregistre) pas (?:ça|cela)(?:,? s'il te plaît)?",
        "previous",
    ),
    (rf"(?:s'il te plaît,? )?oublie (?:tout )?ce que j'ai dit (?:sur|de|à propos de) {_TOPIC}", "topic"),
)
_MORE = (forget_phrases.ENGLISH, forget_phrases.GERMAN, forget_phrases.SPANISH, forget_phrases.CHINESE)
_BY_KIND = {"topic": 0, "nearby": 0, "next": 1, "message": 2, "previous": 3, "own": 4}
# What names a thing is tried first, and what is about the sentence itself last.
_PATTERNS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), kind) for table in (_ENGLISH, _GERMAN, _SPANISH, _CHINESE, _FRENCH) for pattern, kind in table
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
_TITLE = re.compile(r"(?<!\w)(dr|dra|mr|mrs|ms|prof|st|sr|sra|hr|fr|nr)\.(?= )")
_LATER = re.compile(
    r"for (?:now|a (?:moment|second|minute|while|bit)|today)$|por ahora$|por un (?:rato|momento)$|fürs erste$"
)
# A sentence without one of these words asks for nothing of the kind.
_ANY = re.compile(
    r"forget|erase|delete|unlearn|scrub|wipe|don't|dont|do not|never|vergiss|vergessen|lösch|nicht|olvid|olvíd|borr|bórr|elim|quit|saca|suprim|remov|strike|\bdrop\b|pretend|act |memory|notes|record|n't |not |nirgend|rather|no need|keep|leave|streich|entfern|tilge|nimm|tu |nunca|que no|haz |has |hag|forgotten|cross out|can go|unsaid|sácal|sacal|get rid|unremember|clear |scrap|purge|\bweg\b|\braus\b|\bno\b|ungeschehen|schmeiß|schmeiss|\bnie\b|quít|tach|tách|retir|fuera|come out"
    r"|忘|删|刪|不|别|別|勿|当我|當我|抹|清|去掉|没说|擦|oubli|efface|pas\b"
)
_NEVER = re.compile(
    r"(?:don't|do not|dont) (?:you )?(?:ever )?(?:let me )?(?:forget|lose)|do not forget|dont forget|never forget|vergiss (?:bitte |ja |mir )?nicht|nicht vergessen|(?<!\w)no (?:te |se |me )?(?:lo )?olvid|\bno olvid"
    r"|别(?:给我|再)?忘|別忘|不要忘|不能忘|不会忘|没忘|别删|不要删|n'oublie"
)
_LET_BE = re.compile(
    r"(?:(?:ach|oh|ok|okay|na|nah|ah|bah|bueno|nada|哎|唉)[ ,]++)*+(?:forget (?:about )?it|never ?mind|vergiss(?: es|'s)|schon gut|egal|olv[ií]dalo"
    r"|olvidate|no importa|da igual|déjalo|dejalo)(?!\w)(?! (?:ever|all|entirely|completely|please|por favor|bitte))|算了(?!.*[删刪忘记記])"
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
_GOES_ON = re.compile(
    r"(?:it|it's|its|that|that's|this|she|he|they|they're|because|es|das|sie|er|damit|davon|dafür|darin|deshalb|weil|eso|esto|ella|él|ellos|lo|le|les|es|está|fue|era|son|porque)(?!\w)"
    r"|[它这那她他]|因为|所以|而且|就是"
)


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
_BEFORE_CONTENT = re.compile(r"[^:：]{8,120}(?=[:：]\s*\S.{5})")


def forget_requests(message: str) -> list[ForgetRequest]:
    """The requests to forget in what a user says, in order."""
    if len(message) > MAX_CHARS or not (
        _ANY.search(simplified(folded(message))) or any_verb().search(aligned(message))
    ):
        return []
    said = statements(message)
    found = []
    for index, sentence in enumerate(said):
        request = _request(sentence)
        if request is None and len(said) == 1 and _BARE.fullmatch(_plain(sentence)):
            request = "previous", ""
        if request is not None:
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


def goes_on(sentence: str) -> bool:
    """Whether a sentence goes on from the one before it: "It is for the blue card." """
    return _GOES_ON.match(folded(sentence)) is not None


def last_statement(said: Sequence[str]) -> list[str]:
    """The last of some sentences that states something, with those that it goes on from ("It is for the blue card.")."""
    stated = [
        sentence
        for sentence in said
        if is_statement(sentence) and not is_question(sentence) and _request(sentence) is None
    ]
    taken: list[str] = []
    for sentence in reversed(stated):
        taken.append(sentence)
        if not goes_on(sentence):
            break
    return taken[::-1]


def _plain(sentence: str) -> str:
    return simplified(" ".join(folded(sentence).split()).strip(_MARKS))


def _request(sentence: str) -> tuple[str, str] | None:
    text = " ".join(folded(sentence).split()).strip(_MARKS)
    if len(text) > _MAX_SENTENCE_CHARS:
        return None
    found = _announced(text) or _plain_request(sentence, text)
    is_asked = found is not None or _WANTED_GONE.search(text) is not None
    if is_asked and (found is None or found[0] != "topic") and (topic := everything_about(sentence)):
        return "topic", topic
    if found is None and not is_question(sentence) and _NOT_FOR_STORE.search(_plain(sentence)):
        return "previous", ""
    if found == ("previous", "") and _OFFERS_TO_TELL.search(text):
        return "next", ""
    if (found is None or found[1] == "") and not _NEVER.search(text) and (told := _of_told(sentence)):
        return told
    return found


def _announced(text: str) -> tuple[str, str] | None:
    """A request about what follows that stands before a colon, with that behind it: the sentence itself is meant."""
    before = _BEFORE_CONTENT.match(text)
    found = None if before is None else _matched(before[0].strip(), _MORE_PATTERNS)
    return ("own", "") if found == ("next", "") else None


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


def _of_told(sentence: str) -> tuple[str, str] | None:
    """What a sentence names of what was told, where the rest of it says that this is not to be kept."""
    text = aligned(sentence)
    named = _ADDRESSED.search(text)
    if named is None and ((named := _TOLD.search(text)) is None or not _UNWANTED.search(text)):
        return None
    topic = next(part for part in named.groups() if part is not None).strip()
    is_filler = all(word in _FILLER for word in topic.split())
    is_name = not is_filler and len(topic) >= _FEWEST_TOPIC_CHARS and not _POINTS.match(topic)
    # "What I told you about the loan, did you remove it?" asks for nothing.
    only_asks = is_question(text) and _ASKS_FOR.search(text) is None
    is_told = not is_question(text) and _TOLD_OF_ONESELF.search(text) is not None
    is_another = _PART_OF_ANOTHER.search(text) is not None
    return ("nearby", topic) if is_name and not only_asks and not is_told and not is_another else None


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
