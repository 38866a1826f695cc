"""The simulated optimizer writing whole documents, and notes on lapses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pydantic import JsonValue

from skillgit.models.simulated import catalogue
from skillgit.models.simulated.exchange import Exchange
from skillgit.models.simulated.prompt_reading import (
    View,
    drafts_in,
    edits_in,
    notes_in,
    plain,
    read_view,
    without_regions,
)
from skillgit.models.simulated.reflecting import (
    Proposal,
    analyse_failures,
    analyse_successes,
    is_stated,
    proposals_for_failures,
    proposals_for_successes,
    summary,
)

NOTES_AT_ONCE = 3


def rewrite_failures(exchange: Exchange) -> dict[str, JsonValue]:
    """The error analyst's whole document: what it would have edited, done."""
    view = read_view(exchange.text)
    return {
        "reasoning": "Simulated: each change answers a reason that a trajectory failed for.",
        "failure_summary": summary(view),
        "document": _changed(view.skill, proposals_for_failures(view, exchange)),
    }


def rewrite_successes(exchange: Exchange) -> dict[str, JsonValue]:
    """The success analyst's whole document; empty when nothing comes to mind."""
    view = read_view(exchange.text)
    return {
        "reasoning": "Simulated: nothing failed, so at most an idea.",
        "document": _changed(view.skill, proposals_for_successes(view, exchange)),
    }


def rewrite_from_suggestions(exchange: Exchange) -> dict[str, JsonValue]:
    """The document with every suggestion followed."""
    proposals = [
        Proposal(
            op=str(edit.fields.get("op")),
            content=str(edit.fields.get("content") or ""),
            anchor=str(edit.fields.get("anchor") or ""),
        )
        for edit in edits_in(exchange.text)
    ]
    document = read_view(exchange.text).skill
    return {
        "reasoning": "Simulated: every suggestion is followed as it stands.",
        "document": _changed(document, proposals) or document,
    }


def merge_documents(exchange: Exchange) -> dict[str, JsonValue]:
    """One document: the first draft with what the others have beyond the skill as it was."""
    old = set(without_regions(read_view(exchange.text).skill).splitlines())
    first, *others = drafts_in(exchange.text) or [""]
    lines = first.splitlines()
    for draft in others:
        lines += [line for line in draft.splitlines() if line not in old and line not in lines]
    return {
        "reasoning": "Simulated: the first draft, and what the others add.",
        "document": "\n".join(lines),
    }


def _changed(document: str, proposals: Sequence[Proposal]) -> str:
    """The document's prose after the proposals; empty when nothing of it changes."""
    before = without_regions(document).rstrip()
    text = before
    for proposal in proposals:
        if proposal.op == "add":
            text += ("\n" if text.splitlines()[-1:] and _is_bullet(text) else "\n\n") + (
                proposal.content
            )
        elif proposal.anchor in text.splitlines():
            new = proposal.content.splitlines() if proposal.op == "replace" else []
            lines = text.splitlines()
            place = lines.index(proposal.anchor)
            text = "\n".join([*lines[:place], *new, *lines[place + 1 :]])
    return "" if text == before else text


def _is_bullet(text: str) -> bool:
    return text.splitlines()[-1].startswith("- ")


# ── lapses ───────────────────────────────────────────────────────────────────────────────────


def tell_failures_apart(exchange: Exchange) -> dict[str, JsonValue]:
    """The error analyst's patch, and a note for what the skill says and was not done."""
    return {**analyse_failures(exchange), "lapses": _lapses(read_view(exchange.text))}


def tell_successes_apart(exchange: Exchange) -> dict[str, JsonValue]:
    """The success analyst's patch; nothing was overlooked."""
    return {**analyse_successes(exchange), "lapses": []}


def _lapses(view: View) -> list[JsonValue]:
    behind: dict[str, list[JsonValue]] = {}
    for failure in view.failures:
        for reason in failure.reasons:
            lines = catalogue.mends(reason)
            if lines and all(is_stated(line, view) for line in lines):
                behind.setdefault(f"Easily overlooked: {lines[0]}", []).append(failure.task_id)
    notes = sorted(behind, key=lambda note: -len(behind[note]))[:NOTES_AT_ONCE]
    return [{"note": note, "task_ids": behind[note]} for note in notes]


def consolidate(exchange: Exchange) -> dict[str, JsonValue]:
    """The notes that were left last, half of what there was."""
    notes = list(_distinct(notes_in(exchange.text)))
    kept: list[JsonValue] = list(notes[-max(1, len(notes) // 2) :])
    return {"notes": kept}


def _distinct(notes: Iterable[str]) -> Iterable[str]:
    return dict.fromkeys(map(plain, notes))
