"""The ONNX graph of a BERT sentence encoder, built from its published weights.

The graph maps `input_ids` and `attention_mask` (both int64, `[batch, tokens]`) to `states` (float32, `[batch, tokens,
hidden]`), what the BERT encoder makes of each token, and to `embedding` (`[batch, hidden]`): their mean over the
attended tokens, divided by its L2 norm. Beside each dense layer W x
of the upper half there is U V x (LoRA, Hu et al. 2021), and V and U are inputs, `<layer>.down` (`[in, rank]`) and
`<layer>.up` (`[rank, out]`): one graph serves any adapter, and none by matrices of rank 0 (`adapter_inputs`). Beside
all layers they would cost twice as much.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import onnx

from reverie_indexer.embed.adapter import Adapter
from reverie_indexer.embed.packed_e5 import QuantisedRows

BUILDER_VERSION = 4
"""Part of the cached file's name: raise it with every change of the graph."""

_QUERY = ".attention.self.query"
_OPSET = 20  # the first with Gelu
_IR_VERSION = 10  # not the newest: older releases of onnxruntime must be able to read the file

Weights = Mapping[str, NDArray[np.float32]]


@dataclass(frozen=True, slots=True)
class EncoderShape:
    """The numbers of a BERT encoder with GELU. Only the first `max_tokens` positions are kept."""

    layers: int
    heads: int
    hidden: int
    layer_norm_epsilon: float
    max_tokens: int

    def is_adapted(self, dense: str) -> bool:
        """Whether there are inputs for an adapter beside a dense layer, by its name in Hugging Face's BERT."""
        number = dense.removeprefix("encoder.layer.").partition(".")[0]
        return int(number) >= self.layers // 2


def build_graph(weights: Weights, shape: EncoderShape, words: QuantisedRows | None = None) -> onnx.ModelProto:
    """Build the encoder from weights in the naming of Hugging Face's BERT; `words` are the word embeddings, where they
    are not among the weights."""
    return _GraphBuilder(weights, shape, words).model()


def adapter_inputs(adapter: Adapter | None, session: Any, shape: EncoderShape) -> dict[str, NDArray[np.float32]]:
    """What the inputs for an adapter are in a session of the graph; for none, matrices of rank 0."""
    found = {}
    for each in session.get_inputs():
        layer, _, part = each.name.rpartition(".")
        if part not in ("down", "up"):
            continue
        if adapter is None:
            found[each.name] = np.zeros([0 if isinstance(size, str) else size for size in each.shape], np.float32)
        else:
            factor = _query_factor(shape) if part == "up" and layer.endswith(_QUERY) else 1.0
            found[each.name] = np.ascontiguousarray(getattr(adapter[layer], part).T * np.float32(factor))
    return found


def _query_factor(shape: EncoderShape) -> float:
    """1/√d, which is folded into the weights of the query."""
    return float((shape.hidden // shape.heads) ** -0.5)


class _GraphBuilder:
    """Collects nodes and constants; every method returns the name of the value it adds."""

    def __init__(self, weights: Weights, shape: EncoderShape, words: QuantisedRows | None) -> None:
        self._weights = weights
        self._words = words
        self._shape = shape
        self._nodes: list[onnx.NodeProto] = []
        self._constants: dict[str, onnx.TensorProto] = {}
        self._adapter: list[onnx.ValueInfoProto] = []

    def model(self) -> onnx.ModelProto:
        from onnx import TensorProto, helper

        hidden = self._embeddings()
        bias = self._attention_bias()
        for layer in range(self._shape.layers):
            hidden = self._layer(f"encoder.layer.{layer}", hidden, bias)
        self._add("Identity", hidden, output="states")
        self._pooled(hidden)
        ids, mask = (
            helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"])
            for name in ("input_ids", "attention_mask")
        )
        outputs = [
            helper.make_tensor_value_info("embedding", TensorProto.FLOAT, ["batch", self._shape.hidden]),
            helper.make_tensor_value_info("states", TensorProto.FLOAT, ["batch", "tokens", self._shape.hidden]),
        ]
        constants = list(self._constants.values())
        graph = helper.make_graph(self._nodes, "sentence_encoder", [ids, mask, *self._adapter], outputs, constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=_IR_VERSION)

    def _embeddings(self) -> str:
        """Sum of word, position and type embeddings, normalised. The type is always 0: one text, no pair."""
        prefix = "embeddings"
        kinds = self._weights[f"{prefix}.token_type_embeddings.weight"]
        places = self._weights[f"{prefix}.position_embeddings.weight"][: self._shape.max_tokens] + kinds[0]
        looked_up = self._looked_up()
        length = self._add("Shape", "input_ids", start=1, end=2)
        start = self._constant("zero", np.array([0], np.int64))
        position = self._add("Slice", self._constant("places", places), start, length)
        return self._norm(f"{prefix}.LayerNorm", self._add("Add", looked_up, position))

    def _looked_up(self) -> str:
        """The word embeddings of the ids, `[batch, tokens, hidden]`."""
        if self._words is None:
            words = self._constant("words", self._weights["embeddings.word_embeddings.weight"])
            return self._add("Gather", words, "input_ids")
        # Of 4-bit rows the looked-up ones alone are widened: `[batch, tokens, blocks, 32]`.
        packed = self._add("Gather", self._constant("words", self._words.packed), "input_ids")
        blocks = self._constant("blocks", np.array([0, 0, self._words.scales.shape[1], -1], np.int64))
        packed = self._add("Reshape", packed, blocks)
        upper = self._add("BitShift", packed, self._constant("four", np.array(4, np.uint8)), direction="RIGHT")
        lower = self._add("BitwiseAnd", packed, self._constant("fifteen", np.array(15, np.uint8)))
        quantised = self._add("Cast", self._add("Concat", lower, upper, axis=-1), to=1)
        centred = self._add("Sub", quantised, self._constant("eight", np.array(8, np.float32)))
        scales = self._add("Gather", self._constant("word_scales", self._words.scales), "input_ids")
        last = self._constant("last", np.array([-1], np.int64))
        scaled = self._add("Mul", centred, self._add("Unsqueeze", self._add("Cast", scales, to=1), last))
        joined = self._constant("joined", np.array([0, 0, self._shape.hidden], np.int64))
        return self._add("Reshape", scaled, joined)

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
            ("query", [0, 2, 1, 3], _query_factor(self._shape)),
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
        if self._shape.is_adapted(prefix):
            product = self._add("Add", product, self._low_rank(prefix, value, weight.shape))
        return self._add(
            "Add",
            product,
            self._constant(f"{prefix}.bias", self._weights[f"{prefix}.bias"] * np.float32(factor)),
        )

    def _low_rank(self, prefix: str, value: str, shape: tuple[int, ...]) -> str:
        """What the adapter adds to the product of a layer."""
        from onnx import TensorProto, helper

        sizes: Sequence[str | int | None]
        for part, sizes in (("down", (shape[0], "rank")), ("up", ("rank", shape[1]))):
            self._adapter.append(helper.make_tensor_value_info(f"{prefix}.{part}", TensorProto.FLOAT, sizes))
        return self._add("MatMul", self._add("MatMul", value, f"{prefix}.down"), f"{prefix}.up")

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
