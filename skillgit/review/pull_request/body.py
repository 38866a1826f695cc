"""The body of a pull request: what a proposal changes, what speaks for it, how to check and undo.

Pure. Nothing that a model, a transcript or a task file wrote stands in it unescaped.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from skillgit.history.sanitize import harmless
from skillgit.records import Edit, Score, SourceType
from skillgit.review.markdown import block, code, folded, table, words
from skillgit.review.pull_request.evidence import EditSet, Evidence, TaskChange

MOST_CHARACTERS = 60_000
"""What hosts take as a body, with some room. Unit: characters."""

_MOST_TASKS = 60
_MOST_SETS = 40
_MOST_REPORT = 20_000
_MOST_NAMES = 8
_CUT = "\n\n*The rest was cut: a pull request takes no longer text.*\n"


def title(evidence: Evidence) -> str:
    """The title of the pull request, one line."""
    change = f": {_number(evidence.before)} → {_number(evidence.after)}"
    said = f"skillopt({evidence.skill}): {evidence.run}{change if evidence.noted else ''}"
    return harmless(said, 120)


def body(evidence: Evidence, *, branch: str, remote: str = "origin") -> str:
    """The whole body as Markdown, at most `MOST_CHARACTERS` long."""
    sections = (
        _scores(evidence),
        _report(evidence),
        _tasks(evidence.tasks),
        _accepted(evidence.accepted),
        _rejected(evidence.rejected),
        _warnings(evidence.warnings),
        _costs(evidence),
        _check(evidence, branch, remote),
        _undo(evidence),
    )
    text = "\n\n".join(section for section in sections if section) + "\n"
    if len(text) <= MOST_CHARACTERS:
        return text
    kept = text[: MOST_CHARACTERS - 1_000].rpartition("\n\n")[0]
    opened = kept.count("<details>") - kept.count("</details>")
    tail = "\n\n</details>" * max(opened, 0)
    end = "\n\n".join((_check(evidence, branch, remote), _undo(evidence)))
    return f"{kept}{tail}{_CUT}\n{end}\n"[:MOST_CHARACTERS]


def _scores(evidence: Evidence) -> str:
    head = f"{code(evidence.run)} proposes a new version of the skill {code(evidence.skill)}."
    if not evidence.noted:
        return f"{head} No notes of the run were found here, so only what its commits say is known."
    rows = [("val", _number(evidence.before), f"**{_number(evidence.after)}**", _gain(evidence))]
    test = evidence.test
    if test is not None:
        best = _number(test.best)
        rows.append((f"test, {test.n_tasks} tasks never shown", _number(test.baseline), best, ""))
    shown = table(("score", "before", "after", ""), rows)
    measured = f" as measured with {code(evidence.target_model)}" if evidence.target_model else ""
    if evidence.metric is None:
        return f"{head} The branch of its run is not here; its commits claim:\n\n{shown}"
    return f"{head} Metric `{evidence.metric.value}`,{measured}:\n\n{shown}".replace(",:", ":")


def _gain(evidence: Evidence) -> str:
    if evidence.before is None or evidence.after is None:
        return ""
    return f"{evidence.after - evidence.before:+.4f}"


def _report(evidence: Evidence) -> str:
    return (
        f"### The night's report\n\n{block(evidence.report[:_MOST_REPORT])}"
        if evidence.report
        else ""
    )


def _tasks(tasks: Sequence[TaskChange]) -> str:
    if not tasks:
        return ""
    changed = [task for task in tasks if task.in_a_word != "same"]
    shown = sorted(changed, key=lambda task: task.in_a_word != "worse")[:_MOST_TASKS]
    rows = [(code(t.task, 80), _pair(t.before), _pair(t.after), t.in_a_word) for t in shown]
    parts = ["### Tasks of val that changed"]
    if rows:
        parts.append(table(("task", "before", "after", ""), rows))
    rest = [f"{len(tasks) - len(changed)} of {len(tasks)} scored as before"]
    if len(changed) > len(shown):
        rest.append(f"{len(changed) - len(shown)} more changed")
    parts.append(f"{'; '.join(rest)}. Each score is hard / soft.")
    return "\n\n".join(parts)


def _accepted(sets: Sequence[EditSet]) -> str:
    if not sets:
        return ""
    several = _are_of_several(sets)
    lines = ["### Accepted edits", ""]
    for tried in sets[:_MOST_SETS]:
        lines.append(f"Step {tried.step}, {_number(tried.before)} → {_number(tried.after)}:")
        lines += ["", *_edits(tried, named=several), ""]
    return "\n".join(lines).rstrip()


def _rejected(sets: Sequence[EditSet]) -> str:
    if not sets:
        return ""
    several = _are_of_several(sets)
    lines: list[str] = []
    for tried in sets[-_MOST_SETS:]:
        lines.append(f"Step {tried.step}, {_number(tried.before)} → {_number(tried.after)}:")
        lines += ["", *_edits(tried, named=several), ""]
    edits = sum(len(tried.edits) for tried in sets)
    title_ = f"Rejected: {_counted(edits, 'edit')} in {_counted(len(sets), 'step')}"
    return folded(title_, "\n".join(lines).rstrip())


def _are_of_several(sets: Sequence[EditSet]) -> bool:
    return len({edit.target for tried in sets for edit in tried.edits}) > 1


def _edits(tried: EditSet, *, named: bool) -> list[str]:
    return [line for edit in tried.edits for line in _edit(edit, named=named)]


def _edit(edit: Edit, *, named: bool) -> Iterator[str]:
    """An edit with its reason, its support and the tasks behind it, as items of a list."""
    # Where an anchor only says the place, less of it is shown.
    anchor = code(edit.anchor) if edit.operation.takes_out_anchor else code(edit.anchor, 120)
    what = edit.operation.in_markdown.fill(
        anchor, code(edit.content), is_anchored=bool(edit.anchor)
    )
    document = f" in {code(edit.target, 120)}" if named else ""
    yield f"- {what}{document}"
    if edit.rationale.strip():
        yield f"  - why: {words(edit.rationale)}"
    kind = "failure" if edit.source_type is SourceType.FAILURE else "success"
    yield f"  - seen in {_counted(edit.support_count, kind)}{_names(edit.task_ids)}"


def _names(tasks: Sequence[str]) -> str:
    if not tasks:
        return ""
    more = f" and {len(tasks) - _MOST_NAMES} more" if len(tasks) > _MOST_NAMES else ""
    return f": {', '.join(code(task, 80) for task in tasks[:_MOST_NAMES])}{more}"


def _warnings(warnings: Sequence[str]) -> str:
    if not warnings:
        return ""
    return "\n".join(("### Warnings", "", *(f"- {words(warning)}" for warning in warnings[:20])))


def _costs(evidence: Evidence) -> str:
    costs = evidence.costs
    if not costs.calls:
        return ""
    calls = ", ".join(f"{n} {words(role, 20)}" for role, n in sorted(costs.calls.items()))
    tokens = costs.prompt_tokens + costs.completion_tokens
    return f"### Cost\n\n{calls} calls; {tokens:,} tokens."


def _check(evidence: Evidence, branch: str, remote: str) -> str:
    fetch = f"git fetch {remote} '+refs/notes/skill*opt:refs/notes/remotes/{remote}/skill*opt'"
    onto = shlex.quote(evidence.onto)
    lines = ["### Check it", "", "```"]
    if not evidence.is_night:
        lines.append(fetch)
    lines += [
        f"git fetch {remote} {onto} {branch}",
        f"skillgit verify {remote}/{onto}...{remote}/{branch}",
        "```",
        "",
    ]
    if evidence.metric is None:
        lines.append(f"Base `{evidence.base[:12]}`, proposed `{evidence.commit[:12]}`.")
        return "\n".join(lines)
    target, run, run_id = map(code, (evidence.target, evidence.fingerprint, evidence.run_id))
    ends = f"base `{evidence.base[:12]}`, proposed `{evidence.commit[:12]}`"
    lines.append(f"Target {target}, run {run} ({run_id}), {ends}.")
    return "\n".join(lines)


def _undo(evidence: Evidence) -> str:
    return (
        "### Undo it\n\nAfter a merge: `git revert -m 1 MERGE`; after a squash: `git revert COMMIT`; "
        f"after a fast-forward: `git revert {evidence.base[:12]}..{evidence.commit[:12]}`."
    )


def _pair(score: Score | None) -> str:
    return "–" if score is None else f"{score.hard:.2f} / {score.soft:.2f}"


def _number(value: float | None) -> str:
    return "unmeasured" if value is None else f"{value:.4f}"


def _counted(n: int, noun: str) -> str:
    plural = f"{noun}es" if noun.endswith("s") else f"{noun}s"
    return f"{n} {noun if n == 1 else plural}"
