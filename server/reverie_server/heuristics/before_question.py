"""What is told before a question: "My exam is on Monday, what should I bring?" Pure."""

from __future__ import annotations

import re

# Where a question begins behind a statement, and what begins a question.
_ASKS = (
    r"(?:what|how|who|where|when|which|why|can|could|would|will|do|does|did|is|are|should|shall|any (?:idea|tips?)"
    r"|got any|was|wie|wer|wo|wann|welche[rsnm]?|warum|wieso|kannst|könntest|erinnerst|hast|weißt|gibt|soll|sollte"
    r"|würdest|hilfst|qué|cómo|quién|dónde|cuándo|cuál|por qué|puedes|podrías|me (?:recuerdas|ayudas))(?!\w)"
)
_ASKED = re.compile(rf"(?:,|;| –| -)(?: (?:and|but|so|und|aber|also|y|pero))? (?:¿ ?)?(?={_ASKS})", re.IGNORECASE)
_ASKS_FIRST = re.compile(rf"\W*(?:(?:and|but|so|und|aber|y|pero),? )?{_ASKS}", re.IGNORECASE)
# A statement has so many words, and what a short question asks about stands before it.
FEWEST_WORDS = 4


def before_question(sentence: str) -> str:
    """The statement before the question in which a sentence ends; "" where there is none."""
    starts = [asked.start() for asked in _ASKED.finditer(sentence)]
    before = sentence[: starts[0]].strip() if starts else ""
    is_statement = len(before.split()) >= FEWEST_WORDS and _ASKS_FIRST.match(before) is None
    return f"{before}." if is_statement else ""
