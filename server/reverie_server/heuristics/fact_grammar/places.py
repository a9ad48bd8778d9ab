"""Where somebody can live and for whom somebody can work, by the words that name it. Pure.

One moves to a sofa, to another phone and to another program too, and works at a desk and at night: none of these is a
home or an employer, and none may take the place of the one that was told.
"""

from __future__ import annotations

import re

from reverie_server.heuristics.grounding_vocabulary import is_weekday

_PLACE_WORDS = re.compile(
    r"(?:an? |the |my |our )?(?:[\w'’-]+ ){0,2}(?:flat|house|apartment|condo|bungalow|cottage|caravan|houseboat"
    r"|annexe?|(?:care|nursing|retirement|shared) (?:home|village|house)"
    r"|hostel|halls|bedsit|terrace|loft|city|town|countryside|suburbs?|village"
    r"|studio"
    r"|farm|street|road|avenue|dorm|coast|mountains|downtown|centre|center)(?!\w)"
    r"|(?:una? )?residencia(?!\w)|(?:una? |el |la )?(?:barrio|pueblo|centro|aldea|casa|piso|colonia|barriada"
    r"|urbanización|zona) (?:de|del"
    r"|la|el) \w"
)
# Where nobody writes capitals, these words for places are homes with an article of their own too.
_HOMES = re.compile(
    r"(?:an? |the |my |our )?(?:[\w'’-]+ ){0,3}(?:place|cabin|barn|mobile home|tiny house|squat|commune|island|valley"
    r"|estate|area|district|neighbou?rhood|borough|country|county|region)(?!\w)"
    r"|(?:eine[rmn]?|(?:mein|unser)e?[rmn]?) (?:[\w-]+ ){0,2}(?:wg|wohngemeinschaft|\w*wohnung|\w*haus|\w*dorf"
    r"|\w*stadt"
    r"|\w*heim|\w*hof|altbau|neubau|vorort|wohnwagen|hütte|siedlung)(?!\w)"
    r"|(?:una?|mi|nuestr[oa]) (?:\w+ )?(?:piso|casa|pueblo|aldea|apartamento|departamento|depa|estudio|ciudad|finca"
    r"|granja|residencia|barrio|urbanización|ático|chalet)(?!\w)"
)
_ARTICLE = re.compile(
    r"(?:an?|the|my|our|your|his|her|their|this|that|another|eine?[mnrs]?|(?:mein|dein|sein|ihr|unser)(?:e?[mnrs]?)"
    r"|una?|mis?|tus?|sus?|nuestr[oa]s?|este|esta|otr[oa]) "
)
# Few names have an article.
_NAME_WITH_ARTICLE = re.compile(
    r"the (?:hague|netherlands|uk|u\.k\.|us|u\.s\.|usa|states|united \w+|bronx|\w+lands|philippines|bahamas|maldives"
    r"|gambia|seychelles|(?:\w+ )?emirates|uae|peak district|lake district|cotswolds|wirral|algarve|balkans|bay area"
    r"|sudan|congo|vatican|\w+ (?:islands?|republic|republik|coast|side|valley|peninsula))(?!\w)"
)
# Words that make no name longer: "san martín de la vega".
_PARTICLES = frozenset({"de", "del", "la", "las", "los"})
_STATE_OF_LIFE = re.compile(
    r"\w*(?:zeit|phase|woche|hoffnung|angst|sorge|scheidung|trennung|beziehung|ungewissheit)|nähe"
)
# What follows these words makes them a part of a name: `Office Lane`.
_NO_PART_OF_NAME = (
    r"(?! (?:street|st|road|rd|lane|avenue|close|drive|court|hill|park|city|town|village|bay|beach|island|house|flat"
    r"|apartment|county))(?!\w)"
)
_BEFORE_NOUN = (
    r"(?:(?:an?|the|my|our|your|his|her|their|another|eine?[mnrs]?|mein(?:e?[mnrs]?)|una?|mi|el|la) )?(?:(?:new|old"
    r"|spare|own|back|front|different|other|little|big|neue?[mnrs]?|alte?[mnrs]?|nuev[oa]|otr[oa]) )?"
)
_FURNITURE = (
    r"sofas?|couch|settee|futon|floor|bed|bunk|desk|table|\w+ table|chair|armchair|desktop|standing desk|whiteboard"
    r"|schreibtisch|tisch|\w+tisch|bett|sessel|stuhl|sofá|sillón|cama|escritorio|silla|hamaca"
)
_DEVICES = (
    r"(?:smart)?phone|iphone|ipad|tablet|laptop|macbook|computer|pc|screen|monitor|keyboard|esim|handy|smartphone"
    r"|rechner|bildschirm|tastatur|móvil|celular|portátil|ordenador|computadora|pantalla|teclado"
)
_VEHICLES = r"car|truck|van|bus|train|tube|auto|kombi|lkw|zug|coche|carro|furgoneta|camioneta|tren|autobús"
_ROOMS = (
    r"(?:(?:spare|guest|living|box|dining|play|waiting|meeting|sitting|other|next|back|front) ?)?rooms?"
    r"|bathroom|bedroom|kitchen|shower|hallway|(?:home )?office|gym|library|(?:back|front) (?:row|seat)|\w*zimmer"
    r"|\w*büro|küche|flur|homeoffice|fitnessstudio|bibliothek|oficina|gimnasio|cocina|baño|salón|pasillo"
    r"|(?:cuarto|habitación) de (?:invitados|al lado|mi|los|las|huéspedes)"
)
_SOFTWARE = (
    r"gmail|outlook|hotmail|proton ?mail|slack|(?:ms |microsoft )?teams|discord|zoom|google (?:\w+)|notion|obsidian"
    r"|evernote|(?:arch )?linux|ubuntu|debian|fedora|windows(?: \d+)?|mac|macos|android|ios|firefox|chrome|safari"
    r"|spotify|netflix|youtube(?: \w+)?|whatsapp|signal|telegram|wechat|github|gitlab|jira|trello|asana"
    r"|confluence|figma|excel"
    r"|python|rust|golang|typescript|javascript|react|kubernetes|postgres\w*|mysql|sqlite|vim|neovim|emacs"
    r"|vs ?code|cursor"
    r"|chatgpt|claude|gemini|copilot|icloud|dropbox|onedrive|aws|azure|the cloud|cloud|substack|bluesky|mastodon"
    r"|instagram|tiktok|reddit|twitter|wordpress|shopify|nextcloud"
)
_STATES = (
    r"(?:constant |permanent |pure |total |utter |blissful )?(?:fear|denial|hope|peace|pain|poverty|dread|chaos"
    r"|squalor"
    r"|moment|past|present|future|sin|luxury|harmony|silence|darkness|misery|dreams?|bubble|stress|anxiety|uncertainty"
    r"|limbo|hell|heaven|paradise|clouds?|cloud nine|matrix|ignorance|terror|shame|solitude|comfort)"
    r"|(?:\w+ )?stress|miedo|pecado|caos|estrés|nubes?|luna|pasado|presente|futuro|pobreza|lujo|mentira|infierno"
    r"|paraíso|sueños?|burbuja"
)
_GERMAN_STATES = (
    r"frieden|traum|träumen|wolken?|chaos|hölle|paradies|vergangenheit|gegenwart|zukunft|moment|jetzt|armut|luxus"
)
_CLOTHES = (
    r"(?:\w+ )?(?:hoodies?|leggings|joggers|jeans|sweatpants|pyjamas|pajamas|trackies|trainers|dungarees|crocs"
    r"|jogginghosen?|schlafanzug|pijama|chándal)"
)
_NO_HOME = re.compile(
    f"{_BEFORE_NOUN}(?:{_FURNITURE}|{_DEVICES}|{_VEHICLES}|{_ROOMS}|{_SOFTWARE}|{_GERMAN_STATES}|{_CLOTHES})"
    f"{_NO_PART_OF_NAME}"
)
# With a capital each of these is a town too: Hope, Paradise.
_STATE = re.compile(f"{_BEFORE_NOUN}(?:{_STATES}){_NO_PART_OF_NAME}")
_ORGANISATION = re.compile(
    r"(?<!\w)(?:care|clinic|group|ltd|gmbh|ag|inc|llc|labs?|bank|college|university|hospital|school|academy|systems"
    r"|software|consulting|partners|studios|solutions|technologies|bakery|brewery|institute|agency|media|press"
    r"|foundation|museum|library|theatre|logistics|energy|& \w+|\w*(?:klinik|klinikum|schule|gymnasium|werke"
    r"|universität|tischlerei|bäckerei|verlag|stiftung|agentur))(?!\w)"
)
_NO_GERMAN_EMPLOYER = re.compile(
    r"(?:(?:un|vor)?ruhestand|rente$|pension$|elternzeit|mutterschutz|mein|dein|sein|ihr|unser|euer|eure|dir|mir|uns|euch|ihm|ihnen|arzt|zahnarzt|ärztin|friseur|oma|opa|mama|papa"
    r"|mutter|vater|freund|freundin|freunden|nachbar|familie|eltern|polizei|frau|herrn|sport|training|yoga|bett"
    r"|bus|zug"
    r"|minute|stunde|tag|woche|anfang|ende|hause|notaufnahme|urlaub|park|garten|kino|stau|meeting|auto"
    r"|homeoffice|schwimmbad|supermarkt|café|flugzeug|hotel|keller|wald"
    r"|ausland|gym|mitglied|essen|lidl|aldi|rewe|edeka|ikea)\w*"
)
# When, how and for what one works; a pronoun before a thing names nobody, but for that of somebody: `my dad's shop`.
_NO_EMPLOYER = re.compile(
    r"(?:my|our|your|his|her|their|mis?|tus?|sus?|este|esta) (?!(?:[\w-]+ ){0,3}[\w-]+['’]s? )"
    rf"|{_BEFORE_NOUN}(?:{_FURNITURE}|{_DEVICES}|{_CLOTHES}"
    r"|weekends?|nights?|night ?time|day ?time|dawn|dusk|lunch ?time|christmas|easter"
    r"|(?:the )?moment|times|least|once|full (?:time|speed|capacity)|pleasure|exposure"
    r"|(?:first|last|heart|free|fun|money|cash|peanuts|food|tips|a living)(?:$|(?= (?:basically|mostly|usually|really"
    r"|sometimes|only|too|and|or|because|at|in|on|these|right|rn|atm|every|most)(?!\w)))"
    r"|wochenenden?|feiertage?n?|abend|nacht|regen|hitze|kälte|wärme|sonnenschein|musik|lärm|stille"
    r"|geld|spass|\w*prüfung(?:en)?|(?:\w*arbeit|\w*these|dissertation|promotion|roman|buch|tagen?"
    r"|mindestlohn|kaffee)"
    r"|mesa|equipo|remoto|línea|negro|turnos?|noches?|verano|vacaciones|tesis|proyectos?|grupo|silencio|gratis|dinero"
    rf"|(?:un|una|el|la|mi) (?:tesis|libro|proyecto|novela)){_NO_PART_OF_NAME}"
    r"|(?:home|house|casa|hause)(?: (?:on|in|every|most|some|twice|when|because|mostly|basically|full|part"
    r"|only|and|los|las|el|por|y|casi|siempre|desde|con|solo|a|hoy|cuando)(?!\w).*)?$"
    r"|(?:an? )?(?:few |couple of |\d+ )?(?:hours?|days?|weeks?|months?|years?|while|ages|minutes?)(?!\w)"
    r"|\d+ ?(?:am|pm|uhr)"
    # When one begins, and what nobody is called by.
    r"|(?:(?:about|around|half past|quarter (?:past|to)) )?(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven"
    r"|twelve|noon|midday|midnight)(?:$|(?= (?:o'clock|sharp|thirty|fifteen|on|in|now|every|most|these|and"
    r"|instead)(?!\w)))"
    r"|[^\W\d_]$"
)

# Where somebody works, and for nobody: "soy taxista en Lima". Santander and Bilbao are towns, and a bank and more.
_SPANISH_TOWN = re.compile(
    r"madrid|barcelona|valencia|sevilla|zaragoza|málaga|malaga|murcia|palma(?: de mallorca)?|alicante|córdoba|cordoba"
    r"|valladolid|vigo|gijón|gijon|vitoria|granada|elche|oviedo|badalona|cartagena|jerez|sabadell|pamplona|almería"
    r"|almeria|san sebastián|donostia|burgos|albacete|castellón|logroño|badajoz|salamanca|huelva|lleida|lérida"
    r"|marbella|león|leon|tarragona|cádiz|cadiz|jaén|jaen|ourense|orense|girona|gerona|lugo|cáceres|caceres|melilla"
    r"|ceuta|guadalajara|toledo|pontevedra|palencia|ciudad real|zamora|ávila|avila|cuenca|huesca|segovia|soria|teruel"
    r"|getafe|móstoles|leganés|alcorcón|parla|fuenlabrada|(?:las|los) \w+ de gran canaria|tenerife|mallorca|ibiza"
    r"|menorca|galicia|asturias|andalucía|cataluña|méxico|mexico|cdmx|monterrey|puebla|tijuana|oaxaca|bogotá|bogota"
    r"|medellín|medellin|cali|barranquilla|buenos aires|rosario|mendoza|tucumán|la plata|mar del plata|lima|arequipa"
    r"|cusco|cuzco|trujillo|quito|guayaquil|caracas|maracaibo|la paz|santiago(?: de (?:chile|compostela))?|valparaíso"
    r"|concepción|montevideo|asunción|san josé|san salvador|tegucigalpa|managua|ciudad de (?:méxico|guatemala|panamá)"
    r"|honduras|estados unidos|la habana|santo domingo|san juan|miami|londres|parís|berlín|lisboa|roma|nueva york"
    r"|dublín|bruselas|españa"
    r"|argentina|chile|perú|colombia|ecuador|venezuela|uruguay|alemania|francia|inglaterra|italia|portugal|suiza"
)

# What one is of who is not from there: "soy de letras", "es de pocas palabras".
_NO_SPANISH_ORIGIN = re.compile(
    r"(?!buenos aires)(?:(?:muy |bastante )?(?:poc|much|buen|mal|gran|tod|algun|ningun)[oa]?s?|letras|ciencias|números"
    r"|familia|origen"
    r"|piel|pelo|ojos|sueño|estómago|talla|clase|acuerdo|vacaciones|prácticas|guardia|viaje|compras|fiesta|resaca"
    r"|camino|baja|luto|costumbres?|fiar|verdad|aquí|aqui|allí|alli|acá|allá|ahí|fuera|pueblo|ciudad|campo|playa"
    r"|montaña|perros?|gatos?|café|té|dulces?|salado|izquierdas?|derechas?|centro"
    r"|(?:comer|beber|dormir|madrugar|salir|llorar|viajar|leer|hablar|estudiar)"
    r"|los que|las que|la (?:opinión|vieja|misma|edad|quinta|generación)|esos|esas|un[oa]s?)(?!\w)"
)


def can_be_home(text: str, *, is_upper: bool, has_capitals: bool) -> bool:
    """Whether somebody can live in a place of that name. `is_upper`: it begins with a capital."""
    plain = text.casefold()
    words = len(plain.split())
    is_state = not is_upper and _STATE.match(plain) is not None
    if words > 8 or is_state or _NO_HOME.match(plain) is not None:
        return False
    if _PLACE_WORDS.match(plain) is not None:
        return True
    is_named = is_upper
    if not has_capitals and len([word for word in plain.split() if word not in _PARTICLES]) <= 3:
        has_article = _ARTICLE.match(plain) is not None and _NAME_WITH_ARTICLE.match(plain) is None
        is_named = not has_article or _HOMES.match(plain) is not None
    # One moves to York, and to Harbour Care as an employee. Swimming moves to Wednesdays, and nobody else.
    is_place = is_named and not is_organisation(plain) and not is_weekday(plain)
    # "Ich lebe in der Prüfungszeit von Energydrinks."
    return is_place and _STATE_OF_LIFE.fullmatch(plain) is None


def can_be_employer(text: str) -> bool:
    """Whether somebody can work for what has that name, rather than at that time, in that way, on that thing.

    Behind a capital such a word is the whole of a name or a part of one: `Home Depot`.
    """
    plain = text.casefold()
    found = _NO_EMPLOYER.fullmatch(plain) if text[:1].isupper() else _NO_EMPLOYER.match(plain)
    return found is None


def can_be_german_employer(text: str) -> bool:
    """The same for a noun, which has a capital in German whatever it names."""
    plain = text.casefold()
    return _NO_EMPLOYER.match(plain) is None and _NO_GERMAN_EMPLOYER.match(plain) is None


def is_spanish_town(plain: str) -> bool:
    """Whether a folded name is that of a town, a region or a country as one says it in Spanish."""
    return _SPANISH_TOWN.fullmatch(plain) is not None


def can_be_spanish_origin(text: str) -> bool:
    """Whether somebody can be from there, rather than that way."""
    return _NO_SPANISH_ORIGIN.match(text.casefold()) is None


def is_organisation(plain: str) -> bool:
    """Whether the words of a folded name are those of a company, a school or the like."""
    return _ORGANISATION.search(plain) is not None
