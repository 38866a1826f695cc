from __future__ import annotations

from datetime import UTC, datetime, timedelta

from skillgit.records import Action
from skillgit.sleep.memory.state import NightRecord, files_after, parse_state
from skillgit.store.runs.sleep_ref import SleepFiles

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def night(number: int, **fields: object) -> NightRecord:
    return NightRecord.model_validate(
        {
            "night": number,
            "run_id": f"{number:012x}",
            "skill": "notes",
            "time": NOW,
            "action": Action.SKIP,
            **fields,
        }
    )


def after(files: dict[str, bytes], number: int, until: datetime | None = None) -> dict[str, bytes]:
    return dict(
        files_after(
            parse_state(SleepFiles(files=files)),
            night(number),
            project="/p",
            until=until,
            slow_memory="Be short.\n",
            tasks='{"id": "a"}\n',
        )
    )


def test_what_is_written_is_read_again() -> None:
    files = after({}, 1, NOW)
    state = parse_state(SleepFiles(commit="c", files=files))
    assert state.state.version == 1
    assert state.state.night == 1
    assert state.until("/p") == NOW
    assert state.until("/other") is None
    assert state.slow_memory == "Be short.\n"
    assert state.tasks == '{"id": "a"}\n'
    assert [n.run for n in state.history] == ["night-1"]


def test_the_time_of_the_last_record_never_goes_back() -> None:
    files = after(after({}, 1, NOW), 2, NOW - timedelta(days=1))
    assert parse_state(SleepFiles(files=files)).until("/p") == NOW
    files = after(files, 3, None)
    assert parse_state(SleepFiles(files=files)).until("/p") == NOW


def test_times_are_kept_as_utc() -> None:
    assert b"2026-03-01T00:00:00Z" in after({}, 1, NOW)["state.json"]


def test_a_damaged_state_begins_anew_and_keeps_the_numbers_of_the_history() -> None:
    files = after({}, 4)
    files["state.json"] = b"{\xff broken"
    files["history.jsonl"] += b"[]\nnull\n{}\n"
    state = parse_state(SleepFiles(files=files))
    assert state.state.night == 4
    assert len(state.history) == 1


def test_history_tells_skills_apart() -> None:
    state = parse_state(SleepFiles(files=after({}, 1)))
    assert len(state.of_skill("notes")) == 1
    assert state.of_skill("other") == ()
