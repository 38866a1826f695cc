"""Writing objects while others tidy up: git removes an empty folder of objects at any moment."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from skillgit.errors import RepositoryError

_TRIES = 20

ResultT = TypeVar("ResultT")


def written(write: Callable[[], ResultT]) -> ResultT:
    """What `write` returns, tried again when it failed; it writes objects and moves nothing.

    libgit2 makes an object's folder and then the object, and a `git gc` may take the folder away
    in between. An object is named by its content, so that writing it again changes nothing.
    Raises: RepositoryError when it keeps failing: the disk is full, say.
    """
    for _ in range(_TRIES - 1):
        try:
            return write()
        except OSError:
            continue
    try:
        return write()
    except OSError as error:
        raise RepositoryError(
            f"git's objects cannot be written: {error}",
            hint="See whether the disk is full, and who owns the objects folder of the git dir.",
        ) from error
