"""The protocol of every store that forgetting and clearing reach, and the types that it speaks in.

`app` lists the stores. Forgetting and clearing go through that list and know none of them by name.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal, Protocol

from reverie_indexer.database.database import Connection, Slice
from reverie_indexer.model import Place, Tier
from reverie_server.settings.agent import AgentSettings
from reverie_server.text.redact import Targets

ForgetTier = Tier | Literal["report"]
# How it was said what to forget.
ReceiptKind = Literal["items", "id", "text", "entity", "session", "said"]
# A message, by the key of its session and its number there.
MessageKey = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Item:
    """One text in one file. `present`: the file holds it now; `versions`: how many versions hold it, now or before.

    Of the tier `message`, the path is a session's and `versions` counts its messages. Of derived tiers, `versions`
    counts the things at a path. `id` is what a person chooses it by; stores leave it empty. One that `is_alone` stands
    in no longer text that goes.
    """

    tier: ForgetTier
    path: str
    text: str
    present: bool
    versions: int
    id: str = ""
    is_alone: bool = False


@dataclass(frozen=True, slots=True)
class Removed:
    """Counts of one tier: files, their passages in the index, of now and of before, versions, backups of MEMORY.md.

    Of the tier `message`, `files` counts sessions and `versions` messages. Of derived tiers, `files` counts the things
    that were made again, changed or removed.
    """

    files: int
    passages: int
    versions: int
    backups: int

    def __add__(self, other: Removed) -> Removed:
        return Removed(
            self.files + other.files,
            self.passages + other.passages,
            self.versions + other.versions,
            self.backups + other.backups,
        )


@dataclass(frozen=True, slots=True)
class Findings:
    """The places of the texts that one store holds, or that were erased from it.

    `removed` is None where the receipt does not name the tier. `embeddings` counts cached vectors, `lines` are
    statements of messages that were changed, as they were, `stretches` the parts that go with the texts, as they stand.
    `remnants` are other texts that tell of the forgotten ones and go with them. `messages` and `episode_ids` hold one
    of the texts, or rest on what does: the stores after this one derive from them. `unlisted` are places of what goes
    by where it is, without a text. `whole_messages` went whole, and what they say may stand elsewhere.
    """

    tier: ForgetTier
    items: Sequence[Item] = ()
    removed: Removed | None = None
    embeddings: int = 0
    lines: Collection[str] = ()
    stretches: Collection[str] = ()
    remnants: Collection[str] = ()
    messages: Sequence[MessageKey] = ()
    episode_ids: Sequence[int] = ()
    unlisted: Sequence[Item] = ()
    whole_messages: Collection[str] = ()


@dataclass(frozen=True, slots=True)
class Spared:
    """Where equal words tell of somebody else: messages, facts, and lines of the files at some paths by their identity.

    `names` are those of whom it is forgotten. A text that has one of them goes wherever it stands.
    """

    names: Sequence[str] = ()
    messages: frozenset[MessageKey] = frozenset()
    lines: Mapping[str, frozenset[bytes]] = field(default_factory=dict)
    fact_ids: frozenset[int] = frozenset()

    def going_everywhere(self, texts: Sequence[str]) -> list[str]:
        """Those of some texts that go from the places of others, too: all of them where there are no such places."""
        if not (self.messages or self.lines or self.fact_ids):
            return list(texts)
        names = Targets(self.names)
        return [text for text in texts if names.found_in(text)]


@dataclass(frozen=True, slots=True)
class Forgotten:
    """The texts that are forgotten, and where the stores that came before found them.

    `edited_paths` are the files whose newest version was written without the texts in the same transaction. `lines` are
    whole lines that go as well, of the files at these paths alone, by their identity (`provenance.line_identity`).
    `session_key` is that of a session all of which goes.
    `spared` are the places of others: what does not say of whom it tells stays there.
    """

    texts: Sequence[str]
    edited_paths: frozenset[str] = frozenset()
    lines: Mapping[str, Mapping[bytes, str]] = field(default_factory=dict)
    session_key: int | None = None
    messages: Sequence[MessageKey] = ()
    episode_ids: Sequence[int] = ()
    spared: Spared = field(default_factory=Spared)

    @property
    def everywhere(self) -> list[str]:
        """The texts that go from the places of others, too."""
        return self.spared.going_everywhere(self.texts)

    def texts_in(self, session_key: int, seqs: Container[int]) -> Sequence[str]:
        """The texts that go from what some messages of a session say, or from what was made of them."""
        is_spared = any(key == session_key and seq in seqs for key, seq in self.spared.messages)
        return self.everywhere if is_spared else self.texts

    def after(self, findings: Findings) -> Forgotten:
        """As the store after the one of these findings sees it."""
        return replace(
            self,
            messages=[*self.messages, *findings.messages],
            episode_ids=[*self.episode_ids, *findings.episode_ids],
        )


@dataclass(frozen=True, slots=True)
class Selection:
    """What to clear: everything that all given conditions fit.

    A daily note is as old as its day, a message as its time, an episode as its last message. The path of a message is
    its session's, `sessions/<id>`, that of an episode `episodes/<id>/<number of its last message>`.
    """

    older_than_days: float | None
    path_prefix: str | None
    tiers: Sequence[Tier]


class Forgettable(Protocol):
    """A store with texts of people, or with what was derived from them.

    Every method works inside the caller's transaction, in which the slices are open. Stores are called in the order of
    the list of `app`: each after those that it derives from.
    """

    tables: ClassVar[frozenset[str]]
    """The tables of `schema.sql` that this store takes texts out of."""

    cleared_with: ClassVar[Tier | None] = None
    """With which tier a selection clears this store; None where it is cleared with the rows that it rests on."""

    async def remnants(
        self, connection: Connection, tenant_id: str, slice_ids: Sequence[int], forgotten: Forgotten
    ) -> Collection[str]:
        """Other texts of this store that tell of the forgotten ones, and go with them. A store may have none."""
        return ()

    @abstractmethod
    async def survey(
        self, connection: Connection, tenant_id: str, slice_ids: Sequence[int], forgotten: Forgotten
    ) -> Findings:
        """Where the store holds the texts, in some slices. Changes nothing."""

    @abstractmethod
    async def erase(
        self, connection: Connection, place: Place, slice_: Slice, forgotten: Forgotten, settings: AgentSettings
    ) -> Findings:
        """Take the texts out of the store, for a slice that the transaction has locked.

        Raises Superseded where what was surveyed has changed: forgetting then begins again.
        """

    async def clear(
        self, connection: Connection, place: Place, slice_: Slice, selection: Selection, *, dry_run: bool
    ) -> int:
        """Remove what a selection fits, of a locked slice; how many things of the tier `cleared_with`.

        With `dry_run` nothing is removed.
        """
        return 0

    async def drop_episodes(
        self, connection: Connection, place: Place, slice_: Slice, episode_ids: Sequence[int]
    ) -> None:
        """Remove what the store has from some episodes of a locked slice alone: they are about to be removed for good.

        It is not called for episodes that expire.
        """
        return
