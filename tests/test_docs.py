"""What the pages claim: links lead somewhere, commands are documented, nothing big is tracked."""

from __future__ import annotations

import re
import subprocess
import tomllib
from functools import cache
from pathlib import Path

import pytest

from skillgit.cli.app.group import COMMANDS, HIDDEN

ROOT = Path(__file__).parents[1]
LARGEST = 200_000
"""Unit: bytes."""

LINK = re.compile(r"!?\[[^\]\n]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#{1,6} +(.+?) *#* *$", re.MULTILINE)
CODE = re.compile(r"^(```|~~~).*?^\1[^\n]*$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
FENCE = re.compile(r"^(```|~~~).*?^\1[^\n]*$", re.MULTILINE | re.DOTALL)


def pages() -> list[Path]:
    return [
        *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
        *sorted((ROOT / "docs").rglob("*.md")),
    ]


@cache
def anchors(page: Path) -> frozenset[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    out: list[str] = []
    for heading in HEADING.findall(FENCE.sub("", page.read_text())):
        plain = LINK.sub(lambda m: m[0].partition("[")[2].partition("]")[0], heading)
        slug = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        out.append(slug if slug not in out else f"{slug}-{out.count(slug)}")
    return frozenset(out)


def id_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def dead_links(page: Path) -> list[str]:
    dead = []
    for target in LINK.findall(CODE.sub("", page.read_text())):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        file = (page.parent / name).resolve() if name else page
        missing = not file.exists() or not file.is_relative_to(ROOT)
        if missing or (anchor and anchor not in anchors(file)):
            dead.append(target)
    return dead


@pytest.mark.parametrize("page", pages(), ids=id_of)
def test_every_link_leads_somewhere(page: Path) -> None:
    assert dead_links(page) == []


def test_a_dead_link_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text("# A b\n[x](#a-b) [y](#c) [z](no.md) `[code](no.md)` [web](https://x)\n")
    assert dead_links(page) == ["#c", "no.md"]


@pytest.mark.parametrize("command", sorted(COMMANDS.keys() - HIDDEN))
def test_every_command_is_in_the_reference_and_on_the_man_page(command: str) -> None:
    assert f"skillgit-{command}" in anchors(ROOT / "docs/reference/cli.md")
    assert command in (ROOT / "docs/man/skillgit.1").read_text().replace("\\-", "-")


@pytest.mark.parametrize("page", pages(), ids=id_of)
def test_every_command_that_a_page_shows_exists(page: Path) -> None:
    code = "\n".join(block[0] for block in FENCE.finditer(page.read_text()))
    shown = set(re.findall(r"^(?:\$ )?skillgit ([a-z]+)\b", code, re.MULTILINE))
    assert shown <= COMMANDS.keys()


def test_every_page_is_reached_from_the_readme_or_from_a_page_that_is() -> None:
    reached, waiting = set(), [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        if page in reached:
            continue
        reached.add(page)
        for target in LINK.findall(CODE.sub("", page.read_text())):
            file = (page.parent / target.partition("#")[0]).resolve()
            file = file / "README.md" if file.is_dir() else file
            if file.suffix == ".md" and file.is_file():
                waiting.append(file)
    assert set(pages()) - reached == set()


@pytest.mark.parametrize("page", [p for p in pages() if "decisions" not in p.parts], ids=id_of)
def test_every_file_of_ours_that_a_page_names_exists(page: Path) -> None:
    rooms = {path.name for path in (ROOT / "skillgit").iterdir() if path.is_dir()}
    ours = rooms | {"skillgit", "benchmarks", "docs", "hooks", "prompts"}
    named = re.findall(r"`((\w+)/[\w/.-]*\w\.(?:py|md))`", page.read_text())
    paths = [path for path, folder in named if folder in ours]
    assert [
        p for p in paths if not (ROOT / p).exists() and not (ROOT / "skillgit" / p).exists()
    ] == []


def decisions() -> list[Path]:
    return sorted((ROOT / "docs/decisions").glob("[0-9]*.md"))


@pytest.mark.parametrize("page", decisions(), ids=id_of)
def test_a_decision_has_its_parts_in_order(page: Path) -> None:
    text = page.read_text()
    number = int(page.name[:4])
    assert text.startswith(f"# {number}. ")
    parts = re.findall(r"^\*\*(\w+)\.\*\*", text, re.MULTILINE)
    if parts[0] == "Status":
        parts = parts[1:]
    assert parts == ["Context", "Decision", "Consequences", "Alternatives"]


def test_the_index_of_decisions_has_them_all_with_their_titles() -> None:
    index = (ROOT / "docs/decisions/README.md").read_text()
    for page in decisions():
        title = page.read_text().partition("\n")[0].partition(". ")[2]
        assert f"[{title}]({page.name})" in index


def test_every_room_of_the_package_is_on_the_map() -> None:
    map_of_rooms = (ROOT / "CONTRIBUTING.md").read_text()
    rooms = [path.parent.name for path in (ROOT / "skillgit").glob("*/__init__.py")]
    assert [room for room in rooms if f"`{room}/`" not in map_of_rooms] == []


def test_the_layers_of_every_large_room_are_contracts() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    layers = [c for c in contracts["contracts"] if c["type"] == "layers"]
    assert all(c["exhaustive"] for c in layers)
    assert {name for c in layers for name in c["containers"]} >= {
        "skillgit", "skillgit.cli", "skillgit.store", "skillgit.sleep", "skillgit.review",
    }  # fmt: skip


def test_nothing_large_and_no_wheel_is_tracked() -> None:
    done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    files = [ROOT / name for name in done.stdout.decode().split("\0") if name]
    binary = [f for f in files if f.is_file() and b"\0" in f.read_bytes()[:8_000]]
    assert [id_of(f) for f in binary if f.stat().st_size > LARGEST] == []
    assert [id_of(f) for f in files if f.suffix == ".whl"] == []


def test_no_test_asserts_how_long_something_takes() -> None:
    timed = re.compile(r"assert\b.*\btime\.(?:time|monotonic|perf_counter)\(")
    still = [
        f"{id_of(path)}:{number}"
        for path in sorted((ROOT / "tests").rglob("*.py"))
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if timed.search(line)
    ]
    assert still == []
