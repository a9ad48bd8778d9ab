"""Texts in, unit vectors out.

One module per provider: `local` (the built-in models on onnxruntime), `sentence` (any sentence-transformers
model), `endpoint` (any OpenAI-compatible service), `deterministic` (feature hashing, no model). Importing
this package loads none of them.
"""

from reverie_indexer.embed.protocol import Embedder, Embedding, Role, Vector

__all__ = ["Embedder", "Embedding", "Role", "Vector"]
