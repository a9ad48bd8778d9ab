# ruff: noqa: E501  # a pattern stands on one line
"""More ways to ask for forgetting in German. Pure."""

from __future__ import annotations

from reverie_server.heuristics.requests.forget_phrases.parts import LABEL, PAUSE, TOPIC, TOPIC_OF_WORDS

_AUF = r"(?:(?:ok|okay|bitte|ach|oh|nein|moment|und|aber|doch|du|hey|also|ne|sorry|entschuldige|entschuldigung|hm|naja|mist|ups|halt)[ ,]++)*+"
_BITTE = r"(?:(?:bitte|mal|doch|lieber|wieder|gleich|sofort|einfach|jetzt|besser|auch|am besten|nirgends|nirgendwo|danke)[ ,]*+)*+"
_KANNST = r"(?:(?:kannst|könntest|konntest|würdest|wurdest|magst) du |du (?:kannst|sollst|darfst) )"
_DAS = (
    r"(?:das|dies|dieses|das eben|das gerade|das von eben|das von gerade|das von vorhin|das alles|das letzte(?:,? was ich (?:dir )?(?:gerade|eben|da)? ?(?:gesagt|erzählt|geschrieben) (?:habe|hab))?|den letzten satz|meinen letzten satz|die letzte nachricht|meine letzte nachricht"
    r"|was ich (?:dir )?(?:gerade|eben|soeben|zuletzt|vorhin|da)? ?(?:gesagt|erzählt|geschrieben|verraten) (?:habe|hab))"
)
_GED = r"(?:aus|von) (?:deinem|dem|deinen|den|deiner|der) (?:gedächtnis|notizen|speicher|erinnerung|aufzeichnungen|unterlagen)"
_IMP = r"(?:vergiss|lösch|lösche|streich|streiche|entfern|entferne|vergessen sie|löschen sie|tilge)"
_INF = r"(?:vergessen|löschen|streichen|entfernen)"
_MERK = r"(?:speichern|behalten|merken|notieren|aufschreiben|abspeichern|festhalten|mitschreiben)"
_MERKST = r"(?:speicherst|behältst|merkst|notierst|aufschreibst|abspeicherst|festhältst)"
_MERKE = r"(?:speicher|speichere|behalt|behalte|notier|notiere|schreib|schreibe|merk|merke|halt|halte|speichern sie|notieren sie|merken sie|behalten sie)"
_GESAGT = r"(?:gesagt|erzählt|geschrieben|verraten|anvertraut|genannt) (?:habe|hab|hatte)"
_GSAGT = r"(?:gesagt|gsagt|erzählt|geschrieben|gschrieben|verraten|anvertraut) (?:habe|hab|hob|hatte)"
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
        rf"{_AUF}(?:{_ART}|(?={_PRIVAT} ?[:–—-])){LABEL}(?:bitte (?:wieder )?{_INF}|bitte (?:vergiss|lösche?) (?:das|es)|(?:vergiss|lösche?) (?:das|es) (?:wieder )?bitte) ?{_BITTE}",
        "topic",
    ),
    (
        rf"{_AUF}(?:(?:(?<=bitte )|(?<=bitte, ))vergiss|vergiss (?:doch )?bitte) {_BITTE}{_ART}{TOPIC_OF_WORDS}(?<! nicht)",
        "topic",
    ),
    (
        rf"{_AUF}{_KANNST}{_BITTE}{_ART}(?!(?:bitte|wieder|mal|doch|eben|gerade|alles|was|von|mit) ){TOPIC_OF_WORDS} {_BITTE}vergessen",
        "topic",
    ),
    (
        rf"{_AUF}(?:das|die sache|die geschichte|der teil) (?:mit|über|uber|von|vom|zu|zum|zur|um) {_ART}?{TOPIC} (?:muss|soll|sollte|kann|darf) {_BITTE}(?:weg|raus|verschwinden|vergessen werden|gelöscht werden)",
        "topic",
    ),
    (
        rf"{_AUF}lass {_BITTE}(?:das|die sache|die geschichte) (?:mit|über|uber|von|vom) {_ART}?{TOPIC} {_BITTE}(?:weg|raus)",
        "topic",
    ),
    (
        rf"{_AUF}ich (?:möchte|will|hätte gern),? dass {_ART}{TOPIC} (?:gelöscht|vergessen|entfernt|gestrichen) wird",
        "topic",
    ),
    (rf"{_AUF}nimm {_BITTE}{_ART}{TOPIC} {_GED}(?: raus| heraus)?,? ?{_BITTE}", "topic"),
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
        rf"{_AUF}{_IMP} {_BITTE},? ?(?:alles,? )?was ich (?:dir )?{_WANN}{_ZU} {_ART}?{TOPIC} {_WANN}{_GESAGT},? ?{_BITTE}",
        "topic",
    ),
    (
        rf"{_AUF}{_IMP}(?:,? {_BITTE}),? ?dass ich (?:dir )?{_WANN}(?:(?:von|vom) )?{_ART}?{TOPIC} {_WANN}{_GESAGT},? ?{_BITTE}",
        "topic",
    ),
    (
        rf"{_AUF}(?:alles,? )?was ich (?:dir )?{_WANN}{_ZU} {_ART}?{TOPIC} {_WANN}{_GESAGT},? (?:(?:kannst|sollst|darfst) du )?{_BITTE}(?:{_INF}|{_IMP}),? ?{_BITTE}",
        "topic",
    ),
    (
        rf"{_AUF}{_IMP} {_BITTE}(?:das|die sache|die geschichte|den teil|alles) (?:{_ZU}|rund um|zum thema) {_ART}?{TOPIC},? ?{_BITTE}",
        "topic",
    ),
    (
        rf"{_AUF}(?:das|die sache|die geschichte|den teil) (?:mit|vom|von|zu|zum|zur|über) {_ART}?{TOPIC},? (?:(?:kannst|sollst|darfst|könntest) du )?{_BITTE}(?:{_INF}|{_IMP}),? ?{_BITTE}",
        "topic",
    ),
    (
        rf"{_AUF}{_KANNST}{_BITTE}(?:das|die sache|die geschichte|alles) {_ZU} {_ART}?{TOPIC} {_BITTE}{_INF},? ?{_BITTE}",
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
    (rf"{_AUF}{_IMP} {_BITTE}{_ART}?{TOPIC} {_BITTE}{_GED}", "topic"),
    (rf"{_AUF}{_BITTE}{_MERKE}(?: dir)? {_BITTE}nichts (?:von|vom|über|zu|zum|zur) {_ART}?{TOPIC}", "topic"),
    (rf"{_AUF}{_KANNST}{_BITTE}{_DAS} {_BITTE}ungeschehen machen", "previous"),
    (
        rf"{_AUF}(?:schmeiß|schmeiss|wirf|nimm|streich|lösch|mach|tu) {_BITTE}{_DAS} {_BITTE}wieder (?:raus|heraus|weg),? ?{_BITTE}",
        "previous",
    ),
    (rf".+{PAUSE}(?:aber |und |also )?{_BITTE}(?:vergiss|lösch|lösche) das ?{_BITTE}", "own"),
    (rf".+{PAUSE}(?:aber |und |also )?das {_BITTE}(?:nicht|nirgends) {_MERK}", "own"),
    (
        rf"{_AUF}(?:(?:(?<=bitte )|(?<=bitte, ))vergiss|vergiss (?:doch |mal )?bitte|{_KANNST}{_BITTE}vergessen|{_IMP} {_BITTE}{_GED}),? ?{_BITTE}"
        r"dass (?!ich (?:dein|da bin|existier|gefragt|gesagt))(?:ich|mein\w*|wir|unser\w*) [^:;.!?]{4,120}",
        "told",
    ),
    # "Was i dir neulich über meinen Bruder und das Geld erzählt hab, das lösch bitte."
    (
        rf"{_AUF}was (?:ich|i) (?:(?:dir|ihnen|da) )*+(?:[^,;:.!?\s]{{1,20}} ){{0,4}}?{_ZU} {TOPIC} {_GSAGT},? (?:(?:das|des) )?(?:{_IMP}|löschst du|streichst du|vergisst du) ?{_BITTE}",
        "nearby",
    ),
    (
        rf"{_AUF}{_IMP} ?{_BITTE},? ?was (?:ich|i) (?:(?:dir|da) )*+(?:grad|grade|gerade|eben|soeben|vorhin|vorher) {_GSAGT}(?:, (?:das|des|weil|denn|sonst) [^.;!?]{{2,80}})?",
        "previous",
    ),
)
