# ruff: noqa: E501  # a pattern stands on one line
"""Whether a statement is worth its place in long-term memory: could a stranger use it in a month? Pure.

A statement lasts that says what somebody is, has, likes, always does or has decided, or that somebody asks to remember.
It does not last if it tells of one moment, of a task, of a feeling, or if it speaks to the assistant. One that begins
with a pronoun says nothing without the sentence before it.
"""

from __future__ import annotations

import re

from reverie_server.heuristics.cues import Cues, folded
from reverie_server.heuristics.needs_context import is_no_statement, needs_context
from reverie_server.heuristics.salience import asks

_STRESSED = frozenset({"remember", "decision", "preference"})
# At one moment, seen from the day on which it was said.
_MOMENT = re.compile(
    r"\b(?:today|tonight|yesterday|tomorrow|this (?:morning|afternoon|evening|week|weekend)|right now|just now"
    r"|at the moment"
    r"|earlier|(?:last|next) (?:night|week|weekend|monday|tuesday|wednesday|thursday|friday|saturday|sunday)"
    r"|(?:an hour|minutes?|hours?|days?) ago|in (?:a few|an|two) (?:minutes|hours?)"
    r"|heute?|gestern|vorgestern|übermorgen|gerade|eben|vorhin|dies(?:e woche|en (?:morgen|abend))|am wochenende"
    r"|nachher"
    r"|letzte (?:woche|nacht)|nächste woche|morgen (?:früh|abend|mittag)"
    r"|hoy|ayer|anoche|anteayer|ahora mismo|esta (?:mañana|tarde|noche|semana)|hace (?:un rato|poco)|pasado mañana"
    # Tomorrow, and not a morning.
    r"|(?<!la )(?<!cada )(?<!una )(?<!toda )mañana"
    r"|(?:la semana|el mes) (?:pasad[ao]|que viene)"
    r"|(?:i'm|i am|we're|we are) (?:just |still )?(?:eating|sitting|sat|standing|stood|waiting|walking|writing this)"
    r"|(?:i|we)(?:'ve| have) just (?:spoken|talked|been|had|eaten|finished|seen|come|woken|got (?:back|home|up|in))"
    r"|^(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday|\w+tag|mittwoch|sábado|domingo|lunes|martes"
    r"|miércoles|jueves|viernes) (?:and|und|y) (?:i|i'm|we|we're|ich|wir|yo|estoy|estamos)"
    r"|in the next (?:few |\w+ )?(?:minutes?|hours?)|in den nächsten (?:\w+ )?(?:minuten|stunden)"
    r"|en (?:los próximos|las próximas) (?:\w+ )?(?:minutos|horas)"
    r"|ich (?:sitze?|stehe?|warte) (?:im|in der|am|an der|auf|vor|beim)"
    r"|estoy (?:sentad[oa]|esperando|comiendo|escribiendo)"
    r"|aujourd'hui|hier (?:soir|matin)|hier,? (?:je|on|nous|il|elle)|demain|ce (?:matin|soir)|oggi|ieri|domani|stamattina|stasera|hoje|ontem|amanhã|vandaag"
    r"|gisteren)\b"
    r"|今天|今晚|昨天|昨晚|前天|明天|后天|後天|刚才|剛才|刚刚|剛剛|现在|現在|这周|這週|上周|上週|下周|下週|今日|昨日|明日"
)
_FEELING = re.compile(
    r"\bi(?:'m| am| feel| was) (?:(?:so|really|very|a bit|quite|pretty|super|feeling|just) )*"
    r"(?:tired|happy|sad|excited|glad|stressed|exhausted|bored|nervous|worried|hungry|angry|sorry|sick|proud"
    r"|relieved|good"
    r"|great|fine|ok|okay|better|busy|curious|sure|back|late|home|cold|hot|thirsty|sleepy"
    r"|full|worn out|knackered|shattered|starving)\b|\bi feel\b|\bi'm feeling\b"
    r"|\bich (?:bin|war|fühle mich) (?:(?:so|sehr|ganz|echt|total|etwas|ziemlich|heute|gerade) )*"
    r"(?:müde|glücklich|traurig|froh|gestresst|aufgeregt|nervös|hungrig|wütend|krank|stolz|erleichtert|gespannt"
    r"|sicher|spät)"
    r"|\b(?:estoy|me siento) (?:(?:muy|tan|un poco|bastante) )*(?:cansad|feliz|triste|content|estresad"
    r"|emocionad|nervios|"
    r"enferm|orgullos|aburrid|preocupad|bien|mal\b)"
    r"|我(?:今天|今晚|昨天|现在|現在|好|很|真|有点|有點|太|非常|觉得|覺得|感到)*(?:累|开心|開心|高兴|高興|难过|難過|紧张|緊張|生气|生氣|饿|餓"
    r"|困|渴|冷|热(?!爱)|熱(?!愛)|忙|兴奋|興奮)|我(?:还|還|正)?在想"
)
# What was done just now or the day before, and where something was put then, which one looks for later.
_JUST_DONE = re.compile(
    r"\b(?:yesterday|last night|(?:i|we)(?:'ve| have)? just|gestern|vorgestern|vorhin"
    r"|(?:habe?n?|hab) (?:ich |wir )?(?:eben|gerade)"
    r"|ayer|anoche|anteayer|acabo de|acabamos de)\b|昨天|昨晚|前天|刚才|剛才|刚刚|剛剛|我们?刚|我們?剛"
)
_PUT = re.compile(
    r"\b(?:put|hid|hidden|stored|left|parked|gelegt|gestellt|versteckt|gehängt|abgestellt|geparkt|puse|pusimos|guardé"
    r"|guardamos|escondí|dejé|dejamos|aparqué)\b|放|藏|存|搁|擱|停在|挂|掛"
)
_VALUE = re.compile(r"\d")
# Without the sentence before it nobody knows who or what it is.
_NAMELESS = re.compile(
    r"(?:(?:and|but|so|also|well|yes|no|und|aber|ja|nein|also|y|pero|sí|no|así que),? )?"
    r"(?:he|she|it|they|this|that|these|those|his|her|hers|their|its|he's|she's|it's|they're|that's"
    r"|there(?! (?:is|are|was|were))"
    r"|er|sie|es|das|dies|diese[rsn]?|sein[e]?|ihr[e]?|dort"
    r"|él|ella|ellos|ellas|eso|esto|ese|esta|este|su|sus|allí|il|elle|ils|elles|ce|c'est|lui|lei)\b(?![-/])"
    r"|[他她它这這那]"
)
# At the beginning: a consequence of what was said before, of which nobody knows without that.
_CONSEQUENCE = re.compile(r"(?:deshalb|deswegen|darum|daher|therefore|hence|por eso|as[ií] q(?:ue)?)(?!\w)|所以|因此")
# At the beginning: something to be done, by the speaker or for the speaker.
_LEADS = (
    r"(?:(?:first|secondly|second|also|so|now|and|then|next|ok|okay|right|hi|hello|hey|(?:good )?(?:morning|evening)|und|dann"
    r"|jetzt|also|hallo|guten (?:morgen|abend|tag)|y|luego|ahora|hola|buen[oa]s(?: (?:días|tardes|noches))?),? ){0,3}+"
)
_A_TEXT = (
    r"(?:i|we)(?:'d| would)? (?:just |also )?(?:need|want|like) (?:an?|some|your|the) (?:[\w-]+ ){0,3}?"
    r"(?:letter|e-?mail|mail|message|text|translation|recipe|list|plan|ideas?|suggestions?|reply|draft|poem|toast"
    r"|speech|summary|advice|help|hand|invitation|note (?:to|for))\b"
    r"|(?:i|we)(?:'d| would)? (?:just |also )?(?:need|want|like) (?:an?|the|this|that) [\w-]+ (?:written|translated|drafted"
    r"|checked|shortened|rewritten|proofread)\b"
    r"|(?:i|we)(?:'ve| have) got to (?:fill|write|reply|answer|send|say|tell|ring|call|phone)\b"
    r"|ich (?:brauche?|hätte gerne?|möchte|will) (?:eine?n?|deinen?|deine) (?:\w+ ){0,3}?"
    r"(?:brief|e-?mail|mail|nachricht|text|übersetzung|rezept|liste|plan|idee|rat|hilfe|antwort|entwurf|einladung"
    r"|schreiben)\b"
    r"|(?:yo )?(?:necesito|quiero|quisiera|ocupo) (?:una?|tu) (?:\w+ ){0,3}?(?:carta|correo|mensaje|texto|traducción"
    r"|receta|lista|plan|idea|consejo|ayuda|respuesta)\b"
    r"|我(?:需要|想要|要)一?[封篇个個份](?:\w{0,6}?)(?:信|邮件|郵件|翻译|翻譯|清单|计划)"
)
_WANTS_A_TEXT = re.compile(f"{_LEADS}(?:{_A_TEXT})")
_ERRAND = re.compile(
    f"{_LEADS}(?:{_A_TEXT}"
    r"|(?:i|we)(?:'ll| will| need to| have to|(?:'ve| have) got to| must| should| gotta)\b|ich (?:muss|soll|sollte)\b|wir (?:müssen"
    r"|sollten)\b"
    r"|(?:yo )?(?:tengo|tenemos) que\b|(?:我|我们|我們)(?:得|要去|需要|应该|應該)"
    r"|(?:please |could you |can you |bitte |por favor,? )?(?:write|draft|plan|give|show|tell|make|help|explain"
    r"|find|list|summari[sz]e"
    r"|translate|suggest|create|book|send|add|set|check|look|compare|fix|run|open|read|rewrite|shorten|proofread|let"
    r"|schreib\w*|erstell\w*|mach\w*|gib|zeig\w*|such\w*|hilf|plane|prüf\w*|übersetz\w*|erklär\w*"
    r"|escribe|redacta|haz|dame|busca|ayúdame|traduce|explica|muéstrame|planea|prepara)\b"
    r"|(?:请|請)?(?:帮|幫|写|寫|给我|給我|查|翻译|翻譯|推荐|推薦|解释|解釋))"
)
# How a text that is being worked on is to be.
_OF_A_TEXT = re.compile(
    r"\b(?:(?:i(?:'d)? (?:want|need|like)|make) (?:it|this|that)(?: to)? (?:sound|read)|(?:it|this) (?:should|has to|must) (?:sound|read)"
    r"|(?:es|das|er|sie) soll(?:te)? [^,.!?]{0,40}? ?(?:klingen|tönen)|que (?:suene|no suene))\b"
    r"|(?:语气|語氣)要|(?:听|聽|读|讀)起来要"
)
# What is, and what always is so.
_STATE = re.compile(
    r"\b(?:is|are|am|was born|i'm|we're|'s|has|have|owns?|belongs?|lives?|living|works?|working|stud(?:y|ies)"
    r"|runs?|leads?"
    r"|reports? to|uses?|using|knows?|speaks?|teach(?:es)?|named|called|married|means|goes by|needs?|can(?:not"
    r"|'t)?|drives?"
    r"|takes|costs?|keeps?|stays?|likes?|loves?|hates?|wants?|every|always|never|usually|each|mondays|tuesdays"
    r"|wednesdays"
    r"|thursdays|fridays|saturdays|sundays|moved|joined|left|adopted|became|started|quit|switched|graduated|diagnosed"
    r"|ist|sind|bin|heiß\w*|heiss\w*|wohn\w*|leb[ent]\w*|arbeit\w*|studier\w*|gehör\w*|besitz\w*|nutz\w*"
    r"|verwend\w*|leite\w*"
    r"|spr[ei]ch\w*|kann|darf|hat|haben|habe|mag|liebt?|immer|nie|jeden|jede|jedes|umgezogen|gezogen|gewechselt"
    r"|gekündigt"
    r"|es|soy|son|está|estoy|están|viv\w+|trabaj\w+|estudi\w+|tiene[ns]?|tengo|tenemos|llam\w+|us[ao]n?|lleva"
    r"|llevo|habl\w+"
    r"|puede[ns]?|siempre|nunca|cada|todos los|me mudé|se mudó|dejé|empecé|cambié|gusta[n]?|prefier\w+|odi[ao]"
    r"|encanta[n]?"
    r"|est|suis|sont|habite\w*|travaille\w*|s'appelle|ont|toujours|jamais|è|sono|abit\w+|lavor\w+|chiama|sempre"
    r"|mor[ao]\w*|chama|tem|tenho|heet|woon\w*|werk\w*|heeft|altijd|nooit)\b|[=:]"
    r"|是|在|住|叫|有|用|喜欢|喜歡|讨厌|討厭|每|总是|總是|从不|從不|不能|会|會|属于|屬於|工作|搬到|负责|負責|姓|岁|歲"
)


def lasts(text: str, kinds: frozenset[str], cues: Cues | None) -> bool:
    """Whether a statement is worth keeping for a month. `kinds` are the kinds of its cues, `cues` its language's."""
    plain = folded(text)
    return speaks_for_itself(text, kinds, cues) and (
        bool(kinds & _STRESSED) or (_MOMENT.search(plain) is None and _STATE.search(plain) is not None)
    )


def speaks_for_itself(text: str, kinds: frozenset[str], cues: Cues | None) -> bool:
    """Whether a statement says something without the sentences around it: no chatter, question, task or feeling."""
    plain = folded(text)
    if asks(text, cues) or _NAMELESS.match(plain) or is_no_statement(text):
        return False
    if kinds & {"remember", "decision"}:
        return True
    if _FEELING.search(plain) or _ERRAND.match(plain) or _OF_A_TEXT.search(plain) or "chatter" in kinds:
        return False
    if _CONSEQUENCE.match(plain) or needs_context(text):
        return False
    # A sentence to the other one without the speaker in it is advice, or a wish for this conversation.
    if "other" in kinds and not kinds & {"self", "preference"}:
        return False
    return not ("action" in kinds and not kinds & {"preference", "fact"})


def is_of_the_moment(text: str) -> bool:
    """Whether a text only tells how one feels, or what was just done: nobody asks for it later. Takes linear time."""
    plain = folded(text)
    if _VALUE.search(plain) is not None or _PUT.search(plain) is not None:
        return False
    return _FEELING.search(plain) is not None or _JUST_DONE.search(plain) is not None


def wants_a_text(text: str) -> bool:
    """Whether a sentence asks for a letter, a list, advice: for the moment, and without a number in it. Takes linear
    time."""
    return _VALUE.search(text) is None and _WANTS_A_TEXT.match(folded(text).lstrip()) is not None
