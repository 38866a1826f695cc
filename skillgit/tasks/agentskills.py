"""Tasks of a skill's own `evals/evals.json`, judged by a rubric of its assertions.

Source: agentskills.io, "Evaluating skills".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from skillgit.tasks.fields import FieldError
from skillgit.tasks.source import Row, TaskSource
from skillgit.tasks.strict_json import JsonValue, parse_json

FILE = "evals.json"
PLACES = (FILE, f"evals/{FILE}")
ASSERTIONS = ("assertions", "expectations")
DESCRIBED = "The answer is what the reference describes."


def recognises(source: TaskSource) -> bool:
    """The file itself, or a folder that holds it, or holds it in `evals/`."""
    return _file(source) is not None


def rows(source: TaskSource) -> Iterator[Row]:
    """One row for each eval."""
    file = _file(source)
    text = None if file is None else source.text(file)
    if file is None or text is None:
        return
    try:
        value = parse_json(text)
    except ValueError as error:
        source.problems.add(file, str(error))
        return
    evals = value.get("evals") if isinstance(value, dict) else value
    if not isinstance(evals, list):
        source.problems.add(file, "holds no list 'evals'")
        return
    for number, item in enumerate(evals, start=1):
        place = f"{file}: eval {number}"
        if not isinstance(item, dict):
            source.problems.add(place, "an eval is a JSON object")
            continue
        try:
            yield Row(place, _fields(source, file, item))
        except ValueError as error:
            source.problems.add(place, str(error))


def _file(source: TaskSource) -> str | None:
    return next((file for file in source.files if source.inside(file) in PLACES), None)


def _fields(source: TaskSource, file: str, item: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """An eval in our names; one that has a judge of its own keeps it."""
    fields: dict[str, JsonValue] = {
        name: value
        for name, value in item.items()
        if name not in ("files", "expected_output", *ASSERTIONS)
    }
    expected = item.get("expected_output")
    fields["reference"] = expected
    fields["context"] = _with_files(source, file, item)
    if "judge" not in item:
        criteria = _criteria(item)
        if not criteria and not expected:
            raise FieldError("it has neither an 'expected_output' nor 'assertions' to judge by")
        fields["judge"] = {
            "kind": "rubric",
            "rubric": DESCRIBED if expected else "",
            "criteria": [*criteria],
        }
    return fields


def _criteria(item: Mapping[str, JsonValue]) -> list[str]:
    """The assertions' words, whichever way they are written."""
    criteria = []
    for name in ASSERTIONS:
        value = item.get(name)
        if value is None:
            continue
        if not isinstance(value, list):
            raise FieldError(f"{name!r} must be a list of texts")
        for entry in value:
            words = entry
            if isinstance(entry, dict):
                keys = ("text", "assertion", "description", "name")
                words = next((entry[key] for key in keys if entry.get(key)), None)
            if not isinstance(words, str) or not words.strip():
                raise FieldError(f"{name!r} must be a list of texts")
            criteria.append(words.strip())
    return criteria


def _with_files(source: TaskSource, file: str, item: Mapping[str, JsonValue]) -> str:
    """The eval's own context, then its files, each under its name."""
    names = item.get("files")
    if names is not None and not isinstance(names, list):
        raise FieldError("'files' must be a list of paths")
    own = item.get("context")
    parts = [own] if isinstance(own, str) and own.strip() else []
    for name in names or ():
        if not isinstance(name, str):
            raise FieldError("'files' must be a list of paths")
        parts.append(f"The file {name}:\n\n{_file_text(source, file, name)}")
    return "\n\n".join(parts)


def _file_text(source: TaskSource, file: str, name: str) -> str:
    """A file's text, found from the skill's folder or from that of the evals."""
    pure = PurePosixPath(name)
    if pure.is_absolute() or ".." in pure.parts:
        raise FieldError(f"the file {name!r} leads out of the skill's folder")
    evals = PurePosixPath(file).parent
    for folder in (evals.parent, evals):
        try:
            data = source.read(str(folder / pure))
        except OSError:
            continue
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise FieldError(f"the file {name!r} is no text in UTF-8") from error
    raise FieldError(f"the file {name!r} is not there")
