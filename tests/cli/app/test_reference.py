from __future__ import annotations

from pathlib import Path

import click
import pytest

from skillgit import config
from skillgit.cli import commands as commands_package
from skillgit.cli.app.group import COMMANDS
from skillgit.cli.app.reference import attribute_docs, cli_page, config_page, contexts
from skillgit.records import Record

PAGES = Path(__file__).parents[3] / "docs" / "reference"
REGENERATE = "make docs"


def commands() -> list[tuple[str, click.Command]]:
    return [
        (context.command_path.removeprefix("skillgit "), context.command)
        for context in contexts()
        if not isinstance(context.command, click.Group)
    ]


def test_the_command_line_page_is_what_the_program_says() -> None:
    assert (PAGES / "cli.md").read_text() == cli_page(), REGENERATE


def test_the_config_page_is_what_the_records_say() -> None:
    assert (PAGES / "config.md").read_text() == config_page(), REGENERATE


@pytest.mark.parametrize(("name", "command"), commands())
def test_every_command_and_option_says_what_it_is_for(name: str, command: click.Command) -> None:
    assert command.help
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help, f"{name} {parameter.name}"


@pytest.mark.parametrize(("name", "command"), commands())
def test_every_command_that_reports_speaks_json(name: str, command: click.Command) -> None:
    speaks = any(parameter.name == "as_json" for parameter in command.params)
    assert speaks == (name not in {"init", "demo", "simulate", "completion", "help"})


def test_every_module_of_a_command_is_in_the_registry() -> None:
    folder = Path(commands_package.__file__).parent
    assert {file.stem for file in folder.glob("[a-z]*.py")} == set(COMMANDS)


def test_every_key_of_the_config_says_what_it_is_for() -> None:
    documented = attribute_docs(config)
    sections = [
        record
        for record in vars(config).values()
        if isinstance(record, type)
        and issubclass(record, Record)
        and record.__name__.endswith("Config")
        and record is not config.Config
    ]
    missing = [
        f"{section.__name__}.{key}"
        for section in sections
        for key, field in section.model_fields.items()
        if field.annotation not in sections
        and not any((owner.__name__, key) in documented for owner in section.__mro__)
    ]
    assert missing == []


def test_no_line_of_help_is_wider_than_a_terminal() -> None:
    assert [line for line in cli_page().splitlines() if len(line) > 80 and "…" not in line] == []
