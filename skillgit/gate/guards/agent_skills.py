"""The frontmatter rules of the Agent Skills specification, for documents called SKILL.md.

Source: the Agent Skills specification (agentskills.io/specification), section "Frontmatter".
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from skillgit.config import Config
from skillgit.editing.document import Document
from skillgit.errors import DocumentError
from skillgit.gate.guards.objections import Objections
from skillgit.records import Skill, SkillDocument, Task

FILE = "SKILL.md"
MAX_NAME = 64
MAX_DESCRIPTION = 1024
MAX_COMPATIBILITY = 500
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


def violations(document: SkillDocument) -> list[str]:
    """What of a document's frontmatter the specification does not allow; nothing for other files."""
    path = PurePosixPath(document.path)
    if path.name != FILE:
        return []
    try:
        front = Document.parse(document.data).frontmatter
    except DocumentError as error:
        return [f"{document.path}: {error.message}"]
    found = [*_name(front, path.parent.name), *_description(front), *_others(front)]
    return [f"{document.path}: {line}" for line in found]


def frontmatter_guard(
    candidate: Skill,
    current: Skill,
    tasks: Sequence[Task],  # noqa: ARG001 - the protocol's
    config: Config,  # noqa: ARG001 - the protocol's
) -> Objections:
    """Refuse a candidate that breaks a rule which current keeps."""
    before = {line for document in current.documents for line in violations(document)}
    after = [line for document in candidate.documents for line in violations(document)]
    return Objections(refusals=tuple(line for line in after if line not in before))


def _name(front: Mapping[str, object], folder: str) -> list[str]:
    name = front.get("name")
    if not isinstance(name, str) or not name:
        return ["the frontmatter has no `name`"]
    found: list[str] = []
    if len(name) > MAX_NAME:
        found.append(f"`name` is longer than {MAX_NAME} characters")
    if not _NAME.fullmatch(name):
        found.append("`name` may only have a-z, 0-9 and single hyphens between them")
    elif folder and name != folder:
        found.append(f"`name` is not that of its folder, {folder}")
    return found


def _description(front: Mapping[str, object]) -> list[str]:
    text = front.get("description")
    if not isinstance(text, str) or not text.strip():
        return ["the frontmatter has no `description`"]
    if len(text) > MAX_DESCRIPTION:
        return [f"`description` is longer than {MAX_DESCRIPTION} characters"]
    return []


def _others(front: Mapping[str, object]) -> list[str]:
    found: list[str] = []
    if "compatibility" in front:
        text = front["compatibility"]
        if not isinstance(text, str) or not 1 <= len(text) <= MAX_COMPATIBILITY:
            found.append(f"`compatibility` has to be 1 to {MAX_COMPATIBILITY} characters of text")
    if "metadata" in front and not isinstance(front["metadata"], Mapping):
        found.append("`metadata` has to be a mapping")
    return found
