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
from reverie_indexer.errors import NotFound, ReverieError
from reverie_server.access.gate import Grant
from reverie_server.access.principal import place_for
from reverie_server.inject.inject import Injection, Injector, InjectRequest, no_injection
from reverie_server.inject.query_expansion import RECENT_MESSAGES
from reverie_server.nights.digest import MorningCards
from reverie_server.prompt import context
from reverie_server.prompt.compaction_tasks import SessionCompactions
from reverie_server.prompt.context import Limits, Part, PromptFiles, Section
from reverie_server.prompt.context_files import read_prompt_files
from reverie_server.prompt.marking import without_repeats
from reverie_server.prompt.summary import Summaries
from reverie_server.prompt.turn_log import Kind, TurnLog
from reverie_server.prompt.visible_messages import visible, without_echoes
from reverie_server.prompt.window import Window, divide, tokens_of, trim
from reverie_server.prompt.window_summaries import KeptSummary, WindowSummaries
from reverie_server.sessions.daily_log import local_day, log_text
from reverie_server.sessions.model import Message, Session, exchanges
from reverie_server.sessions.sessions import Sessions
from reverie_server.text.fences import SUMMARY_MARK, for_prompt
from reverie_server.text.tokens import CountTokens, message_tokens

log = structlog.get_logger()
# The number of a message that comes after all stored ones.
_LAST_SEQ = 2**31 - 1
# The share of the window that is kept free for memory while messages are chosen. Where memory takes more, the oldest
# messages give way.
_MEMORY_SHARE = 0.1


@dataclass(frozen=True, slots=True)
class TurnRequest:
    """The message of a turn, and the conversation that it belongs to.

    The prompt fills at most `model_max_tokens` (None: the agent's window, else the server's) and keeps nothing free for
    the answer: pass the model's window less the longest answer. `emergency`: the last prompt was too long for the
    model. `history` is the conversation where the caller keeps it: then no session is looked up, nothing is summarised,
    and memory that the messages contain is in neither notes nor injection. `kind` and `model` are for the log of turns,
    which has it if it `is_noted`.
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
class ConversationDependencies:
    """The parts that read and shorten the conversation of a turn."""

    sessions: Sessions
    compactions: SessionCompactions
    summaries: Summaries
    window_summaries: WindowSummaries
    morning_cards: MorningCards


@dataclass(frozen=True, slots=True)
class _Conversation:
    """The conversation before a turn: its session, if it has one, and its live messages as stored and as in prompts."""

    session: Session | None = None
    stored: Sequence[Message] = ()
    messages: Sequence[Message] = ()

    def is_verbatim(self, messages: Sequence[Message]) -> bool:
        """Whether a prompt with these messages has every message of the conversation."""
        if self.session is None:
            return True
        return len(messages) == len(self.messages) and self.session.message_count <= len(self.stored)


@dataclass(frozen=True, slots=True)
class _FittedConversation:
    """The messages of a conversation that stay in the prompt, and the summary of the older ones; "" without one."""

    conversation: _Conversation
    summary: str
    messages: Sequence[Message]


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
        self._sessions = dependencies.sessions
        self._compactions = dependencies.compactions
        self._summaries = dependencies.summaries
        self._window_summaries = dependencies.window_summaries
        self._morning_cards = dependencies.morning_cards
        self._injector = injector
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
        turn = await self._made(grant, request)
        if not request.is_noted:
            return turn
        turn_id = self._log.note(
            grant,
            request.kind,
            request.message,
            turn.injection,
            session_id=request.session_id,
            sections=turn.sections,
            tokens=turn.tokens,
            model=request.model,
            seconds=time.perf_counter() - begun,
        )
        return replace(turn, turn_id=turn_id)

    async def _made(self, grant: Grant, request: TurnRequest) -> Turn:
        caller = context.caller_prompt(request.system_prompt or "")
        message = _unstored_message(without_echoes(request.message), self._count)
        conversation = await self._conversation(grant, request, caller, message)
        # After a compaction that was waited for: it may have added to the notes.
        files = await self._files(grant)
        max_tokens = self._max_tokens(grant, request)
        parts = await self._parts(grant, request, caller, conversation, files)
        # Memory gets the most that it may take, so that the conversation fits whatever is found.
        memory_tokens = min(grant.settings.auto_inject_max_tokens, int(max_tokens * _MEMORY_SHARE))
        window = self._window(max_tokens, self._system_tokens(context.system_prompt(parts)) + memory_tokens)
        fitted = await self._fit(grant, conversation, message, window, emergency=request.emergency)
        injection = await self._inject(grant, message, fitted, parts, files)
        return self._turn(grant, max_tokens, parts, message, fitted, injection)

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

    async def _conversation(self, grant: Grant, request: TurnRequest, caller: str, message: Message) -> _Conversation:
        """The conversation before the message; a compaction that is under way is waited for."""
        if request.history is not None:
            return _Conversation(messages=request.history)
        if request.session_id is None:
            return _Conversation()
        try:
            session = await self._sessions.find(grant.principal, request.session_id)
            if await self._compactions.wait(session, self._rules.compact_wait_seconds):
                session = await self._sessions.find(grant.principal, request.session_id)
        except NotFound:
            return _Conversation()
        live = await self._sessions.live(grant.principal, session)
        return _Conversation(session, live, await asyncio.to_thread(visible, live, caller, message))

    async def _parts(
        self, grant: Grant, request: TurnRequest, caller: str, conversation: _Conversation, files: PromptFiles
    ) -> list[Part]:
        """The parts of the system prompt but the memory section, most stable first."""
        max_tokens = self._max_tokens(grant, request)
        limits = Limits(int(max_tokens * context.TODAY_SHARE), grant.settings.recent_max_tokens)
        stable = await asyncio.to_thread(context.stable_parts, caller, files)
        # The log lines of all live messages, also of those that give way to a summary or to the window: a message that
        # leaves the prompt must not come back as a note.
        live = [for_prompt(log_text(user, assistant)) for user, assistant in exchanges(conversation.messages)]
        notes = await asyncio.to_thread(context.note_parts, files, limits, self._count, live)
        card = await self._morning_card(grant, request)
        return await asyncio.to_thread(without_repeats, [*stable, *notes, *card])

    async def _inject(
        self,
        grant: Grant,
        message: Message,
        fitted: _FittedConversation,
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

    async def _files(self, grant: Grant) -> PromptFiles:
        settings = grant.settings
        notes_of = place_for(grant.principal, None if settings.memory_isolation else "team")
        today = local_day(self._now(), settings.time_zone)
        return await read_prompt_files(
            self._database,
            grant.principal,
            notes_of,
            today=today,
            recent_days=settings.recent_days,
            with_seeds=settings.seeds_in_prompt,
        )

    async def _morning_card(self, grant: Grant, request: TurnRequest) -> list[Part]:
        """The new entries of the long-term memory that its owner has not seen, in the first conversation of the day."""
        place = place_for(grant.principal, None if grant.settings.memory_isolation else "team")
        owner, zone = grant.principal.owner_key, grant.settings.time_zone
        card = await self._morning_cards.for_conversation(place, owner, request.session_id, zone)
        return context.card_parts([entry.text for entry in card or ()], self._count)

    def _max_tokens(self, grant: Grant, request: TurnRequest) -> int:
        """The window: of the request, else of the agent's model, else the server's."""
        return request.model_max_tokens or grant.settings.model_max_tokens or self._rules.context_max_tokens

    def _window(self, max_tokens: int, others: int) -> Window:
        return Window(max_tokens, others, self._rules.summarise_from_share)

    def _system_tokens(self, prompt: str) -> int:
        return message_tokens(prompt, {}, self._count) if prompt else 0

    def _with_summary(self, window: Window, summary: str) -> Window:
        size = message_tokens(_marked(summary), {}, self._count) if summary else 0
        return replace(window, others=window.others + size)

    async def _fit(
        self, grant: Grant, conversation: _Conversation, message: Message, window: Window, *, emergency: bool
    ) -> _FittedConversation:
        """The conversation as it fits into the window before the current message.

        Older messages are summarised when the prompt would fill its share of the window. The summary stays while the
        messages after it leave the prompt below that share, or are shorter than a summary: so the prompt's cache finds
        the same beginning again, and no model is asked in every turn. Then the summary is extended.
        """
        session, live = conversation.session, conversation.messages
        if session is None:
            return _FittedConversation(conversation, "", live)
        with_base = self._with_summary(window, session.summary)
        if not emergency and not with_base.is_filling([*live, message]):
            return _FittedConversation(conversation, session.summary, live)
        if not live:
            return _FittedConversation(conversation, session.summary, [])
        async with self._window_summaries.lock(session):
            kept = await self._kept_summary(grant, session, conversation)
            if kept is not None and not emergency:
                after = [later for later in live if later.seq > kept.through_seq]
                with_kept = self._with_summary(window, kept.text)
                if not with_kept.is_filling([*after, message]) or self._is_brief(after):
                    return _FittedConversation(conversation, kept.text, after)
            older, recent = divide(live)
            summary = kept.text if kept else session.summary
            if not emergency:
                summary = await self._extended_summary(grant, conversation, older, kept) or summary
        room = window.max_tokens - self._with_summary(window, summary).others
        return _FittedConversation(conversation, summary, trim([*recent, message], room)[:-1])

    def _is_brief(self, after: Sequence[Message]) -> bool:
        """Whether the messages after a summary, but for the last pairs, take no more than a summary."""
        return tokens_of(divide(after)[0]) <= self._summaries.max_tokens

    async def _kept_summary(self, grant: Grant, session: Session, conversation: _Conversation) -> KeptSummary | None:
        """The kept summary of the session, if live messages come after it."""
        kept = await self._window_summaries.kept(grant.principal, session, conversation.stored[0].seq)
        return kept if kept is not None and kept.through_seq < conversation.stored[-1].seq else None

    async def _extended_summary(
        self, grant: Grant, conversation: _Conversation, older: Sequence[Message], kept: KeptSummary | None
    ) -> str | None:
        """One summary of the `older` messages, made of the kept one and the messages after it, and kept in its place.

        None when it cannot be had.
        """
        session = conversation.session
        assert session is not None
        stored = [message for message in conversation.stored if older and message.seq <= older[-1].seq]
        new = [message for message in older if kept is None or message.seq > kept.through_seq]
        previous = kept.text if kept else session.summary
        written = await self._summaries.write(grant.principal.tenant_id, previous, new) if new else None
        if written is None:
            return None
        try:
            is_kept = await self._window_summaries.keep(grant.principal, session, stored, written)
        except ReverieError as error:
            log.warning("window_summary_not_kept", code=error.code, detail=error.detail)
            return None
        return written.text if is_kept else None

    def _turn(
        self,
        grant: Grant,
        max_tokens: int,
        parts: Sequence[Part],
        message: Message,
        fitted: _FittedConversation,
        injection: Injection,
    ) -> Turn:
        """The prompt put together; where memory took more than was kept free, the oldest messages are trimmed."""
        in_user_message = bool(grant.settings.inject_placement == "user" and injection.section)
        prompt = context.system_prompt(parts, "" if in_user_message else injection.section)
        if in_user_message:
            message = _unstored_message(f"{injection.section}\n\n{message.content}", self._count)
        system_tokens = self._system_tokens(prompt)
        window = self._with_summary(self._window(max_tokens, system_tokens), fitted.summary)
        kept = trim([*fitted.messages, message], window.max_tokens - window.others)[:-1]
        first = [{"role": "user", "content": _marked(fitted.summary)}] if fitted.summary else []
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


def _marked(summary: str) -> str:
    return f"{SUMMARY_MARK}\n{for_prompt(summary)}"


def _unstored_message(text: str, count: CountTokens) -> Message:
    """A message of the user's that is not stored, and comes after all stored ones."""
    return Message(_LAST_SEQ, "user", text, datetime.max.replace(tzinfo=UTC), message_tokens(text, {}, count))
