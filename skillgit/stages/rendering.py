"""Foreign text as it stands in a prompt: fenced, so that nothing in it can pass for the prompt's.

Shared by the stages that ask the optimizer. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from skillgit.editing.numbered_lines import NumberedSkill
from skillgit.records import (
    Edit,
    GradedRollout,
    Message,
    Score,
    Skill,
    SkillDocument,
    Speaker,
)
from skillgit.records.canonical import canonical_json
from skillgit.redaction import redact

NOTHING_YET = "Nothing yet."
NO_REASON = "failed without a reason"

_BACKTICKS = re.compile(r"`{3,}")


def fenced(text: str) -> str:
    """The text in a code fence longer than any run of backticks inside it."""
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}text\n{text.rstrip()}\n{fence}"


def fenced_or_nothing(text: str) -> str:
    """The text in a fence, or the words for one that is not there yet."""
    return fenced(text) if text.strip() else NOTHING_YET


def cut(text: str, max_chars: int) -> str:
    """The text, or its head and tail with the number of characters cut between them.

    Unit: `max_chars` in characters, of head and tail together.
    """
    if len(text) <= max_chars:
        return text
    head = (max_chars + 1) // 2
    tail = max_chars - head
    gone = len(text) - max_chars
    return f"{text[:head]}\n[… {gone} characters cut here …]\n{text[len(text) - tail :]}"


def on_one_line(text: str, max_chars: int) -> str:
    """The text with every run of white space made one space, and its end cut if it is long."""
    line = " ".join(text.split())
    return line if len(line) <= max_chars else line[: max_chars - 1] + "…"


def shown_skill(skill: Skill) -> str:
    """Every document of the skill under its path, as it stands, in a fence."""
    return "\n\n".join(map(shown_document, skill.documents))


def numbered_skill(numbered: NumberedSkill) -> str:
    """Every document of the skill under its path, in a fence, with numbers before its lines."""
    return "\n\n".join(
        f"`{document.path}`\n\n{fenced(numbered.shown(document.path))}"
        for document in numbered.skill.documents
    )


def shown_document(document: SkillDocument) -> str:
    """One document under its path, in a fence."""
    return f"`{document.path}`\n\n{fenced(document.text)}"


def shown_edits(edits: Sequence[Edit]) -> str:
    """The edits as lines of JSON, each with its index and what stands behind it."""
    return fenced("\n".join(_edit_line(index, edit) for index, edit in enumerate(edits)))


def _edit_line(index: int, edit: Edit) -> str:
    fields = edit.model_dump(mode="json", exclude={"task_ids"})
    return f"{index}: {canonical_json({name: value for name, value in fields.items() if value})}"


# ── A graded rollout as an analyst reads it: the task, what was said and done, and the score. Pure.

ID_CHARS = 120


def render_trajectory(graded: GradedRollout, max_chars: int) -> str:
    """One rollout under a heading with its task's id; a reference answer is never in it.

    Unit: `max_chars` in characters, for what stands in the fence; what is over is cut out of
    its middle, and the cut says how much.
    """
    heading = f"### Task `{on_one_line(graded.task.id, ID_CHARS)}`"
    return f"{heading}\n\n{render_attempt(graded, max_chars)}"


def render_attempt(graded: GradedRollout, max_chars: int) -> str:
    """One rollout without its heading: how it was scored, and what was said and done.

    Secrets that an agent came upon are taken out before anything is cut.

    Unit: `max_chars` in characters.
    """
    body = redact("\n\n".join(_sections(graded)))
    return f"{_score_line(graded)}\n\n{fenced(cut(body, max_chars))}"


def render_attempts(
    graded: Sequence[GradedRollout], numbers: Callable[[int], Sequence[int]], max_chars: int
) -> str:
    """The rollouts one after the other, numbered, each with the numbers of its reasons.

    `numbers` has the numbers of the listed reasons for which the attempt at a place fell short;
    reasons that are in no list stand with the attempt.
    Unit: `max_chars` in characters, for one rollout.
    """
    return "\n\n".join(
        _numbered_attempt(place, item, numbers(place), max_chars)
        for place, item in enumerate(graded)
    )


def _numbered_attempt(
    place: int, graded: GradedRollout, numbers: Sequence[int], max_chars: int
) -> str:
    heading = f"### Task `{on_one_line(graded.task.id, ID_CHARS)}`"
    listed = ", ".join(map(str, numbers))
    told = "good." if graded.grade.passed else f"fell short ({listed or 'see below'})."
    unlisted = not graded.grade.passed and not numbers
    body = redact("\n\n".join(_sections(graded, with_reason=unlisted)))
    return f"{heading}\n\nAnswer {place + 1}: {told}\n\n{fenced(cut(body, max_chars))}"


def _score_line(graded: GradedRollout) -> str:
    score = graded.grade.score
    if score is None:
        return "Could not be scored."
    word = "Passed" if graded.grade.passed else "Failed"
    return f"{word} ({_numbers(score)})."


def _numbers(score: Score) -> str:
    return f"hard {score.hard:.4g}, soft {score.soft:.4g}"


def _sections(graded: GradedRollout, *, with_reason: bool = True) -> Iterator[str]:
    """The parts of the body; the verdict stands first, where a cut leaves it."""
    task, rollout = graded.task, graded.rollout
    if graded.grade.reason and with_reason:
        yield f"[why this score]\n{graded.grade.reason}"
    conversation = [m for m in rollout.trajectory if m.role is not Speaker.SYSTEM]
    if not any(m.role is Speaker.USER and task.prompt in m.content for m in conversation):
        yield f"[task]\n{task.prompt}"
        if task.context:
            yield f"[context]\n{task.context}"
    for message in conversation:
        yield from _message_parts(message)
    if not conversation or conversation[-1].content != rollout.answer:
        yield f"[answer]\n{rollout.answer}"


def _message_parts(message: Message) -> Iterator[str]:
    if message.content or not message.tool_calls:
        yield f"[{message.role.value}]\n{message.content}"
    for call in message.tool_calls:
        yield f"[{message.role.value} calls {call.name}]\n{call.arguments}"
