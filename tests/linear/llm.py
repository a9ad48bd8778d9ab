"""How the functions of `llm` are called with a text of somebody's: as a message, as a sentence, as a model's answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress

from tests.growth import Reading
from tests.linear.texts import count, lines_of_talk, talk

from reverie_server.heuristics import cues, salience
from reverie_server.heuristics import extract as extractive
from reverie_server.llm import answers, parse, prompts, streamed, streamed_response

_LANGUAGES = ("english", "german", "japanese", "korean", "russian")
_PIECE = 7


def _in_each_language(read: Callable[[str, cues.Cues], object]) -> Reading:
    known = [cues.all_cues()[language] for language in _LANGUAGES]
    return lambda text: [read(text, one) for one in known]


def _kinds(text: str, known: cues.Cues) -> object:
    own = cues.folded(text)
    # Of a sentence only its beginning is compared with these.
    of_beginning = [known.opening, known.filler, known.question, known.lead]
    matched = [one.match(own) for one in of_beginning if one is not None]
    return [*matched, *(one.search(own) for one in known.kinds.values())]


def _parsed(text: str) -> None:
    with suppress(parse.InvalidAnswer):
        parse.parse_answer(text, answers.Flush)


def _completion(content: str) -> bytes:
    return json.dumps({"choices": [{"message": {"content": content}, "finish_reason": "stop"}]}).encode()


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _streamed(pieces: list[bytes]) -> object:
    answer = streamed.StreamedAnswer()
    for piece in pieces:
        answer.feed(piece)
    return answer.answer()


def _response(text: str) -> bytes:
    message = {"type": "message", "content": [{"type": "output_text", "text": text}, {"refusal": text}]}
    call = {"type": "function_call", "call_id": text, "name": text, "arguments": text}
    return json.dumps({"id": text, "status": "completed", "output": [message, *[call] * 3]}).encode()


def _event(delta: Mapping[str, object]) -> bytes:
    return b"data: " + json.dumps({"choices": [{"delta": delta}]}).encode() + b"\n\n"


def _small(body: bytes) -> list[bytes]:
    return [body[at : at + _PIECE] for at in range(0, len(body), _PIECE)]


def _parts_of_a_call(text: str) -> list[bytes]:
    pieces = [text[at : at + _PIECE] for at in range(0, len(text), _PIECE)]
    return [_event({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]}) for piece in pieces]


TABLE: Mapping[str, Reading] = {
    "reverie_server.heuristics.cues.folded": cues.folded,
    "reverie_server.heuristics.cues.cues_of": lambda text: cues.cues_of(cues.folded(text)),
    "reverie_server.heuristics.cues.Cues:patterns": _in_each_language(_kinds),
    "reverie_server.heuristics.extract.notable_lines": lambda text: extractive.notable_lines(talk(text)),
    "reverie_server.heuristics.extract.notes_of": lambda text: extractive.notes_of(lines_of_talk(text)),
    "reverie_server.heuristics.extract.statements_of": lambda text: extractive.statements_of(talk(text)),
    "reverie_server.heuristics.extract.statements_of:lines": lambda text: extractive.statements_of(lines_of_talk(text)),
    "reverie_server.heuristics.extract.asks_to_remember": extractive.asks_to_remember,
    "reverie_server.heuristics.extract.without_request": _in_each_language(extractive.without_request),
    "reverie_server.heuristics.extract.summarise": lambda text: extractive.summarise(
        talk(text), text, max_tokens=500, count=count
    ),
    "reverie_server.heuristics.extract.summarise:lines": lambda text: extractive.summarise(
        lines_of_talk(text), "", max_tokens=500, count=count
    ),
    "reverie_server.llm.parse.read_completion": lambda text: parse.read_completion(_completion(f"{text}.")),
    "reverie_server.llm.parse.read_completion:body": lambda text: parse.read_completion(_bytes(text)),
    "reverie_server.llm.parse.parse_answer": _parsed,
    "reverie_server.llm.parse.parse_answer:inside": lambda text: _parsed(json.dumps({"lines": [text, text]})),
    "reverie_server.llm.parse.parse_answer:nested": lambda text: _parsed(f'{{"lines": {text}'),
    "reverie_server.llm.parse.ends_in_loop": parse.ends_in_loop,
    "reverie_server.llm.prompts.Prompt.messages": lambda text: prompts.load_prompt("summary").messages(
        {"previous": text, "transcript": text, "max_words": "12"}
    ),
    "reverie_server.heuristics.salience.sentences": salience.sentences,
    "reverie_server.heuristics.salience.sentence_spans": lambda text: list(salience.sentence_spans(text, 0, len(text))),
    "reverie_server.heuristics.salience.asks": _in_each_language(salience.asks),
    "reverie_server.heuristics.salience.rarity": lambda text: salience.rarity(text.split("\n")),
    "reverie_server.heuristics.salience.salience": _in_each_language(
        lambda text, known: salience.salience(text, known, salience.rarity([text]))
    ),
    "reverie_server.heuristics.salience.salience:unknown": lambda text: salience.salience(
        text, None, salience.rarity([text])
    ),
    "reverie_server.llm.streamed.StreamedAnswer.feed": lambda text: _streamed(_small(_event({"content": text}))),
    "reverie_server.llm.streamed.StreamedAnswer.feed:raw": lambda text: _streamed(_small(_bytes(text))),
    "reverie_server.llm.streamed.StreamedAnswer.feed:data": lambda text: _streamed([b"data: " + _bytes(text)]),
    "reverie_server.llm.streamed.StreamedAnswer.feed:calls": lambda text: _streamed(_parts_of_a_call(text)),
    "reverie_server.llm.streamed.whole_answer": lambda text: streamed.whole_answer(_completion(text)),
    "reverie_server.llm.streamed.whole_answer:body": lambda text: streamed.whole_answer(_bytes(text)),
    "reverie_server.llm.streamed_response.whole_response": lambda text: streamed_response.whole_response(
        _response(text)
    ),
    "reverie_server.llm.streamed_response.whole_response:body": lambda text: streamed_response.whole_response(
        _bytes(text)
    ),
}

EXEMPT: Mapping[str, str] = {
    "reverie_server.llm.streamed_response.answered": "a step of `whole_response`",
    "reverie_server.llm.prompts.parse_prompt": "reads the files of the package",
    "reverie_server.llm.prompts.load_prompt": "reads the files of the package",
    "reverie_server.llm.schema.response_format": "takes the answer models of the package",
}
