from __future__ import annotations

import pytest

from skillgit.config import SkillConfig
from skillgit.errors import RepositoryError
from skillgit.store.skills.skills import committed_skill

SKILL = "skills/brief/SKILL.md"


@pytest.fixture
def commit(repo, git):
    """Commits files and links, and opens a store on them."""

    def make(files: dict[str, bytes], links: dict[str, str] | None = None) -> None:
        for path, data in files.items():
            (repo / path).parent.mkdir(parents=True, exist_ok=True)
            (repo / path).write_bytes(data)
        for path, target in (links or {}).items():
            (repo / path).parent.mkdir(parents=True, exist_ok=True)
            (repo / path).symlink_to(target)
        git("add", ".")
        git("commit", "-q", "-m", "files")

    return make


def paths_of(store) -> list[str]:
    return [document.path for document in store.committed_skill("main").documents]


def test_more_documents_are_globs_from_the_main_ones_folder_in_path_order(commit, open_store):
    commit(
        {
            SKILL: b"main\n",
            "skills/brief/references/b.md": b"b\n",
            "skills/brief/references/a.md": b"a\n",
            "skills/brief/references/deep/c.md": b"c\n",
            "skills/brief/x.txt": b"x\n",
            "skills/other/references/z.md": b"z\n",
        }
    )
    folder = "skills/brief/references"
    assert paths_of(open_store(files=["references/*.md"])) == [
        SKILL,
        f"{folder}/a.md",
        f"{folder}/b.md",
    ]
    every = [SKILL, f"{folder}/a.md", f"{folder}/b.md", f"{folder}/deep/c.md"]
    assert paths_of(open_store(files=["**/*.md"])) == every
    assert paths_of(open_store(files=["references/?.md", "./references/b.md"])) == every[:3]
    assert paths_of(open_store(files=["nothing/*"])) == [SKILL]


def test_globs_at_the_root_start_at_the_root(commit, open_store):
    commit({"CLAUDE.md": b"main\n", "docs/a.md": b"a\n", "b.md": b"b\n"})
    assert paths_of(open_store(path="CLAUDE.md", files=["*.md"])) == ["CLAUDE.md", "b.md"]


def test_several_documents_are_replaced_in_one_tree(commit, open_store, train, git):
    commit({SKILL: b"main\n", "skills/brief/references/a.md": b"a\n", "other": b"o\n"})
    store = open_store(files=["references/*.md"])
    trainer = train("train-1", store)
    trainer.begin()
    changed = trainer.skill.with_document("skills/brief/references/a.md", b"A\n")
    changed = changed.with_document(SKILL, b"MAIN\n")
    trainer.skill = changed
    commit_id = trainer.accept("MAIN\n", 0.5).id
    assert store.skill_at(commit_id) == changed
    assert git("diff", "--name-only", "main", commit_id).split() == [
        SKILL,
        "skills/brief/references/a.md",
    ]
    tree = store.object_id(changed)
    assert git("ls-tree", "-r", "--name-only", tree).split() == [
        SKILL,
        "skills/brief/references/a.md",
    ]
    assert git("cat-file", "blob", f"{tree}:{SKILL}") == "MAIN\n"


def test_one_document_is_its_blob(store, git):
    skill = store.committed_skill("main")
    assert store.object_id(skill) == git("rev-parse", f"main:{SKILL}").strip()


def test_a_link_is_followed_and_stays_a_link(commit, open_store, train, git):
    commit({"AGENTS.md": b"# Agents\n"}, {"CLAUDE.md": "AGENTS.md"})
    trainer = train("train-1", open_store(path="CLAUDE.md"))
    assert trainer.skill.main.path == "AGENTS.md"
    trainer.begin()
    tip = trainer.accept("# Better\n", 0.5)
    assert git("show", f"{tip.id}:AGENTS.md") == "# Better\n"
    assert git("ls-tree", tip.id, "CLAUDE.md").startswith("120000 ")
    assert git("show", f"{tip.id}:CLAUDE.md") == "AGENTS.md"


def test_links_of_folders_and_links_to_links_are_followed(commit, open_store):
    commit(
        {"real/deep/SKILL.md": b"x\n"},
        {"skills/brief": "../real/deep", "again": "skills/brief/SKILL.md"},
    )
    assert paths_of(open_store()) == ["real/deep/SKILL.md"]
    assert paths_of(open_store(path="again")) == ["real/deep/SKILL.md"]


@pytest.mark.parametrize(
    ("target", "said"),
    [("../../../outside", "outside"), ("/etc/passwd", "outside"), ("SKILL.md", "circle")],
)
def test_a_link_that_leads_nowhere_is_refused(commit, open_store, target, said):
    commit({"a": b"a\n"}, {SKILL: target})
    with pytest.raises(RepositoryError, match=said):
        open_store().committed_skill("main")


def test_a_dangling_link_among_more_documents_is_left_out(commit, open_store):
    commit({SKILL: b"x\n"}, {"skills/brief/gone.md": "nothing.md"})
    assert paths_of(open_store(files=["*.md"])) == [SKILL]


def test_an_executable_document_stays_executable(repo, commit, open_store, train, git):
    commit({SKILL: b"x\n"})
    git("update-index", "--chmod=+x", SKILL)
    git("commit", "-q", "-m", "x")
    trainer = train("train-1", open_store())
    trainer.begin()
    tip = trainer.accept("# Better\n", 0.5)
    assert git("ls-tree", "-r", tip.id, SKILL).startswith("100755 ")


def test_a_folder_is_no_document(commit, open_store):
    commit({SKILL: b"x\n"})
    with pytest.raises(RepositoryError, match="is a folder") as caught:
        open_store(path="skills/brief").committed_skill("main")
    assert "skills/brief/SKILL.md" in caught.value.hint


def test_a_file_is_no_folder(commit, open_store):
    commit({"skills": b"x\n"})
    with pytest.raises(RepositoryError, match=f"there is no {SKILL} on main"):
        open_store().committed_skill("main")


def test_a_document_in_a_submodule_is_another_repositorys(commit, open_store, git):
    commit({"a": b"a\n"})
    head = git("rev-parse", "HEAD").strip()
    git("update-index", "--add", "--cacheinfo", f"160000,{head},skills/brief")
    git("commit", "-q", "-m", "sub")
    with pytest.raises(RepositoryError, match="submodule"):
        open_store().committed_skill("main")


def test_a_skill_that_is_not_committed_is_refused_with_what_to_type(repo, commit, open_store, git):
    commit({"a": b"a\n"})
    (repo / SKILL).parent.mkdir(parents=True)
    (repo / SKILL).write_bytes(b"x\n")
    for staged in (False, True):
        if staged:
            git("add", SKILL)
        with pytest.raises(RepositoryError, match="is not committed on main") as caught:
            open_store().committed_skill("main")
        assert caught.value.hint == f'git add {SKILL} && git commit -m "Add the skill"'
    git("switch", "-q", "-c", "side")
    with pytest.raises(RepositoryError) as caught:
        open_store().committed_skill("main")
    assert caught.value.hint.startswith("git switch main, then git add")


def test_a_skill_that_is_nowhere_is_another_sentence(commit, open_store):
    commit({"a": b"a\n"})
    with pytest.raises(RepositoryError, match=f"there is no {SKILL} on main"):
        open_store().committed_skill("main")


@pytest.mark.parametrize("path", ["../x.md", "/x.md", ".git/config", "."])
def test_a_path_out_of_the_repository_is_refused(commit, open_store, path):
    commit({"a": b"a\n"})
    with pytest.raises(RepositoryError, match="no path"):
        open_store(path=path).committed_skill("main")


def test_a_path_is_cleaned(commit, open_store):
    commit({SKILL: b"x\n"})
    assert paths_of(open_store(path=f"./{SKILL}")) == [SKILL]


def test_names_in_other_scripts_and_bytes_of_any_kind(commit, open_store, train, git):
    path = "навыки/краткий обзор/SKILL.md"
    data = b"\xef\xbb\xbf---\r\nname: x\r\n---\r\n\x00\xff no end"
    commit({path: data})
    trainer = train("train-1", open_store(path=path))
    assert trainer.skill.main.data == data
    trainer.begin()
    tip = trainer.accept("обзор\n", 0.5)
    assert git("show", f"{tip.id}:{path}") == "обзор\n"


@pytest.mark.parametrize(
    ("path", "data", "given", "name"),
    [
        (SKILL, b"x\n", None, "brief"),
        (SKILL, b"---\nname: Brief Writer\n---\nx\n", None, "brief-writer"),
        (SKILL, b"\xef\xbb\xbf---\r\nname: bom\r\n---\r\nx\n", None, "bom"),
        (SKILL, b"---\nname: [1, 2]\n---\nx\n", None, "brief"),
        (SKILL, b"---\nname: {broken\n---\nx\n", None, "brief"),
        (SKILL, b"---\nname: a\n---\nx\n", "given", "given"),
        (SKILL, "---\nname: 简报\n---\nx\n".encode(), None, "brief"),
        ("CLAUDE.md", b"x\n", None, "claude"),
    ],
)
def test_a_skills_name_is_given_or_from_its_frontmatter_or_its_folder(
    commit, open_store, path, data, given, name
):
    commit({path: data})
    repository = open_store().repository
    skill = committed_skill(repository, SkillConfig(path=path, name=given), "main")
    assert skill.name == name
