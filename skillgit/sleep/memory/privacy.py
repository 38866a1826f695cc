"""What of a night may stand in a commit: the rules it proposes, and reasons without a person's own words.

A reason that repeats what was said in a session is left out; the private notes keep it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from skillgit.records import Edit
from skillgit.redaction import redact

PHRASE = 4
"""How many successive words of a session make a quotation of it."""

QUOTATION = 8
"""How many successive words of a request a rule may not repeat."""

_WORD = re.compile(r"[\w./:@-]*\w")
_TELLING = re.compile(r"[\d_/@:.-]|[^\W\d_][^\W_]*[A-Z]|^[A-Z]")


def public_edit(edit: Edit, session_texts: tuple[str, ...], known: str) -> Edit:
    """The edit with a reason that anybody may read.

    `session_texts` are what persons said in the sessions, `known` is what the documents hold.
    """
    return edit.model_copy(update={"rationale": public_reason(edit, session_texts, known)})


def public_reason(edit: Edit, session_texts: tuple[str, ...], known: str) -> str:
    """The edit's reason, unless it repeats a session; then how many requests support the edit.

    Neither a phrase of a session may stand in it, nor a telling word (a name, a number, a path)
    that the documents and the rule itself do not have.
    """
    reason = redact(edit.rationale).strip()
    if not reason or not tells(reason, session_texts, f"{known}\n{edit.content}\n{edit.anchor}"):
        return reason
    n = max(len(edit.task_ids), edit.support_count)
    return f"{n} request{'' if n == 1 else 's'} asked for this"


def quotes_request(text: str, requests: tuple[str, ...]) -> bool:
    """Whether a rule repeats a long stretch of what somebody asked for once."""
    wanted = set(_phrases(_words(text), QUOTATION))
    return bool(wanted) and any(
        not wanted.isdisjoint(_phrases(_words(request), QUOTATION)) for request in requests
    )


def tells(text: str, session_texts: tuple[str, ...], known: str) -> bool:
    """Whether a text repeats what was said in a session and stands nowhere else."""
    phrases, words = _of_sessions(session_texts)
    allowed = set(_words(known))
    own = _words(text)
    if any(phrase in phrases for phrase in _phrases(own)):
        return True
    telling = (w for w in _WORD.findall(text) if _TELLING.search(w))
    return any(w.casefold() in words and w.casefold() not in allowed for w in telling)


@lru_cache(maxsize=8)
def _of_sessions(
    session_texts: tuple[str, ...],
) -> tuple[frozenset[tuple[str, ...]], frozenset[str]]:
    """The phrases and the words of the sessions."""
    texts = [_words(text) for text in session_texts]
    phrases = frozenset(phrase for words in texts for phrase in _phrases(words))
    return phrases, frozenset(word for words in texts for word in words)


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


def _phrases(words: Sequence[str], length: int = PHRASE) -> list[tuple[str, ...]]:
    return [tuple(words[i : i + length]) for i in range(len(words) - length + 1)]
