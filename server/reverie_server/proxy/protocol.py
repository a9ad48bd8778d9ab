"""The protocols of OpenAI's that are proxied: what is asked of the provider, and how its answer is read. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from reverie_server.llm.endpoint import Resource
from reverie_server.llm.streamed import Answered, StreamedAnswer, whole_answer
from reverie_server.llm.streamed_response import StreamedResponse, whole_response


@dataclass(frozen=True, slots=True)
class Protocol:
    """The path of a protocol, and the readers of an answer that streams and of a whole one."""

    resource: Resource
    streamed: Callable[[], StreamedAnswer]
    whole: Callable[[bytes], Answered | None]


CHAT = Protocol("chat/completions", StreamedAnswer, whole_answer)
RESPONSES = Protocol("responses", StreamedResponse, whole_response)
