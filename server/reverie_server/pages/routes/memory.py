"""The files of a memory: the tree, a file with its history, what differs between versions, and changes by hand."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter
from starlette.responses import Response

from reverie_indexer.errors import StaleVersion
from reverie_server.http.routes import files
from reverie_server.http.schemas.common import FilePut, FileQuery, FilesQuery, ScopedOwner, VersionsQuery
from reverie_server.http.schemas.sources import FileSourcesQuery
from reverie_server.pages.entrance import ROOT
from reverie_server.pages.markdown import rendered
from reverie_server.pages.visit import PageRoute, Sent, Visit, Visiting
from reverie_server.text.markdown_edit import unified_diff

router = APIRouter(prefix=f"{ROOT}/{{a}}", include_in_schema=False, route_class=PageRoute)


@router.get("/memory")
async def tree(visit: Visiting) -> Response:
    """The files that the owner sees, or those below a folder."""
    query = visit.query(FilesQuery, "prefix", "cursor", limit=100)
    found = await files.list_files(visit.agent_id, visit.system, visit.who, query)
    return await visit.show(
        "memory.html", files=found.files, count=found.count, next_cursor=found.next_cursor, query=query
    )


@router.get("/memory/file")
async def show_file(visit: Visiting) -> Response:
    """A file as it is, rendered, with its history; with `diff_to` what differs from a version."""
    return await _file(visit, visit.request.query_params.get("path", ""), visit.query(FileQuery, "scope"))


@router.get("/memory/lines")
async def show_lines(visit: Visiting) -> Response:
    """The lines of a file, each with who or what wrote it, the messages it comes from, and whether it holds."""
    path = visit.request.query_params.get("path", "")
    query = visit.query(FileSourcesQuery, "from_line", "scope", lines=50)
    found = await files.file_sources(visit.agent_id, path, visit.system, visit.who, query)
    return await visit.show("lines.html", file=found, at={"path": path, "scope": query.scope})


@router.post("/memory/file")
async def write_file(visit: Visiting, form: Sent) -> Response:
    """Write the text of a file. Where somebody else was faster, both texts are shown, and nothing is lost."""
    path, content, scope = form.text("path"), form.text("content"), form.optional("scope")
    body = FilePut.model_validate({**visit.whose, "content": content, "scope": scope})
    version = form.optional("version")
    tag = f'"{version}"' if version else None
    try:
        await files.put_file(visit.agent_id, path, body, Response(), visit.system, visit.who, tag)
    except StaleVersion:
        return await _file(visit, path, visit.query(FileQuery, scope=scope), status=412, mine=content)
    return visit.go("memory/file", path=path, scope=scope, done="saved")


@router.post("/memory/restore")
async def restore(visit: Visiting, form: Sent) -> Response:
    """Make an older version the present one."""
    path, version, scope = form.text("path"), form.number("version"), form.optional("scope")
    body = ScopedOwner.model_validate({**visit.whose, "scope": scope})
    await files.restore_version(visit.agent_id, path, version, Response(), visit.system, visit.who, body, None)
    return visit.go("memory/file", path=path, scope=scope, done="restored")


async def _file(visit: Visit, path: str, which: FileQuery, *, status: int = 200, mine: str | None = None) -> Response:
    a, system, who = visit.agent_id, visit.system, visit.who
    file = await files.read_file(a, path, Response(), system, who, which)
    # What is saved is a file of whose memory this is: it has no version yet where the shared one is shown.
    target = await visit.write_scope(which.scope)
    query = visit.query(VersionsQuery, "cursor", "diff_to", limit=20, scope=file.scope)
    # Of a leader's file a member sees the text alone.
    is_leaders = file.resolved_from == "leader"
    history = None if is_leaders else await files.list_versions(a, path, system, who, query)
    theirs = "" if mine is None else unified_diff(mine, file.content, "yours", "theirs")
    return await visit.show(
        "file.html",
        status,
        file=file,
        at={"path": file.path, "scope": which.scope},
        is_own=not is_leaders and file.scope == target,
        # One's own may be made of a shared file, but not the other way round.
        may_edit=not is_leaders and visit.may_write_to(target) and target in ("personal", file.scope),
        # On the loop a hostile text would hold all others.
        content=await asyncio.to_thread(rendered, file.content),
        versions=history.versions if history else [],
        diff=history.diff if history else None,
        diff_to=query.diff_to,
        next_cursor=history.next_cursor if history else None,
        mine=mine,
        theirs=theirs,
        is_editing="edit" in visit.request.query_params or mine is not None,
    )
