# ruff: noqa: E501  # a pattern stands on one line
"""Words of remembering that ask for nothing: "I can't remember my PIN", "Remember that time we got lost?" Pure."""

from __future__ import annotations

import re

# What the one who speaks cannot remember.
_IN_VAIN = re.compile(
    r"(?<!\w)(?:can['’]?t|cannot|can not|couldn['’]?t|could not|don['’]?t|do not|didn['’]?t|did not|won['’]?t|never|hardly|barely|unable to|trying to|struggl\w+ to)"
    r"(?: (?:seem to|really|even|quite|always|ever|for the life of me))* remember(?! to)(?!\w)"
    r"|(?<!\w)ich (?:kann|konnte) mi(?:r|ch)(?: \w+){0,5}? nicht(?: mehr)? (?:merken|erinnern)(?!\w)"
    r"|(?<!\w)no (?:l[oa]s? (?:recuerdo|puedo recordar|consigo recordar)|me acuerdo|recuerdo|logro recordar|consigo recordar|puedo recordar)(?!\w)|我(?:记|記)不(?:住|得|起)|我不(?:记|記)得|我想不起|我(?:就|只|都|还|倒)+(?:记|記)得"
    # What the one who speaks has kept for somebody.
    r"|(?<![帮替给让请])我(?:[^，。！？帮替]{0,10})[留存](?:了|过)(?!吗|没)"
)
# What both have seen: a thing that happened, without a word of what it was.
_TOGETHER = re.compile(
    r"^\W*(?:(?:hey|haha|lol|and|so|oh|but|do you|do u|you|u)[ ,]+)*remember (?:when (?:we|i|you|u|he|she|they)(?!\w)"
    r"|(?:that|the|this|our) (?:time|day|night|trip|guy|girl|movie|film|song|party|summer|game|show|video|joke)(?!\w)(?! ?[,:–-])(?! (?:is|are|will|has|at|on|of)(?!\w)))"
    r"|^\W*(?:(?:and|so|oh|hey),? )?do (?:you|u) (?:still )?remember(?! to)(?!\w)"
    r"|^\W*(?:(?:und|sag mal|du),? )?(?:erinnerst du dich|erinnern sie sich)(?!\w)"
    # What one will never forget, or wants to keep in one's own mind.
    r"|(?<!\w)i(?:'ll| will|'d| would)? never(?: ever)?(?: want to)? forget(?! to)(?!\w)|(?<!\w)ich (?:werde|will|möchte)(?: \w+){1,6} nie(?:mals)? vergessen(?!\w)"
    r"|(?<!\w)(?:nunca|jamás) (?:quiero|voy a|podré) olvidar|(?<!\w)(?:nunca|jamás) olvidaré|我(?:永远|一辈子|这辈子)?都?(?:不会|不想)忘"
    r"|^\W*(?:weißt du noch|weisst du noch|te acuerdas|os acordáis|你还?(?:记|記)得.{0,12}[吗嗎])"
)
_SAYS_WHAT = re.compile(r"[\d:：]")


def only_recalls(plain: str) -> bool:
    """Whether a sentence, from `aligned`, speaks of remembering and asks for none. Takes time linear in it."""
    if _IN_VAIN.search(plain) is not None:
        # "I can't remember it, so please remember that it is 4711" asks for it all the same.
        return plain.count("remember") < 2 and _SAYS_WHAT.search(plain) is None
    return _TOGETHER.search(plain) is not None and _SAYS_WHAT.search(plain) is None
