"""What may be forgotten of the private folder: what no unfinished run needs any more."""

from __future__ import annotations

import shutil
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from skillgit.cli.app.invocation import Invocation
from skillgit.cli.sessions.runs import Runs
from skillgit.cli.show.output import count
from skillgit.errors import UserError
from skillgit.models.journal import Journal
from skillgit.records import Action
from skillgit.store.git.inspection import private_files
from skillgit.store.git.names import run_ref
from skillgit.store.git.private import FOLDER
from skillgit.store.git.repository import Repository

ANSWERS, SESSIONS, TEXTS = "answers", "sessions", "texts"
_FOLDERS = {SESSIONS: ("harvest", "handoff"), TEXTS: ("proposals", "logs")}


@dataclass(frozen=True)
class StoredData:
    """One kind of what is kept; `size` is of what may go, `kept` says what may not, and why.

    Unit: bytes.
    """

    kind: str
    about: str
    size: int
    kept: str = ""


class PrivateData:
    """The private folder of one repository, gone through."""

    def __init__(self, repository: Repository, invocation: Invocation) -> None:
        self._repository = repository
        self._invocation = invocation
        self._folder = repository.common / FOLDER
        self._runs = Runs(repository, invocation)
        self._refs = repository.refs(invocation.clock, invocation.typed("forget"))

    def stored(self) -> list[StoredData]:
        """What there is, and how much of it may go."""
        sizes = {path.name: size for path, size in private_files(self._repository)}
        night = self._unfinished_night()
        kept = f"{night} has not ended" if night else ""

        def of(kind: str) -> int:
            return sum(sizes.get(name, 0) for name in _FOLDERS[kind])

        return [
            self._answers(),
            StoredData(
                SESSIONS,
                "what was read of agent sessions, the tasks mined from it, questions handed off",
                0 if night else of(SESSIONS),
                kept,
            ),
            StoredData(TEXTS, "the texts of pull requests, logs of nights, traces", of(TEXTS)),
        ]

    def refuse_needed(self, kinds: Collection[str]) -> None:
        """Nothing, unless an unfinished night needs one of these kinds.

        Raises: UserError.
        """
        night = self._unfinished_night()
        if SESSIONS in kinds and night:
            raise UserError(
                f"{night} has not ended, and needs what was read for it",
                hint=f"{self._invocation.typed('sleep')} ends it; then forget.",
            )

    def forget(self, kind: str) -> None:
        """Let go of one kind.

        Raises: UserError when a file cannot be removed; ConflictError while the journal is in use.
        """
        if kind == ANSWERS:
            with self._journal() as journal:
                for scope in self._ended(journal):
                    journal.forget(scope)
                journal.compact()
            return
        for name in _FOLDERS[kind]:
            _remove(self._folder / name)

    def _answers(self) -> StoredData:
        about = "answers of models and programs, word for word"
        if not (self._folder / "journal.sqlite").is_file():
            return StoredData(ANSWERS, about, 0)
        with self._journal() as journal:
            sizes, ended = journal.sizes(), self._ended(journal)
        kept = [scope for scope in sizes if scope not in ended]
        why = f"{count(len(kept), 'run')} not ended" if kept else ""
        return StoredData(ANSWERS, about, sum(sizes[scope][1] for scope in ended), why)

    def _ended(self, journal: Journal) -> list[str]:
        """The scopes whose answers nothing will ask for: runs that have ended or are gone."""
        heads = {head.run_id: head.name for head in journal.runs()}
        return [
            scope
            for scope in journal.sizes()
            if scope not in heads or self._is_over(heads[scope], scope)
        ]

    def _is_over(self, run: str, run_id: str) -> bool:
        """Whether a run has ended, or was there and is no more."""
        if not self._runs.has(run):
            return bool(self._refs.announced(run_ref(run)))
        tip = next(iter(self._runs.history(run)))
        return tip.state.run_id != run_id or tip.action is Action.END

    def _unfinished_night(self) -> str | None:
        plans = sorted((self._folder / "nights").glob("night-*.json"))
        return plans[0].stem if plans else None

    def _journal(self) -> Journal:
        return Journal(self._repository.private.journal, durable=True)


def _remove(folder: Path) -> None:
    try:
        shutil.rmtree(folder)
    except FileNotFoundError:
        return
    except OSError as error:
        raise UserError(f"{error.filename} cannot be removed: {error.strerror}") from error
