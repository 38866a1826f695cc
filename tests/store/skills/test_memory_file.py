from __future__ import annotations

from pathlib import Path

import pygit2
import pytest
from conftest import Git

from skillgit.records import Skill, SkillDocument
from skillgit.store.skills.memory_file import memory_file_for, memory_path, with_memory


@pytest.fixture
def tree(repo: Path, git: Git) -> pygit2.Tree:
    (repo / "CLAUDE.md").write_text("@AGENTS.md\n")
    (repo / "AGENTS.md").write_text("# Rules\n")
    git("add", "--all")
    git("commit", "--quiet", "-m", "start")
    return opened(repo).revparse_single("HEAD").peel(pygit2.Tree)


def opened(repo: Path) -> pygit2.Repository:
    return pygit2.Repository(str(repo))


def skill(path: str) -> Skill:
    return Skill(name="s", documents=(SkillDocument(path=path, data=b"x"),))


def test_a_file_that_only_refers_to_another_is_that_other(repo: Path, tree: pygit2.Tree) -> None:
    assert memory_path(opened(repo), tree, ()) == "AGENTS.md"


def test_a_document_of_the_skill_is_no_memory(repo: Path, tree: pygit2.Tree) -> None:
    assert memory_path(opened(repo), tree, ["AGENTS.md"]) is None
    assert memory_file_for(opened(repo), tree, skill("AGENTS.md"), "CLAUDE.md") is None


def test_the_memory_is_the_skills_last_document(repo: Path, tree: pygit2.Tree) -> None:
    both = with_memory(opened(repo), tree, skill("skills/s/SKILL.md"))
    assert [d.path for d in both.documents] == ["skills/s/SKILL.md", "AGENTS.md"]
    assert both.documents[1].data == b"# Rules\n"


def test_where_there_is_none_the_wish_holds_unless_its_name_is_taken(repo: Path, git: Git) -> None:
    (repo / "CLAUDE.md").symlink_to("nowhere.md")
    git("add", "--all")
    git("commit", "--quiet", "-m", "start")
    tree = opened(repo).revparse_single("HEAD").peel(pygit2.Tree)
    assert memory_file_for(opened(repo), tree, skill("s.md"), "AGENTS.md") == "AGENTS.md"
    assert memory_file_for(opened(repo), tree, skill("s.md"), "CLAUDE.md") is None
