"""Files that go on in numbered parts, as they are stored (`text.numbered_parts`)."""

from __future__ import annotations

from collections.abc import Sequence

from reverie_indexer.database.database import Connection
from reverie_indexer.index.store import list_documents
from reverie_indexer.model import Document
from reverie_server.text.numbered_parts import part_number

# At most this many parts are known of a file.
MAX_PARTS = 2000


async def list_parts(
    connection: Connection, tenant_id: str, slice_ids: Sequence[int], stem: str
) -> dict[int, Document]:
    """The living parts of a file in some slices, by their numbers."""
    _, found = await list_documents(connection, tenant_id, slice_ids, prefix=stem, after=None, limit=MAX_PARTS)
    numbered = ((part_number(document.path, stem), document) for document in found)
    return {number: document for number, document in numbered if number is not None}
