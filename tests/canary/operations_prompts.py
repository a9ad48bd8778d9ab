"""The table of operations: what is asked before each call of a model, the prompt of a turn and what memory puts in."""

from __future__ import annotations

import json
from typing import Any

from tests.canary.calls import Answer, Call, demand
from tests.canary.draw import WORDS, Draw
from tests.canary.effects import Effect
from tests.canary.effects_turns import Talked
from tests.canary.operations import AGENT, Operation
from tests.canary.operations_memory import MEMORY, memory_call
from tests.canary.operations_turns import found_as_meant, home_of, key_of, shows, today
from tests.canary.talks import Said
from tests.canary.words import canaries_in, full
from tests.canary.world import Acting, World

from reverie_server.proxy.chat import conversation_of
from reverie_server.proxy.items import items_of

CHAT = "/v1/chat/completions"
RESPONSES = "/v1/responses"


def question(d: Draw) -> str:
    """What a user says: about what others wrote too, so that something is found."""
    first, second = d.rng.sample(WORDS, 2)
    known = d.one_of((d.known_canary(), d.known_canary(), d.canary()))
    return d.one_of((f"Where is the {first} of the {second}?", f"What do we know about {known} and the {first}?"))


def context(d: Draw) -> Call:
    acting, fields = d.acting(reads=True)
    max_tokens = d.one_of((200, 200, 2000)) if d.chance(0.4) else None
    return turn(d, acting, fields, d.session_id(acting) if d.chance(0.8) else None, max_tokens)


def turn(d: Draw, acting: Acting, fields: dict[str, str], session_id: str | None, max_tokens: int | None) -> Call:
    """Ask for the prompt of a turn, in a window of so many tokens."""
    asked, prompt = question(d), d.line() if d.chance(0.5) else ""
    body: dict[str, Any] = {"message": asked, **fields, "emergency": d.chance(0.1)}
    body |= {"session_id": session_id} if session_id else {}
    body |= {"system_prompt": f"You are Wren. {prompt}"} if prompt else {}
    body |= {"model_max_tokens": max_tokens} if max_tokens else {}
    url = d.url_of(acting.agent, "context")
    call = Call(f"POST {AGENT}/context", acting.key, "POST", url, acting, body=body, said=True)
    call.may = lambda world: world.talks_with(acting)
    call.homes = lambda world: world.sight_of_turn(acting) or []
    call.echo = frozenset(canaries_in(f"{asked} {prompt}"))
    d.world.note_asked(acting, asked, session_id)

    def check(world: World, answer: Answer) -> None:
        if answer.ok:
            check_prompt(world, acting, session_id, answer.result, (asked, prompt))

    def exact(world: World, answer: Answer) -> None:
        # An unknown session has no messages; only that one is guessed at is told from it here.
        if session_id and answer.status == 409:
            found_as_meant(acting, session_id, answer, world)

    call.check, call.exact = check, exact
    return shows(call, acting, session_id, "said", "summary") if session_id else call


def check_prompt(
    world: World, acting: Acting, session_id: str | None, turn: dict[str, Any], own: tuple[str, str]
) -> None:
    """Each part of a prompt has what belongs there: files, memory, this session's messages, the caller's words."""
    asked, prompt = own
    homes = world.sight_of_turn(acting) or []
    *before, last = turn["messages"]
    key = key_of(acting, session_id or "")
    meant = world.talks.meant(key)[0] if session_id and homes else []
    said = world.talks.shown(meant, "said", "summary")
    spoken = {word for word in canaries_in(json.dumps(before)) if not any(True for _ in full(word, said))}
    demand(not spoken, f"a prompt has messages of another session: {spoken}")
    demand(canaries_in(last["content"]) <= canaries_in(asked), "a prompt's message is not the caller's")
    section = turn["injection"]["section"]
    files = canaries_in(turn["system_prompt"].replace(section, "")) - canaries_in(prompt)
    # The morning card tells what entered the memory, whether it still is there or not.
    card = world.derived.words(home, "reports") if (home := world.own_home(acting)) else set()
    foreign = {word for word in files - card if not world.may_show(word, homes, past=False)}
    demand(not foreign, f"a prompt has files of others: {[world.where(word) for word in foreign]}")
    recalled = {word for word in canaries_in(section) if not world.may_show(word, homes, past=False, said=True)}
    demand(not recalled, f"a prompt recalls what is others': {[world.where(word) for word in recalled]}")


def inject(d: Draw) -> Call:
    acting, fields = d.acting(reads=True)
    body: dict[str, Any] = {"message": question(d), **fields}
    body |= {"session_id": d.session_id(acting)} if d.chance(0.3) else {}
    body |= {"recent_user_messages": [question(d), d.line()]} if d.chance(0.3) else {}
    body |= {"in_prompt": [d.passage_id(acting), d.path()]} if d.chance(0.2) else {}
    body |= {"threshold": d.one_of((0.0, 0.1)), "max_tokens": 2000} if d.chance(0.7) else {}
    d.world.note_asked(acting, body["message"], body.get("session_id"))
    call = memory_call(d, "inject", acting, body)
    call.may, call.said = lambda world: world.talks_with(acting), True
    call.homes = lambda world: world.sight_of_turn(acting) or []

    def check(world: World, answer: Answer) -> None:
        if answer.ok:
            for memory in answer.result["memories"]:
                known = world.sight_of_turn(acting) or []
                words, tier = canaries_in(memory["text"]), memory["tier"]
                foreign = [w for w in words if not world.may_show(w, known, past=False, said=True, tier=tier)]
                demand(not foreign, f"a memory of the tier {memory['tier']} is told that is not one: {memory}")

    call.check = check
    return call


def chat(d: Draw) -> Call:
    return proxied(d, CHAT)


def respond(d: Draw) -> Call:
    return proxied(d, RESPONSES)


def proxied(d: Draw, path: str) -> Call:
    """A turn through the proxy; whoever memory is closed to has the model's answer without it."""
    acting, fields = d.acting(reads=True)
    before = [{"role": "user", "content": d.line()}, {"role": "assistant", "content": d.line()}]
    messages = [*(before if d.chance(0.3) else []), {"role": "user", "content": d.one_of((question(d), d.line()))}]
    if d.chance(0.5):
        messages.insert(0, {"role": "system", "content": f"You are Wren. {d.line()}"})
    body = {"model": "parrot", "messages" if path == CHAT else "input": messages, "stream": d.chance(0.3)}
    session_id = d.session_id(acting) if d.chance(0.7) else None
    call = Call(f"POST {path}", acting.key, "POST", path, acting, body=body, said=True)
    call.headers = {"X-Reverie-Agent": acting.agent, **({"X-Reverie-Session": session_id} if session_id else {})}
    named = {"owner_key": "X-Reverie-Owner", "end_user_id": "X-Reverie-End-User"}
    call.headers |= {named[field]: value if value.isprintable() else "nobody" for field, value in fields.items()}
    call.echo = frozenset(canaries_in(json.dumps(body)))
    d.world.note_asked(acting, messages[-1]["content"], session_id)
    call.may, day = lambda world: acting.key.works, today()
    call.homes = lambda world: world.sight_of_turn(acting) or []
    conversation = conversation_of(body) if path == CHAT else items_of(body, "")
    key = key_of(acting, session_id or conversation.session_id(acting.owner or acting.key.owner))

    def effects(world: World, answer: Answer) -> list[Effect]:
        if world.place_of_talk(acting) is None:
            return []
        # The answer may hold what was recalled, and is recorded as it is.
        said = [Said("user", messages[-1]["content"]), Said("assistant", " ".join(sorted(answer.shown)))]
        days = tuple(sorted({day, today()}))
        meant = world.talks.meant(key)[0] or [key]
        return [Talked(home_of(world, one, acting), key=one, days=days, said=said, stored=None) for one in meant]

    call.effects = effects
    return call


def models(d: Draw) -> Call:
    """The provider's models, which are nobody's memory."""
    return Call("GET /v1/models", d.key(wrong=0.3), "GET", "/v1/models")


OPERATIONS_OF_PROMPTS: dict[str, tuple[int, Operation]] = {
    f"POST {AGENT}/context": (8, context),
    f"POST {MEMORY}/inject": (6, inject),
    f"POST {CHAT}": (5, chat),
    f"POST {RESPONSES}": (2, respond),
    "GET /v1/models": (2, models),
}
