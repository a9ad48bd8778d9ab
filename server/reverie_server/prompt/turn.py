"""The turn: the prompt for a message of the user's, made of files, memory and the conversation."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import structlog

from reverie_indexer.database.database import Database
from reverie_server.access.gate import Grant
from reverie_server.access.principal import place_for
from reverie_server.inject.inject import Injection, Injector, InjectRequest, no_injection
from reverie_server.inject.query_expansion import RECENT_MESSAGES
from reverie_server.nights.digest import CardEntry, MorningCards, unseen_statement
from reverie_server.prompt import context
from reverie_server.prompt.compaction_tasks import SessionCompactions
from reverie_server.prompt.context import Limits, Part, PromptFiles, Section
from reverie_server.prompt.context_files import read_prompt_files
from reverie_server.prompt.conversation_fit import Conversation, ConversationFitting, FittedConversation, marked
from reverie_server.prompt.marking import without_repeats
from reverie_server.prompt.summary import Summaries
from reverie_server.prompt.turn_log import Ending, Kind, TurnLog, TurnRecord
from reverie_server.prompt.visible_messages import visible, without_echoes
from reverie_server.prompt.window import Window, tokens_of, trim
from reverie_server.prompt.window_summaries import WindowSummaries
from reverie_server.sessions.daily_log import local_day, log_text
from reverie_server.sessions.lookup import Key
from reverie_server.sessions.model import Message, Session, exchanges
from reverie_server.sessions.sessions import live_of, live_statements
from reverie_server.text.fences import for_prompt
from reverie_server.text.tokens import CountTokens, message_tokens

log = structlog.get_logger()
# The number of a message that comes after all stored ones.
_LAST_SEQ = 2**31 - 1
# The share of the window that is kept free for memory while messages are chosen. Where memory takes more, the oldest
# messages give way.
_MEMORY_SHARE = 0.1
_CUT = "files too long for the window: {count}; the prompt has their beginnings, search finds the rest"


@dataclass(frozen=True, slots=True)
class TurnRequest:
    """The message of a turn, and the conversation that it belongs to.

    The prompt fills at most `model_max_tokens` (None: the agent's window, else the server's) and keeps nothing free for
    the answer: pass the model's window less the longest answer. Long files give way, then the oldest messages; the
    caller's own prompt and the last two messages stay whatever their size. `emergency`: the last prompt was too long
    for the model. `history` is the conversation where the caller keeps it: then no session is looked up, nothing is
    summarised, and memory that the messages contain is in neither notes nor injection. `kind` and `model` are for the
    log of turns, which has it if it `is_noted`.
    """

    message: str
    session_id: str | None = None
    system_prompt: str | None = None
    model_max_tokens: int | None = None
    emergency: bool = False
    history: Sequence[Message] | None = None
    kind: Kind = "context"
    is_noted: bool = True
    model: str | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """The prompt of a turn. `messages`, in the form of chat completions, end with the current one.

    `tokens` is the size of system prompt and messages, and `sections` are their parts. `compacted`: some messages of
    the session are not in the prompt verbatim. `turn_id` is its id in the log of turns; "" where it is not noted.
    """

    system_prompt: str
    messages: Sequence[dict[str, Any]]
    sections: Sequence[Section]
    injection: Injection
    tokens: int
    compacted: bool
    turn_id: str = ""


@dataclass(frozen=True, slots=True)
class TurnRules:
    """The server's window, the share of it from which older messages are summarised, and how long a turn waits for a
    compaction that is under way."""

    context_max_tokens: int = 128_000
    summarise_from_share: float = 0.75
    compact_wait_seconds: float = 10.0


@dataclass(frozen=True, slots=True)
class _Stored:
    """What is stored for a turn: files, the entries of the morning card, the session and its live messages."""

    files: PromptFiles
    card: Sequence[CardEntry]
    session: Session | None
    live: Sequence[Message]


@dataclass(frozen=True, slots=True)
class ConversationDependencies:
    """The parts that read and shorten the conversation of a turn."""

    compactions: SessionCompactions
    summaries: Summaries
    window_summaries: WindowSummaries
    morning_cards: MorningCards


class Turns:
    """Makes prompts. `now` gives the time, with its zone."""

    def __init__(
        self,
        database: Database,
        dependencies: ConversationDependencies,
        injector: Injector,
        count: CountTokens,
        rules: TurnRules,
        turn_log: TurnLog,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._database = database
        self._compactions = dependencies.compactions
        self._morning_cards = dependencies.morning_cards
        self._injector = injector
        self._fitting = ConversationFitting(dependencies.summaries, dependencies.window_summaries, count)
        self._count = count
        self._rules = rules
        self._log = turn_log
        self._now = now

    async def context(self, grant: Grant, request: TurnRequest) -> Turn:
        """The prompt of this turn. Stores nothing of the exchange; an unknown session has no messages.

        A model that fails fails no turn: what needs it is left out. NotFound for an agent that is gone. The turn is in
        the log of turns.
        """
        begun = time.perf_counter()
        turn = await self._prepared(grant, request)
        if not request.is_noted:
            return turn
        record = TurnRecord(
            kind=request.kind,
            message=request.message,
            injection=turn.injection,
            session_id=request.session_id,
            sections=turn.sections,
            tokens=turn.tokens,
            model=request.model,
            seconds=time.perf_counter() - begun,
        )
        return replace(turn, turn_id=self._log.note(grant, record))

    def end(self, tenant_id: str, turn: str, answer: Ending) -> None:
        """Note in the log what became of the answer to a turn, by its id ("" for one that is not there)."""
        if turn:
            self._log.end(tenant_id, turn, answer)

    async def _prepared(self, grant: Grant, request: TurnRequest) -> Turn:
        caller = context.caller_prompt(request.system_prompt or "")
        message = _unstored_message(without_echoes(request.message), self._count)
        self._injector.begin(grant, message.content)
        stored = await self._stored(grant, request)
        files, max_tokens = stored.files, self._max_tokens(grant, request)
        limits = Limits(int(max_tokens * context.TODAY_SHARE), grant.settings.recent_max_tokens)
        conversation, parts, warnings = await asyncio.to_thread(
            self._parts, request, caller, message, stored, limits, max_tokens
        )
        # Memory gets the most that it may take, so that the conversation fits whatever is found.
        memory_tokens = min(grant.settings.auto_inject_max_tokens, int(max_tokens * _MEMORY_SHARE))
        window = self._window(max_tokens, self._system_tokens(context.system_prompt(parts)) + memory_tokens)
        fitted = await self._fitting.fit(grant, conversation, message, window, emergency=request.emergency)
        injection = await self._inject(grant, message, fitted, parts, files)
        warned = replace(injection, warnings=(*injection.warnings, *warnings))
        return self._turn(grant, max_tokens, parts, message, fitted, warned)

    def without_memory(self, request: TurnRequest) -> Turn:
        """The prompt of a turn for an agent whose memory is switched off: the caller's own."""
        prompt = request.system_prompt or ""
        size = message_tokens(request.message, {}, self._count)
        parts = [Section("system_prompt", self._count(prompt), (0, len(prompt)))] if prompt else []
        return Turn(
            system_prompt=prompt,
            messages=[{"role": "user", "content": request.message}],
            sections=[*parts, Section("message", size)],
            injection=no_injection("disabled"),
            tokens=self._system_tokens(prompt) + size,
            compacted=False,
        )

    async def _stored(self, grant: Grant, request: TurnRequest) -> _Stored:
        """What is stored for the turn; a compaction that is under way is waited for."""
        stored = await self._read(grant, request)
        if stored.session is not None and await self._compactions.wait(
            stored.session, self._rules.compact_wait_seconds
        ):
            # It may have added to the notes, too.
            stored = await self._read(grant, request)
        return stored

    async def _read(self, grant: Grant, request: TurnRequest) -> _Stored:
        """What is stored for the turn, in one snapshot; the conversation only where the caller does not keep it."""
        principal, settings, of_session = grant.principal, grant.settings, request.session_id
        place = place_for(principal, None if settings.memory_isolation else "team")
        key = Key.of(principal, of_session) if of_session is not None and request.history is None else None
        now = self._now()
        files, answers = await read_prompt_files(
            self._database,
            principal,
            place,
            now=now,
            today=local_day(now, settings.time_zone),
            recent_days=settings.recent_days,
            with_seeds=settings.seeds_in_prompt,
            also=[unseen_statement(place, principal.owner_key), *(live_statements(key) if key is not None else ())],
        )
        unseen, *of_key = answers
        session, live = (live_of(key, of_key) if key is not None else None) or (None, [])
        card = None
        if unseen:
            # Most turns have none.
            viewer, zone, language = principal.owner_key, settings.time_zone, settings.language
            card = await self._morning_cards.for_conversation(place, viewer, of_session, zone, language)
        return _Stored(files, card or (), session, live)

    def _parts(
        self, request: TurnRequest, caller: str, message: Message, stored: _Stored, limits: Limits, max_tokens: int
    ) -> tuple[Conversation, list[Part], list[str]]:
        """The conversation before the message, the parts of the system prompt but the memory section, most stable
        first, and warnings."""
        if request.history is not None:
            conversation = Conversation(messages=request.history)
        else:
            conversation = Conversation(stored.session, stored.live, visible(stored.live, caller, message))
        # The log lines of all live messages, also of those that give way to a summary or to the window: a message that
        # leaves the prompt must not come back as a note.
        live = [for_prompt(log_text(user, assistant)) for user, assistant in exchanges(conversation.messages)]
        stable, cut = context.stable_parts(caller, stored.files, max_tokens, self._count)
        warnings = [_CUT.format(count=len(cut))] if cut else []
        notes = context.note_parts(stored.files, limits, self._count, live)
        # New entries of the long-term memory that its owner has not seen, in the first conversation of the day.
        card = context.card_parts([entry.text for entry in stored.card], self._count)
        return conversation, without_repeats([*stable, *notes, *card]), warnings

    async def _inject(
        self,
        grant: Grant,
        message: Message,
        fitted: FittedConversation,
        parts: Sequence[Part],
        files: PromptFiles,
    ) -> Injection:
        """The memory section of the turn; nothing that the prompt has already is recalled into it."""
        in_prompt = {for_prompt(log_text(user, assistant)) for user, assistant in exchanges(fitted.messages)}
        # The words of the daily log for an exchange in the prompt are in the prompt too.
        logged = [line for line in context.log_lines(files) if line.partition("] ")[2] in in_prompt]
        contents = [older.content for older in fitted.messages]
        from_user = [older.content for older in fitted.conversation.messages if older.role == "user"]
        session = fitted.conversation.session
        return await self._injector.inject(
            grant,
            InjectRequest(
                message.content,
                recent_user_messages=from_user[-RECENT_MESSAGES:],
                prompt_texts=[*(part.text for part in parts), fitted.summary, *logged, *contents],
                in_session=(session.session_id, fitted.messages[0].seq) if session and fitted.messages else None,
            ),
        )

    def _max_tokens(self, grant: Grant, request: TurnRequest) -> int:
        """The window: of the request, else of the agent's model, else the server's."""
        return request.model_max_tokens or grant.settings.model_max_tokens or self._rules.context_max_tokens

    def _window(self, max_tokens: int, others: int) -> Window:
        return Window(max_tokens, others, self._rules.summarise_from_share)

    def _system_tokens(self, prompt: str) -> int:
        return message_tokens(prompt, {}, self._count) if prompt else 0

    def _turn(
        self,
        grant: Grant,
        max_tokens: int,
        parts: Sequence[Part],
        message: Message,
        fitted: FittedConversation,
        injection: Injection,
    ) -> Turn:
        """The prompt put together; where memory took more than was kept free, the oldest messages are trimmed."""
        in_user_message = bool(grant.settings.inject_placement == "user" and injection.section)
        prompt = context.system_prompt(parts, "" if in_user_message else injection.section)
        if in_user_message:
            message = _unstored_message(f"{injection.section}\n\n{message.content}", self._count)
        system_tokens = self._system_tokens(prompt)
        window = self._fitting.with_summary(self._window(max_tokens, system_tokens), fitted.summary)
        kept = trim([*fitted.messages, message], window.max_tokens - window.others)[:-1]
        first = [{"role": "user", "content": marked(fitted.summary)}] if fitted.summary else []
        sections = [
            Section(
                "memory_context", injection.tokens, None if in_user_message else _span_at_end(prompt, injection.section)
            ),
            Section("summary", window.others - system_tokens),
            Section("messages", tokens_of(kept)),
            Section("message", message.tokens - (injection.tokens if in_user_message else 0)),
        ]
        return Turn(
            system_prompt=prompt,
            messages=[*first, *(one.for_model() for one in [*kept, message])],
            sections=[*context.sections(parts, prompt, self._count), *(one for one in sections if one.tokens > 0)],
            injection=injection,
            tokens=window.others + tokens_of([*kept, message]),
            compacted=not fitted.conversation.is_verbatim(kept),
        )


def _span_at_end(prompt: str, section: str) -> tuple[int, int]:
    return len(prompt) - len(section), len(prompt)


def _unstored_message(text: str, count: CountTokens) -> Message:
    """A message of the user's that is not stored, and comes after all stored ones."""
    return Message(_LAST_SEQ, "user", text, datetime.max.replace(tzinfo=UTC), message_tokens(text, {}, count))
