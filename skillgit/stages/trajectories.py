"""A graded rollout as an analyst reads it: the task, what was said and done, and the score. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from skillgit.records import GradedRollout, Message, Score, Speaker
from skillgit.redaction import redact
from skillgit.stages.rendering import cut, fenced, on_one_line

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
    return f"{_standing(graded)}\n\n{fenced(cut(body, max_chars))}"


def render_trajectories(graded: Sequence[GradedRollout], max_chars: int) -> str:
    """The rollouts one after the other, in their order."""
    return "\n\n".join(render_trajectory(item, max_chars) for item in graded)


def _standing(graded: GradedRollout) -> str:
    score = graded.grade.score
    if score is None:
        return "Could not be scored."
    word = "Passed" if graded.grade.passed else "Failed"
    return f"{word} ({_numbers(score)})."


def _numbers(score: Score) -> str:
    return f"hard {score.hard:.4g}, soft {score.soft:.4g}"


def _sections(graded: GradedRollout) -> Iterator[str]:
    """The parts of the body; the verdict stands first, where a cut leaves it."""
    task, rollout = graded.task, graded.rollout
    if graded.grade.reason:
        yield f"[why this score]\n{graded.grade.reason}"
    conversation = [m for m in rollout.trajectory if m.role is not Speaker.SYSTEM]
    if not any(m.role is Speaker.USER and task.prompt in m.content for m in conversation):
        yield f"[task]\n{task.prompt}"
        if task.context:
            yield f"[context]\n{task.context}"
    for message in conversation:
        yield from _said(message)
    if not conversation or conversation[-1].content != rollout.answer:
        yield f"[answer]\n{rollout.answer}"


def _said(message: Message) -> Iterator[str]:
    if message.content or not message.tool_calls:
        yield f"[{message.role.value}]\n{message.content}"
    for call in message.tool_calls:
        yield f"[{message.role.value} calls {call.name}]\n{call.arguments}"
