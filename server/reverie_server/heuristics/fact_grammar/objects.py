"""What the object of a fact can be: a name, a place, a job, a number, a value. Pure."""

from __future__ import annotations

import re

from reverie_server.heuristics.fact_grammar import daily, places
from reverie_server.heuristics.fact_grammar.han import fits_han, is_han_number
from reverie_server.heuristics.fact_grammar.terms import content_terms, word_set
from reverie_server.heuristics.simplified import simplified

_EDGES = " \t\n,.;:!?\"'“”„«»()[]、，。！？；：—–-*_"
_TRAILING = re.compile(
    r"\s+(?:now|too|again|yet|already|though|anyway|currently|right now|as well|please|instead|these days|nowadays"
    r"|at the moment|so far|jetzt|mittlerweile|inzwischen|auch|ahora|también|actualmente|todavía"
    r"|(?:por )?(?:acá|aquí)|and|but|und|aber|y"
    r"|pero|since|because|eh|porfa|porfis|plis|pls|ok|okay)$",
    re.IGNORECASE,
)
_LEADING = re.compile(r"^(?:also|both|now|only|just|actually|auch|jetzt|también|ahora)\s+", re.IGNORECASE)
_UPPER = re.compile(r"(?:the |el |la |los |las |der |die |das |dem |den )?[\"'“„«]?[^\W\d_a-zß-öø-ÿ][\w'’.&-]*")
_JOB = re.compile(
    r"(?:[\w-]+ ){0,4}(?:\w+(?:er|or|ist|ian|ant|yst|tect|eur)|nurse|teacher|chef|cook|pilot|coach|clerk|judge|artist"
    r"|student|intern|apprentice|freelance|paramedic|medic|vet|surgeon|midwife|mechanic|scientist|head|director|manager"
    r"|lead|cto|ceo|cfo|guard|translator|secretary|postdoc|phd student|dev|sre|ranger|critic|guide|tutor|fellow|chief"
    r"|executive|officer|representative|cleaner|carpenter|plumber|electrician|farmer|firefighter|barista"
    r"|(?:fore|sales|police|business|chair)(?:wo)?man|postman|fisherman|handyman|craftsman|fireman|nanny|au pair"
    r"|principal)"
    r"(?!\w)"
)
_GERMAN_JOB = re.compile(
    r"(?:[\w-]+ )?[\w-]*(?:er|erin|or|orin|ist|istin|eur|eurin|ärztin|arzt|ologe|ologin|ent|entin|ant|antin|schwester"
    r"|anwalt|anwältin|(?:feuerwehr|kamera|geschäfts|see)(?:mann|frau)|zimmermann|haus(?:mann|frau)|putzfrau"
    r"|koch|köchin|kauffrau|kaufmann|fachfrau|fachmann|leitung|beamter|beamtin"
    r"|wirt|wirtin|hebamme|fachkraft|in ausbildung|architekt(?:in)?|chef(?:in)?|vorstand|pilot(?:in)?|chirurg(?:in)?"
    r"|therapeut(?:in)?|coach|dekan(?:in)?|fotograf(?:in)?|soldat(?:in)?|bauer|bäuerin|steward(?:ess)?"
    r"|referendar(?:in)?|rektor(?:in)?)"
)
_SPANISH_JOB = re.compile(
    r"(?:enfermer|m[ée]dic|maestr|abogad|ingenier|cociner|arquitect|bibliotecari|carpinter|camarer|meser"
    r"|bomber|peluquer"
    r"|veterinari|farmac[ée]utic|\w*[óo]log|\w+[óo]graf|fontaner|plomer|panader|secretari|m[úu]sic|t[ée]cnic"
    r"|zapater|jardiner"
    r"|obrer|mec[áa]nic|electricist|matr[óo]n|funcionari|administrativ|consultor|cajer|librer|relojer|costurer|mariner"
    r"|aut[óo]nom|becari|ministr|físic|químic|matemátic|políglot|notari|ganader|pescader|carnicer|pasteler|cantiner"
    r"|azafat|subdirector|jubilad|retirad|porter|camioner|emplead|operari|científic|fruter|ferreter"
    r"|joyer|tapicer|archiver|mensajer|carter|informátic|informatic|óptic|protésic|cirujan|árbitr|pedagog|perit"
    r"|camiller)[oa](?: .{1,40})?|(?:bailarín|bailarina|logopeda|pediatra|guía|sumiller|delineante|trabajadora? social"
    r"|\w+(?:terapeuta|ópata|opata|iatra|ólog[oa]))(?: .{1,40})?"
    r"|(?:profesora?|profe|periodista|contable|contadora?|gerente"
    r"|estudiante|pilot[oa]|chef|cartero|ama de casa|policía|militar|juez|jueza|fiscal|sastre|chofer|ch[óo]fer"
    r"|taxista|albañil|conserje|vigilante|guardia|agente|auxiliar|asistente|ayudante"
    r"|dependient[ea]|cantante|modelo|act(?:or|riz)|soldado|community manager"
    r"|barista|freelance|comercial|jef[ea]|encargad[oa]|responsable de .{1,30}"
    r"|(?:la |el )?(?:nuev[oa] )?(?:director|coordinador|supervisor|administrador)a?|aprendiz .{1,30}"
    r"|\w+(?:ista|dora?|tora?|sora?|nauta|ermo))(?: .{1,40})?"
)
_NO_SPANISH_JOB = re.compile(
    r"(?:trabajadora?(?! social)|lectora?|madrugadora?|soñadora?|ganadora?|mejor|peor|optimista|pesimista"
    r"|perfeccionista|realista|feminista|egoísta|egoista|mayor|menor|hora|señora?|seguidora?|consumidora?|fumadora?|deudora?|otr[oa]"
    r"|favor|color"
    r"|vista|lista|pista|entrevista|revista|donadora?|bebedora?|hablador\w*|viajera?|amor|calor|dolor)(?!\w)"
)
_SPANISH_CAR = re.compile(
    r"(?:coche|carro|auto|moto|furgoneta|camioneta|scooter|bici(?:cleta)?|patinete)(?!\w).*|(?:seat|toyota|kia"
    r"|ford|opel"
    r"|renault|peugeot|citro[eë]n|nissan|honda|hyundai|mazda|fiat|volkswagen|vw|audi|bmw|mercedes|volvo|tesla"
    r"|skoda|dacia"
    r"|chevrolet|chevy|suzuki|mitsubishi|jeep|subaru|lexus|mini cooper|cupra|byd|vespa|yamaha|kawasaki|ducati)(?!\w).*"
)
_SPANISH_TIME = re.compile(
    r"(?:(?:el|la|las|los|al?|para|en|de|del|hasta|sobre|cada|todos|pr[óo]xim[oa]|este|esta|d[íi]a|principios|mediados"
    r"|finales|mes|año|semana) )*(?:lunes|martes|mi[ée]rcoles|jueves|viernes|s[áa]bado|domingo|\d{1,2}(?: de [a-z]"
    r"|[/:.]\d|(?= ?(?:a las .*)?$))|\d{4}-\d\d|mañana|hoy|pasado|siguiente|que viene|pr[óo]xim|primer"
    r"|[úu]ltim|enero|febrero|marzo"
    r"|abril|mayo|junio|julio|agosto|septiembre|setiembre|octubre|noviembre|diciembre|otoño|verano|invierno"
    r"|primavera|navidad|semana santa|pascua|carnaval|semana de receso"
    r"|mediod[íi]a|medianoche|(?:una|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|once|doce)(?!\w))"
)
_SPANISH_STREET = re.compile(
    r"(?:calle|c/|avenida|avda|av\.|plaza|paseo|carrer|ronda|camino|carretera|jirón|callejón|pasaje|bulevar|privada"
    r"|calzada|travesía|glorieta|colonia) ?\w"
)
_SPANISH_SCHOOL = re.compile(
    r"(?:colegio|cole|escuela|guardería|instituto|jardín(?: infantil)?|kínder|preescolar|preparatoria|prepa|secundaria"
    r"|primaria|liceo|universidad|facultad) "
    r"(?!(?:hoy|mañana|a|en|con|por|y|pero|todos|los|cada|caminando|andando)(?!\w))\w"
)
# A state, not a place: `en pausa`, `en fase de pruebas`; and a feeling.
_NO_SPANISH_PLACE = re.compile(
    r"en (?:pausa|fase|marcha|espera|pruebas|beta|producción|curso|proceso|riesgo|peligro|duda|orden|forma|venta|obras"
    r"|huelga|paro|crisis|contacto|desarrollo|revisión|general|serio|cuenta|vacaciones|camino|negociaci\w+)(?!\w)"
)
_SPANISH_LANGUAGES = re.compile(
    r".*\b(?:español|espanol|castellano|inglés|ingles|francés|frances|alemán|aleman|italiano|portugués"
    r"|portugues|catalán"
    r"|catalan|gallego|euskera|vasco|chino|mandarín|mandarin|japonés|japones|ruso|árabe|arabe|polaco|rumano|sueco|danés"
    r"|noruego|finlandés|holandés|neerlandés|griego|turco|coreano|hindi|quechua|aimara|guaraní|guarani|náhuatl|nahuatl"
    r"|maya|hebreo|checo|húngaro|ucraniano|latín|lengua de (?:signos|señas)|valenciano|esperanto)\b.*"
)
# What one likes for the moment, and what is praised.
_NO_LIKING = re.compile(
    r"(?:that|how|when|what|it|its|this|these|those|your|his|her|their|my|our|him|them|having|seeing|being"
    r"|everywhere|every"
    r"|hearing|knowing|an?|the|to (?:see|hear|be|know)|through|escaping|getting|how|where|all|everything|some)(?!\w)"
)
_NO_USED = re.compile(
    r"(?:it|its|this|that|these|those|them|him|her|an?|some|something|my (?:influence|voice)|your|his|building|getting"
    r"|supporting|for|to|myself|ourselves|improving|making|everything|stuff)(?!\w)"
)
_NO_PLACE = re.compile(
    r"(?:list|mind|hold|track|schedule|way|grounds|charge|love|time|process|works|air|question|trouble|point|need"
    r"|general|danger|fact|control|places to visit|vogue|rest|hand|progress|limbo|rise|my life|my heart|shape)$|list of"
)
_NO_LEARNING = re.compile(
    r"(?:a lot|how|the(?! (?:\w+lin|\w+lele|guitar|piano|cello|drums|banjo|flute|trumpet|harp|organ"
    r"|viola|sax\w*)$)|so much|that|to|from|more|about|new|a ton|tons|much|as)(?!\w)"
)
_NO_JOB = re.compile(
    r"(?:[\w-]+ )*?(?:number|letter|matter|winner|user|member|customer|owner|lover|believer|beginner|father|mother"
    r"|sister|brother|daughter|monster|bother|order|sucker|fighter|better|dinner|summer|winter|water|paper|power"
    r"|factor|error|colour|color|flavor|neighbor|corner|newcomer|sleeper|drinker|eater|runner-up|vegetarian|giant"
    r"|reminder|starter|morning person|early riser|foodie|bit|fan|lot|person|survivor|listener|disaster|blocker|answer"
    r"|cyclist list|restaurant|plant|elephant|instant|relevant|important|significant|mentor|idea|one|poster|newsletter"
    r"|trader list|center|centre|supporter|admirer|reader"
    r"|player"
    r"|dieter|günther|günter|gunter|reiner|heiner|holger|volker|rüdiger|theodor|viktor|jasper|casper|kaspar"
    r"|vincent|laurent"
    r"|grant|trent|brent|bernhardin|peter|alexander|walter|werner|rainer|oliver|jennifer|esther|heather|christopher"
    r"|roger|tyler|victor|hector|igor|ian|brian|adrian|damian|julian|fabian|sebastian|florian|christian"
    r"|bastian|vivian|lilian|marian|gregor|xavier|javier|offer|other|another|chapter|semester|helper)$"
)
_DIET = re.compile(
    r"(?:strict |mostly |lacto-ovo |100 ?% )?(?:vegan|veggie|vegetarian|pescatarian|pescetarian|flexitarian"
    r"|gluten[- ]free"
    r"|dairy[- ]free|lactose[- ]intolerant|lactose[- ]free|celiac|coeliac|diabetic|halal|kosher|keto|paleo|low[- ]carb"
    r"|sugar[- ]free|plant[- ]based|sober|teetotal|veganer(?:in)?|vegetarier(?:in)?|pescetarier(?:in)?"
    r"|laktoseintolerant|glutenfrei|zuckerfrei|diabetiker(?:in)?|vegano|vegana|vegetariano|vegetariana|celíaco|celíaca"
    r"|celiaco|celiaca|diabético|diabética|intolerante a la lactosa|素食者|素食主义者|糖尿病人)(?: diet)?"
)
_OWNED = re.compile(
    r"(?:[\w-]+ ){0,3}(?:dogs?|cats?|cars?|bikes?|bicycles?|motorbikes?|house|flat|apartment|kids?|sons?|daughters?"
    r"|sisters?|brothers?|siblings?|children|child|laptop|phone|boat|garden|piano|guitar|violin|cello|degree|phd"
    r"|master's|puppy|puppies|kittens?|horses?|parrots?|rabbits?|hamsters?|turtles?|van|truck|company|shop|bakery"
    r"|caf[eé]"
    r"|restaurant|studio|farm|camera|printer|macbook|ipad|iphone|tattoos?|twins|pets?|fish|allotment|cabin|condo|tesla"
    r"|hund|katze|kater|auto|wohnung|haus|kaninchen|pferd|fahrrad|e-bike|welpen?|hündin"
    r"|scooter|motorcycle|birds?|snakes?|guinea pigs?|chickens?|hens?|beehives?|grandchildren|grandson"
    r"|granddaughter|budgies?"
    r"|gerbils?|ferrets?|goats?|ponies|pony|donkeys?|ducks?|tortoises?|lizards?|geckos?|canar(?:y|ies)"
    r"|parakeets?|puppies|boys?"
    r"|girls?|jungs|jungen|mädchen|kinder|hühner|enten|ziegen|esel|wellensittiche?|meerschweinchen|hamster|katzen|hunde"
    r"|geschwister|brüder|schwestern|vögel|schildkröten?|pferde|söhne|töchter|enkel)(?!\w)"
    r"|(?:una?|dos|tres|cuatro|cinco|seis|\d) (?:\w+ ){0,1}(?:perr[oa]s?|perrit[oa]s?|gat[oa]s?|gatit[oa]s?"
    r"|cachorr[oa]s?|hij[oa]s?|herman[oa]s?|niet[oa]s?|sobrin[oa]s?|niñ[oa]s?|mellizos|gemel[oa]s|coches?"
    r"|carros?|autos?|motos?|bicis?"
    r"|casas?|pisos?|departamentos?|apartamentos?|conejos?|loros?|tortugas?|peces|caballos?|gallinas?|canarios?|pianos?"
    r"|guitarras?|huertos?|jardín|tienda|panadería|negocio|empresa|furgoneta|camioneta|barco|beca|máster"
    r"|doctorado)(?!\w)"
)
_CODE = re.compile(
    r"[#*+]?(?=[\w@./+:#*&!?-]*\d)[\w@./+:#*&!?$%-]{2,}|\S+@\S+\.\S+|https?://\S+|[\w-]+\.(?:com|org|net|io|de|es|cn)\b"
)
_NUMBER = re.compile(
    r"\d|(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty)(?!\w)"
)
_AGE = re.compile(
    r"\d{1,3}|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:[- ](?:one|two|three|four|five|six"
    r"|seven|eight|nine))?"
    r"|eighteen|nineteen"
    r"|dieci\w+|veinti\w+|(?:veinte|treinta|cuarenta|cincuenta|sesenta|setenta|ochenta|noventa)(?: y \w+)?|quince"
    r"|catorce|seis|siete|ocho|nueve|diez|once|doce|trece|cinco|cuatro|tres|dos"
    r"|[一二三四五六七八九十两]{1,4}"
)
_SMALL_AGE = re.compile(
    r"(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen|zwei|drei"
    r"|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|dreizehn|vierzehn|fünfzehn|sechzehn|siebzehn|achtzehn|neunzehn"
    r"|zwanzig|dreißig|vierzig|fünfzig|sechzig|siebzig|achtzig|neunzig)(?: and a half|einhalb)?"
)
_NO_VEHICLE = re.compile(
    r"(?:to|home|back|there|here|over|up|down|past|through|around|off|away|me|you|him|her|them|us"
    r"|my (?:kids|son|daughter)"
    r"|nach|zu|zur|zum|in|im|ins|auf|heim|weg|los|hin|über|bis|morgen|heute|gleich|jetzt|für|mit (?:dem|der|mein\w*)"
    r"|mit (?:unser\w*|ein\w*)|mit$"
    r"|mit der bahn|außen\w*|(?:he)?rum|\w*vorbei|langsam|schnell|weiter|zurück|sel(?:bst|ber)|gerne?"
    r"|lieber|viel|oft|ski|rad|fahrrad)(?!\w)"
)
_MODEL = re.compile(r"[A-ZÄÖÜ][\w-]*|\d[\w-]*")
# A name as people give their own; words for nations and languages look like one.
_PERSON = re.compile(
    r"(?![A-Z][a-z]+(?:ian|ish|ese|ch|an|ean|ist|ic)$)(?![A-Z]{2,5}$)[^\W\d_a-zß-öø-ÿ][^\W\d_]+(?:["
    r" -][^\W\d_a-zß-öø-ÿ][\w'’.-]*){0,2}"
)
_NATIONALITY_ENDS = frozenset({"german", "greek", "swiss", "thai", "dutch", "aries", "capricorn", "taurus", "leo"})
_VAGUE = word_set(
    "it that this them him her me us you something anything everything nothing someone things stuff one ones so"
    " there here"
    " good great nice fine okay ok bad well better best hard easy fun cool awesome amazing wonderful important"
    " true right"
    " wrong sure ready busy tired happy sad lol haha what how who which das es dies etwas alles nichts gut eso"
    " esto algo"
    " todo nada bien los las lo"
)
_HAN_VAGUE = re.compile(r"[这那]一?个?(?:存|记|就好|就行|吧)?")
# A German participle behind a thing: `Wir haben eine Wohnung besichtigt` owns none. Nouns have capitals there.
_DONE = re.compile(r" (?:ge|be|ver|er|ent|zer|zu|ab|an|auf|aus|ein|mit|nach|vor|weg|um)[a-zäöüß]*(?:t|en)$")
_AMOUNT = re.compile(
    r"\d\s?(?:€|euros?|\$|dollars?|bucks|£|pounds?|pfund|chf|franken|francs?|%|percent|prozent|por ciento|pesos?|soles"
    r"|kg|kilos?|km|yuan|rmb|元|块|万)(?!\w)|[€$£¥￥]\s?\d|(?<!\w)[^\W\d_]{3,}-\d|\d-[^\W\d_]{3,}"
)
# What goes on behind the comma of a time: a day, a number, `and` another.
_TIME_GOES_ON = re.compile(r"\d|(?:und|and|y|oder|or) |tag(?!\w)|day(?!\w)|woch|uhr|(?:de|am|um|at|on|a las?|el) ")
_MAX_TIME_WORDS = 5
_MAX_WORDS = 14
_MAX_VALUE_CHARS = 200


def tidy(text: str) -> str:
    """An object without marks and adverbs around it."""
    text = " ".join(text.split()).strip(_EDGES)
    for _ in range(3):
        shorter = _LEADING.sub("", _TRAILING.sub("", text)).strip(_EDGES)
        if shorter == text:
            break
        text = shorter
    if text.count("(") != text.count(")"):
        text = text.replace("(", "").replace(")", "")
    return text


def is_vague(text: str) -> bool:
    """Whether an object names nothing."""
    words = text.casefold().split()
    if _HAN_VAGUE.fullmatch(text):
        return True
    return not words or all(word.strip(_EDGES) in _VAGUE for word in words) or len(words) > 3 * _MAX_WORDS


def fits(condition: str, text: str, *, has_capitals: bool) -> bool:
    """Whether an object is what its predicate asks for. `has_capitals`: names in this text have capitals."""
    plain = text.casefold()
    if condition.startswith("han"):
        return fits_han(condition.removeprefix("han"), simplified(text))
    is_upper = _UPPER.match(text) is not None
    words = len(text.split())
    match condition:
        case "name":
            is_late = words <= 4 and any(_UPPER.match(word) for word in text.split())
            return words <= 6 and (is_upper or is_late or (not has_capitals and words <= 3))
        case "place":
            return places.can_be_home(text, is_upper=is_upper, has_capitals=has_capitals)
        case "organisation":
            return is_upper and words <= 6 and places.is_organisation(plain)
        case "employer":
            return places.can_be_employer(text) and fits("name", text, has_capitals=has_capitals)
        case "spanish employer":
            return not places.is_spanish_town(plain) and fits("employer", text, has_capitals=has_capitals)
        case "spanish origin":
            return fits("name", text, has_capitals=has_capitals) and places.can_be_spanish_origin(text)
        case "german employer":
            return words <= 6 and is_upper and places.can_be_german_employer(text)
        case "person":
            is_name = _PERSON.fullmatch(text) is not None and plain.split()[0] not in _NATIONALITY_ENDS
            # `Nora Lindqvist` ends as occupations do, and is none.
            is_full_name = words > 1 and all(word[:1].isupper() for word in text.split())
            is_occupation = any(job.fullmatch(plain) for job in (_JOB, _GERMAN_JOB)) and _NO_JOB.match(plain) is None
            is_job = is_occupation and not is_full_name
            return words <= 3 and is_name and not is_job and _DIET.fullmatch(plain) is None
        case "attribute":
            return words <= 10
        case "german job":
            return is_upper and words <= 4 and _GERMAN_JOB.match(plain) is not None and not _is_no_job(plain)
        case "spanish job":
            return words <= 7 and _SPANISH_JOB.fullmatch(plain) is not None and _NO_SPANISH_JOB.match(plain) is None
        case "spanish town":
            return places.is_spanish_town(plain)
        case "trade":
            # "Trabaja en el hospital de Castellón" says none.
            return not is_upper
        case "spanish car":
            return words <= 7 and _SPANISH_CAR.fullmatch(plain) is not None
        case "spanish school":
            return words <= 8 and _SPANISH_SCHOOL.match(plain) is not None
        case "spanish time":
            return words <= 12 and _SPANISH_TIME.match(plain) is not None
        case "spanish place":
            return words <= 14 and _NO_SPANISH_PLACE.match(plain) is None
        case "spanish street":
            return words <= 8 and _SPANISH_STREET.match(plain) is not None
        case "spanish value":
            return words <= 6 and (_CODE.search(text) is not None or _NUMBER.match(plain) is not None)
        case "spanish languages":
            return words <= 14 and _SPANISH_LANGUAGES.fullmatch(plain) is not None
        case "liking":
            return words <= 8 and _NO_LIKING.match(plain) is None
        case "used":
            return words <= 6 and _NO_USED.match(plain) is None
        case "place of a thing":
            return words <= 14 and _NO_PLACE.search(plain) is None
        case "learning":
            return words <= 5 and _NO_LEARNING.match(plain) is None
        case "job":
            return words <= 7 and _is_job(plain)
        case "food":
            return daily.NO_FOOD.match(plain) is None
        case "medicine":
            return all(daily.MEDICINE.fullmatch(each) for each in daily.AND.split(plain))
        case "illness":
            return words <= 7 and daily.ILLNESS.fullmatch(plain) is not None
        case "trait":
            return words <= 4 and daily.TRAIT.fullmatch(plain) is not None
        case "group":
            return words <= 6 and daily.GROUP.fullmatch(plain) is not None
        case "workplace":
            return words <= 7 and daily.WORKPLACE.fullmatch(plain) is not None
        case "someone":
            return daily.NO_SOMEONE.match(plain) is None and fits("name", text, has_capitals=has_capitals)
        case "sport":
            return daily.SPORT.fullmatch(plain) is not None
        case "school":
            return words <= 5 and daily.SCHOOL.search(plain) is not None and daily.SCHOOL.fullmatch(plain) is None
        case "school year":
            return daily.SCHOOL_YEAR.fullmatch(plain) is not None
        case "number":
            return _AGE.fullmatch(plain) is not None
        case "age of a person":
            return _AGE.fullmatch(plain) is not None or _SMALL_AGE.fullmatch(plain) is not None
        case "german vehicle":
            is_noun = not has_capitals or any(_UPPER.match(word) for word in text.split())
            return is_noun and fits("vehicle", text, has_capitals=has_capitals)
        case "vehicle":
            return words <= 6 and _NO_VEHICLE.match(plain) is None
        case "model":
            # `We bought a Zoe`: a thing by its name; `a Zoom call` is none.
            return words <= 3 and len(text) > 2 and all(_MODEL.fullmatch(word) for word in text.split())
        case "choice":
            return words <= 12 and _NO_USED.match(plain) is None
        case "diet":
            return _DIET.fullmatch(plain) is not None
        case "thing":
            return words <= 8 and _OWNED.match(plain) is not None and _DONE.search(text) is None
        case "short":
            return words <= 6 and "," not in text
        case "value":
            return words <= _MAX_WORDS and is_value(text, has_capitals=has_capitals)
    return words <= 3 * _MAX_WORDS


def _is_job(plain: str) -> bool:
    """Whether the last word of a phrase, or the one before `of` and the like, is an occupation."""
    head = re.split(r" (?:of|for|at|in|with|on) ", plain, maxsplit=1)[0]
    return _JOB.fullmatch(head) is not None and _NO_JOB.match(head) is None and daily.NO_TRADE.match(head) is None


def _is_no_job(plain: str) -> bool:
    return _NO_JOB.match(plain) is not None or _DIET.fullmatch(plain) is not None


def is_value(text: str, *, has_capitals: bool = True) -> bool:
    """Whether a text is a code, a number, an address or a name."""
    text = text[:_MAX_VALUE_CHARS]
    if _CODE.search(text) or (_NUMBER.match(text.casefold()) and len(text.split()) <= 6):
        return True
    if is_han_number(text):
        return True
    return has_capitals and _UPPER.match(text) is not None and len(text.split()) <= 6


def is_trade_or_diet(text: str) -> bool:
    """Whether a single word with a capital is what somebody is rather than a name: `Lehrerin`, `Vegetarier`."""
    plain = text.casefold()
    if _DIET.fullmatch(plain):
        return True
    return " " not in plain and _GERMAN_JOB.fullmatch(plain) is not None and _NO_JOB.match(plain) is None


def is_amount_or_code(text: str) -> bool:
    """Whether a text is money, a measure or a code, which no time is: `1.020 Euro`, `marigold-58-fern`."""
    return _AMOUNT.search(text.casefold()) is not None


def time_only(text: str) -> str:
    """A time without the clause behind it: `am Donnerstag, so schaffe ich es nach dem Büro`."""
    first, *rest = text.split(", ")
    kept = [first]
    for part in rest:
        if len(part.split()) > _MAX_TIME_WORDS or _TIME_GOES_ON.search(part.casefold()) is None:
            break
        kept.append(part)
    return ", ".join(kept)


def says_something(text: str) -> bool:
    """Whether a text has a word with a meaning."""
    return bool(content_terms(text))
