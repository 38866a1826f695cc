"""One version of a skill in words: its commit, its notes, the ledger, and an epoch's end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from skillgit.cli.show.output import amount, count, number, one_line, print_table, printable
from skillgit.history import NoteLine, RunCommit, StepNote, TestNote
from skillgit.history.notes import ComparisonNote, MetaSkillNote, SlowUpdateNote
from skillgit.records import Edit, EditOutcome, Score
from skillgit.review.hunks import AttributedHunk

_MOST_TASKS = 6


@dataclass(frozen=True)
class TaskScore:
    """One task's score before and after a version; `None` when it was not scored there."""

    task: str
    before: Score | None
    after: Score | None

    @property
    def change(self) -> str:
        """What became of the task, in a word."""
        if self.before is None or self.after is None:
            return "" if self.after is not None else "unscored"
        if self.after.hard == self.before.hard:
            return ""
        return "better" if self.after.hard > self.before.hard else "worse"


@dataclass(frozen=True)
class Version:
    """A version with all that is known of it; `note` is there for a step alone."""

    commit: RunCommit
    hunks: tuple[AttributedHunk, ...]
    scores: tuple[TaskScore, ...]
    note: StepNote | None
    test: TestNote | None
    look_back: tuple[NoteLine, ...] = ()

    @property
    def elsewhere(self) -> tuple[EditOutcome, ...]:
        """The edits that stand beside no hunk: those that were not applied, or overwritten."""
        if self.note is None:
            return ()
        shown = [outcome for hunk in self.hunks for outcome in hunk.edits]
        return tuple(outcome for outcome in self.note.edits if outcome not in shown)


def fields_of(version: Version) -> dict[str, object]:
    """What the JSON of a version holds."""
    commit, note = version.commit, version.note
    return {
        "run": commit.run,
        "step": commit.step,
        "action": commit.action.value,
        "score": commit.score,
        "bound": commit.bound,
        "commit": commit.id,
        "hunks": [hunk.model_dump(mode="json") for hunk in version.hunks],
        "other_edits": [outcome.model_dump(mode="json") for outcome in version.elsewhere],
        "tasks": {
            s.task: {"before": _pair(s.before), "after": _pair(s.after)} for s in version.scores
        },
        "step_note": note.model_dump(mode="json") if note else None,
        "test_note": version.test.model_dump(mode="json") if version.test else None,
        "epoch_notes": [line.model_dump(mode="json") for line in version.look_back],
    }


def print_version(version: Version) -> None:
    """Print a version for a person: verdict, diff with its edits, evidence, scores, cost."""
    _print_head(version)
    for path in dict.fromkeys(hunk.hunk.path for hunk in version.hunks):
        print(f"\n{path}")
        for hunk in version.hunks:
            if hunk.hunk.path == path:
                _print_hunk(hunk)
    if version.elsewhere:
        print("\nEdits that are not in it")
        for outcome in version.elsewhere:
            print(f"  {outcome}: {edit_words(outcome.edit)}")
    if version.note is not None:
        _print_evidence(version.note)
    print_look_back(version.look_back)
    if version.scores:
        _print_scores(version.scores)
    if version.test is not None:
        _print_test(version.test)
    if version.note is not None:
        _print_costs(version.note)


def edit_words(edit: Edit) -> str:
    """An edit in one line."""
    parts = [f"[{edit.op.value}]"]
    if edit.anchor:
        parts.append(f'at "{one_line(edit.anchor)}"')
    if edit.content:
        parts.append(f'"{one_line(edit.content)}"')
    return " ".join(parts)


def task_words(tasks: tuple[str, ...]) -> str:
    """Some tasks' names, the rest counted."""
    named = ", ".join(printable(task) for task in tasks[:_MOST_TASKS])
    more = len(tasks) - _MOST_TASKS
    return f"{named} and {more} more" if more > 0 else named


def _print_head(version: Version) -> None:
    commit, note = version.commit, version.note
    print(f"{commit.run} step {commit.step}: {commit.action.value}  ({commit.id})")
    score = number(commit.score, bound=commit.bound)
    before = note.score_before if note else None
    if before is not None and commit.score is not None:
        print(f"score {score}, before {number(before)} ({commit.score - before:+.4f})")
    elif commit.score is None:
        print("score not measured at this commit; what the ledger has of it by now stands below")
    else:
        print(f"score {score}")
    if note is not None and note.gate_reason:
        print(f"gate: {one_line(note.gate_reason)}")


def _print_hunk(hunk: AttributedHunk) -> None:
    print(f"  {hunk.hunk.header}")
    for index, line in enumerate(hunk.hunk.lines):
        print(f"  {printable(line)}")
        for outcome, last in zip(hunk.edits, hunk.last_lines, strict=True):
            if last == index:
                _print_reason(outcome.edit)


def _print_reason(edit: Edit) -> None:
    print(f"      ^ {edit.op.value}, from {_support(edit)}")
    if edit.rationale:
        print(f"        why: {one_line(edit.rationale)}")


def _support(edit: Edit) -> str:
    kind = "failing task" if edit.source_type.value == "failure" else "passing task"
    support = count(edit.support_count, kind)
    return f"{support}: {task_words(edit.task_ids)}" if edit.task_ids else support


def _print_evidence(note: StepNote) -> None:
    scored = note.n_total - note.n_unscored
    print(f"\nEvidence: {note.n_fail} of {count(scored, 'rollout')} failed")
    for pattern in note.failure_patterns:
        print(f"  {one_line(str(pattern))} (x{pattern.count}: {task_words(pattern.task_ids)})")
    for warning in note.warnings:
        print(f"  warning: {one_line(warning)}")


def _print_scores(scores: tuple[TaskScore, ...]) -> None:
    print("\nScores on val, each hard/soft")
    changed_first = sorted(scores, key=lambda score: not score.change)
    rows = [(printable(s.task), _short(s.before), _short(s.after), s.change) for s in changed_first]
    print_table(("task", "before", "after", ""), rows, indent="  ")


def _print_test(note: TestNote) -> None:
    print(f"\nScores on {count(note.n_tasks, 'test task')}")
    sides: Mapping[str, float | None] = {
        "baseline": note.baseline,
        "best": note.best,
        "final": note.final,
    }
    print_table(("skill", "score"), [(k, number(v)) for k, v in sides.items()], indent="  ")


def _print_costs(note: StepNote) -> None:
    costs = note.costs
    calls = ", ".join(f"{n} {role}" for role, n in sorted(costs.calls.items()))
    tokens = costs.prompt_tokens + costs.completion_tokens
    known = f"; {note.scores_from_ledger} scores were known" if note.scores_from_ledger else ""
    print(f"\nCost: {calls or 'no'} calls, {amount(tokens)} tokens{known}")


def _short(score: Score | None) -> str:
    return "-" if score is None else f"{score.hard:.2f}/{score.soft:.2f}"


def _pair(score: Score | None) -> tuple[float, float] | None:
    return None if score is None else (score.hard, score.soft)


LOOKS_BACK = (ComparisonNote, SlowUpdateNote, MetaSkillNote)


def look_back_of(lines: Sequence[NoteLine]) -> tuple[NoteLine, ...]:
    """The notes of an epoch's end among some lines, in the order of their making."""
    found = [line for line in lines if isinstance(line, LOOKS_BACK)]
    return tuple(sorted(found, key=lambda line: LOOKS_BACK.index(type(line))))


def print_look_back(lines: Sequence[NoteLine]) -> None:
    """Print them for a person."""
    for line in lines:
        match line:
            case ComparisonNote():
                _print_comparison(line)
            case SlowUpdateNote():
                _print_guidance(line)
            case MetaSkillNote():
                print(f"\nThe optimizer's memory: {_outcome(line)}")
                for text in line.text.splitlines():
                    print(f"  {printable(text)}")
            case _:
                pass


def _print_comparison(note: ComparisonNote) -> None:
    counts = Counter(pair.kind.value.replace("_", " ") for pair in note.pairs)
    told = ", ".join(f"{n} {kind}" for kind, n in counts.items())
    print(
        f"\nAgainst the epoch before, on {count(len(note.pairs), 'train task')}: {told or 'none'}"
    )
    if note.left_out:
        print(f"  without a score on one side: {printable(', '.join(note.left_out))}")


def _print_guidance(note: SlowUpdateNote) -> None:
    print(f"\nGuidance: {_outcome(note)}")
    if note.score_after is not None:
        after = number(note.score_after, bound=note.score_after_is_bound)
        print(f"  score {after}, before {number(note.score_before)}")
    for label, text in (("gate", note.gate_reason), ("looking back", note.reflection)):
        if text:
            print(f"  {label}: {one_line(text)}")
    for warning in note.warnings:
        print(f"  warning: {one_line(warning)}")


def _outcome(note: SlowUpdateNote | MetaSkillNote) -> str:
    why = f" ({one_line(note.failure)})" if note.failure else ""
    return note.outcome.value.replace("_", " ") + why
