"""How a skill and a task are put into words for a chat model."""

from __future__ import annotations

from skillgit.records import Skill, Task


def system_prompt(skill: Skill, task: Task) -> str:
    """The skill, then the task's own system text.

    Several documents stand in path order, each under its path as a heading.
    """
    documents = sorted(skill.documents, key=lambda document: document.path)
    texts = [document.data.decode("utf-8-sig", errors="replace") for document in documents]
    if len(documents) > 1:
        texts = [
            f"# {document.path}\n\n{text}" for document, text in zip(documents, texts, strict=True)
        ]
    return "\n\n".join(text.strip("\n") for text in (*texts, task.system) if text.strip())


def first_message(task: Task) -> str:
    """The context, if there is one, and the prompt."""
    return f"{task.context}\n\n{task.prompt}" if task.context.strip() else task.prompt
