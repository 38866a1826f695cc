"""Regular expressions from task files: valid by Python's `re`, and never run without a limit."""

from __future__ import annotations

import re
import warnings

import regex

MATCH_SECONDS = 1.0
"""How long one pattern may look at one answer. Unit: seconds of processor time."""


class SlowPatternError(Exception):
    """A pattern did not come to an end in time."""


class Pattern:
    """A compiled pattern that gives up in time."""

    def __init__(self, source: str) -> None:
        """Raises: ValueError when the pattern does not compile."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                re.compile(source)
                self._compiled = regex.compile(source, regex.VERSION0)
            except (re.error, regex.error, OverflowError, RecursionError) as error:
                raise ValueError(f"the pattern does not compile: {error}") from error

    def found_in(self, text: str) -> bool:
        """Whether it matches anywhere in the text.

        Raises: SlowPatternError.
        """
        try:
            return self._compiled.search(text, timeout=MATCH_SECONDS, concurrent=True) is not None
        except TimeoutError as error:
            raise SlowPatternError from error
