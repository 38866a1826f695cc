from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from skillgit.config import Config
from skillgit.config.trust import TrustFile, demands, untrusted
from skillgit.errors import UserError

LAB = "http://lab.example/v1"


def config(**target: Any) -> Config:
    return Config.model_validate(
        {
            "skill": {"path": "SKILL.md"},
            "tasks": {"path": "tasks.jsonl"},
            "target": {"model": "m", **target},
            "optimizer": {"model": "o"},
        }
    )


@pytest.mark.parametrize(
    "target",
    [
        {},
        {"base_url": "https://api.openai.com/v1"},
        {"base_url": LAB, "api_key_env": None},
        {"base_url": LAB, "api_key_env": ""},
        {"provider": "simulated", "base_url": LAB},
    ],
)
def test_a_key_at_home_or_no_key_needs_no_trust(target: dict[str, Any]) -> None:
    assert untrusted(config(**target), frozenset()) == []


@pytest.mark.parametrize(
    "target",
    [
        {"base_url": LAB},
        {"base_url": "http://127.0.0.1:8000/v1"},
        {"api_key_env": "AWS_SECRET_ACCESS_KEY"},
        {"base_url": "https://api.openai.com/v1", "api_key_env": "AWS_SECRET_ACCESS_KEY"},
        {"base_url": "https://api.openai.com/v1@evil.example"},
        {"base_url": "https://api.openai.com@evil.example/v1"},
        {"base_url": "http://api.openai.com/v1"},
    ],
)
def test_a_key_sent_elsewhere_needs_trust(target: dict[str, Any]) -> None:
    (asked,) = untrusted(config(**target), frozenset())
    assert asked.line.startswith("target: send the key in ")
    assert untrusted(config(**target), {asked.fingerprint}) == []


def test_trust_is_in_the_values_not_in_the_file() -> None:
    (asked,) = demands(config(base_url=LAB))
    for change in ({"base_url": f"{LAB}/"}, {"base_url": LAB, "api_key_env": "OTHER"}):
        assert len(untrusted(config(**change), {asked.fingerprint})) == 1
    assert untrusted(config(base_url=LAB, model="another"), {asked.fingerprint}) == []


def test_two_roles_with_the_same_values_ask_once() -> None:
    both = config(base_url=LAB)
    both = both.model_copy(update={"optimizer": both.target})
    assert len(demands(both)) == 1


def test_a_line_shows_where_the_key_goes_and_nothing_that_deceives() -> None:
    (asked,) = demands(config(base_url="https://api.openai.com:pw@evil.example/v1\x1b[2K"))
    assert asked.line == (
        "target: send the key in OPENAI_API_KEY to https://evil.example/v1\\x1b[2K"
    )


def test_what_was_agreed_to_is_kept(tmp_path: Path) -> None:
    file = TrustFile(tmp_path / "skillgit" / "trust.json")
    assert file.read() == frozenset()
    file.add(demands(config(base_url=LAB)))
    file.add(demands(config(api_key_env="OTHER")))
    trusted = TrustFile(tmp_path / "skillgit" / "trust.json").read()
    assert untrusted(config(base_url=LAB), trusted) == []
    assert untrusted(config(api_key_env="OTHER"), trusted) == []
    assert [p.name for p in (tmp_path / "skillgit").iterdir()] == ["trust.json"]
    assert stat.S_IMODE((tmp_path / "skillgit" / "trust.json").stat().st_mode) == 0o600


def test_the_file_says_what_was_agreed_to(tmp_path: Path) -> None:
    TrustFile(tmp_path / "trust.json").add(demands(config(base_url=LAB)))
    stored = json.loads((tmp_path / "trust.json").read_text())
    assert list(stored["trusted"].values()) == [f"target: send the key in OPENAI_API_KEY to {LAB}"]


@pytest.mark.parametrize("text", ["", "[]", "{", '{"v":1}', '{"v":1,"trusted":["x"]}', "\x00"])
def test_a_damaged_file_trusts_nothing_and_says_so(tmp_path: Path, text: str) -> None:
    path = tmp_path / "trust.json"
    path.write_text(text)
    with pytest.raises(UserError, match=r"trust\.json") as caught:
        TrustFile(path).read()
    assert "skillgit trust" in caught.value.hint


def agent(*command: str, env: tuple[str, ...] = ()) -> Config:
    return config(provider="command", command=list(command), env=list(env))


def test_a_program_that_is_the_target_needs_trust_and_what_it_sees_is_said() -> None:
    (asked,) = demands(agent("python3", "agent.py", "two words", env=("TOKEN",)))
    assert asked.line == "target: run python3 agent.py 'two words', which sees TOKEN"
    assert untrusted(agent("python3", "agent.py", "two words"), {asked.fingerprint})


def test_a_command_judge_needs_trust() -> None:
    (asked,) = demands(config(), [(("sh", "check.sh"), ())])
    assert asked.line == "judge: run sh check.sh"
    assert untrusted(config(), {asked.fingerprint}, [(("sh", "check.sh"), ())]) == []
    assert untrusted(config(), {asked.fingerprint}, [(("sh", "other.sh"), ())])
    assert untrusted(config(), {asked.fingerprint}, [(("sh", "check.sh"), ("OPENAI_API_KEY",))])


def test_a_program_whose_content_has_changed_asks_again() -> None:
    (asked,) = demands(agent("a.py"), digest_of=lambda _: "before")
    assert untrusted(agent("a.py"), {asked.fingerprint}, digest_of=lambda _: "before") == []
    assert untrusted(agent("a.py"), {asked.fingerprint}, digest_of=lambda _: "after")


def test_a_judge_models_key_needs_trust_like_any_other() -> None:
    judged = config().model_copy(update={"judge": config(base_url=LAB).target})
    (asked,) = demands(judged)
    assert asked.line.startswith("judge: send the key in OPENAI_API_KEY to http://lab.example")
