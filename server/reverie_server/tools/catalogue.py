"""The registry of all tools, in the order in which models see them."""

from __future__ import annotations

from reverie_server.tools import arguments, files, graph, memory, recall
from reverie_server.tools.registry import Hints, Registry, tool

_READS = Hints(read_only=True, idempotent=True)
_ADDS = Hints()
_EDITS = Hints(destructive=True)
_SETS = Hints(destructive=True, idempotent=True)

REGISTRY = Registry(
    (
        tool("memory_search", arguments.MemorySearch, _READS, recall.memory_search),
        tool("memory_get", arguments.MemoryGet, _READS, recall.memory_get),
        tool("memory_expand", arguments.MemoryExpand, _READS, recall.memory_expand),
        tool("knowledge_graph_search", arguments.KnowledgeGraphSearch, _READS, graph.knowledge_graph_search),
        tool("save_memory", arguments.SaveMemory, _ADDS, memory.save_memory),
        tool("update_memory", arguments.UpdateMemory, _EDITS, memory.update_memory),
        tool("forget_memory", arguments.ForgetMemory, _SETS, memory.forget_memory),
        tool("list_workspace_memory_files", arguments.ListFiles, _READS, files.list_workspace_memory_files),
        tool("read_workspace_memory_file", arguments.ReadFile, _READS, files.read_workspace_memory_file),
        tool("write_workspace_memory_file", arguments.WriteFile, _SETS, files.write_workspace_memory_file),
        tool("edit_workspace_memory_file", arguments.EditFile, _EDITS, files.edit_workspace_memory_file),
        tool("search_workspace_memory", arguments.SearchFiles, _READS, files.search_workspace_memory),
    )
)
