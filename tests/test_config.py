from __future__ import annotations

import pytest

from skillgit.config import Style, parse_config, parse_configs
from skillgit.errors import ConfigError

MODELS = """
[target]
provider = "simulated"
model = "t"
[optimizer]
provider = "simulated"
model = "o"
"""
SHARED = '[tasks]\npath = "tasks.jsonl"\nratio = [0.4, 0.4, 0.2]\n'
ONE = '[skill]\npath = "SKILL.md"\n'
TWO = """
[[skill]]
path = "a/SKILL.md"
[[skill]]
path = "b/SKILL.md"
name = "bee"
files = ["*.md"]
tasks = "b.jsonl"
"""


def refused(text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        parse_configs(text)
    return caught.value.message


def test_one_skill_is_one_configuration() -> None:
    (config,) = parse_configs(ONE + SHARED + MODELS)
    assert config == parse_config(ONE + SHARED + MODELS)
    assert config.tasks.path == "tasks.jsonl"


def test_one_skill_in_brackets_of_two_is_the_same_configuration() -> None:
    assert parse_configs(ONE.replace("[skill]", "[[skill]]") + SHARED + MODELS) == parse_configs(
        ONE + SHARED + MODELS
    )


def test_several_skills_differ_in_skill_and_tasks_alone() -> None:
    first, second = parse_configs(TWO + SHARED + MODELS)
    assert (first.skill.path, second.skill.path) == ("a/SKILL.md", "b/SKILL.md")
    assert (first.tasks.path, second.tasks.path) == ("tasks.jsonl", "b.jsonl")
    assert second.tasks.ratio == (0.4, 0.4, 0.2)
    alone = {"skill", "tasks"}
    assert first.model_dump(exclude=alone) == second.model_dump(exclude=alone)
    assert parse_config(TWO + SHARED + MODELS) == first


def test_where_every_skill_has_tasks_of_its_own_there_need_be_no_others() -> None:
    text = TWO.replace('path = "a/SKILL.md"', 'path = "a/SKILL.md"\ntasks = "a.jsonl"')
    assert [config.tasks.path for config in parse_configs(text + MODELS)] == ["a.jsonl", "b.jsonl"]


def test_tables_of_skills_may_stand_anywhere() -> None:
    text = '[[skill]]\npath = "a"\n' + SHARED + MODELS + '[[skill]]\npath = "b"\n'
    assert [config.skill.path for config in parse_configs(text)] == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (TWO + MODELS, "'tasks' is missing"),
        ("skill = []\n" + SHARED + MODELS, "'skill' is missing"),
        (SHARED + MODELS, "'skill' is missing"),
        ('skill = "SKILL.md"\n' + SHARED + MODELS, "skill: "),
        ("skill = [1]\n" + SHARED + MODELS, "skill: "),
        (TWO.replace("name =", "nam =") + SHARED + MODELS, "[[skill]] 2: unknown key 'skill.nam'"),
        (TWO.replace("b/SKILL.md", "x/../a/SKILL.md") + SHARED + MODELS, "two [[skill]] have"),
        (ONE + TWO + SHARED + MODELS, "is not valid TOML"),
        (TWO.replace('"b.jsonl"', "3") + SHARED + MODELS, "[[skill]] 2: skill.tasks"),
        ("tasks = 3\n" + TWO + MODELS, "tasks: "),
    ],
)
def test_what_is_wrong_is_said_once_and_with_the_skill(text: str, said: str) -> None:
    message = refused(text)
    assert said in message
    assert message.count(said) == 1


def test_the_rule_that_was_called_pace_is_read_as_betting() -> None:
    tables = '[gate]\nrule = "pace"\n[sleep]\nrule = "pace"\n'
    config = parse_config(MODELS + SHARED + ONE + tables)
    assert config.gate.rule == config.sleep.gate.rule == "betting"


def test_the_optimizer_alone_has_a_style_and_the_full_one_unless_told() -> None:
    plain = MODELS.replace('model = "o"', 'model = "o"\nstyle = "plain"')
    assert parse_config(ONE + SHARED + MODELS).optimizer.style is Style.FULL
    assert parse_config(ONE + SHARED + plain).optimizer.style is Style.PLAIN
    for_target = MODELS.replace('model = "t"', 'model = "t"\nstyle = "plain"')
    assert "target: a style is for the optimizer" in refused(ONE + SHARED + for_target)
    judge = '[judge]\nprovider = "simulated"\nmodel = "j"\nstyle = "plain"\n'
    assert "judge: a style is for the optimizer" in refused(ONE + SHARED + MODELS + judge)
    assert "style" in refused(ONE + SHARED + plain.replace('"plain"', '"terse"'))


@pytest.mark.parametrize(
    ("table", "key"),
    [
        ('[train]\nupdate_mode = "rewrite_from_suggestions"\n', "train.update_mode"),
        ("[reflect]\nskill_aware = true\n", "reflect.skill_aware"),
        ('[lr]\nmode = "autonomous"\n', "lr.mode"),
    ],
)
def test_the_plain_style_goes_with_no_calls_but_its_own(table: str, key: str) -> None:
    plain = MODELS.replace("[optimizer]", '[optimizer]\nstyle = "plain"')
    assert plain != MODELS
    assert key in refused(ONE + SHARED + plain + table)
    looks_back = parse_config(ONE + SHARED + plain).looks_back
    assert not any(looks_back)
    assert parse_config(ONE + SHARED + MODELS).looks_back.slow_update
