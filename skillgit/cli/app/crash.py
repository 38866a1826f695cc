"""The trace of a bug, in a file that only its owner can read and that holds no key."""

from __future__ import annotations

import os
import platform
import re
import sys
import tempfile
import traceback
from collections.abc import Iterable, Mapping
from pathlib import Path

from skillgit import __version__
from skillgit.cli.app.invocation import Invocation
from skillgit.errors import RepositoryError
from skillgit.store.git.git_cli import GitCli
from skillgit.store.git.private import PrivateFolder

_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASS|CREDENTIAL|AUTH", re.IGNORECASE)
_USER_INFO = re.compile(r"(?<=://)[^/\s@]+(?=@)")
_SHORTEST_SECRET = 6


def write_trace(error: Exception, invocation: Invocation) -> Path:
    """The file that the trace of `error` was written to."""
    lines = [
        f"skillgit {__version__}, Python {platform.python_version()}, {platform.platform()}\n",
        f"command: {' '.join(sys.argv[1:])}\n\n",
        *traceback.format_exception(error),
    ]
    text = without_secrets("".join(lines), secrets_of(invocation))
    for folder in (_private_folder(invocation.directory, invocation.environ), None):
        try:
            return _write(text, folder)
        except OSError:
            continue
    return Path("(nowhere: no folder could be written to)")


def secrets_of(invocation: Invocation) -> set[str]:
    """The values that must not be shown: keys that were looked up, and variables named like one."""
    return invocation.secrets | _secret_values(invocation.environ)


def _secret_values(environ: Mapping[str, str]) -> set[str]:
    return {
        value
        for name, value in environ.items()
        if _SECRET_NAME.search(name) and len(value) >= _SHORTEST_SECRET
    }


def without_secrets(text: str, secrets: Iterable[str]) -> str:
    """The text with every secret, and every user name and password in a URL, blotted out."""
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, "[redacted]")
    return _USER_INFO.sub("[redacted]", text)


def _write(text: str, folder: Path | None) -> Path:
    handle, name = tempfile.mkstemp(prefix="skillgit-trace-", suffix=".txt", dir=folder)
    with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
        file.write(text)
    return Path(name)


def _private_folder(directory: Path, environ: Mapping[str, str]) -> Path | None:
    try:
        done = GitCli(directory, environ).run(
            "rev-parse", "--path-format=absolute", "--git-common-dir", timeout=10
        )
        return PrivateFolder(Path(done.text)).logs if done.ok else None
    except (OSError, RepositoryError):
        return None
