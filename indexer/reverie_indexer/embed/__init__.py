"""Texts in, unit vectors out.

One module per provider: `local` (the default model on onnxruntime), `sentence` (any sentence-transformers
model), `endpoint` (any OpenAI-compatible service), `deterministic` (feature hashing, no model). Importing
this package loads none of them.
"""

from reverie_indexer.embed.protocol import Embedder, Embedding, Vector

__all__ = ["Embedder", "Embedding", "Vector"]
