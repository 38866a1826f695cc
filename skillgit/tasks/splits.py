"""Which task belongs to train, val and test, when it does not say so itself."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from skillgit.records import Split, Task
from skillgit.records.canonical import fingerprint
from skillgit.tasks.fields import Draft
from skillgit.tasks.near_duplicates import clusters

ORDER = (Split.TRAIN, Split.VAL, Split.TEST)


def whole_text(task: Task) -> str:
    """All that the target is given, as one text."""
    return "\n".join(part for part in (task.system, task.context, task.prompt, *task.turns) if part)


def assign_splits(drafts: Sequence[Draft], ratio: tuple[float, float, float]) -> tuple[Task, ...]:
    """The tasks, each with its split.

    A split that a task names is kept. The others are ranked by a hash of their content and cut at
    the ratio; near-duplicates stay together, and go where one of them was put by name. The result
    does not depend on the order of the tasks.
    Shape: one task per draft, in their order.
    """
    if all(draft.split is not None for draft in drafts):
        return tuple(draft.task for draft in drafts)
    chosen: dict[int, Split] = {}
    free: list[list[int]] = []
    for group in clusters([whole_text(draft.task) for draft in drafts]):
        named = [split for split in ORDER if any(drafts[i].split is split for i in group)]
        if named:
            chosen |= {i: drafts[i].split or named[0] for i in group}
        else:
            free.append(group)
    free.sort(key=lambda group: min(_rank(drafts[i].task) for i in group))
    for group, split in zip(free, cut([len(group) for group in free], ratio), strict=True):
        chosen |= dict.fromkeys(group, split)
    return tuple(
        draft.task.model_copy(update={"split": chosen[i]}) for i, draft in enumerate(drafts)
    )


def cut(sizes: Sequence[int], ratio: tuple[float, float, float]) -> list[Split]:
    """The split of each group in a ranked row of groups, given their sizes.

    A split with a share gets at least one group while there are groups enough: val before train's
    second, test last.
    Shape: one split per group, in order.
    """
    shares = share_out(sum(sizes), ratio)
    train_end, val_end = shares[0], shares[0] + shares[1]
    starts = accumulate(sizes[:-1], initial=0) if sizes else []
    splits = [
        Split.TRAIN if at < train_end else Split.VAL if at < val_end else Split.TEST
        for at in starts
    ]
    wanted = [split for split, share in zip(ORDER, ratio, strict=True) if share > 0]
    for missing in wanted[: len(sizes)]:
        if missing not in splits:
            _give_one(splits, missing)
    return splits


def share_out(total: int, ratio: tuple[float, float, float]) -> list[int]:
    """Whole numbers that sum to the total, as near to the ratio as possible (largest remainder)."""
    exact = [total * share for share in ratio]
    shares = [int(part + 1e-9) for part in exact]
    by_remainder = sorted(range(3), key=lambda i: (shares[i] - exact[i], i))
    for i in by_remainder[: total - sum(shares)]:
        shares[i] += 1
    return shares


def _give_one(splits: list[Split], missing: Split) -> None:
    """Take one group for a split that got none from the neighbour that has most."""
    donors = [split for split in ORDER if splits.count(split) > 1]
    if not donors:
        donors = [split for split in (Split.TEST,) if split in splits and missing is not Split.TEST]
    if donors:
        donor = max(donors, key=splits.count)
        at = [i for i, split in enumerate(splits) if split is donor]
        splits[at[-1] if ORDER.index(donor) < ORDER.index(missing) else at[0]] = missing


def _rank(task: Task) -> str:
    return fingerprint(
        [task.prompt, task.context, task.system, list(task.turns), task.reference], digits=64
    )
