"""The knowledge graph: entities and relations in time, derived from episodes."""
