# ruff: noqa: E501  # a pattern stands on one line
"""More ways to ask for forgetting in English. Pure."""

from __future__ import annotations

from reverie_server.heuristics.requests.forget_phrases.parts import LABEL, PAUSE, TOPIC, TOPIC_OF_WORDS

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
_WHY = r"(?:, ?(?:because |as |since |cos |cause )?(?:we|they|it|i|that|he|she)(?!\w)[^.;!?]{2,80})?"
# "Forget the wifi one" names what has a code or a number among what is remembered.
_OF_CODE = r"(?:wi-?fi|padlock|locker|alarm|garage|gate|front door|back door|side door|door|safe|bike lock|intercom|login|netflix|account)"
_CODED = rf"(?:(?:\w+ ){{0,2}}{_OF_CODE} (?:code|pin|number|password|passcode|combination|combo)|{_OF_CODE}(?= (?:one|thing|bit|stuff)(?!\w)))"
_REMOVE = r"(?:remove|delete|erase|take|strike|scrub|wipe|drop|clear|get rid of)"
# Who says "please" means the memory, and not "Forget the umbrella".
_GONE = r"(?:forget|delete|erase|scrap|wipe|scrub|remove|take (?:out|back)|drop|bin)"
_REASON = r"(?:, ?(?:because |as |since |cos |cause )?(?:we|they|it|i|that|he|she)(?!\w)[^.;!?]{2,140})?"
_POLITELY = (
    r"(?:(?:ok|okay|actually|wait|sorry|oh|hmm|and|but|also|so|hey|listen)[ ,]++)*+"
    r"(?:please (?:just )?|(?:could|can|would|will) you (?:please |kindly )?(?:just )?|i(?:'d| would) like you to |i (?:want|need) you to )"
)
# "Forget that I exist" and "forget that I'm your boss" are said for the work at hand.
_I_STATE = (
    r"that (?!i(?:'m| am)? (?:exist|asked|here|your|ever|even)(?!\w))(?:i|my|we|our)(?:'\w+)?(?!\w) [^:;.!?]{4,120}"
)
ENGLISH = (
    (
        rf"{_OPEN}(?:(?:my|our|the) |(?={_PRIVATE} ?[:–—-])){LABEL}(?:please (?:just )?(?:forget|delete|erase) (?:about )?(?:it|that|this)|(?:forget|delete|erase) (?:about )?(?:it|that|this),? (?:please|pls)){_END}",
        "topic",
    ),
    (rf"{_POLITELY}forget (?:the |that |those ){TOPIC_OF_WORDS}{_END}", "topic"),
    (rf"{_OPEN}forget (?:the |that |those ){TOPIC_OF_WORDS},? please{_END}", "topic"),
    (
        rf"{_OPEN}(?:keep|leave) (?:everything about |all about )?(?:my |the |our |that ){TOPIC} out of {_MEMORY}{_END}",
        "topic",
    ),
    (rf"{_OPEN}i (?:don't|do not) want you to {_STORE} (?:my |the |our |that ){TOPIC}{_END}", "topic"),
    (
        rf"{_OPEN}i(?:'d like| would like| want) (?:everything about |all about |anything about )?(?:my |the |our |that ){TOPIC} (?:to be )?(?:forgotten|deleted|erased|gone|removed|wiped){_END}",
        "topic",
    ),
    (
        rf"{_OPEN}(?:let's |let us )?(?:forget|pretend) (?:that )?i (?:never |ever )?(?:mentioned|brought up|talked about|told you about) (?:my |the |our |that )?{TOPIC}{_END}",
        "topic",
    ),
    (
        rf"{_OPEN}(?:clear|drop|scrap|purge|get rid of|throw (?:away|out)|bin|unremember|lose) (?:what|everything|all|anything)(?: that)? i(?:'ve| have)? (?:just |ever )?(?:said|told you|mentioned) (?:about|regarding|concerning) {TOPIC}{_END}",
        "topic",
    ),
    (rf"{_OPEN}(?:unremember|unlearn) (?:my |the |our |that ){TOPIC}{_END}", "topic"),
    (
        rf"{_OPEN}(?:delete|erase|scrap|(?:do not|don't|dont) {_STORE}) (?:my |the |our |that ){TOPIC} (?:thing|bit|part|story|stuff|business|matter)s?{_END}",
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
        rf"{_OPEN}(?:(?:do not|don't|dont|never) {_STORE}|i don't want you to {_STORE}) (?:(?:the |this )?(?:following|next)(?: (?:part|bit|thing|one))?|what (?:comes next|follows)|what i(?:'m| am) (?:(?:about|going) to (?:say|tell you)|telling you(?: now)?)|what i (?:say|tell you) next){_END}",
        "next",
    ),
    (
        rf"{_OPEN}(?:the following|what follows|what comes next|what i(?:'m| am) (?:about|going) to (?:say|tell you)|(?:my|the) next (?:part|bit|thing|one|sentence|message))(?: (?:should not|shouldn't|must not|mustn't|is not to|isn't to) be (?:saved|stored|kept|recorded|written down|remembered|noted)(?: anywhere)?|(?: is|'s) not for (?:keeping|the record|your (?:notes|memory|records|files)))",
        "next",
    ),
    (
        rf"{_OPEN}(?:don't|do not|dont) {_STORE} (?:anything|what|the things?|whatever)(?: that)? (?:i(?:'ve| have)? (?:just )?(?:said|told you|mentioned) )?(?:to you )?(?:about|regarding|concerning) {TOPIC}{_END}",
        "topic",
    ),
    (
        rf"{_OPEN}(?:forget|delete|erase|remove) (?:the|that) (?:thing|bit|part|stuff|story|business|matter)s? (?:(?:that )?i (?:told you|said|mentioned) )?(?:about|with|regarding) {TOPIC}{_END}",
        "topic",
    ),
    (
        rf"{_OPEN}{_REMOVE} (?:everything |anything |all )?(?:about )?(?:my |the |our )?{TOPIC} (?:from|out of|off) {_MEMORY}{_END}",
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
        rf"{_OPEN}(?:forget|delete|erase|remove|scrap|bin) (?:about )?(?:my |the |our )(?P<private>{_CODED})(?: (?:one|thing|bit|stuff))?{_END}{_WHY}",
        "topic",
    ),
    (
        rf"{_OPEN}(?:do not|don't|dont|never) {_STORE} (?:my |the |our )(?P<private>{_PRIVATE}(?: (?:of|for|to|at|from) [^,;:.!?]{{2,60}}?)?){_END}",
        "topic",
    ),
    (
        rf"{_OPEN}(?:remove|delete|erase|wipe) (?:everything|anything|all)(?: (?:that )?i (?:said|told you|mentioned))? (?:about|regarding|concerning) {TOPIC}{_END}",
        "topic",
    ),
    (
        rf"{_OPEN}forget (?:everything|all|anything|whatever|what)(?: that)? i(?:'ve| have)? (?:just |ever )?(?:said|told you|mentioned)(?: (?:yesterday|earlier|before))? (?:about|regarding|concerning) {TOPIC}{_END}",
        "topic",
    ),
    (
        rf".+{PAUSE}(?:and |but |so )?(?:please |now )*(?:do not|don't|dont) (?:write|note) (?:that|this|it) down{_END}",
        "own",
    ),
    (rf".+{PAUSE}(?:and |but |so )?(?:please |now )*(?:forget|delete|erase) (?:that|this){_END}", "own"),
    (rf"(?:{_POLITELY}|kindly )(?:forget|erase|delete) (?:from {_MEMORY} )?(?:the fact )?{_I_STATE}", "told"),
    (rf"{_OPEN}(?:forget|erase|delete) (?:(?:from {_MEMORY}|the fact) )?{_I_STATE},? please", "told"),
    (rf"{_OPEN}(?:erase|delete|remove|wipe) from {_MEMORY} (?:the fact )?{_I_STATE}", "told"),
    # "Forget that tubes thing I told you about please, I don't want it anywhere."
    (
        rf"{_OPEN}{_GONE} (?:the |that |this |those |my |our ){TOPIC} (?:thing|bit|part|story|stuff|business|matter)s? (?:that )?i(?:'ve)? (?:just )?(?:told you about|mentioned|told you|said){_END}{_REASON}",
        "nearby",
    ),
    (
        rf"{_OPEN}{_GONE} (?:what|everything|anything|the (?:thing|bit|part|stuff))(?: that)? i(?:'ve| have)? (?:just )?(?:said|told you|mentioned|wrote)(?: (?:yesterday|earlier|before))? (?:about|of|regarding|concerning) {TOPIC}{_END}{_REASON}",
        "nearby",
    ),
)
