"""The ONNX graph of a BERT sentence encoder, built from its published weights, and its cache on disk.

The graph maps `input_ids` and `attention_mask` (both int64, `[batch, tokens]`) to `embedding` (float32,
`[batch, hidden]`): BERT encoder, mean over the attended tokens, division by the L2 norm.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reverie_indexer.errors import SetupError

if TYPE_CHECKING:
    import onnx

BUILDER_VERSION = 1
"""Part of the cached file's name: raise it with every change of the graph."""

_OPSET = 20  # the first with Gelu
_IR_VERSION = 10  # not the newest: older releases of onnxruntime must be able to read the file
_SEAL_KEY = "sealed_sha256"
_SEAL_LENGTH = 2 + 2 + len(_SEAL_KEY) + 2 + 64
_ABANDONED_AFTER_SECONDS = 3600.0

Weights = Mapping[str, NDArray[np.float32]]


@dataclass(frozen=True, slots=True)
class EncoderShape:
    """The numbers of a BERT encoder with GELU. Only the first `max_tokens` positions are kept."""

    layers: int
    heads: int
    hidden: int
    layer_norm_epsilon: float
    max_tokens: int


def cached_graph(cache_dir: Path, name: str, weights_file: Path, weights_sha256: str, shape: EncoderShape) -> Path:
    """Return the graph's file in `cache_dir`, building it first where it is missing or damaged.

    Several processes may do this at once: each writes a file of its own and renames it into place. A graph in
    the cache is checked against the digest it carries; the weights are read, and checked against
    `weights_sha256`, only when there is something to build.

    Raises `SetupError` when the weights are not the expected ones or the cache cannot be written.
    """
    key = hashlib.sha256(f"{weights_sha256}:{BUILDER_VERSION}:{shape}".encode()).hexdigest()[:16]
    target = cache_dir / f"{name}-{key}.onnx"
    if is_sealed(target):
        return target
    body, tail = seal(build_graph(read_verified(weights_file, weights_sha256), shape))
    try:
        cache_dir.mkdir(parents=True, exist_ok=True)
        _remove_abandoned(cache_dir, name)
        replace_file(target, body, tail)
    except OSError as error:
        # Windows refuses to replace a file that another process has open: that file is then the same graph.
        if not is_sealed(target):
            raise SetupError(
                f"The converted embedding model cannot be written to the cache directory ({error.strerror}): "
                "make it writable, with about 100 MB free, or configure another one."
            ) from error
    return target


def read_verified(path: Path, expected_sha256: str) -> bytes:
    """Read a file whole; `SetupError` naming both digests unless its SHA-256 is the expected one."""
    raw = path.read_bytes()
    actual = hashlib.sha256(raw).hexdigest()
    if actual != expected_sha256:
        raise SetupError(
            f"{path.name} of the embedding model has sha256 {actual}, expected {expected_sha256}: it is "
            "damaged or not the published file. Delete it and run `reverie models fetch`."
        )
    return raw


def replace_file(target: Path, *parts: bytes) -> None:
    """Put `parts`, joined, at `target` in one step; a reader sees the old file or the new one, whole."""
    descriptor, name = tempfile.mkstemp(prefix=f".{target.stem}-", suffix=".partial", dir=target.parent)
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.writelines(parts)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def seal(model: onnx.ModelProto) -> tuple[bytes, bytes]:
    """Serialise `model`, and a tail for the same file: a metadata property with the SHA-256 of these bytes.

    Serialised protobuf messages merge when concatenated, so the two parts together are an ordinary ONNX file
    that can be checked for damage by itself.
    """
    import onnx

    body = model.SerializeToString(deterministic=True)
    digest = hashlib.sha256(body).hexdigest()
    tail = onnx.ModelProto(metadata_props=[onnx.StringStringEntryProto(key=_SEAL_KEY, value=digest)])
    return body, tail.SerializeToString(deterministic=True)


def is_sealed(path: Path) -> bool:
    """Whether `path` is a file that `seal` made, undamaged. False when there is none."""
    try:
        size = path.stat().st_size
        with path.open("rb") as stream:
            digest = hashlib.sha256()
            remaining = size - _SEAL_LENGTH
            while remaining > 0 and (piece := stream.read(min(remaining, 1 << 20))):
                digest.update(piece)
                remaining -= len(piece)
            return remaining == 0 and stream.read().endswith(digest.hexdigest().encode())
    except OSError:
        return False


def build_graph(safetensors: bytes, shape: EncoderShape) -> onnx.ModelProto:
    """Build the encoder from the bytes of a `model.safetensors` in the naming of Hugging Face's BERT."""
    from safetensors.numpy import load

    return _GraphBuilder(load(safetensors), shape).model()


def _remove_abandoned(cache_dir: Path, name: str) -> None:
    # A process killed while writing leaves 90 MB behind; one that is alive needs seconds.
    for path in cache_dir.glob(f".{name}-*.partial"):
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime > _ABANDONED_AFTER_SECONDS:
                path.unlink()


class _GraphBuilder:
    """Collects nodes and constants; every method returns the name of the value it adds."""

    def __init__(self, weights: Weights, shape: EncoderShape) -> None:
        self._weights = weights
        self._shape = shape
        self._nodes: list[onnx.NodeProto] = []
        self._constants: dict[str, onnx.TensorProto] = {}

    def model(self) -> onnx.ModelProto:
        from onnx import TensorProto, helper

        hidden = self._embeddings()
        bias = self._attention_bias()
        for layer in range(self._shape.layers):
            hidden = self._layer(f"encoder.layer.{layer}", hidden, bias)
        self._pooled(hidden)
        ids, mask = (
            helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"])
            for name in ("input_ids", "attention_mask")
        )
        output = helper.make_tensor_value_info("embedding", TensorProto.FLOAT, ["batch", self._shape.hidden])
        constants = list(self._constants.values())
        graph = helper.make_graph(self._nodes, "sentence_encoder", [ids, mask], [output], constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=_IR_VERSION)

    def _embeddings(self) -> str:
        """Sum of word, position and type embeddings, normalised. The type is always 0: one text, no pair."""
        prefix = "embeddings"
        kinds = self._weights[f"{prefix}.token_type_embeddings.weight"]
        places = self._weights[f"{prefix}.position_embeddings.weight"][: self._shape.max_tokens] + kinds[0]
        words = self._constant("words", self._weights[f"{prefix}.word_embeddings.weight"])
        looked_up = self._add("Gather", words, "input_ids")
        length = self._add("Shape", "input_ids", start=1, end=2)
        start = self._constant("zero", np.array([0], np.int64))
        position = self._add("Slice", self._constant("places", places), start, length)
        return self._norm(f"{prefix}.LayerNorm", self._add("Add", looked_up, position))

    def _attention_bias(self) -> str:
        """0 where a token is, a large negative number where padding is; shape `[batch, 1, 1, tokens]`."""
        mask = self._add("Cast", "attention_mask", to=1)
        absent = self._add("Sub", self._constant("one", np.array(1, np.float32)), mask)
        scaled = self._add("Mul", absent, self._constant("masked", np.array(-1e9, np.float32)))
        return self._add("Unsqueeze", scaled, self._constant("middle", np.array([1, 2], np.int64)))

    def _layer(self, prefix: str, hidden: str, bias: str) -> str:
        attended = self._dense(f"{prefix}.attention.output.dense", self._attention(prefix, hidden, bias))
        hidden = self._norm(f"{prefix}.attention.output.LayerNorm", self._add("Add", attended, hidden))
        inner = self._add("Gelu", self._dense(f"{prefix}.intermediate.dense", hidden))
        outer = self._dense(f"{prefix}.output.dense", inner)
        return self._norm(f"{prefix}.output.LayerNorm", self._add("Add", outer, hidden))

    def _attention(self, prefix: str, hidden: str, bias: str) -> str:
        """softmax(q·kᵀ/√d + bias)·v over all heads, with 1/√d folded into the query's weights."""
        width = self._shape.hidden // self._shape.heads
        split = self._constant("split", np.array([0, 0, self._shape.heads, width], np.int64))
        heads = {}
        for kind, order, factor in (
            ("query", [0, 2, 1, 3], width**-0.5),
            ("key", [0, 2, 3, 1], 1.0),
            ("value", [0, 2, 1, 3], 1.0),
        ):
            flat = self._dense(f"{prefix}.attention.self.{kind}", hidden, factor)
            heads[kind] = self._add("Transpose", self._add("Reshape", flat, split), perm=order)
        scores = self._add("Add", self._add("MatMul", heads["query"], heads["key"]), bias)
        mixed = self._add("MatMul", self._add("Softmax", scores, axis=-1), heads["value"])
        joined = self._constant("joined", np.array([0, 0, self._shape.hidden], np.int64))
        return self._add("Reshape", self._add("Transpose", mixed, perm=[0, 2, 1, 3]), joined)

    def _pooled(self, hidden: str) -> None:
        """Mean of the token vectors where the mask is 1, then x / max(‖x‖₂, 1e-12)."""
        last = self._constant("last", np.array([-1], np.int64))
        tokens = self._constant("tokens", np.array([1], np.int64))
        mask = self._add("Unsqueeze", self._add("Cast", "attention_mask", to=1), last)
        total = self._add("ReduceSum", self._add("Mul", hidden, mask), tokens, keepdims=0)
        mean = self._add("Div", total, self._add("ReduceSum", mask, tokens, keepdims=0))
        norm = self._add("ReduceL2", mean, last, keepdims=1)
        floor = self._constant("floor", np.array(1e-12, np.float32))
        self._add("Div", mean, self._add("Max", norm, floor), output="embedding")

    def _dense(self, prefix: str, value: str, factor: float = 1.0) -> str:
        # Published weights are [out, in] for x·Wᵀ; transposed here once instead of at every call.
        weight = np.ascontiguousarray(self._weights[f"{prefix}.weight"].T * np.float32(factor))
        product = self._add("MatMul", value, self._constant(f"{prefix}.weight", weight))
        return self._add(
            "Add",
            product,
            self._constant(f"{prefix}.bias", self._weights[f"{prefix}.bias"] * np.float32(factor)),
        )

    def _norm(self, prefix: str, value: str) -> str:
        scale = self._constant(f"{prefix}.weight", self._weights[f"{prefix}.weight"])
        bias = self._constant(f"{prefix}.bias", self._weights[f"{prefix}.bias"])
        return self._add("LayerNormalization", value, scale, bias, axis=-1, epsilon=self._shape.layer_norm_epsilon)

    def _constant(self, name: str, value: NDArray[Any]) -> str:
        from onnx import numpy_helper

        if name not in self._constants:
            self._constants[name] = numpy_helper.from_array(np.asarray(value), name)
        return name

    def _add(self, operator: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        from onnx import helper

        name = output or f"{operator}_{len(self._nodes)}"
        self._nodes.append(helper.make_node(operator, list(inputs), [name], **attributes))
        return name
