"""Workspace files of an agent: list, read, write, edit, undo."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Literal

from reverie_client._async.bound import AsyncBound
from reverie_client.derived import FileSources
from reverie_client.model import Edited, File, FileInfo, FilePage, IfMatch, Scope, Version, VersionPage, Written
from reverie_client.request import Call, file_path


class AsyncFiles(AsyncBound):
    """Files. A path is relative, with forward slashes; any character may be in it that the server allows.

    `scope` says where a write goes: personal when the view has an owner, else team, unless given. `if_match` makes a
    write happen only at that version: StaleVersion otherwise. Every method raises NotFound for an unknown agent,
    unless it writes and so makes the agent, and any other ReverieError.
    """

    def files(self, prefix: str | None = None, *, page_size: int | None = None) -> AsyncIterator[FileInfo]:
        """The files the owner sees, by sort order, then path; pages are fetched as they are needed."""
        query = {**self._owner, "prefix": prefix, "limit": page_size}
        call = Call(method="GET", path=f"{self._path}/files", query=query, is_read=True)
        return self._connection.each(FilePage, call)

    async def read(
        self, path: str, *, scope: Scope | None = None, from_line: int | None = None, lines: int | None = None
    ) -> File:
        """A file, or some of its lines: that of `scope`, else the owner's, the team's, the tenant's, the leader's."""
        query = {**self._owner, "scope": scope, "from_line": from_line, "lines": lines}
        return await self._connection.ask(File, Call(method="GET", path=self._file(path), query=query, is_read=True))

    async def file_sources(
        self, path: str, *, scope: Scope | None = None, from_line: int | None = None, lines: int | None = None
    ) -> FileSources:
        """Who or what wrote each line of a file, of which messages, and whether it holds; 200 lines, unless given."""
        query = {**self._owner, "scope": scope, "from_line": from_line, "lines": lines}
        call = Call(method="GET", path=f"{self._file(path)}/sources", query=query, is_read=True)
        return await self._connection.ask(FileSources, call)

    async def write(
        self,
        path: str,
        content: str,
        *,
        scope: Scope | None = None,
        enabled: bool | None = None,
        sort_order: int | None = None,
        if_match: IfMatch | None = None,
    ) -> Written:
        """Make the file hold `content`; the version before it is kept. Flags that are not given stay."""
        body = {**self._owner, "content": content, "scope": scope, "enabled": enabled, "sort_order": sort_order}
        call = Call(method="PUT", path=self._file(path), body=body, if_match=if_match)
        return await self._connection.ask(Written, call)

    async def edit(
        self,
        path: str,
        old_text: str | None = None,
        new_text: str | None = None,
        *,
        replace_all: bool = False,
        enabled: bool | None = None,
        sort_order: int | None = None,
        scope: Scope | None = None,
        if_match: IfMatch | None = None,
    ) -> Edited:
        """Replace one passage, literally, or set the flags of the file, or both.

        NotFound when the passage is not there, AmbiguousMatch when it is several times.
        """
        body = {
            **self._owner,
            "old_text": old_text,
            "new_text": new_text,
            "replace_all": replace_all,
            "enabled": enabled,
            "sort_order": sort_order,
            "scope": scope,
        }
        call = Call(method="PATCH", path=self._file(path), body=body, if_match=if_match)
        return await self._connection.ask(Edited, call)

    async def append(
        self, path: str, content: str, *, scope: Scope | None = None, if_match: IfMatch | None = None
    ) -> Written:
        """Add to the end, in the server: of two writers neither loses a line. Makes the file where it is new."""
        return await self._write(path, "append", {"content": content, "scope": scope}, if_match)

    async def replace_section(
        self,
        path: str,
        content: str,
        *,
        section: str | None = None,
        scope: Scope | None = None,
        if_match: IfMatch | None = None,
    ) -> Written:
        """Replace the section with this heading (else the content's first `## ` one); appended where it is new."""
        body = {"content": content, "section": section, "scope": scope}
        return await self._write(path, "replace_section", body, if_match)

    async def upsert_kv(
        self, path: str, content: str, *, scope: Scope | None = None, if_match: IfMatch | None = None
    ) -> Written:
        """Update `key: value` lines in place and add new ones; other lines are left alone."""
        return await self._write(path, "upsert_kv", {"content": content, "scope": scope}, if_match)

    async def delete(self, path: str, *, scope: Scope | None = None, if_match: IfMatch | None = None) -> None:
        """Delete a file: gone from lists and search at once; `restore` brings it back."""
        query = {**self._owner, "scope": scope}
        await self._connection.send(Call(method="DELETE", path=self._file(path), query=query, if_match=if_match))

    def versions(
        self, path: str, *, scope: Scope | None = None, page_size: int | None = None
    ) -> AsyncIterator[Version]:
        """The history of a file, deleted or not, newest first; pages are fetched as they are needed."""
        return self._connection.each(VersionPage, self._history(path, {"scope": scope, "limit": page_size}))

    async def diff(self, path: str, version: int, *, scope: Scope | None = None) -> str:
        """The unified diff from the present text to that of `version`: what restoring it would do. Equal texts: ""."""
        call = self._history(path, {"scope": scope, "limit": 1, "diff_to": version})
        return (await self._connection.ask(VersionPage, call)).diff or ""

    async def restore(
        self, path: str, version: int, *, scope: Scope | None = None, if_match: IfMatch | None = None
    ) -> Written:
        """Make an older version the present one. It becomes a new version: nothing is lost."""
        url = f"{self._file(path)}/versions/{version}/restore"
        call = Call(method="POST", path=url, body={**self._owner, "scope": scope}, if_match=if_match)
        return await self._connection.ask(Written, call)

    async def _write(
        self,
        path: str,
        strategy: Literal["append", "replace_section", "upsert_kv"],
        body: dict[str, Any],
        if_match: IfMatch | None,
    ) -> Written:
        whole = {**self._owner, "strategy": strategy, **body}
        call = Call(method="POST", path=f"{self._file(path)}/writes", body=whole, if_match=if_match)
        return await self._connection.ask(Written, call)

    def _history(self, path: str, query: dict[str, Any]) -> Call:
        return Call(method="GET", path=f"{self._file(path)}/versions", query={**self._owner, **query}, is_read=True)

    def _file(self, path: str) -> str:
        return f"{self._path}/files/{file_path(path)}"
