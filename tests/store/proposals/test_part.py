"""One skill's part of a proposal that changes several, adopted alone, in either order."""

from __future__ import annotations

from typing import Any

import pytest

from skillgit.errors import UserError
from skillgit.records import Edit, EditOp
from skillgit.store.git.refs import Refs
from skillgit.store.git.trees import replace_files
from skillgit.store.proposals.adopt import AdoptState, part_of
from skillgit.store.proposals.adopted import How, read_lineage
from skillgit.store.proposals.proposal import propose

OTHER = "skills/mail/SKILL.md"
MEMORY = "CLAUDE.md"


@pytest.fixture
def night(run: Any, git: Any, clock: Any) -> str:
    """A proposal of two versions of one skill, then one of another, then one of both."""
    run.commit_file(OTHER, "# Mail\n\n- Be kind.\n")
    run.base = run.tip = run.head()
    run.begin(run="night-7")
    run.accept(run.edited(run.text, run.ADD_RISKS), 0.25, [run.ADD_RISKS])
    change(run, git, {OTHER: "# Mail\n\n- Be kind.\n- Be short.\n"}, 0.5)
    run.accept(run.edited(run.text, run.SAY_HOW), 0.625, [run.SAY_HOW])
    change(
        run,
        git,
        {OTHER: "# Mail\n\n- Be kind.\n- Be very short.\n", run.path: run.text + "\nEnd.\n"},
        0.75,
    )
    run.end()
    made = propose(run.pygit, Refs(run.pygit, run.folder / ".git", clock=clock), "night-7").commit
    assert made is not None
    return made


def change(run: Any, git: Any, files: dict[str, str], score: float) -> None:
    """An accepted version that changes these files."""
    edit = Edit(op=EditOp.ADD, content="x")
    run.accept(files.get(run.path, run.text), score, [edit])
    message = git("log", "-1", "--format=%B", run.tip)
    parent = git("rev-parse", f"{run.tip}^").strip()
    run.put(message.strip() + "\n", tree_with(run, run.tip, files), parent)


def tree_with(run: Any, commit: str, files: dict[str, str]) -> str:
    """The commit's tree with some files replaced."""
    tree = run.pygit.revparse_single(f"{commit}^{{tree}}")
    return str(replace_files(run.pygit, tree, {p: t.encode() for p, t in files.items()}))


@pytest.mark.parametrize("moved", [False, True])
@pytest.mark.parametrize("first", [0, 1])
def test_each_part_is_adopted_alone_in_either_order(
    run: Any, git: Any, night: str, adopt: Any, first: int, moved: bool
) -> None:
    if moved:
        run.commit_file("src/app.py", "print()\n")
    paths = [run.path, OTHER]
    one, other = paths[first], paths[1 - first]
    before = git("show", f"main:{other}")
    done = adopt(night, only=[one])
    assert done.state is AdoptState.REPLAYED
    assert git("show", f"main:{one}") == git("show", f"{night}:{one}")
    assert git("show", f"main:{other}") == before
    assert adopt(night, only=[one]).state is AdoptState.ALREADY
    done = adopt(night, only=[other])
    assert done.state is AdoptState.REPLAYED
    assert git("show", f"main:{other}") == git("show", f"{night}:{other}")
    again = adopt(night)
    assert again.state is AdoptState.ALREADY
    assert again.recognised.how in (How.SAME_BYTES, How.SAME_STEPS)
    assert git("status", "--porcelain") == ""
    git("fsck", "--strict")


def test_the_whole_can_be_adopted_after_a_part(run: Any, git: Any, night: str, adopt: Any) -> None:
    adopt(night, only=[OTHER])
    adopt(night)
    for path in (run.path, OTHER):
        assert git("show", f"main:{path}") == git("show", f"{night}:{path}")


def test_a_commit_of_which_a_part_was_taken_is_not_said_to_be_the_step(
    run: Any, git: Any, night: str, adopt: Any
) -> None:
    adopt(night, only=[OTHER])
    first, last = (git("log", "-1", "--format=%B", rev) for rev in ("main^", "main"))
    assert "Skillopt-Step: 2\n" in first
    assert "Skillopt-" not in last
    assert last.splitlines()[0].endswith(", in part")


def test_all_of_a_proposal_is_no_part_of_it(run: Any, git: Any, night: str, adopt: Any) -> None:
    whole = read_lineage(run.pygit, night)
    assert part_of(run.pygit, whole, [run.path, OTHER]) == whole
    assert part_of(run.pygit, whole, [OTHER]).is_part
    assert adopt(night, only=[run.path, OTHER]).state is AdoptState.FAST_FORWARD


def test_a_proposal_that_leaves_a_skill_alone_has_no_part_for_it(
    run: Any, night: str, adopt: Any
) -> None:
    with pytest.raises(UserError, match=r"night-7 changes none of CLAUDE\.md"):
        adopt(night, only=[MEMORY])


def test_a_part_is_not_left_to_gits_merge(run: Any, night: str, adopt: Any) -> None:
    with pytest.raises(UserError, match="all of night-7 or nothing"):
        adopt(night, only=[OTHER], merge=True)


def test_a_text_that_went_on_takes_the_parts_edits_again(
    run: Any, git: Any, night: str, adopt: Any
) -> None:
    mine = "Mine.\n\n" + (run.folder / OTHER).read_text()
    run.commit_file(OTHER, mine)
    done = adopt(night, only=[OTHER], edits_of=lambda _trailers: None)
    assert done.state is AdoptState.REPLAYED_UNMEASURED
    assert git("show", f"main:{OTHER}") == f"{mine}- Be very short.\n"
