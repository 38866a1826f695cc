"""The documents that are trained."""

from __future__ import annotations

from functools import cached_property

from skillgit.records.base import Record

MAIN_ALIAS = "skill"
"""What an edit may call a skill's main document."""


def path_meant(target: str, main: str) -> str:
    """The path of the document that an edit's target names, where `main` is the main document's.

    A target that is not the alias is a path itself, of a document or of none.
    """
    return main if target == MAIN_ALIAS else target


class SkillDocument(Record):
    """One document of a skill: its path from the repository's root, and its bytes."""

    path: str
    data: bytes

    @cached_property
    def text(self) -> str:
        """The bytes as text; what is not UTF-8 is replaced, so this is for reading alone."""
        return self.data.decode("utf-8", "replace")


class Skill(Record):
    """The documents being trained, in path order except that the main one stands first."""

    name: str
    documents: tuple[SkillDocument, ...]

    @property
    def main(self) -> SkillDocument:
        """The document that the alias `skill` means."""
        return self.documents[0]

    @property
    def text(self) -> str:
        """All documents' texts, one below the other."""
        return "\n".join(document.text for document in self.documents)

    @property
    def targets(self) -> tuple[str, ...]:
        """The names an edit may give a document: the alias of the main one, then every path."""
        return (MAIN_ALIAS, *(document.path for document in self.documents))

    def path_of(self, target: str) -> str | None:
        """The path of the document that an edit's target names; `None` when there is none."""
        path = path_meant(target, self.main.path)
        return path if any(document.path == path for document in self.documents) else None

    def with_document(self, path: str, data: bytes) -> Skill:
        """This skill with one document's bytes replaced."""
        documents = tuple(
            SkillDocument(path=d.path, data=data) if d.path == path else d for d in self.documents
        )
        return Skill(name=self.name, documents=documents)
