"""A skill's documents in git: read from a commit, and the object that stands for them."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import pygit2

from skillgit.errors import ConfigError, RepositoryError
from skillgit.records import Skill, SkillDocument
from skillgit.store.git.names import skill_name
from skillgit.store.git.repository import Repository
from skillgit.store.git.trees import (
    clean_path,
    commit_at,
    files_under,
    read_blob,
    replace_files,
    resolve_path,
    tree_of,
)

if TYPE_CHECKING:
    from skillgit.config import SkillConfig

_FRONTMATTER = re.compile(
    rb"\A(?:\xef\xbb\xbf)?---[ \t]*\r?\n(.*?)^---[ \t]*\r?$", re.DOTALL | re.MULTILINE
)


def read_skill(git: pygit2.Repository, tree: pygit2.Tree, config: SkillConfig) -> Skill:
    """The skill's documents as they stand in a tree, links followed.

    Raises: FileNotFoundError when the main document is not there; RepositoryError.
    """
    main = resolve_path(git, tree, config.path)
    paths = [main, *(p for p in _more_paths(git, tree, main, config.files) if p != main)]
    documents = tuple(
        SkillDocument(path=path, data=read_blob(git, tree, path).data) for path in paths
    )
    return Skill(name=name_of(config, documents[0]), documents=documents)


def committed_skill(repository: Repository, config: SkillConfig, onto: str) -> Skill:
    """The skill as it is committed on the branch that runs start from.

    Raises: RepositoryError, with what to type, when it is not committed there.
    """
    tree = tree_of(repository.onto_commit(onto))
    try:
        return read_skill(repository.git, tree, config)
    except FileNotFoundError as error:
        raise _not_committed(repository, clean_path(config.path), onto) from error
    except pygit2.GitError as error:
        raise RepositoryError(f"{config.path} cannot be read on {onto}: {error}") from error


def _not_committed(repository: Repository, path: str, onto: str) -> RepositoryError:
    workdir = repository.workdir
    if workdir is None or not (workdir / path).exists():
        return RepositoryError(
            f"there is no {path} on {onto}",
            hint="Set path in [skill] of skillgit.toml to the skill's document.",
        )
    commit = f'git add {path} && git commit -m "Add the skill"'
    head = repository.git.references.get("HEAD")
    on_onto = head is not None and head.target == f"refs/heads/{onto}"
    return RepositoryError(
        f"{path} is not committed on {onto}",
        hint=commit if on_onto else f"git switch {onto}, then {commit}",
    )


def _more_paths(
    git: pygit2.Repository, tree: pygit2.Tree, main: str, globs: tuple[str, ...]
) -> list[str]:
    if not globs:
        return []
    found = set()
    for path in files_under(tree, posixpath.dirname(main)):
        if is_more_of(path, main, globs):
            with suppress(FileNotFoundError):
                found.add(resolve_path(git, tree, path))
    return sorted(found)


def is_more_of(path: str, main: str, globs: Iterable[str]) -> bool:
    """Whether a path is that of a further document of the skill whose main document is `main`."""
    folder = posixpath.dirname(main)
    if folder and not path.startswith(f"{folder}/"):
        return False
    inside = path[len(folder) + 1 :] if folder else path
    return any(matches_glob(inside, glob) for glob in globs)


def matches_glob(path: str, glob: str) -> bool:
    """Whether a path, seen from the main document's folder, is one that a glob means."""
    return _glob_pattern(posixpath.normpath(glob)).fullmatch(path) is not None


@lru_cache(maxsize=64)
def _glob_pattern(glob: str) -> re.Pattern[str]:
    """`*` and `?` stay within a folder, `**/` goes through any number of them."""
    words = re.split(r"(\*\*/|\*\*|\*|\?)", glob)
    meaning = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return re.compile("".join(meaning.get(w) or re.escape(w) for w in words), re.DOTALL)


def name_of(config: SkillConfig, main: SkillDocument) -> str:
    """The skill's name: as configured, else its frontmatter's, else its folder's."""
    path = PurePosixPath(main.path)
    folder = path.parent.name or path.stem
    return skill_name(config.name, _frontmatter_name(main.data), folder)


def skill_names(
    repository: Repository, skills: Sequence[SkillConfig], onto: str
) -> tuple[str, ...]:
    """The names of several skills as their documents are committed on `onto`.

    A skill that is not committed there yet goes by its file in the work tree, or by its folder.
    Shape: a name for each, in order.
    Raises: ConfigError when two have the same name.
    """
    names = tuple(name_of(skill, _main_document(repository, skill, onto)) for skill in skills)
    for name, skill in zip(names, skills, strict=True):
        if names.count(name) > 1:
            raise ConfigError(
                f"two skills are called {name!r}, one of them {skill.path}",
                hint='Give each [[skill]] of skillgit.toml a name = "…" of its own.',
            )
    return names


def _main_document(repository: Repository, skill: SkillConfig, onto: str) -> SkillDocument:
    path = clean_path(skill.path)
    with suppress(FileNotFoundError, RepositoryError, pygit2.GitError):
        tree = tree_of(repository.onto_commit(onto))
        path = resolve_path(repository.git, tree, path)
        return SkillDocument(path=path, data=read_blob(repository.git, tree, path).data)
    with suppress(OSError):
        return SkillDocument(path=path, data=repository.read_project_file(path))
    return SkillDocument(path=path, data=b"")


def _frontmatter_name(data: bytes) -> str | None:
    matched = _FRONTMATTER.match(data)
    if matched is None:
        return None
    import yaml  # a command that only reads a run's commits starts sooner without

    try:
        front = yaml.safe_load(matched[1].decode("utf-8", "replace"))
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    name = front.get("name") if isinstance(front, dict) else None
    return name if isinstance(name, str) else None


def skill_object(git: pygit2.Repository, skill: Skill) -> str:
    """The object evaluated: the blob of one document, or a tree of several under their paths."""
    if len(skill.documents) == 1:
        return str(pygit2.hash(skill.main.data))
    return str(replace_files(git, None, {d.path: d.data for d in skill.documents}))


def skill_in_commit(git: pygit2.Repository, commit_id: str, config: SkillConfig) -> Skill:
    """The skill's documents as they stand in a commit.

    Raises: RepositoryError when the commit or its skill is not there.
    """
    commit = commit_at(git, commit_id)
    try:
        return read_skill(git, tree_of(commit), config)
    except FileNotFoundError as error:
        raise RepositoryError(f"there is no {config.path} in commit {commit_id[:12]}") from error


def tree_with(git: pygit2.Repository, parent: pygit2.Tree, skill: Skill) -> pygit2.Oid:
    """The parent's tree with only the skill's paths replaced."""
    return replace_files(git, parent, {d.path: d.data for d in skill.documents})
