"""Where keys come from: the variable that the config names, or the user's own program.

Never from a committed file. What is found is remembered as a secret, so that no trace shows it.
"""

from __future__ import annotations

import ipaddress
import shlex
import subprocess
from urllib.parse import urlsplit

from skillgit.cli.app.invocation import Invocation
from skillgit.cli.app.worktree import Worktree
from skillgit.config import Config, ModelConfig, NightOptimizer
from skillgit.errors import UserError
from skillgit.records import Role

KEY_COMMAND = "skillgit.apiKeyCommand"
KEY_COMMAND_VARIABLE = "SKILLGIT_API_KEY_ENV"

# Unit: seconds. A password store may have to be unlocked by a person first.
_PATIENCE = 60.0


def find_key(model: ModelConfig, role: str, invocation: Invocation, tree: Worktree) -> str | None:
    """The key for one role; `None` where the config names none, or a local server needs none.

    Raises: UserError when there is no key, or the user's program gives none.
    """
    name = model.key_variable
    if name is None:
        return None
    key = invocation.environ.get(name, "").strip() or _from_program(name, invocation, tree)
    if key:
        invocation.secrets.add(key)
        return key
    if model.base_url is not None and is_loopback(model.base_url):
        return None
    raise UserError(
        f"there is no key for the {role} ({model.model}): {name} is not set",
        hint=f"export {name}=...\n"
        f"Or name a program that prints it: git config --global {KEY_COMMAND} 'pass show openai'",
    )


def is_loopback(url: str) -> bool:
    """Whether a URL's host is this machine itself."""
    try:
        host = urlsplit(url).hostname or ""
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _from_program(name: str, invocation: Invocation, tree: Worktree) -> str | None:
    command = tree.setting(KEY_COMMAND)
    if not command:
        return None
    try:
        done = subprocess.run(
            shlex.split(command),
            cwd=tree.root,
            env={**invocation.environ, KEY_COMMAND_VARIABLE: name},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
            timeout=_PATIENCE,
            check=False,
        )
    except (OSError, ValueError) as error:
        raise UserError(f"{KEY_COMMAND} cannot be started: {error}", hint=_HOW) from error
    except subprocess.TimeoutExpired as error:
        raise UserError(f"{KEY_COMMAND} gave no key in {_PATIENCE:.0f} s", hint=_HOW) from error
    key = next(iter(done.stdout.split("\n")), "").strip()
    if done.returncode != 0 or not key:
        raise UserError(f"{KEY_COMMAND} gave no key: it ended with {done.returncode}", hint=_HOW)
    return key


_HOW = f"git config --get --show-origin {KEY_COMMAND} says where it is set."


def asked_roles(config: Config) -> dict[Role, ModelConfig]:
    """The models that a night may ask, by role."""
    roles = {Role.TARGET: config.target}
    if config.sleep.optimizer is not NightOptimizer.HANDOFF:
        roles[Role.OPTIMIZER] = config.optimizer
    if config.judge is not None:
        roles[Role.JUDGE] = config.judge
    return roles
