"""What a committed file may not do before a person has agreed: send a key somewhere, run a program.

Pure, but for `TrustFile`, the list of what was agreed to in the private folder. An agreement is
to content, not to a file: it holds for these very values, wherever they stand, and for no others.
"""

from __future__ import annotations

import json
import os
import shlex
import tempfile
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path

from pydantic import ValidationError

from skillgit.config import Config, ModelConfig, without_user_info
from skillgit.errors import UserError
from skillgit.records import Record
from skillgit.records.canonical import fingerprint

FILE_FORMAT = 1


class Demand(Record):
    """One thing a configuration asks for that needs a person's word, and the line that says it."""

    fingerprint: str
    line: str


DigestOf = Callable[[Sequence[str]], str]
ProgramAndEnv = tuple[Sequence[str], Sequence[str]]
"""A command, and the names of the variables that it sees."""


def demands(
    config: Config,
    judges: Iterable[ProgramAndEnv] = (),
    *,
    digest_of: DigestOf | None = None,
) -> tuple[Demand, ...]:
    """All that a configuration, and the commands that judge its tasks, ask trust for.

    `digest_of` is a command's content: with it, a program of the repository that has changed asks
    again.
    Shape: each thing once, in the order of the roles.
    """
    roles = [("target", config.target), ("optimizer", config.optimizer), ("judge", config.judge)]
    asked = [_key_demand(role, m) for role, m in roles if m and sends_a_key_elsewhere(m)]
    if config.target.kind.runs_program:
        asked.append(_command_demand("target", config.target.command, config.target.env, digest_of))
    asked += [_command_demand("judge", command, env, digest_of) for command, env in judges]
    return tuple({demand.fingerprint: demand for demand in reversed(asked)}.values())[::-1]


def untrusted(
    config: Config,
    trusted: Collection[str],
    judges: Iterable[ProgramAndEnv] = (),
    *,
    digest_of: DigestOf | None = None,
) -> list[Demand]:
    """What is asked for that is not among the trusted fingerprints."""
    asked = demands(config, judges, digest_of=digest_of)
    return [demand for demand in asked if demand.fingerprint not in trusted]


def sends_a_key_elsewhere(model: ModelConfig) -> bool:
    """Whether a key would go anywhere but to its own provider.

    The provider's own address with the provider's own variable needs no one's word.
    """
    if model.key_variable is None:
        return False
    own = model.kind.default_url is not None and model.address == model.kind.default_url
    return not (own and model.key_variable == model.kind.default_key_variable)


def _key_demand(role: str, model: ModelConfig) -> Demand:
    url = model.address
    shown = _printable(without_user_info(url)) if url else f"where {model.provider} sends it"
    return Demand(
        fingerprint=fingerprint(
            {
                "kind": "key",
                "provider": model.provider,
                "base_url": url,
                "api_key_env": model.api_key_env,
            }
        ),
        line=f"{role}: send the key in {_printable(model.api_key_env or '')} to {shown}",
    )


def _command_demand(
    role: str, command: Sequence[str], env: Sequence[str], digest_of: DigestOf | None
) -> Demand:
    sees = f", which sees {', '.join(map(_printable, env))}" if env else ""
    return Demand(
        fingerprint=fingerprint(
            {
                "kind": "command",
                "command": list(command),
                "env": list(env),
                "content": digest_of(command) if digest_of else None,
            }
        ),
        line=f"{role}: run {_printable(shlex.join(command))}{sees}",
    )


def _printable(text: str) -> str:
    """The text with what a terminal would act on spelled out."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


class TrustFile:
    """The file of what was agreed to: fingerprints, each with the line that was shown."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> frozenset[str]:
        """The trusted fingerprints; none when there is no file.

        Raises: UserError when the file is not one of ours.
        """
        return frozenset(self.entries())

    def add(self, agreed: Iterable[Demand]) -> None:
        """Trust these from now on."""
        self._write({**self.entries(), **{d.fingerprint: d.line for d in agreed}})

    def clear(self) -> None:
        """Trust nothing any more.

        Raises: UserError when the file cannot be removed.
        """
        try:
            self._path.unlink(missing_ok=True)
        except OSError as error:
            raise UserError(f"cannot remove {self._path}: {error.strerror}") from error

    def entries(self) -> dict[str, str]:
        """What was agreed to: the line that was shown, by its fingerprint.

        Raises: UserError when the file is not one of ours.
        """
        try:
            stored = _Stored.model_validate_json(self._path.read_bytes())
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise UserError(f"cannot read {self._path}: {error.strerror}") from error
        except ValidationError as error:
            raise UserError(
                f"{self._path} is not a list of trusted addresses",
                hint=f"Remove it (rm '{self._path}') and run skillgit trust again.",
            ) from error
        return stored.trusted

    def _write(self, entries: dict[str, str]) -> None:
        text = json.dumps({"v": FILE_FORMAT, "trusted": entries}, indent=1, sort_keys=True)
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=self._path.parent, prefix=".trust-")
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(f"{text}\n")
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(self._path)
        except OSError as error:
            raise UserError(f"cannot write {self._path}: {error.strerror}") from error


class _Stored(Record):
    v: int
    trusted: dict[str, str]
