# ruff: noqa: E501  # a pattern stands on one line
"""What is said around a request to forget, in every language: regret, what was told, and where it is not to stay. Pure."""

from __future__ import annotations

# A clause of regret before the request: the request is about what was said before, not about the regret.
REGRET = (
    r"(?:i (?:shouldn't|should not) have (?:said|told|mentioned|shared)|i (?:don't|do not) know why i (?:said|told)|i regret|thinking about it|now that i think|that (?:just )?slipped out|that was (?:too (?:much|private)|private|(?:told )?in confidence|a secret)|that's (?:private|a secret|between us)|(?:my |a )?\w+ told me (?:that|this|it) in confidence"
    r"|(?:das )?hätte ich (?:dir )?(?:das )?(?:besser |lieber )?nicht|(?:das )?ist mir (?:so )?(?:rausgerutscht|herausgerutscht)|ich (?:hätte|sollte) (?:dir )?das (?:besser |lieber )?nicht|ich bereue|das (?:war|ist) (?:privat|vertraulich|geheim|ein geheimnis|nur für dich)|das bleibt unter uns|das geht (?:niemanden|keinen) (?:was |etwas )?an|wenn ich (?:so )?darüber nachdenke"
    r"|(?:eso )?no (?:te )?deb[ií]|no tendr[ií]a que haber|no ten[ií]a que haber|no s[eé] por qu[eé] (?:te )?(?:dije|cont[eé])|me arrepiento|pens[aá]ndolo (?:bien|mejor)|se me (?:escap|sal)i?[oó]|eso (?:fue|es|era) (?:privado|personal|un secreto|confidencial)|ahora que lo pienso"
    r"|我?(?:刚才)?不(?:该|應該|应该)(?:说|說|告诉|跟你|把|提)|我?(?:说|說)(?:漏嘴|多)了|我?(?:想了想|后悔|想想)|这(?:个|事)?(?:是|算)?(?:隐私|私事|秘密))"
)
# What names a thing that was told, and words by which such a thing is not to be kept.
_WHERE = r"(?:your |the )?(?:memory|memories|notes|records?|files?|logs?|database|system|head|mind)|whatever you (?:keep|store|save|have)|what you (?:keep|store|save|know|have)"
_STOP = r"(?= (?:can|could|should|must|has|needs|isn't|is|was|wasn't|hadn't|i|go|from|out|in|again|please|as|didn't|never|stays?|lived?|to)(?!\w)|[,;:.!?]|$)"
_HALT = r"(?= (?:kann|soll|sollte|muss|darf|gehört|nicht|nie|nirgends|wieder|bitte|hätte|hast|ist|war|wird|will|möchte|brauchst|kommt|raus|weg|aus|bloß|ja|mal|doch|lieber)(?!\w)|[,;:.!?]|$)"
_ALTO = r"(?= (?:no|ya|tienen?|tendr[ií]a|deben?|deber[ií]a|hay|puede|mejor|me|que|ni|como|queda|se|te|s[aá]calo|b[oó]rralo|qu[ií]talo|t[aá]chalo|de (?:ah[ií]|aqu[ií]|tus?))(?!\w)|[,;:.!?]|$)"
TOLD = (
    rf"(?:the|that) (?:thing|bit|part|story|business|stuff|matter|passage|sentence|line)s? (?:about|with|regarding|on) (?:my |our |the |that )?([^,;:.!?]{{2,40}}?){_STOP}"
    rf"|what(?:ever)? i(?:'ve| have)? (?:just |ever )?(?:told you|said|mentioned|shared|wrote|typed|let slip) (?:about|regarding|on) (?:my |our |the |that )?([^,;:.!?]{{2,40}}?){_STOP}"
    r"|(?:that|the|this) ([\w' -]{2,30}?) (?:business|thing|story|matter|stuff)(?=[,;:.!?]|$| (?:can|should|must|is|was|never|has|needs))"
    r"|(?:as for|regarding|concerning) (?:my |our |the |that )?([^,;:.!?]{2,40}?)(?=[,;:])"
    rf"|(?:i(?:'d| would) (?:be happier|feel better|rather|prefer(?: it)?)(?: if)?|the idea of|forget i(?: ever)? (?:brought up|mentioned)|let|blabbed about|(?:a|one|single) (?:word|trace|mention|hint) of) (?:my |our |the |that )([\w' -]{{2,30}}?)(?= (?:wasn't|weren't|didn't|sitting|being|go|should|in|on|stays?)(?!\w)|[,;:.!?]|$)"
    rf"|(?:my|our|the|that) ([\w' -]{{2,30}}?) (?:(?:gone|out|away|off|removed|deleted|erased|wiped|to go) )?(?:from|out of|off) (?:{_WHERE})(?!\w)"
    rf"|(?:das|die sache|die geschichte|der teil|den teil|der satz|den satz|die stelle|die zeile)(?: von (?:eben|vorhin|gerade|gestern))? (?:mit|über|uber|von|vom|zum|zur) (?:dem |der |den |das |die |meine[mnrs]? |mein )?([^,;:.!?]{{2,40}}?){_HALT}"
    r"|was (?:den|die|das|meinen|meine|mein) ([^,;:.!?]{2,40}?) (?:angeht|betrifft)"
    r"|was ich (?:dir )?(?:über|uber|von|vom|zu|zum|zur) (?:den |die |das |dem |der |meine[mnrs]? |mein )?([^,;:.!?]{2,40}?) (?:erzählt|gesagt|geschrieben|getippt) hab(?:e)?"
    rf"|(?:nichts|kein wort) (?:von|vom|über) (?:der |dem |den |das |die |meine[mnrs]? )?([^,;:.!?]{{2,40}}?){_HALT}"
    r"|(?<!\w)vom ([^,;:.!?]{2,40}?) (?=(?:darf|soll|will|möchte)(?!\w))"
    r"|(?:den|die|das|meinen|meine|mein) ([^,;:.!?]{2,40}?)(?: wieder| bitte| mal)* (?:aus|von) (?:deine[mnr]?|de[mnr]|dem) (?:gedächtnis|kopf|notizen|speicher|erinnerung\w*|aufzeichnungen|unterlagen|akten|system)"
    rf"|(?<!\w)(?:eso|lo)(?: que (?:te )?(?:cont[eé]|dije|he contado|he dicho|escrib[ií]))? (?:de |del |sobre )(?!tus?(?!\w))(?:el |la |los |las |mi |mis )?([^,;:.!?]{{2,40}}?){_ALTO}"
    r"|en cuanto (?:a |al )(?:el |la |los |las |mi |mis )?([^,;:.!?]{2,40}?)(?=[,;:])"
    r"|(?<!\w)(?:del|de la|de mi|de los|de las) ([\w ]{2,40}?) (?=no quiero que|ni (?:rastro|palabra))"
    r"|(?:关于|刚才?说的|之前说的|我说的|我讲过的|我说过的|那个)?(?:把)?([\u4e00-\u9fff]{2,8}?)(?:那件事|那些话|那段|那事|这事|这段|那条|这条|那句|这句|那茬|那块|的那|的事情?|的记录|的内容|内容)"
    r"|(?:我)?(?:刚才?|之前|上次)(?:跟你)?(?:说|讲|提)的([\u4e00-\u9fff]{2,8}?)(?=[，,])"
)
UNWANTED = (
    r"(?:can|should|must|has to|needs to) (?:go|vanish|disappear)(?: from (?:your|the) (?:memory|notes|records))?\W*$|(?:isn't|is not|wasn't|was not|it's not|not) (?:for|something for|meant for) (?:your|the|any|keeping) ?(?:notes|memory|records|files|keeping)?|cross out|as unsaid|go from your (?:memory|notes)"
    r"|(?:didn't|did not|doesn't|does not|not|don't|do not) (?:stay|remain|sit|live|stand|be|belong)(?: kept| stored)? (?:in|on) (?:your |the )?(?:head|memory|notes|file|record|here|there)"
    r"|(?:didn't|did not|doesn't|does not) (?:stay|remain|live|stand) (?:in )?(?:here|there)"
    r"|(?:rather|happier|prefer|feel better)\s[^.!?]{0,60}(?:wasn't|weren't|isn't|not) (?:written|kept|stored|saved|recorded|noted)"
    r"|(?:drop|remove|take|bin|wipe|scrub|strike|delete|erase|lose) (?:it|them|that)(?: \w+)? (?:from|out of) (?:your|the) (?:memory|notes|records|database|files)|(?:drop|remove|delete|erase|take|bin|wipe|scrub|lose|scrap|ditch|trash|purge|shred|nuke) (?:it|them|that)(?: out)?(?: again| please)?\W*$|get rid of (?:it|that|them)\W*$|if you forgot it\W*$|forget i(?: ever)? (?:brought|mentioned)"
    rf"|(?:drop|remove|take|bin|wipe|scrub|strike|delete|erase|lose|scrap|purge|leave|want|get|keep)\s[^.!?,;]{{2,50}}? (?:from|out of|off) (?:{_WHERE})(?!\w)"
    r"|(?:scrub|delete|erase|wipe|remove|scrap|ditch|purge|shred|lose|drop|strike|bin|cut|unsay) (?:out )?(?:the|that) (?:thing|bit|part|story|business|stuff|matter|passage|sentence|line)s? (?:about|with|regarding|on)"
    r"|(?:don't|do not) want (?:a|any|one|single) (?:trace|word|mention|hint)|not a (?:word|trace|mention|hint) of"
    r"|you(?:'ve)? never (?:heard|read|saw|seen|got|knew)|(?:don't|do not|never) (?:hang|hold) on(?:to| to) (?:it|that)"
    r"|(?:kann|soll|sollte|muss) (?:\w+ ){0,3}?(?:weg|raus|verschwinden)\W*$|(?:hat|haben) (?:bei dir |in deinem gedächtnis |in deinen notizen )?nichts (?:zu suchen|verloren)(?!\w)|(?:soll|muss|kann|darf)(?: \w+)? (?:raus|weg) aus (?:dem|deinem|deinen|den|der|deiner)|gehört nicht in (?:deine notizen|dein gedächtnis|deinen kopf|deine unterlagen)|nicht bei dir (?:bliebe|bleibt|liegt|läge)|vergiss (?:es|das) (?:bitte|wieder)|lösch (?:es|das)"
    r"|(?:kannst|darfst|solltest|könntest|würdest) du [^.!?]{0,60}(?:streichen|löschen|vergessen|rausnehmen|herausnehmen|entfernen|tilgen|ungeschehen machen|rauswerfen|wegmachen)\W*$"
    r"|(?:können|könnten) wir [^.!?]{0,60}(?:streichen|löschen|vergessen|rausnehmen|herausnehmen|entfernen)\W*$"
    r"|(?:nimm|nimmst|nehmt|schmeiß|schmeiss|wirf|mach|machst|tu|hol|streich|lösch|radier|radiere|schaff|krieg)\s[^.!?,;]{2,60}?(?:raus|heraus|weg|aus)\W*$|(?:schmeiß|schmeiss|wirf|nimm|streich|lösch|radier|hol|tilg)\s[^.!?;]{2,60}? aus (?:dem|deinem|deinen|den|der|deiner)(?!\w)"
    r"|(?:will|möchte|mag) ich (?:hier |da |dort )?(?:nirgends|nirgendwo|nicht) (?:mehr )?(?:stehen|gespeichert|aufgeschrieben|lesen|haben|wiederfinden)|nichts (?:übrig )?(?:bleiben|bleibt|stehen|behalten)|hast du (?:nie|nicht|niemals) (?:gelesen|gehört|gesehen|mitbekommen)|behalt(?:e|est|en)? (?:[^.!?]{0,40} )?nicht|bloß nicht"
    r"|wenn du (?:dir )?[^.!?]{2,60}? (?:vergisst|vergessen würdest|löschst|löschen würdest|streichst)|(?:(?:bitte|wieder|einfach|am besten|schnell) )+(?:vergessen|löschen|streichen|rausnehmen)\W*$|vergisst du (?:bitte|wieder|am besten|schnell)"
    r"|no (?:es|era|son) para tus? (?:notas|memoria|registros)|no (?:es|era) para (?:aqu[ií]|ah[ií]|guardar)|no se (?:quede|quedara|guarde|guardara) en tu (?:memoria|cabeza)|(?:s[aá]calo|b[oó]rralo|elim[ií]nalo|olv[ií]dalo|qu[ií]talo|t[aá]chalo|ret[ií]ralo|bórramelo|quítamelo)(?!\w)|(?<!se me )(?:quita|quítame|quitame|borra|bórrame|borrame|elimina|tacha|táchame|tachame|retira|suprime|borras|quitas) (?:ya |por favor |todo )*lo (?:de|del|que)(?! tus?(?!\w))"
    r"|(?:puedes|podrías|podrias|puede|podría|quieres|haz el favor de|hazme el favor de) (?:quitar|sacar|borrar|eliminar|olvidar|tachar|retirar|suprimir)|que (?:te )?olvid(?:es|aras|ases)(?: de)? lo|olvidaras lo"
    r"|(?:tienen?|tendr[ií]an?) que (?:irse|salir|desaparecer|borrarse|quitarse|marcharse)|deb(?:e|en|ería|erían) (?:irse|salir|desaparecer|borrarse)|que (?:se vaya|desaparezca)\W*$"
    r"|ni se te ocurra (?:guardar|apuntar|anotar|registrar|recordar)l[oa]s?|ni rastro|ni palabra|[,;:] ?fuera\W*$|no (?:me |te )*(?:lo |la |los |las )*(?:quedes|guardes|apuntes|anotes|dejes|registres|conserves)(?! sin)|ni (?:lo|la|los|las) (?:apuntes|guardes|anotes)|como si no (?:lo |me )?(?:hubieras|hubieses) (?:o[ií]do|le[ií]do|visto)|no (?:hace|hac[ií]a) falta que (?:recuerdes|guardes|te acuerdes)|no quiero que (?:te )?(?:quedes|acuerdes|guardes|recuerdes|conste|quede (?:apuntad|guardad|escrit|registrad|anotad|constancia|en ning))"
    r"|不想(?:让它)?(?:留|存|放)在(?:你|这|记录|记录|记忆|系统)|不想留(?:下|有)?(?:任何)?(?:痕迹|记录|底)|别往(?:记忆|记录|笔记|里)|别(?:放|留|存|记|写)(?:在|进|着)(?!心上?$)|当我没(?:说|讲|提)(?:过)?|当没(?:听|看)(?:过|见)|(?:别存|别记|别留)|(?<!我)(?:都|全|给我)?(?:删|清|抹|划|撤|去|拿|勾)(?:了|掉|除|干净)|(?:你|就|都|请|把[^，。！？]{2,20})(?:忘掉|忘了|忘记)(?:吧|就好|就行|好了|了)"
)
# What the assistant is asked to forget or not to keep, by a verb that it is the subject of.
ADDRESSED = (
    r"(?:could|can|would|will) (?:you|we) (?:please |kindly |maybe )?forget (?:about )?(?:my |our |the |that )([^,;:.!?]{2,40}?)(?= (?:again|please|entirely|completely|for good|business|thing)|[,;:.!?]|$)"
    r"|you can forget (?:about )?(?:my |our |the |that )([^,;:.!?]{2,40}?)(?: business| thing| stuff)?(?= (?:again|please|entirely|completely|for good)(?!\w))"
    r"|(?:don't you dare|i beg you not to|please never|never ever) (?:write down|keep|store|save|record|note) (?:my |our |the |that )([^,;:.!?]{2,40}?)(?=[,;:.!?]|$)"
    r"|(?:kannst|könntest|würdest|magst) du (?:bitte )?(?:den|die|das|meinen|meine|mein|unsere[nmrs]?) ([^,;:.!?]{2,40}?) (?:bitte |ganz |schnell |einfach )*wieder (?:vergessen|löschen|streichen)"
    r"|(?:den|die|das|meinen|meine|mein|unsere[nmrs]?) ([^,;:.!?]{2,40}?) (?:solltest|brauchst|musst|sollst|darfst) du (?:dir )?(?:bitte |auch |lieber |besser |gar )*(?:nicht|nirgends) (?:zu )?(?:merken|notieren|behalten|speichern|aufschreiben|aufzuschreiben|abspeichern)"
    r"|(?:dass|wenn) du (?:dir )?(?:den|die|das|meinen|meine|mein|unsere[nmrs]?) ([^,;:.!?]{2,40}?) (?:bitte |schnell )*(?:wieder vergisst|wieder löschst|nicht merkst|nicht behältst|nicht speicherst|nicht notierst)"
    r"|^(?:(?:und|ach|also|ok|nein|bitte)[ ,]+)*(?:den |die |das |meinen |meine |mein )?(?P<bare>[^\W\d_][\w -]{1,30}?) (?:(?:bitte|einfach|am besten) )+wieder (?:vergessen|löschen|streichen)\W*$"
    r"|(?:lösch|lösche|streich|streiche|vergiss|tilg|tilge) (?:bitte |mal |wieder )*(?:den|die|das|meinen|meine|mein|unsere[nmrs]?) ([^,;:.!?]{2,40}?)(?: bitte| wieder)*, (?:den|die|das) (?:hab|habe|hätte|hatte) ich (?:dir )?(?:nie|besser nicht|lieber nicht|nicht)(?!\w)"
    r"|(?:den|die|meinen|meine|mein) ([^,;:.!?]{2,40}?) nimmst du (?:bitte |mal |lieber )*wieder raus"
    r"|(?:the|my|our) ([\w' -]{2,40}?) (?:needs|has) to come out of (?:there|here|your (?:notes|memory))"
    r"|could we (?:please )?(?:drop|lose|delete|remove|erase) (?:the|my|our|that) ([\w' -]{2,40}?) (?:from|out of) (?:your |the )?(?:memory|notes|records?)"
    r"|olv[ií]date (?:de |del )(?:el |la |los |las |mi |mis )?([^,;:.!?]{2,40}?), que no (?:tendr[ií]a|ten[ií]a|deb[ií]a|deber[ií]a|deb[ií])(?!\w)"
)
# "Everything I ever told you about Raymond, I'd like it gone": all that was told of him.
EVERYTHING = (
    r"(?<!\w)(?:everything|anything|whatever|all)(?: that)? (?:i|you|we)(?:'ve| have|'d)?(?: [\w']+){0,6}? (?:about|regarding|concerning) "
    r"([^,;:.!?]{2,40}?)(?=[,;:.!?]|$| (?:can|should|must|has|needs|please|is|was)(?!\w))"
    r"|(?<!\w)alles,? was (?:ich|du)(?: \w+){0,4}? (?:über|uber|zu|von|vom) ([^,;:.!?]{2,40}?) (?:erzählt|gesagt|geschrieben|erwähnt|verraten|weißt|hast|hab|habe)(?!\w)"
    r"|(?<!\w)todo lo que(?: \w+){1,4}? (?:de|del|sobre|acerca de) ([^,;:.!?]{2,40}?)(?=[,;:.!?]|$)"
    r"|(?:凡是|所有|全部|一切)[^，。,.!！?？]{0,10}?(?:关于|[提说讲聊]过的)([^，。,.!！?？]{1,12}?)的(?:事|话|一切|内容)"
)
WANTED_GONE = r"(?<!\w)(?:like|want|need|prefer) (?:it|that|this|them|all(?: of (?:it|that|this))?)(?: all)? (?:gone|removed|deleted|erased|wiped|forgotten)(?!\w)"
PRONOUN = r"(?:it|this|that|him|her|them|me|us|you|ihn|ihm|ihr|sie|es|uns|mich|mir|dir|ella|él|ellos|ellas|eso|esto|ello|mí|nosotros|[他她它我]们?|这|那)(?!\w)"
# What stands for the memory, of which a sentence says that what was said is not for it.
NOT_FOR_STORE = (
    r"(?<!\w)(?:that|this|it)(?:'s| is|'s really| really is)?(?: \w+)? not (?:really |exactly |something |anything |one |a thing )*for (?:your|the) (?:note|record|file|diary|log|memory)\w*"
    r"|(?<!\w)(?:that|this|it) (?:doesn't|does not|needn't|shouldn't|mustn't|doesn't need to|doesn't have to) (?:belong|go)(?: \w+)? (?:in|into) (?:your|the) (?:note|record|file|diary|log|memory)\w*"
    r"|(?<!\w)(?:das|dies|sowas|so was|so etwas) (?:gehört|muss|soll|sollte|braucht|darf)(?: \w+){0,3}? nicht (?:in|auf) (?:deine|dein|deinen|die|das) (?:unterlagen|notiz|akte|heft|liste|gedächtnis|aufzeichnung|speicher|buch)\w*"
    r"|(?<!\w)(?:eso|esto|ello)(?:,? \w+){0,2},? no (?:es|va|vale)(?: \w+){0,4}? (?:para|a|en) (?:que \w+ (?:a|en) )?(?:tus?|la|los|las) (?:apunte|nota|libreta|cuaderno|memoria|registro|archivo)\w*"
    r"|[这那][^，。,.!！?？]{0,6}(?:不好|不要|别|不用|不能|不必|不该|不宜)(?:写|记|存|放|留)[进到在]?(?:你的?)?[^，。,.!！?？]{0,4}(?:本本|本子|笔记|记录|记忆|备忘|档案)"
)
# A whole message that is no more than the order.
BARE = (
    r"(?:bitte )?(?:wieder )?(?:löschen|lösch(?:e)?|weg damit|raus damit)(?: bitte)?|bitte (?:wieder )?vergessen|(?:wieder )?vergessen,? bitte|(?:please )?(?:delete|erase|wipe|scrub)(?: please)?"
    r"|(?:por favor,? )?(?:borrar|b[oó]rra(?:lo|la)|eliminar|elim[ií]nal[oa]|fuera(?: con)?(?: eso)?)(?:,? por favor)?|[请快]?(?:删掉|删除|删了|忘掉)[吧啊]?"
)
