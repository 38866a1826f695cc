"""A proposal's commits, made again on a branch that went on without them.

Where the text is still the one that the gate judged, the proposal's bytes are taken. Where it
is not, each version's edits are applied again by their anchors, and nobody has measured that.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import pygit2

from skillgit.editing.apply import apply_edits
from skillgit.editing.layout import Region
from skillgit.errors import DocumentError, UserError
from skillgit.history import Remeasured, StepNote
from skillgit.history.messages import applied_again, without_trailers
from skillgit.history.trailers import ParsedTrailers, parse_commit
from skillgit.records import Edit, EditOutcome, Outcome, Record
from skillgit.records.skills import path_meant
from skillgit.store.git.git_cli import GitCli
from skillgit.store.git.names import is_night
from skillgit.store.git.refs import Refs
from skillgit.store.git.rewrite import commit_elsewhere
from skillgit.store.git.signing import Sign
from skillgit.store.git.trees import message_of, replace_files
from skillgit.store.proposals.adopted import Lineage, blob_ids, changed_paths, steps_on, versions_on
from skillgit.store.proposals.same_version import kept_message
from skillgit.store.runs.version_notes import NotedVersions

EditsOf = Callable[[ParsedTrailers], Sequence[Edit] | None]
"""The edits that a step's version applied, or `None` when no note of it is here."""

_FITS = (Outcome.APPLIED, Outcome.APPLIED_NORMALIZED, Outcome.DUPLICATE, Outcome.NOOP)

_AROUND = 3

PATCH = "patch"
"""The update mode in which a version is made of its edits and of nothing else."""


class Replay(Record):
    """A proposal's commits on top of another one; `measured`: the gate's verdict holds there.

    Shape: `trees` has what each of `commits` comes to.
    """

    onto: str
    commits: tuple[str, ...]
    trees: tuple[str, ...]
    measured: bool


class NotedEdits:
    """The edits of runs' versions, from the notes on their branches."""

    def __init__(self, git: pygit2.Repository, refs: Refs) -> None:
        self._noted = NotedVersions(git, refs)

    def __call__(self, trailers: ParsedTrailers) -> Sequence[Edit] | None:
        """The edits that are in the text of a step's version."""
        for line in self._noted.lines(trailers):
            if isinstance(line, StepNote) and line.step == trailers.step:
                if line.update_mode != PATCH or line.appendix is not None:
                    return None
                return [o.edit for o in line.edits if o.outcome.changed_text]
        return None


class Replayer:
    """Replays one proposal. `documents` are the skill's paths, the main one first.

    `sign` signs what is made, where commits are to be signed.
    """

    def __init__(
        self,
        git: pygit2.Repository,
        cli: GitCli,
        edits_of: EditsOf,
        documents: Sequence[str],
        *,
        sign: Sign | None = None,
    ) -> None:
        self._git = git
        self._cli = cli
        self._edits_of = edits_of
        self._documents = tuple(documents)
        self._sign = sign

    def plan(self, lineage: Lineage, onto: str) -> Replay:
        """What the proposal comes to on top of a commit. Only trees are written.

        Raises: UserError with the three-way diff where an edit does not fit.
        """
        commits, measured = self._still_to_do(lineage, onto)
        trees: list[str] = []
        for commit_id in commits:
            commit = self._git[commit_id].peel(pygit2.Commit)
            trees.append(self._tree(lineage, commit, trees[-1] if trees else onto))
        return Replay(onto=onto, commits=tuple(commits), trees=tuple(trees), measured=measured)

    def make(self, lineage: Lineage, replay: Replay, found: Remeasured | None) -> str:
        """The commits of a replay; the last one's id.

        With `found`, those with the last one's text say that it was measured.
        """
        tip = replay.onto
        for commit_id, tree in zip(replay.commits, replay.trees, strict=True):
            commit = self._git[commit_id].peel(pygit2.Commit)
            known = found if tree == replay.trees[-1] else None
            message = self._message(lineage, commit, known, measured=replay.measured)
            tip = commit_elsewhere(
                self._git, commit, tip, tree=tree, message=message, in_order=True
            )
            tip = tip if self._sign is None else self._sign(tip)
        return tip

    def _message(
        self, lineage: Lineage, commit: pygit2.Commit, found: Remeasured | None, *, measured: bool
    ) -> str | None:
        """What a commit is to say where it cannot say the same again."""
        if self._step(str(commit.id)) is None:
            return None
        changed = changed_paths(commit.parents[0].tree, commit.tree)
        if lineage.is_part and not set(changed) <= set(lineage.paths):
            return without_trailers(message_of(commit))
        return kept_message(commit) if measured else applied_again(message_of(commit), found)

    def _still_to_do(self, lineage: Lineage, onto: str) -> tuple[Sequence[str], bool]:
        """The commits that the branch lacks, and whether its text is what they were judged on."""
        paths = {*lineage.paths, *self._documents}
        here = blob_ids(self._git, onto, paths)
        for n in range(len(lineage.commits)):
            below = lineage.commits[n - 1] if n else lineage.base
            if blob_ids(self._git, below, paths) == here:
                return lineage.commits[n:], True
        done = steps_on(self._git, lineage, onto)
        rest = lineage.commits[versions_on(self._git, lineage, onto) :]
        return [commit for commit in rest if self._step(commit) not in done], False

    def _step(self, commit_id: str) -> tuple[int, str] | None:
        trailers = parse_commit(message_of(self._git[commit_id].peel(pygit2.Commit)))
        return None if trailers is None else (trailers.step, trailers.action.value)

    def _tree(self, lineage: Lineage, commit: pygit2.Commit, onto: str) -> str:
        """The tree of a commit or tree with what another commit changed changed there too."""
        tree = self._git[onto].peel(pygit2.Tree)
        before, after = commit.parents[0].tree, commit.tree
        files: dict[str, bytes] = {}
        for path in changed_paths(before, after):
            if lineage.is_part and path not in lineage.paths:
                continue
            ours, base, theirs = (_data(t, path) for t in (tree, before, after))
            if theirs is None or ours is None:
                if ours == base and theirs is not None:
                    files[path] = theirs
                    continue
                raise UserError(
                    f"{path} was added, moved or deleted since the base of {lineage.run}",
                    hint=f"git merge {lineage.commits[-1][:12]} lets you sort that out.",
                )
            if ours == base:
                files[path] = theirs
            elif ours != theirs:
                files[path] = self._again(lineage, commit, path, ours, base or b"", theirs)
        return str(replace_files(self._git, tree, files))

    def _again(
        self,
        lineage: Lineage,
        commit: pygit2.Commit,
        path: str,
        ours: bytes,
        base: bytes,
        theirs: bytes,
    ) -> bytes:
        """A text that has changed since, with the change of one commit applied to it."""
        trailers = parse_commit(message_of(commit))
        edits = self._edits_of(trailers) if trailers is not None else None
        if edits is None:
            merged, conflicts = three_way(self._cli, ours, base, theirs)
            if conflicts:
                raise self._refusal(lineage, path, f"the change of {commit.short_id}", merged)
            return merged
        try:
            text, outcomes = apply_edits(
                ours,
                [edit for edit in edits if self._path(edit) == path],
                region=Region.LEARNED if is_night(lineage.run) else None,
            )
        except DocumentError as error:
            raise self._refusal(lineage, path, str(error), ours) from error
        misfit = next((o for o in outcomes if o.outcome not in _FITS), None)
        if misfit is not None:
            merged, _ = three_way(self._cli, ours, base, theirs)
            raise self._refusal(lineage, path, _named(misfit), merged)
        return text

    def _path(self, edit: Edit) -> str:
        return path_meant(edit.target, self._documents[0])

    def _refusal(self, lineage: Lineage, path: str, what: str, merged: bytes) -> UserError:
        said = f"{path} has changed since the base of {lineage.run}, and {what} does not fit there"
        conflicts = _conflicts(merged.decode("utf-8", "replace"))
        return UserError(
            f"{said}:\n\n{conflicts}\n" if conflicts else said,
            hint=f"skillgit adopt {lineage.run} --merge leaves the conflict for you to resolve.",
        )


def _named(misfit: EditOutcome) -> str:
    edit = misfit.edit
    words = " ".join((edit.anchor.strip() or edit.content).split())
    shown = words if len(words) <= 60 else f"{words[:59]}…"
    return f'the edit "{edit.op.value}" at "{shown}" ({misfit})'


def _conflicts(merged: str) -> str:
    """The conflicts of a merged text with a few lines around each."""
    lines = merged.replace("\r\n", "\n").split("\n")
    shown: set[int] = set()
    start: int | None = None
    for n, line in enumerate(lines):
        if line.startswith("<<<<<<< "):
            start = n
        elif line.startswith(">>>>>>> ") and start is not None:
            shown |= set(range(max(0, start - _AROUND), min(len(lines), n + _AROUND + 1)))
            start = None
    parts = [lines[n] if n - 1 in shown or n == 0 else f"...\n{lines[n]}" for n in sorted(shown)]
    return "\n".join(parts).strip("\n")


def _data(tree: pygit2.Tree, path: str) -> bytes | None:
    if path not in tree:
        return None
    found = tree[path]
    return found.data if isinstance(found, pygit2.Blob) else None


def three_way(cli: GitCli, ours: bytes, base: bytes, theirs: bytes) -> tuple[bytes, bool]:
    """git's merge of three texts with conflicts marked, and whether there are any."""
    labels = ("-L", "now", "-L", "base", "-L", "proposed")
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for name, data in (("now", ours), ("base", base), ("proposed", theirs)):
            file = Path(folder, name)
            file.write_bytes(data)
            files.append(str(file))
        result = cli.run("merge-file", "-p", "--diff3", *labels, *files)
    return result.stdout, not result.ok
