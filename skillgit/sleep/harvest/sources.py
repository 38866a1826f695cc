"""Which agents' transcripts are known. A new one is a module, and a line here."""

from __future__ import annotations

from collections.abc import Mapping

from skillgit.errors import ConfigError
from skillgit.sleep.harvest import atif, claude_code, codex, neutral
from skillgit.sleep.harvest.source import Source

SOURCES: Mapping[str, Source] = {
    "claude-code": claude_code.SOURCE,
    "codex": codex.SOURCE,
    "atif": atif.SOURCE,
    "neutral": neutral.SOURCE,
}


def source_named(name: str) -> Source:
    """The source of a name.

    Raises: ConfigError naming the sources there are.
    """
    if name not in SOURCES:
        raise ConfigError(
            f"sleep.sources: there is no source {name!r}",
            hint=f"The sources are: {', '.join(SOURCES)}. A folder goes after a colon: atif:exports",
        )
    return SOURCES[name]
