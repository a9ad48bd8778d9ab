"""Routes of workspace files."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any, cast

from fastapi import APIRouter, Body, Depends, Header, Query, Response
from fastapi import Path as PathParameter
from starlette.convertors import Convertor, register_url_convertor

from reverie_indexer.file_rules import is_searchable
from reverie_indexer.model import Written
from reverie_server.access.audit import counted
from reverie_server.files.files import Write, etag_of, parse_if_match
from reverie_server.http.context import Agent, System, Who, decode_cursor, encode_cursor, no_body, no_query
from reverie_server.http.problems import may_answer
from reverie_server.http.schemas.common import (
    FileContent,
    FileList,
    FilePatch,
    FilePut,
    FileQuery,
    FilesQuery,
    FileSummary,
    FileWrite,
    PatchResult,
    ScopedOwner,
    VersionEntry,
    VersionList,
    VersionsQuery,
    WriteResult,
    response_from,
)
from reverie_server.http.schemas.sources import FileLineSource, FileSources, FileSourcesQuery
from reverie_server.text.fields import LineNumber


class FileConvertor(Convertor[str]):
    """The rest of a URL's path, whatever it holds: Starlette's own stops at, or silently drops, a newline."""

    regex = "(?s:.*)"

    def convert(self, value: str) -> str:
        """As it is."""
        return value

    def to_string(self, value: str) -> str:
        """As it is."""
        return value


ANY_PATH = "file"
register_url_convertor(ANY_PATH, FileConvertor())
router = APIRouter(prefix="/agents/{a}/files", tags=["Workspace files"], responses=may_answer(401, 403, 404, 422, 503))
IfMatch = Annotated[
    str | None, Header(description="Write only if the file is at this version; `*`: if it exists", examples=['"3"'])
]
FilePath = Annotated[
    str,
    PathParameter(
        description="Relative, with forward slashes, at most 512 bytes; ends in .md, .json, .txt or .yaml",
        examples=["memory/2026-04-03.md"],
    ),
]
BODY_ONLY = [Depends(no_query)]
QUERY_ONLY = [Depends(no_body)]
WRITE_ERRORS = may_answer(400, 403, 412, 413)
CREATED: dict[int | str, dict[str, Any]] = {201: {"model": WriteResult, "description": "The file is new"}}


@router.get("")
async def list_files(a: Agent, system: System, who: Who, query: Annotated[FilesQuery, Query()]) -> FileList:
    """The files that the owner sees with the agent, by sort order, then path; `owner_key=*`: an admin sees all."""
    position = cast("tuple[int, str, int] | None", decode_cursor(query.cursor, int, str, int))
    if query.is_everybody:
        grant = await system.gate.every_owner(who, a)
    else:
        grant = await system.gate.read(who, a, query.resolved_owner())
    count, found = await system.workspace.listing(
        grant.principal,
        prefix=query.prefix,
        after=position,
        limit=query.limit + 1,
    )
    page = found[: query.limit]
    counted(len(page))
    last = page[-1] if len(found) > query.limit else None
    cursor = encode_cursor(last.sort_order, last.path, last.document_id) if last else None
    return FileList(count=count, files=[response_from(FileSummary, document) for document in page], next_cursor=cursor)


@router.get("/{path:file}/versions")
async def list_versions(
    a: Agent, path: FilePath, system: System, who: Who, query: Annotated[VersionsQuery, Query()]
) -> VersionList:
    """The history of a file, newest first; with `diff_to` the diff from the present text to that version's."""
    principal = (await system.gate.read(who, a, query.resolved_owner())).principal
    position = decode_cursor(query.cursor, int)
    before = int(position[0]) if position else None
    document, found = await system.workspace.history(principal, path, query.scope, before=before, limit=query.limit + 1)
    diff = await system.workspace.diff(principal, path, query.scope, query.diff_to) if query.diff_to else None
    page = found[: query.limit]
    cursor = encode_cursor(page[-1].version) if len(found) > query.limit else None
    entries = [response_from(VersionEntry, version) for version in page]
    return VersionList(path=document.path, scope=document.scope, versions=entries, diff=diff, next_cursor=cursor)


@router.get("/{path:file}/sources")
async def file_sources(
    a: Agent, path: FilePath, system: System, who: Who, query: Annotated[FileSourcesQuery, Query()]
) -> FileSources:
    """Who or what wrote each line of a file, of which messages, by which prompt and model, and whether it holds."""
    principal = (await system.gate.read(who, a, query.resolved_owner())).principal
    file = await system.workspace.read(principal, path, query.scope, from_line=query.from_line, lines=query.lines)
    found = await system.consolidation.sources.of_lines(principal, file.document, file.content, file.from_line)
    counted(len(found))
    return response_from(
        FileSources,
        file.document,
        from_line=file.from_line,
        line_count=file.line_count,
        total_lines=file.total_lines,
        lines=[response_from(FileLineSource, line, **asdict(line.origin)) for line in found],
    )


@router.post("/{path:file}/versions/{version}/restore", dependencies=BODY_ONLY, responses=WRITE_ERRORS)
async def restore_version(
    a: Agent,
    path: FilePath,
    version: LineNumber,
    response: Response,
    system: System,
    who: Who,
    body: Annotated[ScopedOwner | None, Body()] = None,
    if_match: IfMatch = None,
) -> WriteResult:
    """Make an older version the present one. It becomes a new version: nothing is lost."""
    owner = body.resolved_owner() if body else None
    grant, place = await system.gate.write(who, a, owner, body.scope if body else None)
    write = Write(path, grant.author, f"restore of version {version}", parse_if_match(if_match))
    written = await system.workspace.restore(grant.principal, write, place, version)
    response.headers["ETag"] = etag_of(written.version)
    return _result(written)


@router.post("/{path:file}/writes", dependencies=BODY_ONLY, responses={**CREATED, **WRITE_ERRORS, **may_answer(409)})
async def write_file(
    a: Agent,
    path: FilePath,
    body: FileWrite,
    response: Response,
    system: System,
    who: Who,
    if_match: IfMatch = None,
) -> WriteResult:
    """Append, replace a section, upsert keys or overwrite, in the server: two writers never lose a line."""
    grant, place = await system.gate.write(who, a, body.resolved_owner(), body.scope)
    write = Write(path, grant.author, body.strategy, parse_if_match(if_match))
    written = await system.workspace.apply(place, write, body.strategy, body.content, body.section)
    return _answer(response, written)


@router.get("/{path:file}")
async def read_file(
    a: Agent,
    path: FilePath,
    response: Response,
    system: System,
    who: Who,
    query: Annotated[FileQuery, Query()],
) -> FileContent:
    """A file: the owner's, else the team's, else the tenant's; `resolved_from` says which."""
    grant = await system.gate.read(who, a, query.resolved_owner())
    file = await system.workspace.read(grant.principal, path, query.scope, from_line=query.from_line, lines=query.lines)
    etag = response.headers["ETag"] = etag_of(file.document.version)
    return response_from(
        FileContent,
        file.document,
        content=file.content,
        etag=etag,
        resolved_from=file.resolved_from,
        from_line=file.from_line,
        lines=file.line_count,
        total_lines=file.total_lines,
        created_at=file.document.created_at,
    )


@router.put("/{path:file}", dependencies=BODY_ONLY, responses={**CREATED, **WRITE_ERRORS})
async def put_file(
    a: Agent,
    path: FilePath,
    body: FilePut,
    response: Response,
    system: System,
    who: Who,
    if_match: IfMatch = None,
) -> WriteResult:
    """Create or overwrite a file; the version before it is kept."""
    grant, place = await system.gate.write(who, a, body.resolved_owner(), body.scope)
    write = Write(path, grant.author, "put", parse_if_match(if_match), body.enabled, body.sort_order)
    return _answer(response, await system.workspace.put(place, write, body.content))


@router.patch("/{path:file}", dependencies=BODY_ONLY, responses={**WRITE_ERRORS, **may_answer(409)})
async def patch_file(
    a: Agent,
    path: FilePath,
    body: FilePatch,
    response: Response,
    system: System,
    who: Who,
    if_match: IfMatch = None,
) -> PatchResult:
    """Replace one passage, exactly, or every occurrence (`replace_all`); set `enabled` and `sort_order`; or both."""
    grant, place = await system.gate.write(who, a, body.resolved_owner(), body.scope)
    write = Write(path, grant.author, "patch", parse_if_match(if_match), body.enabled, body.sort_order)
    count, written = await system.workspace.patch(place, write, body.replacement, replace_all=body.replace_all)
    response.headers["ETag"] = etag_of(written.version)
    return PatchResult(replacements=count, size_after=written.bytes_written, version=written.version)


@router.delete("/{path:file}", status_code=204, dependencies=QUERY_ONLY, responses=may_answer(403, 412))
async def delete_file(
    a: Agent,
    path: FilePath,
    system: System,
    who: Who,
    query: Annotated[ScopedOwner, Query()],
    if_match: IfMatch = None,
) -> None:
    """Delete a file: gone from lists and search at once; its history stays until it is forgotten."""
    grant, place = await system.gate.write(who, a, query.resolved_owner(), query.scope)
    await system.workspace.delete(place, path, by=grant.author, if_version=parse_if_match(if_match))


def _result(written: Written) -> WriteResult:
    return response_from(WriteResult, written, searchable=is_searchable(written.path))


def _answer(response: Response, written: Written) -> WriteResult:
    response.status_code = 201 if written.created else 200
    response.headers["ETag"] = etag_of(written.version)
    return _result(written)
