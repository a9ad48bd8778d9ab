"""`reverie inject`, `reverie context` and `reverie chat`: show in the shell what memory adds to a turn."""

from __future__ import annotations

import os
import secrets
import sys
import threading
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Annotated

import typer

from reverie_indexer.errors import SetupError
from reverie_server.cli.frame import AgentName, DataDir, OwnerKey, load_settings, owner_of, run

if TYPE_CHECKING:
    from reverie_server.inject.inject import Injection
    from reverie_server.prompt.turn import Turn
    from reverie_server.settings.server import Settings

AsJson = Annotated[bool, typer.Option("--json", help="Print the API's answer.")]
SessionName = Annotated[str | None, typer.Option("--session", help="The conversation, such as cli:notes.")]
SystemPrompt = Annotated[str | None, typer.Option("--system", help="The system prompt before all that memory adds.")]
HELP = "/new begins another conversation, /prompt shows the last system prompt, /quit or Ctrl-D ends"


def inject(
    message: Annotated[str, typer.Argument(help="What the user says.")],
    agent: AgentName,
    owner: OwnerKey = None,
    as_json: AsJson = False,
    data_dir: DataDir = None,
) -> None:
    """Show what memory would put into the prompt for a message."""
    run(_inject(_quiet_settings(data_dir=data_dir), message, agent, owner, as_json=as_json))


def context(
    message: Annotated[str, typer.Argument(help="What the user says.")],
    agent: AgentName,
    owner: OwnerKey = None,
    session: SessionName = None,
    system: SystemPrompt = None,
    as_json: AsJson = False,
    data_dir: DataDir = None,
) -> None:
    """Show the whole prompt of a turn; it stores nothing."""
    run(_context(_quiet_settings(data_dir=data_dir), message, agent, owner, session, system, as_json=as_json))


def chat(
    agent: AgentName,
    owner: OwnerKey = None,
    session: SessionName = None,
    system: SystemPrompt = None,
    data_dir: DataDir = None,
) -> None:
    """Talk to the configured language model with memory, and see what each turn was given of it."""
    run(_chat(_quiet_settings(data_dir=data_dir), agent, owner, session, system))


def _quiet_settings(**overrides: object) -> Settings:
    return load_settings(**overrides, log_level=None if "REVERIE_LOG_LEVEL" in os.environ else "warning")


async def _inject(settings: Settings, message: str, agent: str, owner: str | None, *, as_json: bool) -> None:
    from reverie_indexer.file_rules import check_agent_id
    from reverie_server.access.keys import OPERATOR
    from reverie_server.app.wiring import open_runtime
    from reverie_server.http.schemas.common import response_from
    from reverie_server.http.schemas.inject import InjectResponse
    from reverie_server.inject.inject import InjectRequest

    async with open_runtime(settings) as runtime:
        grant = await runtime.gate.for_turn(OPERATOR, check_agent_id(agent), owner_of(owner))
        await runtime.models.wait()
        injection = await runtime.injector.inject(grant, InjectRequest(message))
    if as_json:
        print(response_from(InjectResponse, injection).model_dump_json(indent=2))
        return
    _warn(injection)
    print(injection.section or f"nothing is injected: {injection.skipped} (best relevance {injection.top_score:.2f})")


async def _context(
    settings: Settings,
    message: str,
    agent: str,
    owner: str | None,
    session: str | None,
    system: str | None,
    *,
    as_json: bool,
) -> None:
    from reverie_indexer.file_rules import check_agent_id
    from reverie_server.access.keys import OPERATOR
    from reverie_server.app.wiring import open_runtime
    from reverie_server.http.schemas.common import response_from
    from reverie_server.http.schemas.turns import ContextResponse
    from reverie_server.prompt.turn import TurnRequest
    from reverie_server.sessions.model import check_session_id

    async with open_runtime(settings) as runtime:
        grant = await runtime.gate.for_turn(OPERATOR, check_agent_id(agent), owner_of(owner))
        await runtime.models.wait()
        request = TurnRequest(message, session and check_session_id(session), system)
        turn = await runtime.turns.context(grant, request)
    if as_json:
        print(response_from(ContextResponse, turn).model_dump_json(indent=2))
        return
    _warn(turn.injection)
    print(turn.system_prompt)
    for sent in turn.messages:
        print(f"\n[{sent['role']}]\n{sent.get('content') or ''}")
    parts = ", ".join(f"{section.name} {section.tokens}" for section in turn.sections)
    print(f"\n{turn.tokens} tokens: {parts}", file=sys.stderr)


def _warn(injection: Injection) -> None:
    for warning in injection.warnings:
        print(f"warning: {warning}", file=sys.stderr)


async def _chat(settings: Settings, agent: str, owner: str | None, session: str | None, system: str | None) -> None:
    from reverie_indexer.file_rules import check_agent_id
    from reverie_server.app.wiring import open_runtime
    from reverie_server.cli.chat import Chat
    from reverie_server.sessions.model import check_session_id

    agent_id, owner_key = check_agent_id(agent), owner_of(owner)
    session_id = _new_session() if session is None else check_session_id(session)
    async with open_runtime(settings) as runtime:
        if runtime.llm is None:
            raise SetupError("no language model is configured: set REVERIE_LLM_BASE_URL and REVERIE_LLM_MODEL")
        talk = Chat(runtime, runtime.llm, agent_id, owner_key, session_id, system)
        if sys.stdin.isatty():
            print(f"{runtime.llm.model}, agent {agent_id}, session {session_id}; {HELP}", file=sys.stderr)
        await runtime.models.wait()
        last_turn: Turn | None = None
        async for line in _lines():
            match line.strip():
                case "":
                    continue
                case "/quit":
                    break
                case "/new":
                    talk.session_id = _new_session()
                    print(f"session {talk.session_id}", file=sys.stderr)
                case "/prompt":
                    print(last_turn.system_prompt if last_turn else "there was no turn yet", file=sys.stderr)
                case message:
                    last_turn = await talk.turn(message)
        # A compaction that the last turn set off.
        await runtime.compactions.idle()


def _new_session() -> str:
    return f"cli:{secrets.token_hex(4)}"


async def _lines() -> AsyncIterator[str]:
    """The lines that are typed. A daemon thread reads them, so that Ctrl-C ends the command without one more line."""
    import asyncio

    if sys.stdin.isatty():
        # Editing and history for `input`.
        import readline  # noqa: F401
    loop = asyncio.get_running_loop()
    typed: asyncio.Queue[str | None] = asyncio.Queue()
    line_requests = threading.Semaphore(0)

    def read() -> None:
        while True:
            line_requests.acquire()
            try:
                line: str | None = input("> " if sys.stdin.isatty() else "")
            except EOFError:
                line = None
            loop.call_soon_threadsafe(typed.put_nowait, line)
            if line is None:
                return

    threading.Thread(target=read, name="typed", daemon=True).start()
    while True:
        line_requests.release()
        line = await typed.get()
        if line is None:
            return
        yield line
