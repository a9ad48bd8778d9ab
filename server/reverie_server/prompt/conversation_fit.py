"""The conversation as it fits into the window of a prompt: the messages that stay, and a summary of the older ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import structlog

from reverie_indexer.errors import ReverieError
from reverie_server.access.gate import Grant
from reverie_server.prompt.summary import Summaries
from reverie_server.prompt.window import Window, divide, tokens_of, trim
from reverie_server.prompt.window_summaries import KeptSummary, WindowSummaries
from reverie_server.sessions.model import Message, Session
from reverie_server.text.fences import SUMMARY_MARK, for_prompt
from reverie_server.text.tokens import CountTokens, message_tokens

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Conversation:
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
class FittedConversation:
    """The messages of a conversation that stay in the prompt, and the summary of the older ones; "" without one."""

    conversation: Conversation
    summary: str
    messages: Sequence[Message]


class ConversationFitting:
    """Fits conversations into windows, with the summaries that are kept for that."""

    def __init__(self, summaries: Summaries, window_summaries: WindowSummaries, count: CountTokens) -> None:
        self._summaries = summaries
        self._window_summaries = window_summaries
        self._count = count

    def with_summary(self, window: Window, summary: str) -> Window:
        """The window when a summary is in the prompt, too."""
        size = message_tokens(marked(summary), {}, self._count) if summary else 0
        return replace(window, others=window.others + size)

    async def fit(
        self, grant: Grant, conversation: Conversation, message: Message, window: Window, *, emergency: bool
    ) -> FittedConversation:
        """The conversation as it fits into the window before the current message.

        Older messages are summarised when the prompt would fill its share of the window. The summary stays while the
        messages after it leave the prompt below that share, or are shorter than a summary: so the prompt's cache finds
        the same beginning again, and no model is asked in every turn. Then the summary is extended.
        """
        session, live = conversation.session, conversation.messages
        if session is None:
            return FittedConversation(conversation, "", live)
        with_base = self.with_summary(window, session.summary)
        if not emergency and not with_base.is_filling([*live, message]):
            return FittedConversation(conversation, session.summary, live)
        if not live:
            return FittedConversation(conversation, session.summary, [])
        async with self._window_summaries.lock(session):
            kept = await self._kept_summary(grant, session, conversation)
            if kept is not None and not emergency:
                after = [later for later in live if later.seq > kept.through_seq]
                with_kept = self.with_summary(window, kept.text)
                if not with_kept.is_filling([*after, message]) or self._is_brief(after):
                    return FittedConversation(conversation, kept.text, after)
            older, recent = divide(live)
            summary = kept.text if kept else session.summary
            if not emergency:
                summary = await self._extended_summary(grant, conversation, older, kept) or summary
        room = window.max_tokens - self.with_summary(window, summary).others
        return FittedConversation(conversation, summary, trim([*recent, message], room)[:-1])

    def _is_brief(self, after: Sequence[Message]) -> bool:
        """Whether the messages after a summary, but for the last pairs, take no more than a summary."""
        return tokens_of(divide(after)[0]) <= self._summaries.max_tokens

    async def _kept_summary(self, grant: Grant, session: Session, conversation: Conversation) -> KeptSummary | None:
        """The kept summary of the session, if live messages come after it."""
        kept = await self._window_summaries.kept(grant.principal, session, conversation.stored[0].seq)
        return kept if kept is not None and kept.through_seq < conversation.stored[-1].seq else None

    async def _extended_summary(
        self, grant: Grant, conversation: Conversation, older: Sequence[Message], kept: KeptSummary | None
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


def marked(summary: str) -> str:
    """A summary as the model reads it."""
    return f"{SUMMARY_MARK}\n{for_prompt(summary)}"
