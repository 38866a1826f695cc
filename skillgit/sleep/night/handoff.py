"""The optimizer as somebody else: its questions are written to files, its answers read from them.

A question's file is named by what is asked, so the same question finds the same answer again.
"""

from __future__ import annotations

import threading
from pathlib import Path

from skillgit.errors import CallError, WaitingError
from skillgit.models.paid import request_hash
from skillgit.models.wire import with_schema
from skillgit.records import ModelReply, ModelRequest

ANSWER = ".answer.md"


class Handoff:
    """A model that asks by files: `<question>.md`, and beside it `<question>.answer.md`.

    Safe to call from several threads.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self.open: set[Path] = set()

    def complete(self, request: ModelRequest) -> ModelReply:
        """The answer that lies beside the question.

        Raises: WaitingError when there is none yet; CallError for an answer that is no text.
        """
        question = self._folder / f"{request_hash(request)[:12]}.md"
        answer = question.with_name(question.stem + ANSWER)
        try:
            text = answer.read_text("utf-8-sig")
        except FileNotFoundError:
            text = ""
        except (OSError, UnicodeDecodeError) as error:
            raise CallError(f"{answer} cannot be read: {error}") from error
        if text.strip():
            question.unlink(missing_ok=True)
            return ModelReply(text=text)
        with self._lock:
            self._write(question, request)
            self.open.add(question)
        raise WaitingError(
            f"a question waits for an answer: {question}",
            hint=f"Write the answer to {answer.name} beside it, and run the same command again.",
        )

    def _write(self, question: Path, request: ModelRequest) -> None:
        if question.exists():
            return
        text = "\n\n".join(message.content for message in with_schema(request))
        new = question.with_suffix(".new")
        new.touch(mode=0o600)
        new.write_text(text.rstrip() + "\n", "utf-8")
        new.replace(question)

    def waiting(self) -> list[Path]:
        """The questions that were asked and have no answer, in order."""
        return sorted(self.open)
