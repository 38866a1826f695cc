"""The private folder in the common git dir: what a run keeps outside of objects and refs.

Nothing in it is ever committed, and it is safe to delete when no run is unfinished.
"""

from __future__ import annotations

from pathlib import Path

from skillgit.errors import RepositoryError

FOLDER = "skillgit"


def common_dir(git_dir: Path) -> Path:
    """The git dir that all work trees of a repository share."""
    pointer = git_dir / "commondir"
    if not pointer.is_file():
        return git_dir
    return (git_dir / pointer.read_text(encoding="utf-8").strip()).resolve()


class PrivateFolder:
    """The paths of what is kept there; folders are made, for the owner alone, when asked for."""

    def __init__(self, common: Path) -> None:
        self._path = common / FOLDER

    @property
    def path(self) -> Path:
        """The folder itself.

        Raises: RepositoryError when it cannot be made.
        """
        return _made(self._path)

    @property
    def journal(self) -> Path:
        """The journal of paid calls."""
        return self.path / "journal.sqlite"

    @property
    def trust(self) -> Path:
        """What the user has said may be run or sent a key."""
        return self.path / "trust.json"

    @property
    def moves(self) -> Path:
        """One line for each ref move, written before it."""
        return self.path / "moves.jsonl"

    @property
    def locks(self) -> Path:
        """The folder of the locks that runs are held by."""
        return self._folder("locks")

    @property
    def logs(self) -> Path:
        """The folder of traces and of what is too long for a note."""
        return self._folder("logs")

    @property
    def harvest(self) -> Path:
        """The folder of digests of agent sessions, and of the tasks mined from them."""
        return self._folder("harvest")

    @property
    def proposals(self) -> Path:
        """The folder of the texts that pull requests were opened with."""
        return self._folder("proposals")

    @property
    def nights(self) -> Path:
        """The folder of what nights that have not ended go by."""
        return self._folder("nights")

    @property
    def handoff(self) -> Path:
        """The folder of questions that wait for answers."""
        return self._folder("handoff")

    def _folder(self, name: str) -> Path:
        return _made(self.path / name)


def _made(folder: Path) -> Path:
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise RepositoryError(
            f"{folder} cannot be made: {error.strerror}",
            hint="A run writes to the repository: see who owns its git dir, and whether it is full.",
        ) from error
    return folder
