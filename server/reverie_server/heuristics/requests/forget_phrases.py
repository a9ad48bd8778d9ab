# ruff: noqa: E501  # a pattern stands on one line
"""More ways to ask for forgetting, by language: with the verb elsewhere, politely, or by the place it is to leave.

To delete a thing may be a task ("delete the branch"): without "what I said", "the thing with" or the memory itself as the
place, only words of private things ("the PIN of the cellar") name what is to be forgotten. Texts are folded.
"""

from __future__ import annotations

_T = r"(?P<topic>[^,;:.!?，。！？；：]{2,80}?)"
# Two words or more: a statement has to have all of them.
_TWO = (
    r"(?P<topic>[^,;:.!?，。！？；：\s]{2,40} (?:[^,;:.!?，。！？；：\s]{1,40} ){0,10}?[^,;:.!?，。！？；：\s]{2,40}?)"
)
_LO = r"(?:[,;:–—-]| -) ?"

# English.
_OPEN = (
    r"(?:(?:ok|okay|actually|wait|sorry|oh|hmm|no(?=,)|oops|please|and|but|also|so|hey|listen|well|on second thoughts?|you know what)[ ,]++)*+"
    r"(?:(?:could|can|would|will) you (?:please |maybe |kindly )?|i want you to |i'd like you to |i would like you to |i need you to |you can |you should )?(?:please )?(?:just )?"
)
_END = r"(?:,? ?(?:please|again|right away|immediately|now|for me|ok|okay|too|thanks|thank you|if you can|will you|would you|yesterday|earlier|before))*+"
_THAT = (
    r"(?:that|this|it|what i (?:have |'ve )?(?:just )?(?:said|told you|wrote|mentioned)|that last (?:thing|bit|part|sentence|message)|the last (?:thing|bit|part|sentence)"
    r"|(?:that|this) (?:one|number|figure|name|code|date|address|detail|amount|sum|price|word|story|news|secret|fact))"
)
_MEMORY = r"(?:your |the )?(?:memory|notes|records|record|files|logs|log|database)"
_STORE = r"(?:keep|save|store|record|note|remember|retain|log|write down|hold on to|hang on to)"
_PRIVATE = (
    r"(?:\w+ ){0,2}(?:pin|password|passcode|passphrase|salary|income|debts?|phone number|diagnosis|iban|secret"
    r"|illness)"
)
# A code may be a program's, too: that of a door is not.
_LOCKED = (
    r"(?:code|combination|key code|number) (?:of|for|to|at|from) (?:\w+ ){0,4}?(?:door|gate|alarm|safe|locker|lock|padlock|building|garage|house|flat|apartment|vault|cellar|gym|suitcase|bike"
    r"|intercom|card|account|phone|wi-?fi|router)(?: [^,;:.!?]{2,40}?)?"
)
_REMOVE = r"(?:remove|delete|erase|take|strike|scrub|wipe|drop|clear|get rid of)"
# Who says "please" means the memory, and not "Forget the umbrella".
_POLITELY = (
    r"(?:(?:ok|okay|actually|wait|sorry|oh|hmm|and|but|also|so|hey|listen)[ ,]++)*+"
    r"(?:please (?:just )?|(?:could|can|would|will) you (?:please |kindly )?(?:just )?|i(?:'d| would) like you to |i (?:want|need) you to )"
)
ENGLISH = (
    (rf"{_POLITELY}forget (?:the |that |those ){_TWO}{_END}", "topic"),
    (rf"{_OPEN}forget (?:the |that |those ){_TWO},? please{_END}", "topic"),
    (
        rf"{_OPEN}(?:keep|leave) (?:everything about |all about )?(?:my |the |our |that ){_T} out of {_MEMORY}{_END}",
        "topic",
    ),
    (rf"{_OPEN}i (?:don't|do not) want you to {_STORE} (?:my |the |our |that ){_T}{_END}", "topic"),
    (
        rf"{_OPEN}i(?:'d like| would like| want) (?:everything about |all about |anything about )?(?:my |the |our |that ){_T} (?:to be )?(?:forgotten|deleted|erased|gone|removed|wiped){_END}",
        "topic",
    ),
    (
        rf"{_OPEN}(?:let's |let us )?(?:forget|pretend) (?:that )?i (?:never |ever )?(?:mentioned|brought up|talked about|told you about) (?:my |the |our |that )?{_T}{_END}",
        "topic",
    ),
    (
        rf"{_OPEN}(?:clear|drop|scrap|purge|get rid of|throw (?:away|out)|bin|unremember|lose) (?:what|everything|all|anything)(?: that)? i(?:'ve| have)? (?:just |ever )?(?:said|told you|mentioned) (?:about|regarding|concerning) {_T}{_END}",
        "topic",
    ),
    (rf"{_OPEN}(?:unremember|unlearn) (?:my |the |our |that ){_T}{_END}", "topic"),
    (
        rf"{_OPEN}(?:delete|erase|scrap|(?:do not|don't|dont) {_STORE}) (?:my |the |our |that ){_T} (?:thing|bit|part|story|stuff|business|matter)s?{_END}",
        "nearby",
    ),
    (rf"{_OPEN}{_REMOVE} {_THAT} (?:from|out of|off) {_MEMORY}{_END}", "previous"),
    (rf"{_OPEN}(?:keep|leave) {_THAT} out of {_MEMORY}{_END}", "previous"),
    (
        rf"{_OPEN}(?:i'd rather you|i would rather you|i'd prefer (?:it )?if you) (?:didn't|did not) {_STORE} {_THAT}{_END}",
        "previous",
    ),
    (rf"{_OPEN}(?:i don't want|i do not want|i didn't want) you to {_STORE} {_THAT}{_END}", "previous"),
    (
        rf"{_OPEN}i (?:don't|do not) want (?:that|this|it) (?:to be )?(?:saved|kept|stored|recorded|remembered|written down|on record|in {_MEMORY}){_END}",
        "previous",
    ),
    (
        rf"{_OPEN}(?:pretend|act (?:like|as if)|let's pretend) i (?:never|didn't) (?:said|say|told you|tell you|mentioned|mention) (?:that|this|anything|it){_END}",
        "previous",
    ),
    (
        rf"{_OPEN}(?:(?:there's |there is )?no need to|you (?:don't|do not) (?:need|have) to) {_STORE} (?:that|this){_END}",
        "previous",
    ),
    (
        rf"{_OPEN}(?:that|this) (?:should not|shouldn't|must not|mustn't|is not to|isn't to|does not need to|doesn't need to) be (?:saved|stored|kept|recorded|written down|remembered|noted)(?: anywhere)?{_END}",
        "previous",
    ),
    (rf"{_OPEN}(?:do not|don't|dont) (?:put|write|leave) (?:that|this) in {_MEMORY}{_END}", "previous"),
    (
        rf"{_OPEN}forget (?:that|what) i (?:ever |even )?(?:said|told you|mentioned|brought up|brought) (?:that|this|it|any of (?:that|this)){_END}",
        "previous",
    ),
    (rf"{_OPEN}forget i (?:ever |even )?(?:said|told you|mentioned) (?:that|this|anything){_END}", "previous"),
    (
        rf"{_OPEN}(?:please )?(?:forget (?:what comes next|what follows)|(?:forget|delete|erase|scrap|strike) (?:what(?:ever)? i(?:'m| am) (?:about|going) to (?:say|tell you)|what(?:ever)? i(?:'ll| will)? (?:say|tell you) (?:next|now))){_END}",
        "next",
    ),
    (
        rf"{_OPEN}(?:(?:do not|don't|dont|never) {_STORE}|i don't want you to {_STORE}) (?:(?:the |this )?(?:following|next)(?: (?:part|bit|thing|one))?|what (?:comes next|follows)|what i(?:'m| am) (?:about|going) to (?:say|tell you)|what i (?:say|tell you) next){_END}",
        "next",
    ),
    (
        rf"{_OPEN}(?:the following|what follows|what comes next|what i(?:'m| am) (?:about|going) to (?:say|tell you)|(?:my|the) next (?:part|bit|thing|one|sentence|message))(?: (?:should not|shouldn't|must not|mustn't|is not to|isn't to) be (?:saved|stored|kept|recorded|written down|remembered|noted)(?: anywhere)?|(?: is|'s) not for (?:keeping|the record|your (?:notes|memory|records|files)))",
        "next",
    ),
    (
        rf"{_OPEN}(?:don't|do not|dont) {_STORE} (?:anything|what|the things?|whatever)(?: that)? (?:i(?:'ve| have)? (?:just )?(?:said|told you|mentioned) )?(?:to you )?(?:about|regarding|concerning) {_T}{_END}",
        "topic",
    ),
    (
        rf"{_OPEN}(?:forget|delete|erase|remove) (?:the|that) (?:thing|bit|part|stuff|story|business|matter)s? (?:(?:that )?i (?:told you|said|mentioned) )?(?:about|with|regarding) {_T}{_END}",
        "topic",
    ),
    (
        rf"{_OPEN}{_REMOVE} (?:everything |anything |all )?(?:about )?(?:my |the |our )?{_T} (?:from|out of|off) {_MEMORY}{_END}",
        "topic",
    ),
    (
        rf"{_OPEN}(?:forget|delete|erase|remove|unlearn) (?:my |the |our )(?P<private>{_PRIVATE}(?: (?:of|for|to|at|from) [^,;:.!?]{{2,60}}?)?){_END}",
        "topic",
    ),
    (
        rf"{_OPEN}(?:forget|delete|erase|remove|unlearn|(?:do not|don't|dont|never) {_STORE}) (?:my |the |our )(?P<private>{_LOCKED}){_END}",
        "topic",
    ),
    (
        rf"{_OPEN}(?:do not|don't|dont|never) {_STORE} (?:my |the |our )(?P<private>{_PRIVATE}(?: (?:of|for|to|at|from) [^,;:.!?]{{2,60}}?)?){_END}",
        "topic",
    ),
    (
        rf"{_OPEN}(?:remove|delete|erase|wipe) (?:everything|anything|all)(?: (?:that )?i (?:said|told you|mentioned))? (?:about|regarding|concerning) {_T}{_END}",
        "topic",
    ),
    (
        rf"{_OPEN}forget (?:everything|all|anything|whatever|what)(?: that)? i(?:'ve| have)? (?:just |ever )?(?:said|told you|mentioned)(?: (?:yesterday|earlier|before))? (?:about|regarding|concerning) {_T}{_END}",
        "topic",
    ),
    (
        rf".+{_LO}(?:and |but |so )?(?:please |now )*(?:do not|don't|dont) (?:write|note) (?:that|this|it) down{_END}",
        "own",
    ),
    (rf".+{_LO}(?:and |but |so )?(?:please |now )*(?:forget|delete|erase) (?:that|this){_END}", "own"),
)

# German.
_AUF = r"(?:(?:ok|okay|bitte|ach|oh|nein|moment|und|aber|doch|du|hey|also|ne|sorry|entschuldige|entschuldigung|hm|naja|mist|ups|halt)[ ,]++)*+"
_BITTE = r"(?:(?:bitte|mal|doch|lieber|wieder|gleich|sofort|einfach|jetzt|besser|auch|am besten|nirgends|nirgendwo|danke)[ ,]*+)*+"
_KANNST = r"(?:(?:kannst|könntest|konntest|würdest|wurdest|magst) du |du (?:kannst|sollst|darfst) )"
_DAS = (
    r"(?:das|dies|dieses|das eben|das gerade|das von eben|das von gerade|das von vorhin|das alles|den letzten satz|meinen letzten satz|die letzte nachricht|meine letzte nachricht"
    r"|was ich (?:dir )?(?:gerade|eben|soeben|zuletzt|vorhin|da)? ?(?:gesagt|erzählt|geschrieben|verraten) (?:habe|hab))"
)
_GED = r"(?:aus|von) (?:deinem|dem|deinen|den|deiner|der) (?:gedächtnis|notizen|speicher|erinnerung|aufzeichnungen|unterlagen)"
_IMP = r"(?:vergiss|lösch|lösche|streich|streiche|entfern|entferne|vergessen sie|löschen sie|tilge)"
_INF = r"(?:vergessen|löschen|streichen|entfernen)"
_MERK = r"(?:speichern|behalten|merken|notieren|aufschreiben|abspeichern|festhalten|mitschreiben)"
_MERKST = r"(?:speicherst|behältst|merkst|notierst|aufschreibst|abspeicherst|festhältst)"
_MERKE = r"(?:speicher|speichere|behalt|behalte|notier|notiere|schreib|schreibe|merk|merke|halt|halte|speichern sie|notieren sie|merken sie|behalten sie)"
_GESAGT = r"(?:gesagt|erzählt|geschrieben|verraten|anvertraut|genannt) (?:habe|hab|hatte)"
_ZU = r"(?:über|uber|zu|zum|zur|von|vom|wegen|mit|bezüglich)"
_WANN = r"(?:(?:gestern|vorhin|neulich|eben|gerade|mal|letztens|früher|heute|heute morgen) )*+"
_ART = r"(?:den |die |das |der |dem |meine[nmrs]? |mein |unsere[nmrs]? |unser )"
_PRIVAT = r"(?:\w*(?:pin|passwort|kennwort|gehalt|telefonnummer|diagnose|iban|aktenzeichen|zahlenkombination|geheimnis|schulden|krankheit|lohn|einkommen|geheimzahl|(?:tür|tor|haus|keller|schloss|tresor|safe|alarm|zugangs|spind|garagen)code))"
_SCHLOSS = (
    r"(?:code|kombination|nummer) (?:von|vom|für|zu|zum|zur|am|an|im|in|des|der) (?:[^\W\d_]+ ){0,3}?\w*(?:tür|tor|schloss|safe|tresor|keller|spind|alarm|alarmanlage|garage|haus|hauses|wohnung"
    r"|kellertür|koffer|fahrrad|karte|konto|handy|wlan|schließfach)"
)
GERMAN = (
    (
        rf"{_AUF}(?:(?:(?<=bitte )|(?<=bitte, ))vergiss|vergiss (?:doch )?bitte) {_BITTE}{_ART}{_TWO}(?<! nicht)",
        "topic",
    ),
    (
        rf"{_AUF}{_KANNST}{_BITTE}{_ART}(?!(?:bitte|wieder|mal|doch|eben|gerade|alles|was|von|mit) ){_TWO} {_BITTE}vergessen",
        "topic",
    ),
    (
        rf"{_AUF}(?:das|die sache|die geschichte|der teil) (?:mit|über|uber|von|vom|zu|zum|zur|um) {_ART}?{_T} (?:muss|soll|sollte|kann|darf) {_BITTE}(?:weg|raus|verschwinden|vergessen werden|gelöscht werden)",
        "topic",
    ),
    (
        rf"{_AUF}lass {_BITTE}(?:das|die sache|die geschichte) (?:mit|über|uber|von|vom) {_ART}?{_T} {_BITTE}(?:weg|raus)",
        "topic",
    ),
    (
        rf"{_AUF}ich (?:möchte|will|hätte gern),? dass {_ART}{_T} (?:gelöscht|vergessen|entfernt|gestrichen) wird",
        "topic",
    ),
    (rf"{_AUF}nimm {_BITTE}{_ART}{_T} {_GED}(?: raus| heraus)?,? ?{_BITTE}", "topic"),
    (rf"{_AUF}{_IMP} {_BITTE}{_ART}(?P<private>{_SCHLOSS}) ?{_BITTE}(?:{_GED})?,? ?{_BITTE}", "topic"),
    (rf"{_AUF}{_KANNST}{_BITTE}{_ART}(?P<private>{_SCHLOSS}) {_BITTE}(?:{_GED} )?{_INF}", "topic"),
    (
        rf"{_AUF}{_MERKE}(?: dir)? {_BITTE}{_ART}(?P<private>{_SCHLOSS}|{_PRIVAT}) {_BITTE}nicht(?: auf| ab)?,? ?{_BITTE}",
        "topic",
    ),
    (rf"{_AUF}{_IMP} {_BITTE}{_DAS},? ?{_BITTE}(?:{_GED})?,? ?{_BITTE}", "previous"),
    (rf"{_AUF}nimm {_BITTE}{_DAS} {_BITTE}{_GED}(?: raus| heraus)?,? ?{_BITTE}", "previous"),
    (rf"{_AUF}{_KANNST}{_BITTE}{_DAS},? {_BITTE}(?:{_GED} )?{_INF},? ?{_BITTE}", "previous"),
    (rf"{_AUF}{_DAS},? (?:kannst|darfst|solltest) du {_BITTE}{_INF}", "previous"),
    (rf"{_AUF}{_BITTE}{_DAS},? {_BITTE}(?:{_GED} )?{_INF},? ?{_BITTE}", "previous"),
    (rf"{_AUF}{_DAS} (?:vergisst|löschst|streichst) du {_BITTE}", "previous"),
    (rf"{_AUF}{_DAS} (?:vergiss|lösch|lösche|streich) ?{_BITTE}", "previous"),
    (
        rf"{_AUF}tu {_BITTE}so,? als (?:hätte|hatte) ich (?:dir )?(?:das|nichts|dazu nichts) (?:nie |nicht |davon )?(?:gesagt|erzählt|erwähnt)",
        "previous",
    ),
    (rf"{_AUF}das (?:musst|brauchst|sollst|solltest) du (?:dir )?{_BITTE}nicht {_BITTE}(?:zu )?{_MERK}", "previous"),
    (
        rf"{_AUF}das (?:soll|sollte|darf|muss) (?:bitte )?(?:nicht|nirgends|nirgendwo) {_BITTE}(?:gespeichert|notiert|festgehalten|aufgeschrieben|vermerkt) (?:werden|sein)",
        "previous",
    ),
    (rf"{_AUF}ich (?:möchte|will|mag) nicht,? dass du (?:dir )?(?:das|dies) {_MERKST}", "previous"),
    (rf"{_AUF}mir wäre (?:es )?lieber,? (?:wenn )?du (?:würdest )?(?:dir )?das nicht {_MERKST}", "previous"),
    (rf"{_AUF}{_BITTE}(?:das|dies|das eben|das gerade) {_BITTE}(?:nicht|nirgends|nirgendwo) {_MERK}", "previous"),
    (
        rf"{_AUF}{_BITTE}{_MERKE}(?: dir)? {_BITTE}{_DAS},? {_BITTE}(?:nicht|nirgends|nirgendwo)(?: auf| ab| fest| mit)?,? ?{_BITTE}",
        "previous",
    ),
    (
        rf"{_AUF}{_BITTE}{_MERKE}(?: dir)? {_BITTE}(?:das folgende|folgendes|was jetzt kommt|was ich (?:dir )?(?:jetzt|gleich) (?:sage|erzähle)),? {_BITTE}nicht(?: auf| ab| fest)?",
        "next",
    ),
    (
        rf"{_AUF}vergiss {_BITTE},? ?(?:alles,? )?was (?:jetzt|gleich|nun) kommt|{_AUF}vergiss, was (?:jetzt|gleich|nun) kommt|{_AUF}{_IMP}(?: {_BITTE})?,? ?(?:alles,? )?was ich (?:dir )?(?:jetzt|gleich|nun|als nächstes) (?:sage|sag|erzähle|erzähl)",
        "next",
    ),
    (
        rf"{_AUF}(?:das folgende|folgendes|(?:das,? )?was (?:jetzt|gleich|nun) (?:kommt|folgt)|(?:das,? )?was ich (?:dir )?(?:jetzt|gleich) (?:sage|erzähle)),? (?:(?:{_MERKE}|schreibst|speicherst|notierst|merkst|behältst|hältst) )?(?:du |dir |sie |sich )*{_BITTE}nicht(?: {_MERK}| auf| ab| fest| mit)?",
        "next",
    ),
    (rf"{_AUF}{_BITTE}{_MERKE}(?: dir)? {_BITTE}folgendes {_BITTE}nicht(?: auf| ab| fest)? ?[:,–—-] ?.+", "own"),
    (
        rf"{_AUF}{_IMP} {_BITTE},? ?(?:alles,? )?was ich (?:dir )?{_WANN}{_ZU} {_ART}?{_T} {_WANN}{_GESAGT},? ?{_BITTE}",
        "topic",
    ),
    (
        rf"{_AUF}{_IMP}(?:,? {_BITTE}),? ?dass ich (?:dir )?{_WANN}(?:(?:von|vom) )?{_ART}?{_T} {_WANN}{_GESAGT},? ?{_BITTE}",
        "topic",
    ),
    (
        rf"{_AUF}(?:alles,? )?was ich (?:dir )?{_WANN}{_ZU} {_ART}?{_T} {_WANN}{_GESAGT},? (?:(?:kannst|sollst|darfst) du )?{_BITTE}(?:{_INF}|{_IMP}),? ?{_BITTE}",
        "topic",
    ),
    (
        rf"{_AUF}{_IMP} {_BITTE}(?:das|die sache|die geschichte|den teil|alles) (?:{_ZU}|rund um|zum thema) {_ART}?{_T},? ?{_BITTE}",
        "topic",
    ),
    (
        rf"{_AUF}(?:das|die sache|die geschichte|den teil) (?:mit|vom|von|zu|zum|zur|über) {_ART}?{_T},? (?:(?:kannst|sollst|darfst|könntest) du )?{_BITTE}(?:{_INF}|{_IMP}),? ?{_BITTE}",
        "topic",
    ),
    (
        rf"{_AUF}{_KANNST}{_BITTE}(?:das|die sache|die geschichte|alles) {_ZU} {_ART}?{_T} {_BITTE}{_INF},? ?{_BITTE}",
        "topic",
    ),
    (
        rf"{_AUF}{_IMP} {_BITTE}{_ART}(?P<private>{_PRIVAT}(?: (?:von|vom|für|zum|zur|im|in|am|des|der) [^,;:.!?]{{2,60}}?)?) ?{_BITTE}(?:{_GED})?,? ?{_BITTE}",
        "topic",
    ),
    (
        rf"{_AUF}{_KANNST}{_BITTE}{_ART}(?P<private>{_PRIVAT}(?: (?:von|vom|für|zum|zur|im|in|am|des|der) [^,;:.!?]{{2,60}}?)?) {_BITTE}(?:{_GED} )?{_INF}",
        "topic",
    ),
    (rf"{_AUF}{_IMP} {_BITTE}{_ART}?{_T} {_BITTE}{_GED}", "topic"),
    (rf"{_AUF}{_BITTE}{_MERKE}(?: dir)? {_BITTE}nichts (?:von|vom|über|zu|zum|zur) {_ART}?{_T}", "topic"),
    (rf"{_AUF}{_KANNST}{_BITTE}{_DAS} {_BITTE}ungeschehen machen", "previous"),
    (
        rf"{_AUF}(?:schmeiß|schmeiss|wirf|nimm|streich|lösch|mach|tu) {_BITTE}{_DAS} {_BITTE}wieder (?:raus|heraus|weg),? ?{_BITTE}",
        "previous",
    ),
    (rf".+{_LO}(?:aber |und |also )?{_BITTE}(?:vergiss|lösch|lösche) das ?{_BITTE}", "own"),
    (rf".+{_LO}(?:aber |und |also )?das {_BITTE}(?:nicht|nirgends) {_MERK}", "own"),
)

# Spanish; with and without accents, of tú, usted and vos.
_OYE = r"(?:(?:ya(?= no )|por favor|por fa|porfa|porfis|ok|vale|espera|espere|y|pero|perdona|perdón|perdon|ay|no(?=,)|oye|mira|bueno|mejor|disculpa|uy|ups|también|tambien|ah|entonces|che|te lo pido|sabes qu[eé])[ ,]++)*+"
_PUEDES = r"(?:puedes |podr[ií]as |pod[eé]s |puede |podr[ií]a |me puedes |quieres |haz el favor de |hazme el favor de |te importar[ií]a |necesito que |quiero que |te pido que |quisiera que |me gustar[ií]a que |prefiero que |preferir[ií]a que |te agradecer[ií]a que )?"
_FIN = r"(?:,? ?(?:por favor|por fa|porfa|porfis|ya|ahora|ahora mismo|de nuevo|en ning[uú]n (?:sitio|lado|lugar)|en ninguna parte|(?:de|en) (?:tu|la|su) memoria|de tus (?:notas|registros|archivos)|en tus (?:notas|registros)|gracias|s[ií]|vale|quieres|puedes|mejor|tampoco|nunca|para siempre|del todo|te lo pido))*+"
_OLVIDA = r"(?:olvida|olvid[aá]|olvide|olvidar|olvides|olv[ií]date de|olvidarte de|olvídese de|te olvides de|borra|borr[aá]|borre|borrar|borres|b[oó]rrame|elimina|elimin[aá]|elimine|eliminar|elimines|quita|quit[aá]|quite|quitar|quites|saca|sac[aá]|saque|suprime)"
_OLVIDA_SOLO = r"(?:olvida|olvid[aá]|olvide|olvidar|olvides|olv[ií]date de|olvidarte de|te olvides de|borra|borr[aá]|borre|borrar|borres|b[oó]rrame|elimina|elimin[aá]|elimine|eliminar|elimines)"
_DIJE = r"(?:dije|he dicho|cont[eé]|he contado|coment[eé]|he comentado|mencion[eé]|he mencionado|platiqu[eé]|expliqu[eé]|escrib[ií]|confes[eé]|dec[ií]a|ven[ií]a diciendo|acabo de (?:decir|contar|escribir|comentar|mencionar)(?:te)?|acabo de decirte)"
_HACE = r"(?: (?:ayer|antes|hace un rato|hace un momento|hace poco|reci[eé]n|hoy|esta ma[ñn]ana|el otro d[ií]a|justo|ahora))*+"
_ESO = (
    rf"(?:eso(?: [uú]ltimo)?|esto(?: [uú]ltimo)?|todo eso|todo esto|(?:todo )?(?:eso |esto )?(?:lo )?que (?:te )?{_DIJE}{_HACE}|lo [uú]ltimo(?: que (?:te )?{_DIJE})?|lo de (?:antes|reci[eé]n|ahora|hace un (?:rato|momento))|lo anterior"
    r"|(?:el|mi) [uú]ltimo mensaje|la [uú]ltima frase|ese dato|este dato|ese comentario|esa informaci[oó]n|ese detalle)"
)
_GUARDES = r"(?:guardes|guarde|recuerdes|anotes|anote|apuntes|apunte|almacenes|registres|registre|memorices|grabes|conserves|escribas|te acuerdes de|lo guardes|lo anotes|lo apuntes|lo registres|lo almacenes|lo recuerdes|lo conserves|lo memorices|te quedes con|quedes)"
_LOGUARDES = r"(?:guardes|guarde|anotes|anote|apuntes|apunte|almacenes|registres|registre|memorices|grabes|conserves|recuerdes|escribas)"
_SOBRE = r"(?:sobre|de|del|acerca de|acerca del|respecto a|respecto al|respecto de|con)"
_EL = r"(?:el |la |los |las |mi |mis |nuestro |nuestra )"
_PRIVADO = (
    r"(?:contrase[ñn]a|pin|nip|sueldo|salario|n[oó]mina|diagn[oó]stico|expediente|deudas?|secreto|enfermedad|iban)"
)
_CERRADO = (
    r"(?:clave|c[oó]digo|combinaci[oó]n|n[uú]mero) (?:de|del|para) (?:\w+ ){0,3}?(?:puerta|portal|caja|caja fuerte|alarma|candado|garaje|edificio|casa|taquilla|trastero|malet[ií]n|bici|bicicleta"
    r"|portero|tarjeta|cuenta|banco|m[oó]vil|tel[eé]fono|wifi|correo|gimnasio)(?: [^,;:.!?]{2,40}?)?"
)
SPANISH = (
    (rf"{_OYE}(?:(?<=por favor )|(?<=por favor, ))olv[ií]da(?:te de)? {_EL}{_TWO}{_FIN}", "topic"),
    (rf"{_OYE}olv[ií]da(?:te de)? {_EL}{_TWO},? (?:por favor|porfa){_FIN}", "topic"),
    (rf"{_OYE}(?:puedes|podr[ií]as|pod[eé]s) olvidar(?:te de)? {_EL}{_TWO}{_FIN}", "topic"),
    (
        rf"{_OYE}(?:quiero|prefiero|necesito|me gustar[ií]a|te pido|mejor) que (?:te )?olvides(?: de)? {_EL}{_T}{_FIN}",
        "topic",
    ),
    (rf"{_OYE}{_PUEDES}(?:{_OLVIDA_SOLO}|no {_GUARDES}) {_EL}(?P<private>{_CERRADO}){_FIN}", "topic"),
    (
        rf"{_OYE}{_PUEDES}no {_GUARDES} {_EL}(?P<private>{_PRIVADO}(?: (?:de|del|para) [^,;:.!?]{{2,60}}?)?){_FIN}",
        "topic",
    ),
    (rf"{_OYE}{_PUEDES}{_OLVIDA} {_ESO}{_FIN}", "previous"),
    (
        rf"{_OYE}{_PUEDES}(?:b[oó]rralo|borralo|borrarlo|elim[ií]nalo|eliminarlo|qu[ií]talo|lo borres|lo elimines|lo olvides|olvidarlo|s[aá]calo de (?:tu memoria|tus notas)){_FIN}",
        "previous",
    ),
    (rf"{_OYE}{_ESO}[, ]+(?:b[oó]rralo|olv[ií]dalo|elim[ií]nalo|qu[ií]talo|borra|olvida){_FIN}", "previous"),
    (rf"{_OYE}{_PUEDES}no {_GUARDES} {_ESO}{_FIN}", "previous"),
    (rf"{_OYE}{_PUEDES}no (?:me |te )?lo {_LOGUARDES}{_FIN}", "previous"),
    (rf"{_OYE}{_ESO}[, ]+(?:mejor |por favor )?no (?:me )?lo {_LOGUARDES}{_FIN}", "previous"),
    (
        rf"{_OYE}no (?:quiero|quisiera|me gustar[ií]a|hace falta|es necesario|necesito|tienes por qu[eé]) (?:que )?(?:lo )?{_LOGUARDES}(?: {_ESO})?{_FIN}",
        "previous",
    ),
    (
        rf"{_OYE}(?:{_ESO} )?(?:no hace falta|no es necesario) (?:que lo {_LOGUARDES}|guardarlo|anotarlo|apuntarlo|registrarlo|recordarlo){_FIN}",
        "previous",
    ),
    (
        rf"{_OYE}(?:que )?(?:{_ESO} )?(?:que )?no (?:debe |tiene que |quiero que |debe de )?(?:quede|queda|quedar|quedarse|se guarde|guardarse|se registre|se quede|conste)(?: {_ESO})?(?: guardado| registrado| registro| anotado| escrito| constancia| rastro)?(?: (?:de|con) {_ESO})?{_FIN}",
        "previous",
    ),
    (
        rf"{_OYE}(?:haz|hagamos|haga|has) (?:como )?(?:de cuenta )?(?:si|que)? ?(?:yo )?(?:no|nunca) (?:te )?(?:lo )?(?:hubiera|hubiese|he|haya)? ?(?:dicho|contado|mencionado|dije|cont[eé])(?: (?:nada|eso|esto))?{_FIN}",
        "previous",
    ),
    (
        rf"{_OYE}{_PUEDES}no {_GUARDES} (?:lo siguiente|lo que sigue|lo que viene|lo que (?:te )?voy a (?:decir|contar)(?:te)?|lo pr[oó]ximo){_FIN}",
        "next",
    ),
    (
        rf"{_OYE}{_PUEDES}(?:olv[ií]d[ae]|olvid[aá]|olvides|olvidar|olv[ií]date de) (?:lo siguiente|lo que sigue|lo que viene|lo que (?:te )?voy a (?:decir|contar)(?:te)?(?: ahora)?|lo que te (?:digo|cuento) ahora){_FIN}|{_OYE}{_PUEDES}(?:b[oó]rr[ae](?:me)?|borr[aá]|borres|borrar) (?:lo que (?:te )?voy a (?:decir|contar)(?:te)?(?: ahora)?|lo que te (?:digo|cuento) ahora){_FIN}",
        "next",
    ),
    (
        rf"{_OYE}(?:lo siguiente|lo que sigue|lo que (?:te )?voy a (?:decir|contar)(?:te)?),? no lo {_LOGUARDES}{_FIN}",
        "next",
    ),
    (
        rf"{_OYE}{_PUEDES}no (?:lo )?{_GUARDES} (?:eso|esto|lo siguiente|lo que sigue|lo que (?:te )?voy a (?:decir|contar)(?:te)?) ?[:,–—-] ?.+",
        "own",
    ),
    (rf"{_OYE}esto (?:no lo {_LOGUARDES}|que no quede guardado|es para no guardar) ?[:,–—-] ?.+", "own"),
    (rf"{_OYE}{_PUEDES}{_OLVIDA_SOLO} (?:todo )?lo que (?:te )?{_DIJE}{_HACE} {_SOBRE} {_EL}?{_T}{_FIN}", "topic"),
    (
        rf"{_OYE}{_PUEDES}{_OLVIDA_SOLO} (?:todo )?(?:lo|lo relacionado|lo referente|lo que sepas|lo que sabes|lo que tengas|el asunto|el tema|la historia|el dato|la parte|lo que tenga que ver|todo) (?:{_SOBRE}|a|al) {_EL}?{_T}{_FIN}",
        "topic",
    ),
    (
        rf"{_OYE}{_PUEDES}{_OLVIDA_SOLO} que (?:te )?(?:dije|cont[eé]|coment[eé]|mencion[eé]) (?:que )?(?:lo (?:de|del) )?{_EL}?{_T}{_FIN}",
        "topic",
    ),
    (
        rf"{_OYE}{_PUEDES}{_OLVIDA_SOLO} {_EL}(?P<private>{_PRIVADO}(?: (?:de|del|para|que abre) [^,;:.!?]{{2,60}}?)?){_FIN}",
        "topic",
    ),
    (rf"{_OYE}{_PUEDES}{_OLVIDA} {_EL}?{_T} de (?:tu|la|su) memoria{_FIN}", "topic"),
    (rf"{_OYE}{_PUEDES}{_OLVIDA} {_EL}?{_T} de tus (?:notas|registros|archivos){_FIN}", "topic"),
    (
        rf"{_OYE}(?:(?:todo )?lo|el asunto|el tema|lo que (?:te )?{_DIJE}{_HACE}) {_SOBRE} {_EL}?{_T},? (?:b[oó]rralo|olv[ií]dalo|elim[ií]nalo|no lo {_LOGUARDES}){_FIN}",
        "topic",
    ),
    (
        rf"{_OYE}{_PUEDES}(?:no |no quiero que )(?:{_GUARDES}) (?:nada|lo|lo que (?:te )?{_DIJE}{_HACE}) {_SOBRE} {_EL}?{_T}{_FIN}",
        "topic",
    ),
    (
        rf".+{_LO}(?:pero |y |as[ií] que )?{_OYE}(?:b[oó]rralo|olvida eso|borra eso|olv[ií]dalo por favor|olv[ií]dalo, por favor|(?:esto |eso )?no (?:me )?lo {_LOGUARDES}|no quiero que (?:lo {_LOGUARDES}|{_LOGUARDES} (?:eso|esto))|(?:eso|esto) que no (?:quede|se guarde)(?: guardado)?|que no quede (?:guardado|registrado|registro|anotado)){_FIN}",
        "own",
    ),
)

# Chinese, in both scripts.
_QING = r"(?:好的?|等等|请|請|麻烦|麻煩|拜托|拜託|你|您|帮我|幫我|给我|給我|还是|還是|那(?=[,，])|对了|對了|哦|唉|哎|诶|不好意思|抱歉|能不能|能|可以|可不可以|希望你|我想让你|我希望你|我要你|就|也|都|先|赶紧|赶快|直接|,|，| )*+"
_BA = rf"{_QING}(?:把|将|將)"
_CI = r"(?:从|從)?(?:你的|你|您的)?(?:记忆|記憶|记录|記錄|笔记|筆記|数据库|档案|脑子|脑海)(?:里面|里|裡|中|当中|库|库里)?(?:面)?"
_WANG = rf"(?:{_CI})?(?:都|全|全部|全都|统统|彻底|也|给|再|就|一起|马上|赶紧|请|請)*+(?:忘掉|忘记|忘記|忘了|忘|删掉|刪掉|删除|刪除|删了|刪了|删|抹掉|抹去|清掉|清除|去掉|擦掉)"
_BIE = r"(?:都|也|就|请|請|你|您|千万|麻烦|,|，| )*+(?:不要|别|別|勿|不用|不必|不许|不需要|不想让你|不希望你|不想你|不该)(?:再|给我|帮我|把它|把这个|给)?"
_JI = r"(?:记住|記住|记录|記錄|记下|記下|记着|记进|记到|记入|记在|写进|写下|写入|保存|存储|儲存|储存|存|留|留下|留存|保留|记得|记|記)(?:下来|下來|起来|住|着)?(?:任何)?(?:记录|记忆里|你的记忆里|笔记里|笔记|底)?"
_WEI = r"(?:吧|了吧|了|哦|啊|呀|啦|好吗|好嗎|好不好|可以吗|可以嗎|行吗|行不行|谢谢|謝謝|拜托|,|，| )*+"
_GANG = (
    r"(?:(?:我)?(?:刚才|剛才|刚刚|剛剛|刚|剛|上面|前面|之前|方才)(?:跟你|对你|和你|给你)?(?:说|說|讲|講|提|提到|告诉你|告訴你|聊)(?:过)?的?(?:那些|那个|这个|那|这)?(?:话|話|事|事情|内容|东西|那句话|那句|这些|那些|一切|全部|信息)?"
    r"|(?:刚才|刚刚|上面|前面|上|最后|剛才)(?:的|那|这|一)*(?:句话|句|条消息|条|段话|段|些话|话|話|内容|事|件事|消息|个)"
    r"|(?:这|那|這)(?:个|個|件事情|件事儿|件事|些话|些|句话|句話|句|段话|段|条消息|条|点|事儿|事|话)?|它|以上(?:内容|这些)?)"
)
_SIMI = r"(?:[^,;:.!?，。！？；：]{0,12}(?:密码|密碼|口令|工资|薪水|收入|卡号|病历|病历号|诊断|病情|债|欠款|暗号|秘密|验证码))"
CHINESE = (
    (rf"{_QING}(?:(?<=请)|(?<=请你))(?:忘掉|忘记|忘了)(?P<topic>[^,;:.!?，。！？；：]{{4,40}}?){_WEI}", "topic"),
    (
        rf"{_QING}(?:我)?(?:不希望|不想让?|不要|别|別|不用)(?:你)?(?:留着|记着|记住|存着|保存|记录|记下)(?:我的|我)?{_T}(?:的事情?|这件事|那件事|的事儿){_WEI}",
        "topic",
    ),
    (
        rf"{_QING}(?:不要|别|別)把(?:我的|我)?{_T}(?:的事)?(?:记下来|记住|记录下来|存下来|存起来|写下来|保存){_WEI}",
        "topic",
    ),
    (rf"{_BA}?{_GANG}(?:的话|的事)?(?:你)?{_WANG}{_WEI}", "previous"),
    (rf"{_QING}(?:忘掉|忘记|忘記|忘了|删掉|刪掉|删除|刪除|抹掉|清除){_GANG}{_WEI}", "previous"),
    (rf"{_QING}{_GANG}{_BIE}{_JI}{_WEI}", "previous"),
    (rf"{_QING}{_BIE}(?:把)?{_GANG}?{_JI}(?:{_GANG})?{_WEI}", "previous"),
    (rf"{_QING}我?{_BIE}(?:把{_GANG}{_JI}|{_JI}{_GANG}){_WEI}", "previous"),
    (rf"{_QING}{_GANG}(?:你)?(?:就)?(?:当|當)(?:作|做)?我?(?:没|沒)(?:说|說|讲|提)(?:过|過)?{_WEI}", "previous"),
    (rf"{_QING}(?:当|當)我(?:没|沒)(?:说过|說過|讲过|提过)(?:{_GANG})?{_WEI}", "previous"),
    (rf"{_QING}{_BIE}{_JI}(?:下面|以下|接下来|下边)(?:的|我说的|我要说的|这些|这)*(?:话|内容|事|事情)?{_WEI}", "next"),
    (rf"{_QING}(?:下面|以下|接下来|下边)我?(?:要)?[说說讲講]的(?:话|事|内容)?(?:{_BIE}{_JI}|{_WANG}){_WEI}", "next"),
    (
        rf"{_QING}(?:下面|以下|接下来)(?:的|我说的|我要说的|这些|这|这句|这件)*(?:话|内容|事|事情)?{_BIE}{_JI}{_WEI}",
        "next",
    ),
    (
        rf"{_QING}(?:(?:下面|以下|接下来)(?:的|我说的|我要说的|这些|这|这句|这件)*(?:话|内容|事|事情)?|{_GANG})?{_BIE}{_JI}(?:{_GANG}|下面的|以下)?(?:内容|话)?[:：,，].+",
        "own",
    ),
    (rf".+[,，](?:但是|但|不过|可是)?{_QING}(?:{_GANG})?{_BIE}{_JI}(?:{_GANG})?{_WEI}", "own"),
    (
        rf".+[,，](?:但是|但|不过|可是)?(?:请|請|麻烦|帮我|把|这个|这件事|你|它)++(?:忘掉|忘了|忘记|删掉|删了){_WEI}",
        "own",
    ),
    (
        rf"{_BA}?(?:我)?(?:之前|以前|刚才|刚刚|上次|昨天|前几天|那天)?(?:跟你|对你|和你)?(?:说过的?|说的|讲的|提到的|提过的|告诉你的|聊过的)?(?:所有|全部|一切)?(?:关于|有关|跟|和)(?:我的|我)?{_T}(?:有关)?(?:的)(?:所有|一切|全部)?(?:事情|事儿|事|话|一切|内容|信息|东西|记录)?{_WANG}{_WEI}",
        "topic",
    ),
    (
        rf"{_QING}(?:忘掉|忘记|忘了|删掉|删除|抹掉|清除)(?:我)?(?:之前|以前|刚才|上次|昨天)?(?:跟你|对你)?(?:说过的?|说的|告诉你的|提过的)?(?:所有|全部|一切)?(?:关于|有关)(?:我的|我)?{_T}(?:的)(?:所有|一切|全部)?(?:事情|事儿|事|话|一切|内容|信息|东西|记录){_WEI}",
        "topic",
    ),
    (rf"{_BA}(?:我的|我)?{_T}(?:的)?(?:这件事|那件事|事情|事儿|事|情况|信息|内容){_WANG}{_WEI}", "topic"),
    (
        rf"{_QING}(?:忘掉|删掉|删除|抹掉|请忘记|请忘了)(?:我的|我)?{_T}(?:的)?(?:这件事|那件事|事情|事儿|事|信息){_WEI}",
        "topic",
    ),
    (
        rf"{_QING}(?:我的|我)?{_T}(?:的)?(?:这件事|那件事|的事情|的事儿|的事|这事儿|这事)[,，]?(?:你|您|请|就|麻烦|,|，)*+(?:忘掉|忘了吧|忘记吧|忘了它|删掉|删除|删了吧){_WEI}",
        "topic",
    ),
    (
        rf"{_QING}(?:我的|我)?{_T}(?:的)?(?:这件事|那件事|的事情|的事儿|的事|这事儿|这事)[,，]?{_BIE}{_JI}{_WEI}",
        "topic",
    ),
    (
        rf"{_QING}{_BIE}{_JI}(?:任何)?(?:关于|有关)(?:我的|我)?{_T}(?:的)?(?:任何)?(?:事情|事|话|内容|信息|东西){_WEI}",
        "topic",
    ),
    (rf"{_BA}(?:我的|我)?(?P<private>{_SIMI}){_WANG}{_WEI}", "topic"),
    (rf"{_QING}{_BIE}{_JI}(?:我的|我)(?P<private>{_SIMI}){_WEI}", "topic"),
    (rf"{_QING}(?:那个|這個|这个|我的|我那个|那|这)(?P<private>{_SIMI})[,，]?(?:就|也)?{_BIE}{_JI}{_WEI}", "topic"),
    (rf"{_QING}(?:忘掉|忘记|删掉|删除|抹掉)(?:我的|我)?(?P<private>{_SIMI}){_WEI}", "topic"),
    (rf"{_BA}(?:我的|我)?{_T}{_CI}(?:都|全)*+(?:删掉|删除|抹掉|清除|去掉|删了){_WEI}", "topic"),
)
# A clause of regret before the request: the request is about what was said before, not about the regret.
REGRET = (
    r"(?:i (?:shouldn't|should not) have (?:said|told|mentioned|shared)|i (?:don't|do not) know why i (?:said|told)|i regret|thinking about it|now that i think|that (?:just )?slipped out|that was (?:too (?:much|private)|private|(?:told )?in confidence|a secret)|that's (?:private|a secret|between us)|(?:my |a )?\w+ told me (?:that|this|it) in confidence"
    r"|(?:das )?hätte ich (?:dir )?(?:das )?(?:besser |lieber )?nicht|(?:das )?ist mir (?:so )?(?:rausgerutscht|herausgerutscht)|ich (?:hätte|sollte) (?:dir )?das (?:besser |lieber )?nicht|ich bereue|das (?:war|ist) (?:privat|vertraulich|geheim|ein geheimnis|nur für dich)|das bleibt unter uns|das geht (?:niemanden|keinen) (?:was |etwas )?an|wenn ich (?:so )?darüber nachdenke"
    r"|(?:eso )?no (?:te )?deb[ií]|no tendr[ií]a que haber|no ten[ií]a que haber|no s[eé] por qu[eé] (?:te )?(?:dije|cont[eé])|me arrepiento|pens[aá]ndolo (?:bien|mejor)|se me escap[oó]|eso (?:fue|es|era) (?:privado|personal|un secreto|confidencial)|ahora que lo pienso"
    r"|我?(?:刚才)?不(?:该|應該|应该)(?:说|說|告诉|跟你|把|提)|我?(?:说|說)(?:漏嘴|多)了|我?(?:想了想|后悔|想想)|这(?:个|事)?(?:是|算)?(?:隐私|私事|秘密))"
)
# What names a thing that was told, and words by which such a thing is not to be kept.
_WHERE = r"(?:your |the )?(?:memory|memories|notes|records?|files?|logs?|database|system|head|mind)|whatever you (?:keep|store|save|have)|what you (?:keep|store|save|know|have)"
_STOP = r"(?= (?:can|could|should|must|has|needs|isn't|is|was|wasn't|hadn't|i|go|from|out|in|again|please|as|didn't|never|stays?|lived?|to)(?!\w)|[,;:.!?]|$)"
_HALT = r"(?= (?:kann|soll|sollte|muss|darf|gehört|nicht|nie|nirgends|wieder|bitte|hätte|hast|ist|war|wird|will|möchte|brauchst|kommt|raus|weg|aus|bloß|ja|mal|doch|lieber)(?!\w)|[,;:.!?]|$)"
_ALTO = r"(?= (?:no|ya|mejor|me|que|ni|como|queda|se|te|s[aá]calo|b[oó]rralo|qu[ií]talo|t[aá]chalo|de (?:ah[ií]|aqu[ií]|tus?))(?!\w)|[,;:.!?]|$)"
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
    r"(?:can|should|must|has to|needs to) go\W*$|(?:isn't|is not|wasn't|was not|it's not|not) (?:for|something for|meant for) (?:your|the|any|keeping) ?(?:notes|memory|records|files|keeping)?|cross out|as unsaid|go from your (?:memory|notes)"
    r"|(?:didn't|did not|doesn't|does not|not|don't|do not) (?:stay|remain|sit|live|stand|be|belong)(?: kept| stored)? (?:in|on) (?:your |the )?(?:head|memory|notes|file|record|here|there)"
    r"|(?:didn't|did not|doesn't|does not) (?:stay|remain|live|stand) (?:in )?(?:here|there)"
    r"|(?:rather|happier|prefer|feel better)\s[^.!?]{0,60}(?:wasn't|weren't|isn't|not) (?:written|kept|stored|saved|recorded|noted)"
    r"|(?:drop|remove|take|bin|wipe|scrub|strike|delete|erase|lose) (?:it|them|that)(?: \w+)? (?:from|out of) (?:your|the) (?:memory|notes|records|database|files)|(?:drop|remove|delete|erase|take|bin|wipe|scrub|lose|scrap|ditch|trash|purge|shred|nuke) (?:it|them|that)(?: out)?(?: again| please)?\W*$|get rid of (?:it|that|them)\W*$|if you forgot it\W*$|forget i(?: ever)? (?:brought|mentioned)"
    rf"|(?:drop|remove|take|bin|wipe|scrub|strike|delete|erase|lose|scrap|purge|leave|want|get|keep)\s[^.!?,;]{{2,50}}? (?:from|out of|off) (?:{_WHERE})(?!\w)"
    r"|(?:scrub|delete|erase|wipe|remove|scrap|ditch|purge|shred|lose|drop|strike|bin|cut|unsay) (?:out )?(?:the|that) (?:thing|bit|part|story|business|stuff|matter|passage|sentence|line)s? (?:about|with|regarding|on)"
    r"|(?:don't|do not) want (?:a|any|one|single) (?:trace|word|mention|hint)|not a (?:word|trace|mention|hint) of"
    r"|you(?:'ve)? never (?:heard|read|saw|seen|got|knew)|(?:don't|do not|never) (?:hang|hold) on(?:to| to) (?:it|that)"
    r"|(?:kann|soll|sollte|muss) (?:\w+ )?(?:weg|raus)\W*$|(?:soll|muss|kann|darf)(?: \w+)? (?:raus|weg) aus (?:dem|deinem|deinen|den|der|deiner)|gehört nicht in (?:deine notizen|dein gedächtnis|deinen kopf|deine unterlagen)|nicht bei dir (?:bliebe|bleibt|liegt|läge)|vergiss (?:es|das) (?:bitte|wieder)|lösch (?:es|das)"
    r"|(?:kannst|darfst|solltest|könntest|würdest) du [^.!?]{0,60}(?:streichen|löschen|vergessen|rausnehmen|herausnehmen|entfernen|tilgen|ungeschehen machen|rauswerfen|wegmachen)\W*$"
    r"|(?:können|könnten) wir [^.!?]{0,60}(?:streichen|löschen|vergessen|rausnehmen|herausnehmen|entfernen)\W*$"
    r"|(?:nimm|nimmst|nehmt|schmeiß|schmeiss|wirf|mach|machst|tu|hol|streich|lösch|radier|radiere|schaff|krieg)\s[^.!?,;]{2,60}?(?:raus|heraus|weg|aus)\W*$|(?:schmeiß|schmeiss|wirf|nimm|streich|lösch|radier|hol|tilg)\s[^.!?;]{2,60}? aus (?:dem|deinem|deinen|den|der|deiner)(?!\w)"
    r"|(?:will|möchte|mag) ich (?:hier |da |dort )?(?:nirgends|nirgendwo|nicht) (?:mehr )?(?:stehen|gespeichert|aufgeschrieben|lesen|haben|wiederfinden)|nichts (?:übrig )?(?:bleiben|bleibt|stehen|behalten)|hast du (?:nie|nicht|niemals) (?:gelesen|gehört|gesehen|mitbekommen)|behalt(?:e|est|en)? (?:[^.!?]{0,40} )?nicht|bloß nicht"
    r"|wenn du (?:dir )?[^.!?]{2,60}? (?:vergisst|vergessen würdest|löschst|löschen würdest|streichst)|(?:(?:bitte|wieder|einfach|am besten|schnell) )+(?:vergessen|löschen|streichen|rausnehmen)\W*$|vergisst du (?:bitte|wieder|am besten|schnell)"
    r"|no (?:es|era|son) para tus? (?:notas|memoria|registros)|no (?:es|era) para (?:aqu[ií]|ah[ií]|guardar)|no se (?:quede|quedara|guarde|guardara) en tu (?:memoria|cabeza)|(?:s[aá]calo|b[oó]rralo|elim[ií]nalo|olv[ií]dalo|qu[ií]talo|t[aá]chalo|ret[ií]ralo|bórramelo|quítamelo)(?!\w)|(?:quita|quítame|quitame|borra|bórrame|borrame|elimina|tacha|táchame|tachame|retira|suprime|borras|quitas) (?:ya |por favor |todo )*lo (?:de|del|que)(?! tus?(?!\w))"
    r"|(?:puedes|podrías|podrias|puede|podría|quieres|haz el favor de|hazme el favor de) (?:quitar|sacar|borrar|eliminar|olvidar|tachar|retirar|suprimir)|que (?:te )?olvid(?:es|aras|ases)(?: de)? lo|olvidaras lo"
    r"|ni rastro|ni palabra|[,;:] ?fuera\W*$|no (?:me |te )*(?:lo |la |los |las )*(?:quedes|guardes|apuntes|anotes|dejes|registres|conserves)(?! sin)|ni (?:lo|la|los|las) (?:apuntes|guardes|anotes)|como si no (?:lo |me )?(?:hubieras|hubieses) (?:o[ií]do|le[ií]do|visto)|no (?:hace|hac[ií]a) falta que (?:recuerdes|guardes|te acuerdes)|no quiero que (?:te )?(?:quedes|acuerdes|guardes|recuerdes|conste|quede (?:apuntad|guardad|escrit|registrad|anotad|constancia|en ning))"
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
    r"|(?<!\w)(?:eso|esto|ello)(?:,? \w+){0,2},? no (?:es|va|vale|está)(?: \w+){0,4}? (?:para|a|en) (?:que \w+ (?:a|en) )?(?:tus?|la|los|las) (?:apunte|nota|libreta|cuaderno|memoria|registro|archivo)\w*"
    r"|[这那][^，。,.!！?？]{0,6}(?:不好|不要|别|不用|不能|不必|不该|不宜)(?:写|记|存|放|留)[进到在]?(?:你的?)?[^，。,.!！?？]{0,4}(?:本本|本子|笔记|记录|记忆|备忘|档案)"
)
# A whole message that is no more than the order.
BARE = (
    r"(?:bitte )?(?:wieder )?(?:löschen|lösch(?:e)?|vergessen|weg damit|raus damit)(?: bitte)?|(?:please )?(?:delete|erase|wipe|scrub)(?: please)?"
    r"|(?:por favor,? )?(?:borrar|b[oó]rra(?:lo|la)|borrado|elimin(?:ar|ado)|elim[ií]nal[oa]|fuera(?: con)?(?: eso)?)(?:,? por favor)?|[请快]?(?:删掉|删除|删了|忘掉)[吧啊]?"
)
