"""The miner that asks no model: only a person's words found a task or a complaint."""

from __future__ import annotations

from transcripts import ClaudeSession, read_bytes

from skillgit.sleep.harvest import Session
from skillgit.sleep.harvest.lineage import merged
from skillgit.sleep.mine import MinedTask, mine_heuristic
from skillgit.sleep.mine.heuristic import is_request


def session(built: ClaudeSession) -> Session:
    return merged(read_bytes("claude-code", built.data, f"{built.session}.jsonl"))


def mine(*built: ClaudeSession) -> list[MinedTask]:
    return mine_heuristic([session(one) for one in built])


def test_a_correction_makes_a_task_of_the_request_before_it() -> None:
    built = ClaudeSession().user("Add a test for the parser").agent("Done with unittest.")
    built.user("no, use pytest instead of unittest").agent()
    (task,) = mine(built)
    assert task.prompt == "Add a test for the parser"
    assert task.judge.settings["checks"] == [
        {"op": "contains", "arg": "pytest", "hint": "no, use pytest instead of unittest"}
    ]
    assert [evidence.text for evidence in task.evidence] == [
        "Add a test for the parser", "no, use pytest instead of unittest",
    ]  # fmt: skip


def test_a_rule_typed_beside_a_request_is_its_judge() -> None:
    (task,) = mine(ClaudeSession().user("Add a test for the parser, always use uv here").agent())
    assert "rule" in task.tags
    assert task.judge.kind == "rule"


def test_a_complaint_that_names_nothing_becomes_a_criterion() -> None:
    built = (
        ClaudeSession().user("Write the release notes").agent().user("that is not what I asked for")
    )
    (task,) = mine(built)
    assert task.judge.kind == "rubric"
    assert "that is not what I asked for" in str(task.judge.settings)


def test_steering_is_a_complaint_without_waiting_for_an_answer() -> None:
    built = ClaudeSession().user("Write the release notes")
    prompt = {
        "type": "queued_command",
        "prompt": "stop, you forgot the version",
        "commandMode": "prompt",
    }
    built.add("attachment", attachment=prompt)
    (task,) = mine(built)
    assert "correction" in task.tags


def test_after_an_interruption_a_complaint_needs_no_answer() -> None:
    built = ClaudeSession().user("Write the release notes").user("[Request interrupted by user]")
    (task,) = mine(built.user("no, you forgot the version"))
    assert "correction" in task.tags


def test_a_complaint_before_any_request_or_answer_is_none() -> None:
    assert mine(ClaudeSession().user("no, that is wrong and you forgot it").agent()) == []
    assert mine(ClaudeSession().user("Write the release notes").agent()) == []


def test_the_same_request_again_is_a_retry_and_in_another_session_it_recurs() -> None:
    again = ClaudeSession().user("Write the release notes").agent().user("write the release notes!")
    (task,) = mine(again)
    assert "retry" in task.tags
    one, other = (
        ClaudeSession(n).user("Write the release notes for me").agent() for n in ("a", "b")
    )
    (task,) = mine(one, other)
    assert len(task.lineages) == 2


def test_equal_corrections_of_different_requests_are_two_tasks() -> None:
    built = ClaudeSession()
    for request in ("Add a test for the parser", "Write a benchmark of the lexer"):
        built.user(request).agent().user("no, use pytest instead of unittest").agent()
    assert len(mine(built)) == 2


def test_what_machines_say_founds_nothing() -> None:
    built = ClaudeSession().user("Write the release notes", isSidechain=True).agent()
    built.user("no, always use uv here", isMeta=True).result("no, that is wrong", error=True)
    built.user("you forgot it", isCompactSummary=True).user("always use uv", entrypoint="sdk-cli")
    assert mine(built) == []


def test_no_problem_is_no_complaint() -> None:
    built = ClaudeSession().user("Write the release notes").agent().user("no problem, thanks")
    assert mine(built) == []


def test_only_what_is_new_founds_a_task() -> None:
    built = ClaudeSession().user("Write the release notes").agent().user("no, use bullet points")
    old = session(built)
    assert mine_heuristic([old.model_copy(update={"since": old.ended})]) == []
    assert mine_heuristic([old.model_copy(update={"since": old.started})])


def test_tasks_are_the_same_in_any_order_of_sessions() -> None:
    built = [
        ClaudeSession(name)
        .user(f"Write the notes on {name} quickly")
        .agent()
        .user("no, you forgot it")
        for name in ("tides", "winds", "bees")
    ]
    assert {t.id for t in mine(*built)} == {t.id for t in mine(*reversed(built))}


def test_to_go_on_is_no_request() -> None:
    for text in ("yes", "ok, continue", "go ahead", "thanks!", "do it now", "1", "", "ok please"):
        assert not is_request(text)
    for text in ("Add a test", "为解析器添加一个测试"):
        assert is_request(text)
