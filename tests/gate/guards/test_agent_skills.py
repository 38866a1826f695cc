from __future__ import annotations

import pytest

from skillgit.config import parse_config
from skillgit.gate.guards.agent_skills import frontmatter_guard, violations
from skillgit.records import Skill, SkillDocument

CONFIG = parse_config(
    '[skill]\npath="a"\n[tasks]\npath="t"\n[target]\nprovider="simulated"\nmodel="t"\n'
    '[optimizer]\nprovider="simulated"\nmodel="o"\n'
)


def document(front: str, path: str = "skills/brief/SKILL.md") -> SkillDocument:
    return SkillDocument(path=path, data=f"---\n{front}---\n# Brief\n".encode())


GOOD = "name: brief\ndescription: Writes briefs.\n"


def test_a_good_one_has_nothing() -> None:
    assert violations(document(GOOD)) == []


@pytest.mark.parametrize(
    ("front", "words"),
    [
        ("description: x\n", "no `name`"),
        ("name: brief\n", "no `description`"),
        ("name: Brief Writer\ndescription: x\n", "a-z, 0-9"),
        ("name: -brief\ndescription: x\n", "a-z, 0-9"),
        ("name: a--b\ndescription: x\n", "a-z, 0-9"),
        (f"name: {'a' * 65}\ndescription: x\n", "longer than 64"),
        ("name: other\ndescription: x\n", "folder, brief"),
        (f"name: brief\ndescription: {'x' * 1025}\n", "longer than 1024"),
        ("name: brief\ndescription: x\ncompatibility: ''\n", "compatibility"),
        ("name: brief\ndescription: x\nmetadata: 3\n", "metadata"),
    ],
)
def test_each_rule_is_looked_at(front: str, words: str) -> None:
    assert any(words in line for line in violations(document(front)))


def test_other_files_have_no_such_rules() -> None:
    assert violations(document("a: b\n", "CLAUDE.md")) == []
    assert violations(document("a: b\n", "skills/brief/references/x.md")) == []


def test_only_what_is_newly_broken_blocks() -> None:
    def skill(front: str) -> Skill:
        return Skill(name="s", documents=(document(front),))

    broken = "name: Brief Writer\ndescription: x\n"
    assert frontmatter_guard(skill(broken), skill(broken), [], CONFIG).refusals == ()
    assert frontmatter_guard(skill(GOOD), skill(broken), [], CONFIG).refusals == ()
    assert len(frontmatter_guard(skill(broken), skill(GOOD), [], CONFIG).refusals) == 1
    worse = f"name: Brief Writer\ndescription: {'x' * 1025}\n"
    (line,) = frontmatter_guard(skill(worse), skill(broken), [], CONFIG).refusals
    assert "description" in line
