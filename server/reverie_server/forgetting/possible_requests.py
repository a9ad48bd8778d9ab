"""Which messages may ask to forget something, by their words alone, before any model is asked. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from reverie_server.heuristics.extract import asks_to_remember
from reverie_server.heuristics.requests.fact_requests import aligned
from reverie_server.heuristics.requests.forget_requests import (
    MAX_CHARS,
    ForgetRequest,
    forget_requests,
    names_told,
)
from reverie_server.heuristics.requests.likely_requests import LikelyRequest, likely_requests, names_forgetting
from reverie_server.heuristics.requests.looks_like_forgetting import only_looks_like_it
from reverie_server.heuristics.requests.request_kinds import odds, opening
from reverie_server.heuristics.requests.request_model import words_of
from reverie_server.heuristics.requests.text_at_hand import is_of_text_at_hand, names_part_of_text, shows_draft
from reverie_server.heuristics.requests.words_of_others import asks_for_work, own_statements
from reverie_server.sessions.model import Message
from reverie_server.text.statement_spans import is_statement, statements

# An answer of which less is to be said by its words is not held beside the message before it.
_LEAST_OF_ANSWER = -2.5
_EDGES = " .!?。！？…"
# With fewer a statement before a request is a remark on the draft: "No problem. With regret, rather. Take that out."
_FEWEST_WORDS = 5


def may_ask(messages: Sequence[Message], before: Message | None) -> list[int]:
    """The indexes of messages that may ask; that of the first one, too, where it may confirm what was asked `before`,
    in the user's message that has no answer yet."""
    read: dict[str, bool] = {}
    found: list[int] = []
    for index, message in enumerate(messages):
        text = message.content
        if message.role == "user":
            if text not in read:
                read[text] = _may_ask(text)
            is_asking = read[text]
        elif index == 0 and message.role == "assistant" and before is not None:
            is_asking = may_confirm(text) and _may_ask(before.content)
        else:
            is_asking = False
        if is_asking:
            found.append(index)
    return found


def _may_ask(text: str) -> bool:
    requests, _, likely = read_requests(text)
    return bool(requests or likely)


def may_confirm(answer: str) -> bool:
    """Whether an answer may say that something is forgotten, by its words."""
    return odds("confirms", opening(answer), None, "") > _LEAST_OF_ANSWER


def read_requests(message: str) -> tuple[list[ForgetRequest], list[str], list[LikelyRequest]]:
    """The requests of a message that patterns read, its sentences, and where there are none those that may ask."""
    found = forget_requests(message)
    if found or len(message) > MAX_CHARS:
        return found, [], []
    both = own_statements(message)
    sentences = [sentence for sentence, _ in both]
    # What somebody else says, or is to be translated, asks for nothing.
    own = [number for number, each in enumerate(both) if each[0] == each[1] or names_forgetting(each[1])]
    likely = [each for each in likely_requests("forget", sentences) if each.number in own]
    asking = [
        each
        for each in likely
        # "Guárdame el código, que se me olvida" speaks of forgetting, and asks for the opposite.
        if not asks_to_remember(each.sentence)
        and not only_looks_like_it(aligned(each.sentence).strip(_EDGES))
        and not is_of_text_at_hand(each.sentence, sentences[: each.number])
    ]
    return found, sentences, asking


def not_of_text(requests: Sequence[ForgetRequest], before: str, answer: str = "") -> list[ForgetRequest]:
    """The requests of a message without those for a text: one that the user's message `before` names or asks for, or
    that the `answer` before the message shows ("Lose the last line")."""
    said = statements(before[:MAX_CHARS])
    is_drafted = shows_draft(answer[:MAX_CHARS])
    return [
        request
        for request in requests
        if not (is_drafted and _is_of_draft(request))
        and (
            any(map(is_statement, request.before))
            or not is_of_text_at_hand(request.sentence, said, is_asked_for=asks_for_work(before))
        )
    ]


def _is_of_draft(request: ForgetRequest) -> bool:
    """Whether a request behind a draft is about that: it names a part of a text, or nothing that was told."""
    if not is_of_text_at_hand(request.sentence, (), is_asked_for=True) or names_told(request.sentence):
        return False
    says_more = any(len(words_of(text)) >= _FEWEST_WORDS for text in request.before if is_statement(text))
    return names_part_of_text(request.sentence) or (request.kind == "previous" and not says_more)
