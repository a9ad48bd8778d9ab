"""The sentence-transformers embedder, and the default embedder held to its vectors."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.sentence_models import minilm_directory

from reverie_indexer.embed.built_in import MINILM
from reverie_indexer.embed.local import load_local
from reverie_indexer.embed.sentence import directory_digest, load_sentence
from reverie_indexer.errors import SetupError

COMMIT = "0123456789abcdef0123456789abcdef01234567"
SUBJECTS = [
    "The quarterly report is due on Friday",
    "Привет, как дела сегодня",
    "東京タワーは高い",
    "اللغة العربية جميلة",
    "El niño comió piñas",
    "ΑΒΓ δεζ Ελληνικά",
    "สวัสดีครับ ยินดีต้อนรับ",
    "हिन्दी में लिखा हुआ वाक्य",
    "for i in range(10): print(i ** 2)  # squares",
    "SELECT id, name FROM users WHERE id = $1;",
    "https://example.com/a/b?c=d&e=f#g",
    "e\u0301a\u0300 combining ﬁ ligature Ⅷ ①",
    "🚀🔥 to the moon 💎🙌🏽",
    "ALL CAPS SHOUTING!!! ???",
    "1,234.56 EUR on 2026-11-21T10:00:00Z",
    "supercalifragilisticexpialidocious" * 4,
    "\t tabs\nand\r\nnew lines \u00a0 and \u2028 separators",
    "[CLS] special [SEP] tokens [MASK] [PAD] in the text",
    "x",
    "",
]
FRAMES = [
    "{}",
    "{} " * 3,
    "He said: “{}”, and left.",
    "# Notes\n\n- {}\n- second point\n",
    "prefix-{}-suffix",
    "{} " * 40,
    "long " * 120 + "{}",
    "{}" + " tail" * 300,
    "a b c d e f g h {} " * 9,
    "{} and {} and also {}",
]
VARIED_TEXTS = [frame.replace("{}", subject) for subject in SUBJECTS for frame in FRAMES]


@pytest.mark.models
async def test_the_default_embedder_gives_the_vectors_of_sentence_transformers(tmp_path: Path) -> None:
    local, reference = (
        load_local(tmp_path / "graphs", MINILM),
        load_sentence(str(minilm_directory(tmp_path / "minilm")), device="cpu", threads=1),
    )
    ours, theirs = await local.embed(VARIED_TEXTS), await reference.embed(VARIED_TEXTS)
    cosines = np.sum(np.stack(ours) * np.stack(theirs), axis=1)
    assert len(cosines) == 200
    assert float(cosines.min()) > 0.9999, VARIED_TEXTS[int(cosines.argmin())]
    await local.aclose()
    await reference.aclose()


@pytest.mark.models
async def test_a_model_in_a_directory_is_known_by_its_content_not_its_place(tmp_path: Path) -> None:
    identities = []
    for place in ("one", "two"):
        directory = minilm_directory(tmp_path / place / "minilm")
        embedder = load_sentence(str(directory), device="cpu", threads=1)
        identities.append(embedder.identity)
        await embedder.aclose()
    assert identities[0] == identities[1]
    assert str(identities[0]).startswith("sentence-transformers:minilm@")


def test_the_digest_of_a_directory_changes_with_what_decides_the_vectors_only(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "README.md").write_text("one")
    before = directory_digest(tmp_path)
    (tmp_path / "README.md").write_text("two")
    assert before == directory_digest(tmp_path)
    (tmp_path / "config.json").write_text("{ }")
    assert before != directory_digest(tmp_path)


def load_offline(model: str, hub_cache: Path) -> str:
    """What a process prints that loads `model` without a network: its identity, or the error."""
    script = (
        "import sys\n"
        "from reverie_indexer.embed.sentence import load_sentence\n"
        "from reverie_indexer.errors import SetupError\n"
        "try: print(load_sentence(sys.argv[1]).identity)\n"
        "except SetupError as error: print(error)\n"
    )
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "SENTENCE_TRANSFORMERS_HOME": str(hub_cache)}
    command = [sys.executable, "-c", script, model]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True, timeout=120)
    return done.stdout.strip()


@pytest.mark.models
def test_a_model_in_the_hubs_cache_loads_offline_with_its_commit_as_revision(tmp_path: Path) -> None:
    repository = tmp_path / "models--acme--tiny"
    snapshot = repository / "snapshots" / COMMIT
    (repository / "refs").mkdir(parents=True)
    (repository / "refs" / "main").write_text(COMMIT)
    snapshot.parent.mkdir()
    minilm_directory(snapshot)
    assert load_offline("acme/tiny", tmp_path) == f"sentence-transformers:acme/tiny@{COMMIT} (384-d)"


@pytest.mark.models
def test_a_model_that_is_not_here_is_a_setup_error_when_offline(tmp_path: Path) -> None:
    assert load_offline("acme/not-there", tmp_path).startswith("The embedding model acme/not-there cannot be loaded")


def test_without_the_extra_the_remedy_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(SetupError, match=r"pip install reverie\[models\]"):
        load_sentence("any")
