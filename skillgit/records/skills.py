"""The documents that are trained."""

from __future__ import annotations

from skillgit.records.base import Record


class SkillDocument(Record):
    """One document of a skill: its path from the repository's root, and its bytes."""

    path: str
    data: bytes


class Skill(Record):
    """The documents being trained, in path order except that the main one stands first."""

    name: str
    documents: tuple[SkillDocument, ...]

    @property
    def main(self) -> SkillDocument:
        """The document that the alias `skill` means."""
        return self.documents[0]

    def with_document(self, path: str, data: bytes) -> Skill:
        """This skill with one document's bytes replaced."""
        documents = tuple(
            SkillDocument(path=d.path, data=data) if d.path == path else d for d in self.documents
        )
        return Skill(name=self.name, documents=documents)
