"""The built-in embedding models on onnxruntime, without torch."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from reverie_indexer.embed.adapter import Adapter, adapter_file, read_adapter
from reverie_indexer.embed.built_in import DEFAULT_MODEL, BuiltInModel
from reverie_indexer.embed.cached_file import cached_file, read_verified
from reverie_indexer.embed.marks import Mark, MarkLayers, mark_layers_file, marks_of, read_mark_layers
from reverie_indexer.embed.onnx_graph import BUILDER_VERSION, Weights, adapter_inputs, build_graph
from reverie_indexer.embed.packed_e5 import QuantisedRows, read_packed
from reverie_indexer.embed.protocol import Embedding, Role, Vector, replace_surrogates
from reverie_indexer.embed.tokenisers import (
    VOCABULARY_VERSION,
    Tokeniser,
    UnigramTokeniser,
    WordPieceTokeniser,
    unigram_model,
)
from reverie_indexer.embed.worker import BatchLimits, BatchWorker
from reverie_indexer.errors import SetupError
from reverie_indexer.model import ModelIdentity

# The vector depends on the first few hundred tokens alone; tokenising megabytes to throw them away would cost memory.
_MAX_CHARS_READ = 65_536


@dataclass(frozen=True, slots=True)
class Tagging:
    """What marks spans: the adapter under the layers as inputs of the graph, and the layers."""

    adapter: Mapping[str, NDArray[np.float32]]
    layers: MarkLayers


class LocalEmbedder:
    """A built-in model in this process. Make one with `load_local`."""

    def __init__(
        self,
        model: BuiltInModel,
        session: Any,
        tokeniser: Tokeniser,
        adapters: Mapping[Role, Mapping[str, NDArray[np.float32]]],
        tagging: Tagging | None = None,
        *,
        max_workers: int = 1,
    ) -> None:
        self._identity = model.identity
        self._prefixes = model.prefixes
        self._means = model.means()
        self._session = session
        self._tokeniser = tokeniser
        limits = BatchLimits(max_tokens=model.shape.max_tokens)
        self._encode = {role: partial(self._run, "embedding", inputs) for role, inputs in adapters.items()}
        self._worker = BatchWorker(self._encode["passage"], limits, max_workers=max_workers)
        self._tagging = tagging

    @property
    def identity(self) -> ModelIdentity:
        """See `BuiltInModel.identity`."""
        return self._identity

    async def embed(self, texts: Sequence[str], role: Role = "passage") -> list[Embedding]:
        """See `Embedder.embed`. Never rejects a text."""
        prefix, mean = self._prefixes[role], self._means.get(role)
        texts = [prefix + text for text in texts] if prefix else texts
        vectors = await self._worker.embed(texts, self._encode[role])
        return list(vectors) if mean is None else [_without_mean(vector, mean) for vector in vectors]

    def familiarity(self, text: str) -> float:
        """See `Embedder.familiarity`."""
        return self._tokeniser.familiarity(replace_surrogates(text[:_MAX_CHARS_READ]))

    def ids(self, text: str, role: Role) -> Sequence[int]:
        """The ids of the tokens that the model reads of a text."""
        return self._tokeniser.ids(self._prefixes[role] + text[:_MAX_CHARS_READ])

    async def marks(self, texts: Sequence[str]) -> list[list[Mark]] | None:
        """What the spans of each text say (`embed.marks`); None where the model has not learnt it.

        Raises as `Embedder.embed` does.
        """
        if self._tagging is None:
            return None
        found: list[Any] = await self._worker.embed([text[:_MAX_CHARS_READ] for text in texts], self._marked)
        return found

    async def aclose(self) -> None:
        """See `Embedder.aclose`."""
        await self._worker.aclose()

    def _marked(self, texts: list[str]) -> NDArray[Any]:
        """The marks of each text, a list in each cell."""
        assert self._tagging is not None
        rows = np.empty(len(texts), object)
        for row, states in enumerate(self._run("states", self._tagging.adapter, texts)):
            pieces = self._tokeniser.pieces(texts[row])
            rows[row] = marks_of(texts[row], pieces, states[1 : len(pieces) + 1], self._tagging.layers)
        return rows

    def _run(self, output: str, adapter: Mapping[str, NDArray[np.float32]], texts: list[str]) -> NDArray[np.float32]:
        encodings = [self._tokeniser.ids(text[:_MAX_CHARS_READ]) for text in texts]
        longest = max(len(ids) for ids in encodings)
        ids = np.zeros((len(texts), longest), np.int64)
        mask = np.zeros_like(ids)
        for row, encoding in enumerate(encodings):
            ids[row, : len(encoding)] = encoding
            mask[row, : len(encoding)] = 1
        inputs = {"input_ids": ids, "attention_mask": mask, **adapter}
        found: NDArray[np.float32] = self._session.run([output], inputs)[0]
        return found


def _without_mean(vector: Vector, mean: Vector) -> Vector:
    """(v − m) / ‖v − m‖₂: all vectors of the model lie in one narrow cone; what is left says how texts differ."""
    difference = vector - mean
    return np.asarray(difference / max(float(np.linalg.norm(difference)), 1e-12), np.float32)


def load_local(
    cache_dir: Path, model: BuiltInModel = DEFAULT_MODEL, *, weights_dir: Path | None = None, threads: int = 1
) -> LocalEmbedder:
    """Load a built-in model; blocking, up to seconds at the first start, so call it in a thread.

    The weights are those in `weights_dir` (what `fetch_weights` filled) if it holds them, else those of the Python
    environment. `cache_dir` receives the converted model, at most 150 MB. `threads` is the number of threads of one
    inference.

    Raises `SetupError` when there are no weights, or they are not the published ones.
    """
    weights = model.find_weights(weights_dir)

    def graph() -> bytes:
        matrices, words = read_weights(model, weights)
        made: bytes = build_graph(matrices, model.shape, words).SerializeToString(deterministic=True)
        return made

    # Its name contains the digest of the weights, so that one in the cache needs no look at them.
    key = f"{model.files[model.weights_file]}:{BUILDER_VERSION}:{model.shape}"
    session = _session(cached_file(cache_dir, model.name, ".onnx", key, graph), threads)
    none = adapter_inputs(None, session, model.shape)
    adapters = dict.fromkeys(get_args(Role), none)
    for role in model.adapted:
        adapters[role] = adapter_inputs(_adapter(model, role), session, model.shape)
    tagging = None
    if model.marks:
        adapter = adapter_inputs(_adapter(model, "marks"), session, model.shape)
        tagging = Tagging(adapter, read_mark_layers(_part(model, mark_layers_file(model.name), "its layers of marks")))
    return LocalEmbedder(model, session, load_tokeniser(model, weights, cache_dir), adapters, tagging)


def load_tokeniser(model: BuiltInModel, weights: Path, cache_dir: Path) -> Tokeniser:
    """The tokeniser of a model whose published files are in `weights`."""
    return (_unigram if model.tokens == "unigram" else _wordpiece)(model, weights, cache_dir)


def _adapter(model: BuiltInModel, use: Role | Literal["marks"]) -> Adapter:
    return read_adapter(_part(model, adapter_file(model.name, use), f"its adapter for {use}"))


def _part(model: BuiltInModel, file: Path, what: str) -> bytes:
    try:
        return file.read_bytes()
    except FileNotFoundError as error:
        raise SetupError(
            f"The program lacks a part of the embedding model {model.name}, {what}: install it again."
        ) from error


def read_weights(model: BuiltInModel, weights: Path) -> tuple[Weights, QuantisedRows | None]:
    """The weights of a model in a directory, and the word embeddings where they are not among them.

    Raises `SetupError` when they are not the published ones.
    """
    content = _verified(model, weights, model.weights_file)
    if model.tokens == "unigram":
        packed = read_packed(content)
        return packed.weights, packed.words
    from safetensors.numpy import load

    return load(content), None


def _wordpiece(model: BuiltInModel, weights: Path, cache_dir: Path) -> Tokeniser:
    del cache_dir
    return WordPieceTokeniser(_verified(model, weights, "tokenizer.json"), model.shape.max_tokens)


def _unigram(model: BuiltInModel, weights: Path, cache_dir: Path) -> Tokeniser:
    def vocabulary() -> bytes:
        packed = read_packed(_verified(model, weights, model.weights_file))
        return unigram_model(packed.pieces, packed.scores)

    key = f"{model.files[model.weights_file]}:{VOCABULARY_VERSION}"
    made = cached_file(cache_dir, model.name, ".model", key, vocabulary)
    return UnigramTokeniser(made, model.shape.max_tokens)


def _verified(model: BuiltInModel, weights: Path, name: str) -> bytes:
    return read_verified(weights / name, model.files[name])


def _session(graph: Path, threads: int) -> Any:
    # Read as the library is loaded: else it writes an id of this device, and sends what it does to its maker.
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # Both keep memory for every shape seen; shapes differ with each batch here.
    options.enable_cpu_mem_arena = False
    options.enable_mem_pattern = False
    return onnxruntime.InferenceSession(str(graph), options, providers=["CPUExecutionProvider"])
