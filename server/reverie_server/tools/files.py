"""The tools on memory files. They reach markdown files only; the HTTP API reaches the other text types."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from reverie_indexer.errors import NotFound, ValidationFailed
from reverie_indexer.file_rules import is_searchable
from reverie_indexer.model import Document, Place, Written
from reverie_server.access.audit import counted
from reverie_server.access.connection import Connection
from reverie_server.access.principal import Principal
from reverie_server.files.files import File, Write
from reverie_server.tools import arguments

if TYPE_CHECKING:
    from reverie_server.runtime import Runtime

MAX_LISTED = 200
_PAGE = 500


def check_markdown(path: str) -> None:
    """ValidationFailed unless the path is a markdown file's."""
    if not is_searchable(path):
        raise ValidationFailed("these tools read and write markdown files: the path ends in .md")


async def list_workspace_memory_files(system: Runtime, by: Connection, args: arguments.ListFiles) -> dict[str, Any]:
    """The markdown files that the principal sees, by sort order, then path."""
    grant = await system.gate.read(by.caller, by.agent_id, by.owner_key)
    found: list[Document] = []
    after = None
    while len(found) <= MAX_LISTED:
        _, page = await system.workspace.listing(
            grant.principal, prefix=args.filename_prefix or None, after=after, limit=_PAGE
        )
        found += [document for document in page if is_searchable(document.path)]
        if len(page) < _PAGE:
            break
        after = (page[-1].sort_order, page[-1].path, page[-1].document_id)
    counted(min(len(found), MAX_LISTED))
    files = [_listed(document) for document in found[:MAX_LISTED]]
    return {"count": len(files), "files": files, "has_more": len(found) > MAX_LISTED}


async def read_workspace_memory_file(system: Runtime, by: Connection, args: arguments.ReadFile) -> dict[str, Any]:
    """A whole file."""
    check_markdown(args.filename)
    grant = await system.gate.read(by.caller, by.agent_id, by.owner_key)
    return file_content(await system.workspace.read(grant.principal, args.filename))


async def write_workspace_memory_file(system: Runtime, by: Connection, args: arguments.WriteFile) -> dict[str, Any]:
    """Write a whole file."""
    check_markdown(args.filename)
    grant, place = await system.gate.write(by.caller, by.agent_id, by.owner_key, None)
    write = Write(args.filename, grant.author, "tool write_workspace_memory_file")
    written = await system.workspace.put(place, write, args.content)
    return {
        "created": written.created,
        "overwritten": written.overwritten,
        "chunk_count": written.chunk_count,
        "embedded": written.embedded,
        **_written(place, written),
    }


async def edit_workspace_memory_file(system: Runtime, by: Connection, args: arguments.EditFile) -> dict[str, Any]:
    """Replace a passage of a file."""
    check_markdown(args.filename)
    grant, place = await system.gate.write(by.caller, by.agent_id, by.owner_key, None)
    write = Write(args.filename, grant.author, "tool edit_workspace_memory_file")
    try:
        count, written = await system.workspace.patch(
            place, write, (args.old_text, args.new_text), replace_all=args.replace_all
        )
    except NotFound:
        await _refuse_shared(system, grant.principal, place, args.filename)
        raise
    return {"replacements": count, **_written(place, written)}


async def search_workspace_memory(system: Runtime, by: Connection, args: arguments.SearchFiles) -> dict[str, Any]:
    """The lines that hold words of the query."""
    grant = await system.gate.read(by.caller, by.agent_id, by.owner_key)
    outcome = await system.keywords.search(grant.principal, args.query, limit=args.limit)
    hits = [
        {"path": hit.path, "line": hit.line, "snippet": hit.snippet, "score": round(hit.score, 3)}
        for hit in outcome.hits
    ]
    counted(len(hits))
    return {"total_hits": outcome.total_hits, "hits": hits}


async def _refuse_shared(system: Runtime, principal: Principal, place: Place, path: str) -> None:
    """NotFound with a remedy if the file exists in a scope that the principal reads and does not write."""
    document = (await system.workspace.read(principal, path)).document
    if document.scope != place.scope:
        raise NotFound(
            f"{path!r} is a {document.scope} file, and this connection edits {place.scope} files: to have a "
            f"{place.scope} version of it, write the whole file with write_workspace_memory_file"
        )


def file_content(file: File) -> dict[str, Any]:
    """A file or lines of it, with what is needed to read on or to edit."""
    return {
        "path": file.document.path,
        "content": file.content,
        "from_line": file.from_line,
        "lines": file.line_count,
        "total_lines": file.total_lines,
        "resolved_from": file.resolved_from,
        "enabled": file.document.enabled,
        "size": file.document.size,
        "version": file.document.version,
        "updated_at": seconds(file.document.updated_at),
    }


def seconds(at: datetime) -> str:
    """A time as RFC 3339, to the second."""
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


def _listed(document: Document) -> dict[str, Any]:
    return {
        "path": document.path,
        "scope": document.scope,
        "enabled": document.enabled,
        "size": document.size,
        "version": document.version,
        "updated_at": seconds(document.updated_at),
    }


def _written(place: Place, written: Written) -> dict[str, Any]:
    return {
        "path": written.path,
        "scope": place.scope,
        "enabled": written.enabled,
        "bytes_written": written.bytes_written,
        "size_after": written.bytes_written,
        "version": written.version,
    }
