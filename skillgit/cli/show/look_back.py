"""What an epoch's end left behind, for `skillgit show`: comparison, guidance, memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from skillgit.cli.show.output import count, number, one_line, printable
from skillgit.history import NoteLine
from skillgit.history.epoch_notes import ComparisonNote, MetaSkillNote, SlowUpdateNote

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
