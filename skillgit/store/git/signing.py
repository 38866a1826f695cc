"""Signatures on what a person takes over: a proposal's commits, and those replayed on a branch.

The git command line makes them, with the key and the format that the user has set. The commits of
a run are not signed: they are the program's record, and many.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable

import pygit2

from skillgit.errors import RepositoryError
from skillgit.store.git.git_cli import GitCli
from skillgit.store.git.rewrite import header_of

SIGN_TIMEOUT_S = 60.0
_SETTINGS = ("skillgit.sign", "commit.gpgSign")
_NOISE = ("fatal: failed to write commit object", "error: gpg failed to sign the data")
_EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
_UNSIGNED = "git config skillgit.sign false leaves proposals unsigned."

Sign = Callable[[str], str]
"""The id of a signed copy of a commit; it is in no branch yet."""


class Signer:
    """Signs commits as `git commit -S` would, everything else of them kept to the byte."""

    def __init__(self, git: pygit2.Repository, cli: GitCli) -> None:
        self._git = git
        self._cli = cli

    def __call__(self, commit_id: str) -> str:
        """The id of a signed copy of a commit.

        Raises: RepositoryError with git's own words when there is no key, or no answer in time.
        """
        header, message = header_of(self._git[commit_id].peel(pygit2.Commit))
        variables = {
            **_person("AUTHOR", header["author"]),
            **_person("COMMITTER", header["committer"]),
        }
        parents = [word for parent in header["parent"] for word in ("-p", parent)]
        (encoding,) = header.get("encoding", ["UTF-8"])
        words = ("-S", *parents, header["tree"][0])
        return self._made(variables, *words, message=message, encoding=encoding)

    def check(self) -> None:
        """Nothing, when a signature can be made now.

        Raises: RepositoryError, before anything is paid for.
        """
        with tempfile.TemporaryDirectory() as objects:
            elsewhere = {"GIT_OBJECT_DIRECTORY": objects}
            self._made(elsewhere, "-S", _EMPTY_TREE, message=b"skillgit: can commits be signed?\n")

    def _made(
        self, variables: dict[str, str], *arguments: str, message: bytes, encoding: str = "UTF-8"
    ) -> str:
        command = ("-c", f"i18n.commitEncoding={encoding}", "commit-tree", *arguments)
        cli = self._cli.with_variables(variables)
        try:
            result = cli.run(*command, stdin=message, timeout=SIGN_TIMEOUT_S)
        except RepositoryError as error:
            raise RepositoryError(
                f"commits are to be signed, and no signature was made within {SIGN_TIMEOUT_S:g} s",
                hint=f"Unlock the key, by signing anything with it, and try again. {_UNSIGNED}",
            ) from error
        if not result.ok:
            raise RepositoryError(
                f"commits are to be signed, and git cannot: {_reason(result.words)}",
                hint=f"git config user.signingKey names the key, gpg.format its kind. {_UNSIGNED}",
            )
        return result.text


def signer_of(git: pygit2.Repository, cli: GitCli) -> Signer | None:
    """What signs here, or `None` when nothing is to be signed.

    `skillgit.sign` decides; where it is not set, `commit.gpgSign`.
    Raises: RepositoryError for a setting that is neither true nor false.
    """
    for name in _SETTINGS:
        result = cli.run("config", "--type=bool", "--get", name)
        if result.ok:
            return Signer(git, cli) if result.text == "true" else None
        if result.stderr.strip():
            raise RepositoryError(result.words, hint=f"git config {name} true, or false")
    return None


def _person(role: str, values: list[str]) -> dict[str, str]:
    """The variables by which git takes over a person and a time: `Ada <a@b> 1700000000 +0000`."""
    who, time, zone = values[0].rsplit(" ", 2)
    name, _, email = who.rpartition(" <")
    return {
        f"GIT_{role}_NAME": name,
        f"GIT_{role}_EMAIL": email.removesuffix(">"),
        f"GIT_{role}_DATE": f"@{time} {zone}",
    }


def _reason(words: str) -> str:
    """git's words in one line, without what every failure to sign says."""
    lines = [line.strip() for line in words.splitlines() if line.strip()]
    said = [line for line in lines if line not in _NOISE]
    return "; ".join(line.removeprefix("error: ").removeprefix("fatal: ") for line in said or lines)
