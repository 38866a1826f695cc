"""A skill's documents as they stand in the work tree, committed or not."""

from __future__ import annotations

from pathlib import Path

import pygit2

from skillgit.config import SkillConfig
from skillgit.errors import RepositoryError
from skillgit.records import Skill, SkillDocument
from skillgit.store.git.refs import GIT_ERRORS
from skillgit.store.git.repository import Repository
from skillgit.store.git.trees import clean_path
from skillgit.store.skills.skills import is_more_of, name_of


def working_skill(repository: Repository, config: SkillConfig) -> Skill:
    """The skill that a commit of the work tree's files would hold, links followed.

    Git's own conversions (line ends) are made, so that the object is the one a commit would have.
    Raises: RepositoryError in a bare repository, and when there is no such document.
    """
    workdir = repository.workdir
    if workdir is None:
        raise RepositoryError("a bare repository has no work tree to take the skill from")
    main = _resolved(workdir, clean_path(config.path))
    paths = [main, *(p for p in _more_paths(repository, workdir, main, config) if p != main)]
    documents = tuple(SkillDocument(path=path, data=_converted(repository, path)) for path in paths)
    return Skill(name=name_of(config, documents[0]), documents=documents)


def _resolved(workdir: Path, path: str) -> str:
    try:
        real = (workdir / path).resolve(strict=True)
        inside = real.relative_to(workdir.resolve()).as_posix()
    except (OSError, ValueError, RuntimeError) as error:
        raise RepositoryError(f"there is no {path} in the work tree") from error
    if not real.is_file():
        raise RepositoryError(f"{path} is no file in the work tree")
    return inside


def _more_paths(repository: Repository, workdir: Path, main: str, config: SkillConfig) -> list[str]:
    if not config.files:
        return []
    found = set()
    for file in (workdir / main).parent.rglob("*"):
        path = file.relative_to(workdir).as_posix()
        wanted = is_more_of(path, main, config.files)
        if wanted and file.is_file() and not repository.git.path_is_ignored(path):
            found.add(_resolved(workdir, path))
    return sorted(found)


def _converted(repository: Repository, path: str) -> bytes:
    try:
        blob = repository.git[repository.git.create_blob_fromworkdir(path)].peel(pygit2.Blob)
    except GIT_ERRORS as error:
        raise RepositoryError(f"{path} cannot be read from the work tree: {error}") from error
    return blob.data
