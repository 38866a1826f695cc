"""What leaves with a proposal: its body, redacted, and a look for secrets before anything goes."""

from __future__ import annotations

from collections.abc import Iterator

from skillgit.errors import UserError
from skillgit.redaction import redact
from skillgit.review.pull_request.body import body
from skillgit.review.pull_request.evidence import Evidence
from skillgit.review.verify.texts import Secret, new_secrets
from skillgit.store.ranges import Range


def public_body(evidence: Evidence, *, branch: str, remote: str) -> str:
    """The body as it may leave: no secret stands in it."""
    return redact(body(evidence, branch=branch, remote=remote))


def refuse_secrets(proposed: Range) -> None:
    """Nothing, when neither the texts nor the messages of the commits hold a new secret.

    Raises: UserError naming the place and the kind, never the secret.
    """
    found = next(_secrets(proposed), None)
    if found is not None:
        place, commit, secret = found
        raise UserError(
            f"nothing was pushed: line {secret.line} of {place} in {commit[:12]} holds what looks"
            f" like a secret ({secret.kind})",
            hint="Take it out of the commit, not only of the text: what is pushed can be read.",
        )


def _secrets(proposed: Range) -> Iterator[tuple[str, str, Secret]]:
    for commit in proposed.commits:
        for change in commit.changes:
            for secret in new_secrets(change.new_data, change.old_data):
                yield change.path, commit.id, secret
        for secret in new_secrets(commit.message):
            yield "the message", commit.id, secret
