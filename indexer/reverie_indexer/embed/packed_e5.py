"""Reads multilingual-e5-small from the one file in which its package has it: 4-bit weights and a vocabulary.

    "E5S1", version (u32)
    hidden, layers, heads, feed-forward width, word rows, positions, types (i32 each), epsilon (f32), block size (i32)
    number of pieces, ids of <s>, </s>, <pad>, <unk> (i32 each), bytes of all pieces (u64)
    offsets of the pieces (u32, one more than pieces), their scores (f32), the pieces (UTF-8)
    number and bytes of a table of normalised characters (i32, u32), the table
    number of tensors (i32); each: bytes of its name (u16), name, kind (u8), elements (u32), offset, bytes (u64 each)

All numbers are little-endian. A tensor of kind 0 is float32. One of kind 1 has blocks of 32 weights: a float16 scale
d, then 16 bytes whose lower halves are the first 16 weights and whose upper halves are the others. A weight is
d · (q − 8).
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from reverie_indexer.errors import SetupError

_MAGIC = b"E5S1"
_BLOCK = 32
_BLOCK_BYTES = 2 + _BLOCK // 2
# The names of a layer's tensors here and in Hugging Face's BERT.
_LAYER_NAMES = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}


@dataclass(frozen=True, slots=True)
class QuantisedRows:
    """Rows of 4-bit weights: `weight[i, 32·b + j] = scales[i, b] · (q[i, 32·b + j] − 8)`.

    `packed` is uint8, `[rows, hidden / 2]`: its byte 16·b + j has q[32·b + j] in its lower half and q[32·b + j + 16] in
    its upper one. `scales` is float16, `[rows, hidden / 32]`.
    """

    packed: NDArray[np.uint8]
    scales: NDArray[np.float16]


@dataclass(frozen=True, slots=True)
class PackedModel:
    """The contents of the file: the weights by their names in Hugging Face's BERT, all but the words as float32.

    `pieces` and `scores` are the vocabulary of a unigram tokenizer; the i'th piece has the id i.
    """

    layers: int
    weights: Mapping[str, NDArray[np.float32]]
    words: QuantisedRows
    pieces: list[str]
    scores: list[float]


def read_packed(raw: bytes) -> PackedModel:
    """Read a file whose digest was checked. SetupError where it is no such file."""
    try:
        return _read(raw)
    except (struct.error, ValueError, KeyError, IndexError) as error:
        raise SetupError(
            "The packed file of the embedding model has another layout than this program reads."
        ) from error


def _read(raw: bytes) -> PackedModel:
    if raw[: len(_MAGIC)] != _MAGIC:
        raise ValueError("another kind of file")
    hidden, layers, _, width, _, _, _ = struct.unpack_from("<7i", raw, 8)
    position = 8 + 7 * 4 + 8
    (count,) = struct.unpack_from("<i", raw, position)
    (size,) = struct.unpack_from("<Q", raw, position + 20)
    position += 28
    offsets = np.frombuffer(raw, np.uint32, count + 1, position)
    position += 4 * (count + 1)
    scores = np.frombuffer(raw, np.float32, count, position).tolist()
    position += 4 * count
    ends = offsets.tolist()
    pieces = [raw[position + start : position + end].decode() for start, end in pairwise(ends)]
    position += size
    (table_size,) = struct.unpack_from("<I", raw, position + 4)
    places = _directory(raw, position + 8 + table_size)
    weights = {
        "embeddings.position_embeddings.weight": _floats(raw, places["emb.pos"]).reshape(-1, hidden),
        "embeddings.token_type_embeddings.weight": _floats(raw, places["emb.type"]).reshape(-1, hidden),
        "embeddings.LayerNorm.weight": _floats(raw, places["emb.ln.w"]),
        "embeddings.LayerNorm.bias": _floats(raw, places["emb.ln.b"]),
    }
    for layer in range(layers):
        for short, name in _LAYER_NAMES.items():
            weight = places[f"l{layer}.{short}.w"]
            inputs = width if short == "fo" else hidden
            rows = _floats(raw, weight) if weight[0] == 0 else dequantised(_rows(raw, weight, inputs))
            weights[f"encoder.layer.{layer}.{name}.weight"] = rows
            weights[f"encoder.layer.{layer}.{name}.bias"] = _floats(raw, places[f"l{layer}.{short}.b"])
    return PackedModel(layers, weights, _rows(raw, places["emb.word"], hidden), pieces, scores)


def _directory(raw: bytes, position: int) -> dict[str, tuple[int, int, int]]:
    """The kind, the number of elements and the offset of each tensor."""
    (count,) = struct.unpack_from("<i", raw, position)
    position += 4
    places = {}
    for _ in range(count):
        (length,) = struct.unpack_from("<H", raw, position)
        name = raw[position + 2 : position + 2 + length].decode()
        kind, elements, offset, _ = struct.unpack_from("<BIQQ", raw, position + 2 + length)
        places[name] = (kind, elements, offset)
        position += 2 + length + 21
    return places


def _floats(raw: bytes, place: tuple[int, int, int]) -> NDArray[np.float32]:
    kind, elements, offset = place
    if kind != 0:
        raise ValueError("not float32")
    return np.frombuffer(raw, np.float32, elements, offset)


def _rows(raw: bytes, place: tuple[int, int, int], columns: int) -> QuantisedRows:
    kind, elements, offset = place
    if kind != 1:
        raise ValueError("not quantised")
    blocks = np.frombuffer(raw, np.uint8, elements // _BLOCK * _BLOCK_BYTES, offset)
    blocks = blocks.reshape(-1, columns // _BLOCK, _BLOCK_BYTES)
    scales = np.ascontiguousarray(blocks[:, :, :2]).view(np.float16)[:, :, 0]
    return QuantisedRows(np.ascontiguousarray(blocks[:, :, 2:]).reshape(len(blocks), columns // 2), scales)


def dequantised(rows: QuantisedRows) -> NDArray[np.float32]:
    """Rows as float32, `[rows, columns]`."""
    count, blocks = rows.scales.shape
    halves = rows.packed.reshape(count, blocks, _BLOCK // 2)
    quantised = np.concatenate([halves & 0x0F, halves >> 4], axis=2).astype(np.float32) - 8
    return np.asarray((quantised * rows.scales.astype(np.float32)[:, :, None]).reshape(count, -1), np.float32)
