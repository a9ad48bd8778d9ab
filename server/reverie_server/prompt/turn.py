"""The turn: the prompt to send for a message of the user's, made of files, memory and the conversation."""

from __future__ import annotations

import asyncio
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
from reverie_server.prompt.summary import Summaries
from reverie_server.prompt.window import Window, divide, tokens_of, trim
from reverie_server.prompt.window_summaries import KeptSummary, WindowSummaries
from reverie_server.sessions.daily_log import local_day, log_text
from reverie_server.sessions.model import Message, Session, exchanges
from reverie_server.sessions.sessions import Sessions
from reverie_server.text.fences import SUMMARY_MARK, for_prompt, strip_injected
from reverie_server.text.tokens import CountTokens, message_tokens

log = structlog.get_logger()
_LAST = 2**31 - 1
# What is kept free for memory while messages are chosen; what it then takes more, older messages give.
_MEMORY_SHARE = 0.1


@dataclass(frozen=True, slots=True)
class TurnRequest:
    """What a prompt is asked for. `emergency`: the last one was too long for the model.

    The prompt fills `model_max_tokens` at most (None: the server's window), with nothing held back for the answer:
    name what the model takes less what it may answer. `history` is the conversation where the caller keeps it:
    then no session is looked up, nothing is summarised, and what the messages hold is in neither notes nor injection.
    """

    message: str
    session_id: str | None = None
    system_prompt: str | None = None
    model_max_tokens: int | None = None
    emergency: bool = False
    history: Sequence[Message] | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """The prompt of a turn. `messages`, in the form of chat completions, end with the current one.

    `tokens` is what system prompt and messages take; `sections` are their parts. `compacted`: they are not every
    message of the session verbatim.
    """

    system_prompt: str
    messages: Sequence[dict[str, Any]]
    sections: Sequence[Section]
    injection: Injection
    tokens: int
    compacted: bool


@dataclass(frozen=True, slots=True)
class TurnRules:
    """The server's window, and how long a turn waits for a compaction that is under way."""

    context_max_tokens: int = 128_000
    summarise_from_share: float = 0.75
    compact_wait_seconds: float = 10.0


@dataclass(frozen=True, slots=True)
class Conversations:
    """What a turn needs of conversations."""

    sessions: Sessions
    compactions: SessionCompactions
    summaries: Summaries
    kept: WindowSummaries
    morning_cards: MorningCards


@dataclass(frozen=True, slots=True)
class _Spoken:
    """The conversation so far: its session, if there is one; its live messages, as stored and as a prompt has them."""

    session: Session | None = None
    stored: Sequence[Message] = ()
    messages: Sequence[Message] = ()

    def is_verbatim(self, kept: Sequence[Message]) -> bool:
        """Whether a prompt with these messages holds all that was said."""
        if self.session is None:
            return True
        return len(kept) == len(self.messages) and self.session.message_count <= len(self.stored)


class Turns:
    """Makes prompts. `now` gives the time, with its zone."""

    def __init__(
        self,
        database: Database,
        conversations: Conversations,
        injector: Injector,
        count: CountTokens,
        rules: TurnRules,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._database = database
        self._conversations = conversations
        self._injector = injector
        self._count = count
        self._rules = rules
        self._now = now

    async def context(self, grant: Grant, asked: TurnRequest) -> Turn:
        """The prompt of this turn. Stores nothing of the exchange; an unknown session has no messages.

        No failure of a model fails it: what needs one is then left out. NotFound for an agent that is gone.
        """
        caller = context.caller_prompt(asked.system_prompt or "")
        message = _as_message(own_words(asked.message), self._count)
        spoken = await self._spoken(grant, asked, caller, message)
        # After a compaction that was waited for: it may have added to the notes.
        files = await self._files(grant)
        max_tokens = asked.model_max_tokens or self._rules.context_max_tokens
        limits = Limits(int(max_tokens * context.TODAY_SHARE), grant.settings.recent_max_tokens)
        stable = await asyncio.to_thread(context.stable_parts, caller, files)
        # The log lines of all that the session has live, also of what gives way to a summary or to the window: what is
        # left out with its message must not come back as a note.
        live = [for_prompt(log_text(user, assistant)) for user, assistant in exchanges(spoken.messages)]
        notes = await asyncio.to_thread(context.note_parts, files, limits, self._count, live)
        parts = [*stable, *notes, *await self._morning_card(grant, asked)]
        # With all that memory may take: what is left for the conversation, at least.
        memory_tokens = min(grant.settings.auto_inject_max_tokens, int(max_tokens * _MEMORY_SHARE))
        window = self._window(max_tokens, self._system_tokens(context.system_prompt(parts)) + memory_tokens)
        summary, kept = await self._windowed(grant, spoken, message, window, emergency=asked.emergency)
        shown = {for_prompt(log_text(user, assistant)) for user, assistant in exchanges(kept)}
        # What is said in the prompt is not recalled into it, in the words of the daily log neither.
        logged = [line for line in context.log_lines(files) if line.partition("] ")[2] in shown]
        held = [*(part.text for part in parts), summary, *logged, *(said.content for said in kept)]
        users = [said.content for said in spoken.messages if said.role == "user"]
        injection = await self._injector.inject(
            grant,
            InjectRequest(
                message.content,
                recent_user_messages=users[-RECENT_MESSAGES:],
                prompt_texts=held,
                in_session=(spoken.session.session_id, kept[0].seq) if spoken.session and kept else None,
            ),
        )
        return self._put_together(grant, max_tokens, parts, (summary, kept, message), injection, spoken)

    def without_memory(self, asked: TurnRequest) -> Turn:
        """The prompt of a turn for an agent whose memory is switched off: the caller's own."""
        prompt = asked.system_prompt or ""
        size = message_tokens(asked.message, {}, self._count)
        parts = [Section("system_prompt", self._count(prompt))] if prompt else []
        return Turn(
            system_prompt=prompt,
            messages=[{"role": "user", "content": asked.message}],
            sections=[*parts, Section("message", size)],
            injection=no_injection("disabled"),
            tokens=self._system_tokens(prompt) + size,
            compacted=False,
        )

    async def _spoken(self, grant: Grant, asked: TurnRequest, caller: str, message: Message) -> _Spoken:
        if asked.history is not None:
            return _Spoken(messages=asked.history)
        if asked.session_id is None:
            return _Spoken()
        sessions = self._conversations.sessions
        try:
            session = await sessions.find(grant.principal, asked.session_id)
            if await self._conversations.compactions.wait(session, self._rules.compact_wait_seconds):
                session = await sessions.find(grant.principal, asked.session_id)
        except NotFound:
            return _Spoken()
        live = await sessions.live(grant.principal, session)
        return _Spoken(session, live, await asyncio.to_thread(visible, live, caller, message))

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

    async def _morning_card(self, grant: Grant, asked: TurnRequest) -> list[Part]:
        """What entered the long-term memory and its owner has not seen yet: in the first conversation of the day."""
        place = place_for(grant.principal, None if grant.settings.memory_isolation else "team")
        owner, zone = grant.principal.owner_key, grant.settings.time_zone
        card = await self._conversations.morning_cards.for_conversation(place, owner, asked.session_id, zone)
        return context.card_parts([entry.text for entry in card or ()], self._count)

    def _window(self, max_tokens: int, others: int) -> Window:
        return Window(max_tokens, others, self._rules.summarise_from_share)

    def _system_tokens(self, prompt: str) -> int:
        return message_tokens(prompt, {}, self._count) if prompt else 0

    def _with(self, window: Window, summary: str) -> Window:
        size = message_tokens(_marked(summary), {}, self._count) if summary else 0
        return replace(window, others=window.others + size)

    async def _windowed(
        self, grant: Grant, spoken: _Spoken, message: Message, window: Window, *, emergency: bool
    ) -> tuple[str, list[Message]]:
        """The summary that stands for older messages ("": none does), and the messages that stay, the current one out.

        A summary is made when the prompt would fill its share of the window, and then stands as long as the messages
        after it leave the prompt below that share, or are not longer than a summary would be: a prompt's cache finds
        again what stays the same, and a model is not asked in every turn. Then it is extended by what came since.
        """
        session, live = spoken.session, spoken.messages
        if session is None:
            return "", list(live)
        base = session.summary
        with_base = self._with(window, base)
        if not emergency and not with_base.is_filling([*live, message]):
            return base, list(live)
        if not live:
            return base, []
        async with self._conversations.kept.lock(session):
            kept = await self._kept(grant, session, spoken)
            if kept is not None and not emergency:
                after = [said for said in live if said.seq > kept.through_seq]
                if not self._with(window, kept.text).is_filling([*after, message]) or self._is_brief(after):
                    return kept.text, after
            older, recent = divide(live)
            summary = kept.text if kept else base
            if not emergency:
                stretch = [said for said in spoken.stored if older and said.seq <= older[-1].seq]
                summary = await self._extended(grant, session, (stretch, older), kept) or summary
        room = window.max_tokens - self._with(window, summary).others
        return summary, trim([*recent, message], room)[:-1]

    def _is_brief(self, after: Sequence[Message]) -> bool:
        """Whether what came after a summary, but for the last pairs, takes no more than a summary."""
        return tokens_of(divide(after)[0]) <= self._conversations.summaries.max_tokens

    async def _kept(self, grant: Grant, session: Session, spoken: _Spoken) -> KeptSummary | None:
        kept = await self._conversations.kept.kept(grant.principal, session, spoken.stored[0].seq)
        return kept if kept is not None and kept.through_seq < spoken.stored[-1].seq else None

    async def _extended(
        self,
        grant: Grant,
        session: Session,
        older: tuple[Sequence[Message], Sequence[Message]],
        kept: KeptSummary | None,
    ) -> str | None:
        """One summary of all `older` messages, given as stored and as shown; made from the one that is kept and what
        came since. None when it cannot be had."""
        stretch, shown = older
        new = [said for said in shown if kept is None or said.seq > kept.through_seq]
        previous = kept.text if kept else session.summary
        written = await self._conversations.summaries.write(grant.principal.tenant_id, previous, new) if new else None
        if written is None:
            return None
        try:
            is_kept = await self._conversations.kept.keep(grant.principal, session, stretch, written)
        except ReverieError as error:
            log.warning("window_summary_not_kept", code=error.code, detail=error.detail)
            return None
        return written.text if is_kept else None

    def _put_together(
        self,
        grant: Grant,
        max_tokens: int,
        parts: Sequence[Part],
        said: tuple[str, Sequence[Message], Message],
        injection: Injection,
        spoken: _Spoken,
    ) -> Turn:
        summary, kept, message = said
        is_beside = grant.settings.inject_placement == "user" and injection.section
        prompt = context.system_prompt(parts, "" if is_beside else injection.section)
        if is_beside:
            message = _as_message(f"{injection.section}\n\n{message.content}", self._count)
        window = self._with(self._window(max_tokens, self._system_tokens(prompt)), summary)
        kept = trim([*kept, message], window.max_tokens - window.others)[:-1]
        first = [{"role": "user", "content": _marked(summary)}] if summary else []
        named = [
            ("memory_context", injection.tokens),
            ("summary", window.others - self._system_tokens(prompt)),
            ("messages", tokens_of(kept)),
            ("message", message.tokens - (injection.tokens if is_beside else 0)),
        ]
        return Turn(
            system_prompt=prompt,
            messages=[*first, *(one.for_model() for one in [*kept, message])],
            sections=[*context.sections(parts, self._count), *(Section(*one) for one in named if one[1] > 0)],
            injection=injection,
            tokens=window.others + tokens_of([*kept, message]),
            compacted=not spoken.is_verbatim(kept),
        )


def visible(live: Sequence[Message], caller: str, message: Message) -> list[Message]:
    """The live messages as a prompt has them: nothing twice, no fence and no controls in them.

    Left out: a system message that is in the caller's system prompt or was said before, the user's last one where it is
    the current message, stored before it was answered, and calls of tools that have no result, which no model takes.
    Pure.
    """
    answered = {said.extra.get("tool_call_id") for said in live if said.role == "tool"}
    found: list[Message] = []
    seen: set[str] = set()
    for said in live:
        content = for_prompt(said.content)
        if said.role == "system":
            if content.strip() in caller or content in seen:
                continue
            seen.add(content)
        own = said if content == said.content else replace(said, content=content)
        if isinstance(name := own.extra.get("name"), str) and (shown := for_prompt(name)) != name:
            own = replace(own, extra={**own.extra, "name": shown})
        if (calls := own.extra.get("tool_calls")) is not None:
            kept = [call for call in calls if isinstance(call, dict) and call.get("id") in answered - {None}]
            if not kept and not content.strip():
                continue
            extra = {name: value for name, value in own.extra.items() if name != "tool_calls"}
            own = replace(own, extra={**extra, "tool_calls": kept} if kept else extra)
        found.append(own)
    if found and found[-1].role == "user" and found[-1].content.strip() == message.content.strip():
        found.pop()
    return found


def own_words(message: str) -> str:
    """The user's message without what memory had put into it; all of it where nothing else is in it."""
    own = strip_injected(message)
    return for_prompt(own if own == message else own.strip("\n") or message)


def _marked(summary: str) -> str:
    return f"{SUMMARY_MARK}\n{for_prompt(summary)}"


def _as_message(text: str, count: CountTokens) -> Message:
    """A user's message that is not stored: it comes after all that are."""
    return Message(_LAST, "user", text, datetime.max.replace(tzinfo=UTC), message_tokens(text, {}, count))
