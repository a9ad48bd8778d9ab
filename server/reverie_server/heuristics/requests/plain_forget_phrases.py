# ruff: noqa: E501  # a pattern stands on one line
"""Sentences that ask in plain words to forget something, with what kind of request each is, by language. Pure."""

from __future__ import annotations

_TOPIC = r"(?P<topic>[^,;:.!?，。！？；：]{2,80})"

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
ENGLISH = (
    (rf"{_PLEASE}{_FORGET} {_NOW}{_TAIL}", "previous"),
    (rf"{_PLEASE}{_FORGET} {_WHOLE}{_TAIL}", "message"),
    (rf"{_PLEASE}{_KEEP} (?:this|{_NOW}|it)(?: down)?{_TAIL}", "previous"),
    (rf"{_PLEASE}{_KEEP} {_WHOLE}{_TAIL}", "message"),
    (rf"{_PLEASE}please (?:do not|don't) remember (?:this|{_NOW}){_TAIL}", "previous"),
    (
        rf"{_PLEASE}(?:{_KEEP}|(?:do not|don't) remember) (?:this|that|it|(?:this|that|the next) (?:one|part|bit|thing)|(?:the |this )?(?:following|next)(?: (?:part|bit|thing|one))?)(?: down)?(?:,? please)? ?(?:[:,–—-]|but) ?.+",
        "own",
    ),
    # "I use an app but I never log it" asks nobody.
    (
        rf"(?:.+?)(?:[,;–—-] ?(?:(?:but|and|so) )?(?:please )?| (?:(?:but|and|so) )?please | and (?=[^,.]+ either$)|(?<! i)(?<! we)(?<!they)(?<! he)(?<! she)(?<! you)(?<! and)(?<! but)(?<! that)(?<! who) (?!never)){_KEEP} (?:this|that|it){_TAIL}",
        "own",
    ),
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
GERMAN = (
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
SPANISH = (
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
CHINESE = (
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
FRENCH = (
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
TABLES = (ENGLISH, GERMAN, SPANISH, CHINESE, FRENCH)
"""Patterns with the kinds of their requests, language by language."""
