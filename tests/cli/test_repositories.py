"""Every kind of repository: it works, or it is one clear sentence and nothing has changed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from skillgit.cli.app.group import COMMANDS

SKILL = "skills/brief/SKILL.md"
CONFIG = """\
[skill]
path = "skills/brief/SKILL.md"
[tasks]
path = "tasks/brief.jsonl"
[target]
provider = "simulated"
model = "sim-target"
[optimizer]
provider = "simulated"
model = "sim-optimizer"
[train]
epochs = 1
batch_size = 2
workers = 2
"""
TASK = (
    '{{"id": "t{n}", "prompt": "Write a brief on {topic}.", "split": "{split}", '
    '"judge": {{"kind": "rule", "checks": [{{"op": "contains", "arg": "## Key Risks"}}]}}}}\n'
)
SPLITS = ("train", "train", "train", "val", "val", "test")
TOPICS = ("tides", "rails", "bees", "maps", "seeds", "roofs")
IS_ROOT = os.geteuid() == 0


@dataclass(frozen=True)
class Place:
    """A repository for one test. `start` is where commands run, `branch` where versions go."""

    repo: Path
    start: Path
    branch: str = "main"
    environ: dict[str, str] = field(default_factory=dict)
    is_sound: bool = True

    def git(self, *words: str, at: Path | None = None) -> str:
        done = subprocess.run(
            ["git", *words],
            cwd=at or self.start,
            env={**os.environ, "GIT_OPTIONAL_LOCKS": "0", **self.environ},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"git {' '.join(words)}: {done.stderr}"
        return done.stdout

    def moved(self, **changes: object) -> Place:
        return replace(self, **changes)


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with a skill, six tasks and a config, committed on main; only ever copied."""
    repo = tmp_path_factory.mktemp("template") / "repo"
    for folder in ("skills/brief", "tasks", "src"):
        (repo / folder).mkdir(parents=True)
    (repo / SKILL).write_text(
        "---\nname: brief\ndescription: Briefs.\n---\n# Brief\n\n- One page.\n"
    )
    rows = zip(SPLITS, TOPICS, strict=True)
    tasks = (TASK.format(n=n, topic=topic, split=split) for n, (split, topic) in enumerate(rows))
    (repo / "tasks/brief.jsonl").write_text("".join(tasks))
    (repo / "skillgit.toml").write_text(CONFIG)
    (repo / "src/app.py").write_text("print()\n")
    hidden = dict.fromkeys(("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"), os.devnull)
    for words in (
        ["init", "--quiet", "--initial-branch=main"],
        ["config", "user.name", "Ada Tester"],
        ["config", "user.email", "ada@example.org"],
        ["add", "."],
        ["commit", "--quiet", "-m", "Add the skill and its tasks"],
    ):
        subprocess.run(["git", *words], cwd=repo, env={**os.environ, **hidden}, check=True)
    return repo


@pytest.fixture
def place(template: Path, tmp_path: Path) -> Place:
    """A copy of it."""
    repo = shutil.copytree(template, tmp_path / "repo")
    place = Place(repo, repo)
    place.git("update-index", "--refresh")
    return place


# ── what must stay as it is ──────────────────────────────────────────────────────────────────


def seen(place: Place) -> dict[str, object]:
    """All that a command must leave alone: index, HEAD, status, times of files, foreign refs."""
    git_dir = Path(place.git("rev-parse", "--absolute-git-dir").strip())
    common = Path(place.git("rev-parse", "--path-format=absolute", "--git-common-dir").strip())
    bare = place.git("rev-parse", "--is-bare-repository") == "true\n"
    return {
        "index": index_bytes(git_dir),
        "HEAD": (git_dir / "HEAD").read_bytes(),
        "status": "" if bare else place.git("status", "--porcelain", "--ignored"),
        "times": {} if bare else times(place),
        "refs": foreign_refs(common),
        "hooks": sorted(p.name for p in (common / "hooks").glob("*")),
        "config": (common / "config").read_bytes(),
    }


def index_bytes(git_dir: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in git_dir.glob("*index*") if file.is_file()}


def times(place: Place) -> dict[str, int]:
    top = Path(place.git("rev-parse", "--show-toplevel").strip("\n"))
    files = place.git("ls-files", "-z", at=top).split("\0")
    return {f: (top / f).lstat().st_mtime_ns for f in files if f and (top / f).exists()}


def foreign_refs(common: Path) -> dict[str, bytes]:
    """The refs that are not skillgit's, as files and as packed lines: broken ones too."""
    found = {
        str(file.relative_to(common)): file.read_bytes()
        for file in (common / "refs").rglob("*")
        if file.is_file()
    }
    packed = common / "packed-refs"
    for line in packed.read_bytes().splitlines() if packed.exists() else []:
        value, _, name = line.partition(b" ")
        found.setdefault(name.decode(), value)
    return {name: value for name, value in found.items() if not is_ours(name)}


def is_ours(ref: str) -> bool:
    ours = ("refs/heads/skillopt/", "refs/tags/skillopt/", "refs/notes/skillopt", "refs/skillopt/")
    return ref.startswith(ours) and ".lock" not in ref


def works(skillgit: Callable[..., object], place: Place) -> None:
    """Train, log, show and status leave all as it was; adopt brings the version to the branch."""
    before = seen(place)

    def typed(*words: str):
        return skillgit(*words, cwd=place.start, **place.environ)

    done = typed("train").ok()
    assert done.out.startswith("train-1: 0.0000 -> 1.0000 on val")
    assert typed("log").ok().out.startswith("train-1: brief, ended")
    assert "Key Risks" in typed("show", "train-1@1").ok().out
    assert "not adopted" in typed("status").ok().out
    assert seen(place) == before
    typed("adopt", "train-1").ok()
    adopted = place.git("show", f"refs/heads/{place.branch}:{SKILL}")
    assert "Key Risks" in adopted
    assert adopted == place.git("show", f"refs/tags/skillopt/best:{SKILL}")
    assert ", adopted" in typed("status").ok().out
    if place.is_sound:
        place.git("fsck", "--strict", "--connectivity-only")


def refused(
    skillgit: Callable[..., object], place: Place, said: str, hint: str, *words: str
) -> None:
    """One sentence with what to do, and nothing has changed."""
    before = files_of(place.repo)
    done = skillgit(*(words or ("train",)), cwd=place.start, **place.environ)
    assert (done.code, done.out) == (1, "")
    error, *hints = done.err.splitlines()
    assert error.startswith("error: ")
    assert said in error
    assert all(line.startswith("hint: ") for line in hints)
    assert hint in " ".join(hints)
    assert "fatal:" not in done.err
    assert "Traceback" not in done.err
    assert files_of(place.repo) == before


def files_of(repo: Path) -> dict[str, bytes]:
    """Every file of the repository, but the private folder's."""
    return {
        str(file.relative_to(repo)): file.read_bytes()
        for file in repo.rglob("*")
        if file.is_file() and "skillgit" not in file.relative_to(repo).parts[:-1]
    }


# ── works ────────────────────────────────────────────────────────────────────────────────────

Arrange = Callable[[Place], Place]
WORKS: dict[str, Arrange] = {}
REFUSED: dict[str, tuple[Arrange, str, str]] = {}


def good(arrange: Arrange) -> Arrange:
    WORKS[arrange.__name__] = arrange
    return arrange


def bad(said: str, hint: str) -> Callable[[Arrange], Arrange]:
    def note(arrange: Arrange) -> Arrange:
        REFUSED[arrange.__name__] = (arrange, said, hint)
        return arrange

    return note


def clone(place: Place, *options: str, name: str = "clone") -> Place:
    """A clone over the wire, which may be shallow or partial, with the same identity."""
    place.git("config", "uploadpack.allowFilter", "true")
    copy = place.repo.parent / name
    place.git("clone", "--quiet", *options, f"file://{place.repo}", str(copy))
    place.git("config", "user.name", "Ada Tester", at=copy)
    place.git("config", "user.email", "ada@example.org", at=copy)
    return place.moved(repo=copy, start=copy)


@good
def plain(place: Place) -> Place:
    return place


@good
def bare(place: Place) -> Place:
    return clone(place, "--bare", name="bare.git")


@good
def a_linked_work_tree(place: Place) -> Place:
    linked = place.repo.parent / "linked"
    place.git("worktree", "add", "--quiet", "-b", "side", str(linked))
    return place.moved(start=linked)


@good
def work_trees_of_a_bare_repository(place: Place) -> Place:
    inside = clone(place, "--bare", name="around/.bare")
    around = inside.repo.parent
    (around / ".git").write_text("gitdir: ./.bare\n")
    place.git("worktree", "add", "--quiet", str(around / "main"), "main", at=around)
    return inside.moved(start=around / "main")


@good
def a_detached_head(place: Place) -> Place:
    place.git("switch", "--quiet", "--detach")
    return place


@good
def a_shallow_clone(place: Place) -> Place:
    place.git("commit", "--quiet", "--allow-empty", "-m", "More")
    shallow = clone(place, "--depth=1")
    assert shallow.git("rev-parse", "--is-shallow-repository") == "true\n"
    return shallow


@good
def a_partial_clone(place: Place) -> Place:
    place.git("rm", "--quiet", "src/app.py")
    place.git("commit", "--quiet", "-m", "Less")
    return clone(place, "--filter=blob:none")


@good
def a_sparse_work_tree(place: Place) -> Place:
    place.git("sparse-checkout", "set", "tasks")
    assert not (place.repo / SKILL).exists()
    return place


@good
def another_main_branch(place: Place) -> Place:
    place.git("branch", "-m", "trunk")
    text = (place.repo / "skillgit.toml").read_text()
    (place.repo / "skillgit.toml").write_text(f'[repo]\nonto = "trunk"\n{text}')
    place.git("commit", "--quiet", "-am", "Say trunk")
    return place.moved(branch="trunk")


@good
def line_ends_that_git_changes(place: Place) -> Place:
    place.git("config", "core.autocrlf", "true")
    (place.repo / SKILL).unlink()
    place.git("checkout", "--quiet", "--", SKILL)
    assert b"\r\n" in (place.repo / SKILL).read_bytes()
    return place


@good
def a_split_index(place: Place) -> Place:
    place.git("update-index", "--split-index")
    return place


@good
def an_index_with_all_that_makes_it_fast(place: Place) -> Place:
    place.git("config", "core.untrackedCache", "true")
    place.git("update-index", "--index-version=4", "--untracked-cache")
    return place


@good
def names_that_stand_twice(place: Place) -> Place:
    place.git("branch", "best")
    for name in ("main", "train-1", "skillopt/train-1", "skillopt/run/train-1", "best"):
        place.git("tag", name, "refs/heads/main")
    return place


@good
def locks_that_are_in_nobodys_way(place: Place) -> Place:
    for name in ("packed-refs.lock", "config.lock", "gc.pid"):
        (place.repo / ".git" / name).touch()
    return place


@good
def an_empty_ref_of_somebody_else(place: Place) -> Place:
    (place.repo / ".git/refs/heads/broken").touch()
    (place.repo / ".git/refs/tags/broken").touch()
    return place.moved(is_sound=False)


@good
def a_submodule(place: Place) -> Place:
    outer = place.repo.parent / "outer"
    place.git("init", "--quiet", str(outer))
    allowed = ("-c", "protocol.file.allow=always")
    place.git(*allowed, "submodule", "--quiet", "add", str(place.repo), "sub", at=outer)
    sub = place.moved(repo=outer, start=outer / "sub")
    sub.git("config", "user.name", "Ada Tester")
    sub.git("config", "user.email", "ada@example.org")
    return sub


@good
def a_folder_in_it(place: Place) -> Place:
    return place.moved(start=place.repo / "skills" / "brief")


@good
def hooks_that_refuse_everything(place: Place) -> Place:
    hooks = place.repo / ".husky"
    hooks.mkdir()
    names = ("pre-commit", "commit-msg", "prepare-commit-msg", "post-commit", "pre-merge-commit")
    for name in names:
        (hooks / name).write_text("#!/bin/sh\necho no >>hooks-ran\nexit 1\n")
        (hooks / name).chmod(0o755)
    (place.repo / ".git/info/exclude").write_text(".husky\n")
    place.git("config", "core.hooksPath", ".husky")
    return place


@good
def objects_of_another_repository(place: Place) -> Place:
    copy = place.repo.parent / "borrower"
    place.git("clone", "--quiet", "--shared", str(place.repo), str(copy))
    assert (copy / ".git/objects/info/alternates").exists()
    place.git("config", "user.name", "Ada Tester", at=copy)
    place.git("config", "user.email", "ada@example.org", at=copy)
    return place.moved(repo=copy, start=copy)


@good
def a_path_of_any_letters(place: Place) -> Place:
    there = place.repo.parent / "my 'projects' & Ünïcode — \u65e5\u672c" / "a  repo"
    there.parent.mkdir()
    place.repo.rename(there)
    linked = there.parent / "linked work tree"
    place.git("worktree", "add", "--quiet", str(linked), "-b", "side", at=there)
    return place.moved(repo=there, start=linked)


@good
def core_bare_that_is_not_set(place: Place) -> Place:
    place.git("config", "--unset", "core.bare")
    return place


@good
def a_git_dir_elsewhere(place: Place) -> Place:
    away = place.repo.parent / "away.git"
    place.git("init", "--quiet", "--separate-git-dir", str(away))
    return place


@good
def a_configuration_for_each_work_tree(place: Place) -> Place:
    place.git("config", "extensions.worktreeConfig", "true")
    place.git("config", "--worktree", "user.name", "Eve")
    return place


@good
def settings_of_every_kind(place: Place) -> Place:
    for name, value in {
        "color.ui": "always",
        "core.fileMode": "false",
        "core.logAllRefUpdates": "always",
        "core.quotePath": "false",
        "diff.external": "false",
        "diff.mnemonicPrefix": "true",
        "diff.noprefix": "true",
        "fetch.prune": "true",
        "fetch.pruneTags": "true",
        "i18n.commitEncoding": "ISO-8859-1",
        "log.showSignature": "true",
        "merge.ff": "false",
        "merge.verifySignatures": "false",
        "transfer.fsckObjects": "true",
    }.items():
        place.git("config", name, value)
    return place


@pytest.mark.parametrize("kind", WORKS)
def test_it_works_in(skillgit, place: Place, kind: str) -> None:
    works(skillgit, WORKS[kind](place))


def test_it_works_in_another_users_that_is_safe(started, place: Place) -> None:
    if not IS_ROOT:
        pytest.skip("only root can give a file away")
    another_users(place)
    config = Path(os.environ["HOME"]) / ".gitconfig"
    config.write_text(f"[safe]\n\tdirectory = {place.repo}\n")
    safe = place.moved(environ={"GIT_CONFIG_GLOBAL": str(config)})
    started("train", **safe.environ).ok()
    started("adopt", "best", **safe.environ).ok()
    assert "Key Risks" in safe.git("show", f"main:{SKILL}")


def test_no_hook_runs_for_the_commits_of_a_run(skillgit, place: Place) -> None:
    place = hooks_that_refuse_everything(place)
    skillgit("train").ok()
    skillgit("adopt", "best").ok()
    assert not (place.repo / "hooks-ran").exists()


# ── one clear sentence ───────────────────────────────────────────────────────────────────────


@bad("the repository has no commit yet", "git add SKILL.md && git commit")
def unborn(place: Place) -> Place:
    shutil.rmtree(place.repo / ".git/refs/heads")
    (place.repo / ".git/refs/heads").mkdir()
    place.git("rm", "-r", "--quiet", "--cached", ".")
    return place


@bad("is not in this repository", "git cat-file -e")
def a_partial_clone_without_a_checkout(place: Place) -> Place:
    partial = clone(place, "--filter=blob:none", "--no-checkout")
    for name in ("skillgit.toml", "tasks"):
        whole = place.repo / name
        copy = shutil.copytree if whole.is_dir() else shutil.copy
        copy(whole, partial.repo / name)
    return partial


@bad("commits are to be signed, and git cannot", "git config skillgit.sign false")
def signing_without_a_key(place: Place) -> Place:
    place.git("config", "commit.gpgSign", "true")
    place.git("config", "gpg.format", "ssh")
    return place


@bad("git does not know whose commits these would be", 'git config user.name "Your Name"')
def no_identity(place: Place) -> Place:
    place.git("config", "--remove-section", "user")
    return place


@bad("belongs to another user", "git config --global --add safe.directory")
def another_users(place: Place) -> Place:
    if not IS_ROOT:
        pytest.skip("only root can give a file away")
    for path in [place.repo, *place.repo.rglob("*")]:
        os.chown(path, 12345, 12345)
    return place


@bad("names its objects by SHA-256", "git init --object-format=sha1")
def sha256(place: Place) -> Place:
    shutil.rmtree(place.repo / ".git")
    place.git("init", "--quiet", "--initial-branch=main", "--object-format=sha256")
    place.git("-c", "user.name=a", "-c", "user.email=b@c", "commit", "-qm", "x", "--allow-empty")
    return place


@bad("reftable", "git refs migrate --ref-format=files")
def a_reftable(place: Place) -> Place:
    place.git("config", "core.repositoryFormatVersion", "1")
    place.git("config", "extensions.refStorage", "reftable")
    return place


@bad("cannot read", "fresh clone")
def an_extension_of_tomorrow(place: Place) -> Place:
    place.git("config", "core.repositoryFormatVersion", "1")
    place.git("config", "extensions.fancyNew", "true")
    return place


@bad("the branch skillopt is in the way", "git branch -m skillopt old-skillopt")
def a_branch_of_the_programs_name(place: Place) -> Place:
    place.git("branch", "skillopt")
    return place


@bad("the tag skillopt/best is not skillgit's", "git tag -d skillopt/best")
def a_tag_of_the_bests_name(place: Place) -> Place:
    place.git("tag", "skillopt/best")
    return place


@bad("the branch SkillOpt/ideas is in the way", "git branch -m SkillOpt/ideas old-SkillOpt-ideas")
def a_name_that_differs_in_case_alone(place: Place) -> Place:
    place.git("config", "core.ignoreCase", "true")
    place.git("branch", "SkillOpt/ideas")
    return place


@bad("refs/heads/main cannot be read", "git reflog show main")
def an_empty_main_branch(place: Place) -> Place:
    (place.repo / ".git/refs/heads/main").write_bytes(b"")
    return place


@bad("refs/heads/skillopt/run/train-1 cannot be read", "git reflog show")
def an_empty_run_branch(place: Place) -> Place:
    folder = place.repo / ".git/refs/heads/skillopt/run"
    folder.mkdir(parents=True)
    (folder / "train-1").touch()
    return place


@bad("is a submodule", "-C skills")
def a_skill_in_a_submodule(place: Place) -> Place:
    inner = place.repo.parent / "inner"
    shutil.copytree(place.repo / "skills", inner)
    place.git("init", "--quiet", at=inner)
    place.git("add", ".", at=inner)
    place.git("-c", "user.name=a", "-c", "user.email=b@c", "commit", "-qm", "x", at=inner)
    place.git("rm", "-r", "--quiet", "skills")
    allowed = ("-c", "protocol.file.allow=always")
    place.git(*allowed, "submodule", "--quiet", "add", str(inner), "skills")
    place.git("commit", "--quiet", "-m", "Move the skills")
    return place


@bad("core.bare and core.worktree set", "git config --unset core.worktree")
def bare_with_a_work_tree(place: Place) -> Place:
    place.git("config", "core.worktree", str(place.repo))
    place.git("config", "core.bare", "true")
    return place


@pytest.mark.parametrize("kind", REFUSED)
def test_it_is_one_sentence_in(skillgit, place: Place, kind: str) -> None:
    arrange, said, hint = REFUSED[kind]
    refused(skillgit, arrange(place), said, hint)


@pytest.mark.parametrize("kind", ["sha256", "a_reftable", "another_users"])
@pytest.mark.parametrize("words", [("status",), ("adopt", "best"), ("init", "skills/brief")])
def test_every_command_says_it_in(skillgit, place: Place, kind: str, words) -> None:
    arrange, said, hint = REFUSED[kind]
    place = arrange(place)
    if words[0] == "init":
        (place.repo / "skillgit.toml").unlink()
    refused(skillgit, place, said, hint, *words)


def test_a_repository_that_cannot_be_written_is_one_sentence(place: Place) -> None:
    words = [sys.executable, "-m", "skillgit", "train"]
    if IS_ROOT and shutil.which("setpriv") is None:
        pytest.skip("root may write everywhere")
    if IS_ROOT:
        drop = ("--bounding-set=-dac_override", "--inh-caps=-dac_override")
        words = ["setpriv", *drop, *words]
    folders = [place.repo, *(p for p in place.repo.rglob("*") if p.is_dir())]
    for folder in folders:
        folder.chmod(0o555)
    try:
        done = subprocess.run(words, cwd=place.repo, capture_output=True, text=True, check=False)
    finally:
        for folder in folders:
            folder.chmod(0o755)
    assert done.returncode == 1
    error, hint = done.stderr.splitlines()
    assert error == f"error: {place.repo}/.git/skillgit cannot be made: Permission denied"
    assert "see who owns its git dir" in hint


def test_a_lock_of_gits_stops_adopting_and_nothing_else(skillgit, place: Place) -> None:
    skillgit("train").ok()
    before = seen(place)
    lock = place.repo / ".git/index.lock"
    lock.touch()
    assert "not adopted" in skillgit("status").ok().out
    done = skillgit("adopt", "best")
    assert done.code == 1
    assert "index.lock': File exists" in done.err
    assert "hint: Nothing was changed; main is where it was." in done.err
    lock.unlink()
    assert seen(place) == before
    skillgit("adopt", "best").ok()


# ── others at work ───────────────────────────────────────────────────────────────────────────


def test_gc_and_pack_refs_may_run_beside_a_training(skillgit, place: Place) -> None:
    before = seen(place)
    done = threading.Event()
    ended = []

    def tidy(*commands: tuple[str, ...]) -> None:
        while not done.is_set():
            for words in commands:
                ended.append(subprocess.run(["git", *words], cwd=place.repo, capture_output=True))

    others = [
        threading.Thread(target=tidy, args=[("pack-refs", "--all", "--prune")]),
        threading.Thread(target=tidy, args=[("gc", "--quiet"), ("repack", "-a", "-d", "-q")]),
    ]
    for other in others:
        other.start()
    try:
        for _ in range(3):
            skillgit("train", "--new", "--epochs", "2", "--force").ok()
    finally:
        done.set()
        for other in others:
            other.join()
    assert len(ended) > 4
    index = place.repo / ".git/index"
    assert index.read_bytes() == before["index"]["index"]
    assert place.git("log", "-1", "--format=%s", "skillopt/run/train-3").startswith(
        "skillopt(brief)"
    )
    place.git("fsck", "--strict")
    assert "train-3" in skillgit("status").ok().out


# ── every command ────────────────────────────────────────────────────────────────────────────

CHANGES_THINGS = frozenset(("adopt", "init", "hooks", "sync", "propose", "demo", "simulate"))
TYPED: dict[str, tuple[tuple[str, ...], ...]] = {
    "tasks": (("tasks",), ("tasks", "--json")),
    "trust": (("trust", "--yes"), ("trust", "--list"), ("trust", "--revoke")),
    "train": (("train",), ("train", "--new", "--epochs", "2"), ("train", "--from", "train-1@0")),
    "log": (("log",), ("log", "train-1", "--json")),
    "show": (("show", "best"), ("show", "train-1@1+", "--json")),
    "eval": (("eval", "best", "main", "--split", "test"),),
    "status": (("status",), ("status", "--json")),
}


@pytest.fixture(scope="session")
def trained_template(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same after one training; only ever copied."""
    repo = shutil.copytree(template, tmp_path_factory.mktemp("trained-template") / "repo")
    words = [sys.executable, "-m", "skillgit", "train"]
    hidden = dict.fromkeys(("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"), os.devnull)
    environ = {**os.environ, **hidden, "HOME": str(repo.parent)}
    subprocess.run(words, cwd=repo, env=environ, check=True, capture_output=True)
    return repo


def commands_to_type() -> Iterator[tuple[str, ...]]:
    for name in COMMANDS:
        if name not in CHANGES_THINGS:
            yield from TYPED.get(name, ((name,), (name, "best")))


@pytest.mark.parametrize("dirty", [False, True])
def test_no_command_but_a_few_touches_what_is_not_skillgits(
    skillgit, trained_template: Path, tmp_path: Path, dirty: bool
) -> None:
    repo = shutil.copytree(trained_template, tmp_path / "repo")
    place = Place(repo, repo)
    place.git("branch", "other")
    place.git("tag", "v1")
    place.git("update-ref", "refs/notes/commits", "main")
    if dirty:
        (repo / "src/app.py").write_text("print(1)\n")
        place.git("add", "src/app.py")
        (repo / "src/app.py").write_text("print(2)\n")
        (repo / SKILL).write_text("# Mine\n")
        (repo / "new.txt").write_text("new\n")
    before = seen(place)
    for words in commands_to_type():
        done = skillgit(*words)
        assert done.code in (0, 1, 2), f"{words}: {done.err}"
        assert seen(place) == before, words
