from __future__ import annotations

from skillgit.editing.document import Document
from skillgit.editing.splices import Refused, Splice, frozen, run_edits
from skillgit.records import Edit, EditOp, Outcome


def edits(*contents: str) -> list[Edit]:
    return [Edit(op=EditOp.ADD, content=content) for content in contents]


def below_the_first_line(document: Document, edit: Edit) -> Splice:
    if edit.content == "no":
        raise Refused(Outcome.ANCHOR_AMBIGUOUS, 3)
    place = document.text.index("\n") + 1
    return Splice(place, place, edit.content + "\n")


def test_a_refused_edit_leaves_the_others_alone() -> None:
    document = Document.parse(b"# A\nend\n")
    result, outcomes = run_edits(document, edits("a", "no", "b"), below_the_first_line)
    assert result.to_bytes() == b"# A\nb\na\nend\n"
    assert [str(o) for o in outcomes] == ["applied", "anchor_ambiguous(3)", "applied"]


def test_prose_that_turns_out_to_be_structure_is_refused_alone() -> None:
    document = Document.parse(b"# A\n\n```\nx\n```\n")
    result, outcomes = run_edits(document, edits("a", "<pre>", "b"), below_the_first_line)
    assert result.to_bytes() == b"# A\nb\na\n\n```\nx\n```\n"
    assert [o.outcome for o in outcomes] == [Outcome.APPLIED, Outcome.FENCE, Outcome.APPLIED]


def test_a_fence_is_frozen_unless_it_is_taken_whole() -> None:
    layout = Document.parse(b"a\n```\nx\n```\nb\n").layout
    assert frozen(layout, 0, 2) is None
    assert frozen(layout, 0, 3) is Outcome.FENCE
    assert frozen(layout, 6, 6) is Outcome.FENCE
    assert frozen(layout, 2, 11) is None
    assert frozen(layout, 0, 14) is None
