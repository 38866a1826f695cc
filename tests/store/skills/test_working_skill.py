from __future__ import annotations

from pathlib import Path

import pytest

from skillgit.config import SkillConfig
from skillgit.errors import RepositoryError
from skillgit.store.git.repository import open_repository
from skillgit.store.skills.skills import committed_skill
from skillgit.store.skills.working_skill import working_skill


def write(repo: Path, **files: str) -> None:
    for name, text in files.items():
        path = repo / name.replace("__", "/").replace("_md", ".md")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())


def test_the_files_as_they_are_not_as_they_were_committed(repo: Path, git) -> None:
    write(repo, skill__SKILL_md="# A\n")
    git("add", ".")
    git("commit", "--quiet", "-m", "A")
    write(repo, skill__SKILL_md="# B\n")
    found = working_skill(open_repository(repo), SkillConfig(path="skill/SKILL.md"))
    assert found.main.data == b"# B\n"
    assert found.name == "skill"


def test_several_documents_are_those_that_a_commit_would_hold(repo: Path, git) -> None:
    write(repo, skill__SKILL_md="# A\n", skill__references__b_md="b", skill__references__a_md="a")
    write(repo, skill__references__scratch_md="x")
    (repo / ".gitignore").write_text("scratch.md\n")
    config = SkillConfig(path="skill/SKILL.md", files=("references/*.md",))
    repository = open_repository(repo)
    found = working_skill(repository, config)
    git("add", ".")
    git("commit", "--quiet", "-m", "A")
    assert found == committed_skill(repository, config, "main")
    assert len(found.documents) == 3


def test_links_are_followed(repo: Path) -> None:
    write(repo, AGENTS_md="# A\n")
    (repo / "CLAUDE.md").symlink_to("AGENTS.md")
    found = working_skill(open_repository(repo), SkillConfig(path="CLAUDE.md"))
    assert found.main.path == "AGENTS.md"


def test_line_ends_are_those_of_a_commit(repo: Path, git) -> None:
    git("config", "core.autocrlf", "true")
    write(repo, SKILL_md="# A\r\n")
    found = working_skill(open_repository(repo), SkillConfig(path="SKILL.md"))
    assert found.main.data == b"# A\n"


@pytest.mark.parametrize("path", ["gone.md", "folder", "out.md"])
def test_what_is_no_document_in_the_work_tree_is_refused(repo: Path, path: str) -> None:
    (repo / "folder").mkdir()
    (repo.parent / "elsewhere.md").write_text("x")
    (repo / "out.md").symlink_to("../elsewhere.md")
    with pytest.raises(RepositoryError, match=path):
        working_skill(open_repository(repo), SkillConfig(path=path))
