"""The tools that search, read and expand memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from reverie_server.access.connection import Connection
from reverie_server.browse.expand import ExpandedEpisode, Passage
from reverie_server.jobs.model import episode_name
from reverie_server.search.request import SearchResult
from reverie_server.tools import arguments
from reverie_server.tools.files import check_markdown, file_content, seconds

if TYPE_CHECKING:
    from reverie_server.runtime import Runtime

# A model pays for every word: longer lists of messages are left out.
MAX_SOURCE_MESSAGES = 50


async def memory_search(system: Runtime, by: Connection, args: arguments.MemorySearch) -> dict[str, Any]:
    """Passages, best first. What is empty is left out: a model pays for every word."""
    outcome = await system.memory_search.find(
        by.caller,
        by.agent_id,
        by.owner_key,
        args.query,
        max_results=args.max_results,
        min_score=args.min_score,
        path_prefix=args.path_prefix or None,
    )
    answer: dict[str, Any] = {"results": [_passage(result) for result in outcome.results]}
    if outcome.fallback is not None:
        answer["fallback"] = outcome.fallback
    if outcome.warnings:
        answer["warnings"] = list(outcome.warnings)
    return answer


async def memory_get(system: Runtime, by: Connection, args: arguments.MemoryGet) -> dict[str, Any]:
    """A file or some of its lines."""
    check_markdown(args.path)
    grant = await system.gate.read(by.caller, by.agent_id, by.owner_key)
    file = await system.workspace.read(grant.principal, args.path, from_line=args.from_line, lines=args.lines)
    return file_content(file)


async def memory_expand(system: Runtime, by: Connection, args: arguments.MemoryExpand) -> dict[str, Any]:
    """A passage with its surroundings, or a whole episode."""
    grant = await system.gate.read(by.caller, by.agent_id, by.owner_key)
    found = await system.expansion.expand(grant.principal, args.id)
    if isinstance(found, ExpandedEpisode):
        return _episode(found)
    return {
        **_bare_passage(found.passage),
        "tier": found.tier,
        "path": found.path,
        "heading_path": list(found.heading_path),
        "scope": found.scope,
        "resolved_from": found.resolved_from,
        "version": found.version,
        "updated_at": seconds(found.updated_at),
        "before": [_bare_passage(passage) for passage in found.before],
        "after": [_bare_passage(passage) for passage in found.after],
        "more_before": found.more_before,
        "more_after": found.more_after,
    }


def _episode(found: ExpandedEpisode) -> dict[str, Any]:
    episode = found.episode
    return {
        "id": episode_name(episode.episode_id),
        "tier": "episodic",
        "path": episode.path,
        "session_id": episode.session_id,
        "summary": episode.summary,
        "key_topics": list(episode.key_topics),
        "method": episode.method,
        "scope": found.scope,
        "resolved_from": found.resolved_from,
        "started_at": seconds(episode.started_at),
        "ended_at": seconds(episode.ended_at),
        "expires_at": seconds(episode.expires_at),
        "sources": [_brief(source) for source in found.sources],
    }


def _brief(source: Mapping[str, Any]) -> dict[str, Any]:
    """A source without the list of its messages where that is long: the numbers of the first and the last say it."""
    if len(source["messages"]) <= MAX_SOURCE_MESSAGES:
        return dict(source)
    return {name: value for name, value in source.items() if name != "messages"}


def _passage(result: SearchResult) -> dict[str, Any]:
    return {
        "id": str(result.chunk_id),
        "tier": result.tier,
        "path": result.path,
        "start_line": result.start_line,
        "end_line": result.end_line,
        "text": result.text,
        "score": round(result.score, 3),
        "scope": result.scope,
        "updated_at": seconds(result.updated_at),
        **({"superseded_by": result.superseded_by} if result.superseded_by else {}),
        **({"valid_to": seconds(result.valid_to)} if result.valid_to else {}),
    }


def _bare_passage(passage: Passage) -> dict[str, Any]:
    return {
        "id": str(passage.chunk_id),
        "start_line": passage.start_line,
        "end_line": passage.end_line,
        "text": passage.text,
    }
