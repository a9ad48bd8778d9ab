"""What importing costs: a command that embeds nothing must not load a model library."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

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


def test_the_model_library_keeps_no_id_of_the_device_and_tells_nobody(tmp_path: Path) -> None:
    """Else onnxruntime leaves both below the home directory: the id, and what it is to send."""
    script = """
from pathlib import Path
from onnx import TensorProto, helper
from reverie_indexer.embed.local import _session
value = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in "ab"]
graph = helper.make_graph([helper.make_node("Identity", ["a"], ["b"])], "same", value[:1], value[1:])
path = Path.home() / "same.onnx"
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
path.write_bytes(model.SerializeToString())
_session(path, 1)
"""
    unset = {
        name: value for name, value in os.environ.items() if name not in ("ORT_DISABLE_TELEMETRY", "XDG_CACHE_HOME")
    }
    subprocess.run([sys.executable, "-c", script], env={**unset, "HOME": str(tmp_path)}, check=True)
    assert [path.relative_to(tmp_path) for path in tmp_path.rglob("*")] == [Path("same.onnx")]
