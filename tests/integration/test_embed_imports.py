"""What importing costs: a command that embeds nothing must not load a model library."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = {
    "onnx",
    "onnxruntime",
    "openai",
    "safetensors",
    "sentence_transformers",
    "tokenizers",
    "torch",
    "transformers",
}


@pytest.mark.parametrize("module", ["", ".local", ".endpoint", ".sentence", ".query_cache", ".fetch", ".deterministic"])
def test_importing_an_embedder_loads_no_model_library(module: str) -> None:
    script = f"import reverie_indexer.embed{module}, sys; print(*sys.modules, sep='\\n')"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert "reverie_indexer.embed.protocol" in loaded.split()
    assert set() == HEAVY & set(loaded.split())
