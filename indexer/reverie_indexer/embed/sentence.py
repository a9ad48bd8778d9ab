"""Any sentence-transformers model, by name or path. Needs the extra `reverie[models]` (torch)."""

from __future__ import annotations

import hashlib
import importlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reverie_indexer.embed.protocol import Embedding, Role, unit_vector
from reverie_indexer.embed.worker import BatchLimits, BatchWorker
from reverie_indexer.errors import EmbedderUnavailable, EmbeddingRejected, SetupError
from reverie_indexer.model import ModelIdentity

UNKNOWN_REVISION = "unknown"

_DEFAULT_MAX_TOKENS = 512
# The names by which models have a prompt for each role.
_PROMPTS: Mapping[Role, Sequence[str]] = {
    "query": ("query",),
    "question": ("query",),
    "message": ("query",),
    "change": ("query",),
    "passage": ("document", "passage", "corpus"),
}
# What decides the vectors in a model's directory: weights, configuration, vocabulary.
_DECIDING_SUFFIXES = frozenset({".safetensors", ".bin", ".json", ".txt", ".model"})


class SentenceEmbedder:
    """A loaded sentence-transformers model. Make one with `load_sentence`."""

    def __init__(self, model: Any, identity: ModelIdentity, *, max_workers: int = 1) -> None:
        self._model = model
        self._identity = identity
        prompts: Mapping[str, str] = model.prompts or {}
        self._prefixes = {role: _first(prompts, names) for role, names in _PROMPTS.items()}
        max_tokens = int(model.max_seq_length or _DEFAULT_MAX_TOKENS)
        if model.device.type == "cpu":
            limits = BatchLimits(max_tokens=max_tokens, tokens_a_call=32)
        else:
            limits = BatchLimits(texts=64, padded_tokens=16_384, max_tokens=max_tokens, tokens_a_call=1024)
        self._worker = BatchWorker(self._encode, limits, max_workers=max_workers)

    @property
    def identity(self) -> ModelIdentity:
        """The model's name, without the directories of a path, and its revision where known."""
        return self._identity

    async def embed(self, texts: Sequence[str], role: Role = "passage") -> list[Embedding]:
        """See `Embedder.embed`. A text is rejected when the model's vector for it is no direction."""
        prefix = self._prefixes[role]
        units = map(unit_vector, await self._worker.embed([prefix + text for text in texts]))
        return [EmbeddingRejected("The model gives no usable vector for this text.") if u is None else u for u in units]

    def familiarity(self, text: str) -> float:
        """See `Embedder.familiarity`: it cannot tell."""
        del text
        return 1.0

    async def aclose(self) -> None:
        """See `Embedder.aclose`."""
        await self._worker.aclose()

    def _encode(self, texts: list[str]) -> NDArray[np.float32]:
        try:
            # An empty prompt, since the model's own stands before the text already.
            rows = self._model.encode(
                texts, prompt="", batch_size=len(texts), convert_to_numpy=True, show_progress_bar=False
            )
        except RuntimeError as error:  # torch's, out of memory included
            raise EmbedderUnavailable("The embedding model failed on its device; the log says why.") from error
        return np.asarray(rows, np.float32)


def _first(prompts: Mapping[str, str], names: Sequence[str]) -> str:
    return next((prompts[name] for name in names if prompts.get(name)), "")


def load_sentence(
    model: str, *, device: str | None = None, revision: str | None = None, threads: int | None = None
) -> SentenceEmbedder:
    """Load a model by its name on the hub or the path of its directory; blocking, call it in a thread.

    `device` is torch's name (`cpu`, `cuda:0`, `mps`), chosen by the library if None. `revision` is a commit
    or tag of the hub. `threads` is what torch uses on the CPU, in this whole process: its own choice, all cores,
    is slow on a busy machine. With `HF_HUB_OFFLINE` or `TRANSFORMERS_OFFLINE` set, only what is on this machine is
    used.

    Raises `SetupError` when the extra is not installed or the model cannot be loaded.
    """
    library, is_offline = sentence_libraries("sentence-transformers embedder", "models")
    if threads is not None:
        importlib.import_module("torch").set_num_threads(threads)
    try:
        loaded = library.SentenceTransformer(model, device=device, revision=revision, local_files_only=is_offline)
    except (OSError, ValueError, RuntimeError) as error:  # not there, not a model, no such device
        raise SetupError(
            f"The embedding model {model_name(model)} cannot be loaded: check its name or path, the device, and, "
            "if it must be downloaded first, the network and HF_HUB_OFFLINE. The log says why."
        ) from error
    dimension = loaded.get_embedding_dimension()
    if not dimension:
        raise SetupError(f"The embedding model {model_name(model)} does not tell its dimension: use another one.")
    identity = ModelIdentity(
        "sentence-transformers", model_name(model), _revision(model, revision), int(dimension), True
    )
    return SentenceEmbedder(loaded, identity)


def sentence_libraries(what: str, extra: str) -> tuple[Any, bool]:
    """The library sentence-transformers, and whether it may only use what is on this machine.

    SetupError where it is not installed: `what` needs the extra.
    """
    try:
        library = importlib.import_module("sentence_transformers")
        hub = importlib.import_module("huggingface_hub")
    except ImportError as error:
        raise SetupError(f"The {what} needs packages that are not installed: pip install reverie[{extra}]") from error
    importlib.import_module("transformers.utils.logging").disable_progress_bar()
    return library, hub.is_offline_mode()


def model_name(model: str) -> str:
    """A path's last part: the same model elsewhere is the same model, and no message tells where it lies."""
    return Path(model).resolve().name if Path(model).is_dir() else model


def _revision(model: str, requested: str | None) -> str:
    """For a directory, the start of a digest over its files; for a name, the commit in the hub's cache."""
    directory = Path(model)
    if directory.is_dir():
        return directory_digest(directory)[:12]
    # The library looks for a name without owner under its own.
    repository = model if "/" in model else f"sentence-transformers/{model}"
    found = importlib.import_module("huggingface_hub").try_to_load_from_cache(
        repository, "config.json", cache_dir=os.getenv("SENTENCE_TRANSFORMERS_HOME"), revision=requested
    )
    if isinstance(found, str):
        return Path(found).parent.name
    return requested or UNKNOWN_REVISION


def directory_digest(directory: Path) -> str:
    """SHA-256 over the relative names and contents of the files that decide a model's vectors."""
    digest = hashlib.sha256()
    for path in sorted(directory.rglob("*")):
        if path.suffix in _DECIDING_SUFFIXES and path.is_file():
            with path.open("rb") as stream:
                content = hashlib.file_digest(stream, "sha256").hexdigest()
            digest.update(f"{path.relative_to(directory).as_posix()}\n{content}\n".encode())
    return digest.hexdigest()
