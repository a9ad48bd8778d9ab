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
    r"|allein|nein|mein\w*|ein|kein\w*|dein|sein|hin|\w*termin|\w*medizin|pride|side|ride|slide|guide|mate|date|chocolate|cocaine|heroin"
    r"|class|kontrolle|\w*ration|train|again|cabin|muffin|basin|margarine|trampoline|routine|offline|online|deadline)$)"
    r"(?:(?:a |an |the |my |some |das |die |den |ein |eine |mein |meine |low dose |low-dose )?"
    r"(?:\w{3,}(?:olol|amol|adol|formin|arin|apentin|fen|pril|statin|zole|zol|pam|lam|ralin|balin|cin|xin|mab|vir"
    r"|azide|semide|tidine|ridone|zodone|solone|xetine?|azine|tyline?|roxine?|trexate?|proate?|codeine|odein|phine"
    r"|sartan|dipine|dipin|triptan"
    r"|phen|cillin|oxin|apine?|sone|lithium)"
    r"|insulin|antidepressants?|antibiotics?|antibiotika|the pill|(?:mini|anti-?baby-?)?pille?|painkillers?"
    r"|schmerzmittel|blood thinners?|blutverdünner|beta ?-?blockers?|betablocker|statins?|vitamin[ -]?\w+|iron|eisen"
    r"|supplements?|antihistamines?|hormones?|hormone|steroids?|cortisone?|melatonin|aspirin|magnesium|folic acid))"
    r"(?: (?:tablets?|pills|drops|spray|tabletten|tropfen|\d[\d.,]* ?(?:mg|µg|mcg|ml|g|iu)))?"
)
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
