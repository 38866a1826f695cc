"""Secrets in texts: taken out before a text is stored or sent, and found before one is committed.

Pure. What counts as a secret is two tables: `tokens` (known by their shape) and `assignments`
(known by the name in front of them).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from skillgit.errors import UserError
from skillgit.redaction.assignments import assigned_secrets
from skillgit.redaction.tokens import KINDS, LONGEST_START

__all__ = ["Finding", "find_secrets", "redact", "redacted_excerpt", "refuse_secrets"]

MARK = "[redacted:"
CUT = "…"

EXAMPLES = frozenset(("pass", "password", "passwd", "secret", "xxx", "token", "p", "pw"))
SHORTEST_REFUSED = 6
"""What is shorter is taken out of a text, but no reason to refuse one. Unit: characters."""

_KINDS_OF: dict[str, list[int]] = {}
for _index, _kind in enumerate(KINDS):
    for _hint in _kind.hints:
        _KINDS_OF.setdefault(_hint, []).append(_index)
_HINTS = tuple(_KINDS_OF)


class Finding(NamedTuple):
    """A secret in a text: its kind, where it stands, and in which line, counted from 1."""

    kind: str
    start: int
    end: int
    line: int


def redact(text: str) -> str:
    """The text with every secret replaced by its kind in brackets. Redacting it again changes nothing."""
    out: list[str] = []
    place = 0
    for kind, start, end in _spans(text):
        out += [text[place:start], f"{MARK}{kind}]"]
        place = end
    return "".join(out) + text[place:] if out else text


def redacted_excerpt(text: str, limit: int) -> str:
    """The beginning of the redacted text, at most `limit` characters, the cut marked.

    Of a long text only so much is looked at that no secret which begins in what is kept can be
    missed, whatever its length.
    Unit: characters.
    """
    clean = redact(text[: limit + LONGEST_START])
    if len(clean) <= limit and len(text) <= limit + LONGEST_START:
        return clean
    return clean[: max(0, limit - 1)].rstrip() + CUT


def find_secrets(text: str) -> tuple[Finding, ...]:
    """The secrets in a text, in order."""
    return tuple(
        Finding(kind, start, end, text.count("\n", 0, start) + 1)
        for kind, start, end in _spans(text)
    )


def refuse_secrets(path: str, data: bytes, *, before: bytes = b"") -> None:
    """Nothing, when the data holds no secret but those that stood in it `before`.

    Raises: UserError naming the path, the line and the kind, never the secret.
    """
    text, known = _text(data), _text(before)
    old = {known[finding.start : finding.end] for finding in find_secrets(known)}
    new = [
        finding
        for finding in find_secrets(text)
        if (secret := text[finding.start : finding.end]) not in old and not _is_an_example(secret)
    ]
    if new:
        places = ", ".join(f"line {finding.line} ({finding.kind})" for finding in new[:5])
        raise UserError(
            f"{path} is not committed: it holds what looks like a secret, {places}",
            hint="Take it out, or put a placeholder such as <API_KEY> in its place.",
        )


def _is_an_example(secret: str) -> bool:
    """Whether a document plainly shows a form rather than a secret: `user:password`, `123`."""
    return len(secret) < SHORTEST_REFUSED or secret.rpartition(":")[2].lower() in EXAMPLES


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _spans(text: str) -> Iterator[tuple[str, int, int]]:
    """Kind, start and end of each secret, in order, overlapping ones joined."""
    spans = sorted(_raw_spans(text), key=lambda span: (span[1], -span[2]))
    current: tuple[str, int, int] | None = None
    for kind, start, end in spans:
        if current is not None and start < current[2]:
            current = (current[0], current[1], max(end, current[2]))
            continue
        if current is not None:
            yield current
        current = (kind, start, end)
    if current is not None:
        yield current


def _raw_spans(text: str) -> Iterator[tuple[str, int, int]]:
    lowered = text.lower()
    hinted = {index for hint in _HINTS if hint in lowered for index in _KINDS_OF[hint]}
    for index in sorted(hinted):
        kind = KINDS[index]
        for match in kind.pattern.finditer(text):
            group = "secret" if "secret" in kind.pattern.groupindex else 0
            if MARK not in match[group] and kind.confirm(match[group]):
                yield kind.name, match.start(group), match.end(group)
    for span in assigned_secrets(text, lowered):
        if MARK not in text[span.start : span.end]:
            yield "secret", span.start, span.end
