"""Words of daily life that the object of a fact can be or cannot be: food, medicine, schools. Pure."""

from __future__ import annotations

import re

# What nobody takes as a dish or a drink: words of time and measure, and what for.
NO_FOOD = re.compile(
    r"(?:to|for|when|like|too|so|like|with|from|alone|responsibly|socially|out|in|at|late|here|there|well|this|that|it"
    r"|them|another|anything|nothing|something|everything|today|tonight|now|your|his|her|their|right|badly|better"
    r"|healthily|healthy|enough|before|after|because|if|as|less|more|a lot|much|and|lunch|dinner|breakfast|any|either"
    r"|heute|gerade|nichts|was|etwas|alles|dich|mich|es|das|zu|zuhause|mit|bei|im|um|abend|jetzt|viel|wenig|weniger"
    r"|gesund|besser|aus|allein|später|morgen|auswärts|nachts|abends|mittags|\w+ nichts)(?!\w)"
)
# What medicines end in, and what people call them.
MEDICINE = re.compile(
    r"(?!(?:a |an |the |my |some |das |die |den |ein |eine |mein |meine )?"
    r"(?:wine|berlin|medicine|magazine|nine|mine|line|time|fine|coffein|caffeine|protein|alone|one|vaccine|machine"
    r"|allein|nein|mein\w*|ein|kein\w*|dein|sein|hin|\w*termin|\w*medizin|pride|side|ride|slide|guide|mate|date"
    r"|chocolate|cocaine|heroin"
    r"|class|kontrolle|\w*ration|train|again|cabin|muffin|basin|margarine|trampoline|routine|offline|online|deadline)$)"
    r"(?:(?:a |an |the |my |some |das |die |den |ein |eine |mein |meine |low dose |low-dose )?"
    r"(?:\w{3,}(?:olol|amol|adol|formin|arin|apentin|fen|pril|statin|zole|zol|pam|lam|ralin|balin|cin|xin|mab|vir"
    r"|azide|semide|tidine|ridone|zodone|solone|xetine?|azine|tyline?|roxine?|trexate?|proate?|codeine|odein|phine"
    r"|sartan|dipine|dipin|triptan"
    r"|phen|cillin|oxin|apine?|sone|lithium)"
    r"|insulin|antidepressants?|antibiotics?|antibiotika|the pill|(?:mini|anti-?baby-?)?pille?|painkillers?"
    r"|schmerzmittel|blood thinners?|blutverdünner|beta ?-?blockers?|betablocker|statins?|vitamin[ -]?\w+|iron|eisen"
    r"|\w{3,}(?:prazol|sartán|formina|statina|xetina|profeno|cetamol|cilina|micina|zepam|zolam|tiroxina|olol"
    r"|pril|dipino|ralina)"
    r"|\w{2,}sart[áa]n|\w{3,}(?:ap[ií]n[ao]?|ina? retard|parina|metazol)|eutirox|sintrom|adiro|lexatin|orfidal"
    r"|trankimazin|ventol[íi]n"
    r"|nolotil|voltar[ée]n|enantyum|ozempic|wegovy|mounjaro|litio|creatina|colágeno|vitaminas?(?: \w{1,3})?"
    r"|insulina|cortisona|antidepresivos|ansiolíticos|anticonceptivos|anticonceptivas|anticoagulantes?"
    r"|antihistamínicos?|la píldora|hierro|aspirina|(?:la |las "
    r"|una |unas )?"
    r"(?:pastillas?|medicación|inyección|gotas)(?: (?:para|de|contra) [\w ]{2,30})?|cortison|tabletten|medikamente"
    r"|supplements?|antihistamines?|hormones?|hormone|steroids?|cortisone?|melatonina?|aspirin|magnesium|folic acid))"
    r"(?: (?:tablets?|pills|drops|spray|tabletten|tropfen|\d[\d.,]*(?: ?(?:mg|µg|mcg|ml|g|iu))?))?"
)
# Between one medicine and another.
AND = re.compile(r" (?:and|und|y|e) |, ")
NO_SOMEONE = re.compile(
    r"(?:my|your|his|her|our|their|the|it|an?|mein|dein|sein|ihr|unser|der|dem|das|den|ein)\w{0,2}(?!\w)"
)
# How well somebody does a thing, of which it is not the trade: `a terrible cook`.
NO_TRADE = re.compile(
    r"(?:[\w-]+ )?(?:terrible|bad|awful|great|good|decent|lousy|horrible|amazing|huge|keen|avid|slow|fast|light|heavy"
    r"|quick|poor|mediocre|passable|hopeless|natural|born|fussy|picky|messy|nervous|worse|better|worst|best|wannabe"
    r"|amateur|hobby|enthusiastic|passionate|clumsy|lazy|careful|careless|confident|useless|rubbish|crap|fine|excellent"
    r"|fantastic|brilliant|strong|weak|frequent|regular|occasional|casual|serial|compulsive|chronic|real|total|complete"
    r"|basically|professional procrast\w*|miserable[rs]?|schlechte[rs]?|gute[rs]?|tolle[rs]?|lausige[rs]?) "
)
# What one does and says without an object.
SPORT = re.compile(
    r"run|jog|swim|cycle|meditate|smoke|vape|climb|row|box|ski|drink"
    r"|go (?:running|swimming|jogging|climbing|cycling|rowing)"
    r"|jogge|laufe|schwimme|rauche|meditiere|klettere|rudere|boxe|turne|tanze|trainiere"
)
SCHOOL = re.compile(
    r"(?:primary|school|nursery|academy|college|kindergarten|elementary|high|grammar|preschool|university|daycare"
    r"|schule|gymnasium|kita|universität|hort|kolleg)$"
)
SCHOOL_YEAR = re.compile(r"(?:year|grade|class|form) \w+|\w+ (?:grade|year|class)|reception|kindergarten|preschool")
# What one has for long: conditions by how their names end, and the commonest others. An infection passes.
_PASSING = r"(?:tonsill|bronch|laryng|pharyng|gastroenter|cyst|conjunctiv|sinus|appendic|append)it"
ILLNESS = re.compile(
    r"(?:(?:an? |una? |eine? |mild |severe |chronic |bad |some |leichte[sn]? |schwere[sn]? |chronische[rsn]? "
    r"|really )*)"
    rf"(?!{_PASSING})(?:(?:type|typ|tipo) ?[12i]+ )?(?:(?!(?:the|la|el|los|die|der|das|den"
    rf"|no)(?!\w))[\w-]+ )?(?!(?:dia|pro|hyp)\w*gno|hypno)"
    r"(?:\w{3,}(?:itis|osis|[ae]emia|algia|opathy|lepsy|plegia|sclerosis|openia|uria|ystrophy|elepsia|algie"
    r"|ämie|opathie|ose|emie"
    r"|lepsie|sklerose)|diabetes|asthma?|asma|migraines?|migräne|migrañas?|adhd|add|adhs|tdah|ocd|ptsd|ibs|pcos"
    r"|copd|ms|cancer"
    r"|cáncer|\w*krebs|\w*rheuma|gicht|gout|heuschnupfen|hay ?fever|eczema|tinnitus|hypertension|hipertensión"
    r"|bluthochdruck"
    r"|(?:high|low) blood pressure|autism|autismus|depression|depressionen|depresión|anxiety|ansiedad"
    r"|angststörung|insomnia"
    r"|insomnio|parkinson\S*|alzheimer\S*|crohn\S*|celiac|lupus|vertigo|vértigo|glaucoma|glaukom|cataracts"
    r"|down syndrome"
    r"|\w+ (?:syndrome|disease|disorder|condition)|(?:an? )?(?:pacemaker|herzschrittmacher|marcapasos|slipped disc)"
    r"|heart (?:condition|trouble|problems)|\w*syndrom|\w*krankheit|\w*störung|\w*insuffizienz"
    r"|(?:síndrome|enfermedad) (?:de )?\w+|hipotiroidismo|hipertiroidismo|rinitis|artrosis|dermatitis|hernia)"
    r"(?: (?:type|typ|tipo) ?[12i]+)?(?: (?:de|in|im|en|of) (?:the |my |la |el |der |dem )?[\w-]+)?"
)
# What somebody is for long, and no occupation.
TRAIT = re.compile(
    r"(?:(?:happily |recently |newly |glücklich |frisch |completely |totally |partially |profoundly |an? |eine? "
    r"|es |una? ))*"
    r"(?:left[- ]handed|right[- ]handed|colou?r[- ]?blind|deaf|blind|hard of hearing|short[- ]sighted|long[- ]sighted"
    r"|married|divorced|widowed|separated|single|engaged|pregnant|retired|autistic|dyslexic|bilingual|epileptic"
    r"|asthmatic"
    r"|only child|twin|night owl|early bird|atheist|catholic|protestant|muslim|jewish|buddhist|hindu|neutered|spayed"
    r"|links?händer(?:in)?|rechtshänder(?:in)?|farbenblind|taub|blind|schwerhörig|kurzsichtig|weitsichtig|verheiratet"
    r"|geschieden|verwitwet|ledig|single|verlobt|schwanger|autist(?:in)?|legastheniker(?:in)?|zweisprachig"
    r"|epileptiker(?:in)?|asthmatiker(?:in)?|diabetiker(?:in)?|allergiker(?:in)?|einzelkind|zwilling"
    r"|atheist(?:in)?|kastriert"
    r"|zurd[oa]|diestr[oa]|daltónic[oa]|sord[oa]|cieg[oa]|miope|casad[oa]s?|divorciad[oa]s?|viud[oa]|solter[oa]"
    r"|separad[oa]s?|embarazada|autista|disléxic[oa]|bilingüe|epiléptic[oa]|asmátic[oa]|diabétic[oa]|hij[oa] únic[oa]"
    r"|gemel[oa]|ate[oa]|católic[oa]|musulm[áa]na?|castrad[oa])"
    r"(?: (?:in|on|auf|en|de|del) (?:(?:one|both|his|her|my|the|einem|dem|beiden|un|el|los|ambos) )?"
    r"(?:(?:left|right|linken|rechten) )?(?:ears?|eyes?|side|ohr(?:en)?|auge|augen|oídos?|ojos?)"
    r"(?: (?:izquierdo|derecho))?)?"
)
# Where people work that has no name: `at the harbour`.
WORKPLACE = re.compile(
    r"(?:(?:an? |the |my |our |einem? |einer |der |dem |una? |el |la |los |las )?(?:[\w-]+ ){0,3}?)"
    r"(?:harbou?r|docks?|port|hospital|clinic|surgery|practice|school|library|museum|bank|bakery|nursery"
    r"|kindergarten|shelter"
    r"|garage|workshop|council|restaurant|caf[eé]|bar|pub|hotel|pharmacy|supermarket|shop|store|bookshop"
    r"|bookstore|warehouse|factory|plant|mill"
    r"|farm|mine|airport|station|railway|post office|theat(?:re|er)|zoo|call cent(?:re|er)|care home|law firm"
    r"|start-?up|agency"
    r"|newspaper|magazine|publisher|university|college|prison|church|charity|oil rig|rig|shipyard|brewery|vineyard|lab"
    r"|laboratory|town hall|embassy|fire station|police|army|navy|company|firm|office"
    r"|\w*(?:hafen|krankenhaus|klinik|praxis|schule|bibliothek|bücherei|museum|bank|sparkasse|bäckerei|kita"
    r"|kindergarten|tierheim"
    r"|werkstatt|restaurant|café|kneipe|hotel|apotheke|supermarkt|laden|geschäft|lager|fabrik|werk|hof"
    r"|flughafen|bahnhof|post"
    r"|theater|zoo|callcenter|altenheim|pflegeheim|seniorenheim|kanzlei|agentur|zeitung|verlag|universität|uni"
    r"|hochschule"
    r"|kirche|werft|brauerei|labor|rathaus|botschaft|feuerwehr|polizei|bundeswehr|stadtverwaltung|verwaltung"
    r"|behörde|amt"
    r"|metzgerei|\w*handlung|gärtnerei|tischlerei|druckerei|wache|heim)"
    r"|puerto|hospital|clínica|consulta|colegio|cole|escuela|instituto|biblioteca|museo|banco|panadería"
    r"|librería|papelería|estudio|guardería|protectora|taller"
    r"|restaurante|cafetería|hotel|farmacia|supermercado|tienda|almacén|fábrica|granja|aeropuerto|estación"
    r"|correos|teatro"
    r"|zoológico|residencia|bufete|agencia|periódico|editorial|universidad|iglesia|astillero|cervecería|laboratorio"
    r"|ayuntamiento|embajada|bomberos|policía|gestoría|peluquería|carnicería|constructora|inmobiliaria|ong|notaría)"
    r"(?: (?:de|del|of|for|off|near|outside|für|in der|am) [^,.;]{2,30})?"
)
# Whom one joins: `the allotment society`.
GROUP = re.compile(
    r"(?:[\w'&-]+ ){0,4}(?:club|society|choir|gym|team|band|association|group|union|league|library|orchestra"
    r"|party|scheme"
    r"|federation|institute|guild|circle|squad|troupe|co-?op|church|trust|course|class|programme|program|academy)"
)
