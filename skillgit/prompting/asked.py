"""An edit as the optimizer is asked to write it: what its schema says, whoever is asked."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from skillgit.prompting.prompts import Answer


class AskedEdit(Answer):
    """One edit; what stands behind it is named by whoever is asked."""

    op: Literal["add", "replace", "delete"]
    target: str = Field(description="The path of the document to edit.")
    anchor: str = Field(
        description="Text copied exactly from that document, occurring once in it; empty only for an add at the document's end."
    )
    content: str = Field(description="The new text; empty for a delete.")
    rationale: str = Field(description="One sentence: which evidence asks for this edit.")
