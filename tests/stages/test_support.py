from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from skillgit.records import Edit, EditOp, Patch, RawPatch, Skill, SkillDocument, SourceType
from skillgit.stages.support import EditDeduplicator, SupportedEdit, supported_patches, unsupported

SKILL = Skill(name="s", documents=(SkillDocument(path="SKILL.md", data=b""),))

minibatches = st.lists(
    st.lists(st.sets(st.integers(0, 3), min_size=1), min_size=1, max_size=3),
    min_size=1,
    max_size=4,
)


def raw(index: int, supports: list[set[int]]) -> RawPatch:
    """A minibatch's patch; its tasks are its own, as minibatches share none."""
    edits = (
        Edit(
            op=EditOp.ADD,
            content="same",
            task_ids=tuple(f"t{index}.{i}" for i in sorted(tasks)),
            support_count=len(tasks),
        )
        for tasks in supports
    )
    return RawPatch(source_type=SourceType.FAILURE, batch_size=4, patch=Patch(edits=tuple(edits)))


@settings(deadline=None)
@given(minibatches)
def test_support_is_the_number_of_distinct_trajectories_however_edits_are_joined(
    supports: list[list[set[int]]],
) -> None:
    patches = supported_patches([raw(i, s) for i, s in enumerate(supports)], SourceType.FAILURE)
    fold = EditDeduplicator(SKILL)
    distinct = {
        task for group in patches for supported in group for task in supported.edit.task_ids
    }
    (at_once,) = fold(supported for group in patches for supported in group)
    (by_patch,) = fold(supported for group in patches for supported in fold(group))
    assert at_once.edit.support_count == len(distinct)
    assert at_once.edit == by_patch.edit
    assert set(at_once.edit.task_ids) == distinct


def test_the_main_documents_alias_and_path_are_one_document() -> None:
    alias = Edit(op=EditOp.ADD, content="x")
    path = Edit(op=EditOp.ADD, content="x", target="SKILL.md")
    other = Edit(op=EditOp.ADD, content="x", target="other.md")
    folded = EditDeduplicator(SKILL)(
        [SupportedEdit(alias, ()), SupportedEdit(path, ()), SupportedEdit(other, ())]
    )
    assert [supported.edit.target for supported in folded] == ["skill", "other.md"]


def test_edits_without_support_are_told_apart_in_the_order_of_the_minibatches() -> None:
    def patch_of(*counts: int) -> RawPatch:
        edits = [Edit(op=EditOp.ADD, content=f"{n}", support_count=n) for n in counts]
        return RawPatch(
            source_type=SourceType.FAILURE, batch_size=4, patch=Patch(edits=tuple(edits))
        )

    none = Edit(op=EditOp.ADD, content="0", support_count=0)
    patches = [patch_of(0, 2), patch_of(), patch_of(1, 0)]
    assert unsupported(patches) == (none, none)
    kept = supported_patches(patches, SourceType.FAILURE)
    assert [[s.edit.content for s in group] for group in kept] == [["2"], ["1"]]
