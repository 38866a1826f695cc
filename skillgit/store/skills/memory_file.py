"""The memory file beside a skill: where agents read what holds in the whole repository.

`CLAUDE.md` goes before `AGENTS.md`. A link is followed, and so is a file that only says
`@AGENTS.md`: what is edited is where the words stand.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection

import pygit2

from skillgit.errors import RepositoryError
from skillgit.records import Skill, SkillDocument
from skillgit.store.git.trees import clean_path, read_blob, resolve_path

MEMORY_FILES = ("CLAUDE.md", "AGENTS.md")

_ONLY_REFERS = re.compile(rb"(?:\xef\xbb\xbf)?\s*@(\S+)\s*")
_MAX_REFERENCES = 4


def with_memory(git: pygit2.Repository, tree: pygit2.Tree, skill: Skill) -> Skill:
    """The skill with its repository's memory file as its last document, where there is one."""
    path = memory_path(git, tree, [document.path for document in skill.documents])
    if path is None:
        return skill
    memory = SkillDocument(path=path, data=read_blob(git, tree, path).data)
    return Skill(name=skill.name, documents=(*skill.documents, memory))


def memory_path(git: pygit2.Repository, tree: pygit2.Tree, taken: Collection[str]) -> str | None:
    """The path of the memory file's own text; `None` where there is none but the skill's documents."""
    for name in MEMORY_FILES:
        path = _text_of(git, tree, name)
        if path is not None and path not in taken:
            return path
    return None


def memory_file_for(
    git: pygit2.Repository, tree: pygit2.Tree, skill: Skill, wish: str
) -> str | None:
    """The path of the memory file beside a skill, or the wish where there is none and it can be made.

    `None` when the skill itself is the memory file, or when something else has its name.
    """
    taken = [document.path for document in skill.documents]
    found = memory_path(git, tree, taken)
    if found is not None:
        return found
    is_skill = any(_text_of(git, tree, name) in taken for name in MEMORY_FILES)
    return None if is_skill or wish in tree else wish


def _text_of(git: pygit2.Repository, tree: pygit2.Tree, name: str) -> str | None:
    """The file where a memory file's words stand; `None` where it leads to no file."""
    current = name
    for _ in range(_MAX_REFERENCES):
        try:
            path = resolve_path(git, tree, current)
            refers = _ONLY_REFERS.fullmatch(read_blob(git, tree, path).data)
            if refers is None:
                return path
            named = refers[1].decode("utf-8", "replace")
            current = clean_path(posixpath.join(posixpath.dirname(path), named))
        except (FileNotFoundError, RepositoryError):
            return None
    return None
