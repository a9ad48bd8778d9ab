"""A language model that says again what it was shown: what gets into its prompts shows in what comes of them."""

from __future__ import annotations

import json

from tests.canary.words import canaries_in
from tests.scripted_model import Asked, Reply, says, says_json


def parrot(asked: Asked) -> Reply:
    """All canaries of the prompt, in the form that is asked for: notes, a summary, or an answer in a chat.

    An answer that is not streamed has them beside what is said, where they are not recorded and so come to no other
    memory; what is said has the last of the user's.
    """
    shown = sorted(canaries_in(json.dumps(asked.messages)))
    told = asked.texts("system")
    if "<transcript>" in told and "`lines`" in told:
        return says_json({"lines": [f"There is {word}." for word in shown][:20]})
    if "<transcript>" in told:
        return says("".join(f"- There is {word}.\n" for word in shown))
    content = f"I hear of {' and '.join(sorted(canaries_in(asked.texts('user')))[:1]) or 'nothing'}."
    if asked.body.get("stream"):
        return says(content)
    message = {"role": "assistant", "content": content}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    answer = {"id": "chatcmpl-parrot", "object": "chat.completion", "created": 1, "model": "parrot"}
    return Reply(body=json.dumps({**answer, "choices": [choice], "seen": shown}).encode())
