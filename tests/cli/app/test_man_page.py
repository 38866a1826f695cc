from __future__ import annotations

import shutil
import subprocess
import tomllib
from pathlib import Path

import click
import pytest

from skillgit.cli.app.reference import MAN_PAGE, contexts, man_page

ROOT = Path(__file__).parents[3]


def test_the_man_page_is_what_the_program_says() -> None:
    assert (ROOT / MAN_PAGE).read_text() == man_page(), "make docs"


def test_every_command_and_option_is_in_it() -> None:
    text = man_page().replace("\\-", "-")
    for context in contexts():
        assert context.command_path in text
        for parameter in context.command.params:
            if isinstance(parameter, click.Option):
                assert parameter.opts[0] in text


def test_no_text_is_taken_for_a_request() -> None:
    requests = {line.split()[0] for line in man_page().splitlines() if line.startswith((".", "'"))}
    known = {'.\\"', ".TH", ".SH", ".SS", ".PP", ".TP", ".B", ".BR", ".RI", ".br", ".nf", ".fi"}
    assert requests <= known


@pytest.mark.skipif(shutil.which("groff") is None, reason="there is no groff")
def test_groff_has_nothing_to_complain_of() -> None:
    words = ["groff", "-man", "-ww", "-Tutf8", "-z"]
    done = subprocess.run(words, input=man_page().encode(), capture_output=True, check=True)
    assert done.stderr == b""


def test_the_wheel_installs_it_under_both_names() -> None:
    hatch = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    shared = hatch["targets"]["wheel"]["shared-data"]
    assert set(shared.values()) == {
        "share/man/man1/skillgit.1",
        "share/man/man1/git-skillgit.1",
    }
    assert all((ROOT / source).is_file() for source in shared)
    assert (ROOT / "docs/man/git-skillgit.1").read_text() == ".so man1/skillgit.1\n"
