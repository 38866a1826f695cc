"""The skillgit.toml that `init` writes: what was chosen, and what one most likely changes next."""

from __future__ import annotations

import json
from dataclasses import dataclass

from skillgit.config import ModelConfig

MOST_IN_A_BATCH = 40
STEPS_WANTED = 4
REFRESH_EVERY = 5
LOCAL_TIMEOUT = 600  # seconds


@dataclass(frozen=True)
class ModelChoice:
    """A role's model as it was chosen on the command line."""

    provider: str
    model: str
    base_url: str | None = None
    api_key_env: str | None = None
    is_local: bool = False


def batch_size_for(n_train: int) -> int:
    """The largest batch up to 40 with which an epoch has four steps, as far as tasks go."""
    return max(1, min(MOST_IN_A_BATCH, (n_train - 1) // (STEPS_WANTED - 1)))


def config_text(
    *,
    onto: str,
    skill: str,
    tasks: str,
    target: ModelChoice,
    optimizer: ModelChoice,
    batch_size: int | None,
) -> str:
    """The whole file; without a batch size it is for nights alone."""
    is_local = target.is_local or optimizer.is_local
    training = (
        _nights(is_local=is_local)
        if batch_size is None
        else _training(target, batch_size, is_local=is_local)
    )
    note = "" if batch_size is not None else "   # for trainings; nights make tasks of their own"
    return f"""\
# What skillgit trains, on what, and with which models. Commit this file.
# No key and no password belongs here. All settings: docs/reference/config.md of skillgit.

[repo]
onto = {_quoted(onto)}

[skill]
path = {_quoted(skill)}

[tasks]
path = {_quoted(tasks)}{note}

[target]            # the model that does the tasks
{_model(target)}

[optimizer]         # the model that writes the edits
{_model(optimizer)}{_style(optimizer)}

{training}
# [budget]
# calls = 500       # stop when a run would make more paid calls than this
"""


_NIGHTS = """\
[sleep]             # nights learn from your agent sessions in this repository
max_tasks = 40      # how many a night goes by
"""


_ONE_WORKER = """\
workers = 1         # a server on this machine mostly answers one request at a time
"""


def _nights(*, is_local: bool) -> str:
    return f"{_NIGHTS}\n[train]\n{_ONE_WORKER}" if is_local else _NIGHTS


def _training(target: ModelChoice, batch_size: int, *, is_local: bool) -> str:
    workers = _ONE_WORKER if is_local else ""
    return f"[train]\nepochs = 4\nbatch_size = {batch_size}\n{workers}{_gate(target)}"


def _gate(target: ModelChoice) -> str:
    """The gate's section: what benchmarks/gate.py found best for a target that samples."""
    if not ModelConfig(provider=target.provider, model=target.model).samples:
        return ""
    return f"""
[gate]              # the target samples, so luck has a part in scores
refresh_every = {REFRESH_EVERY}   # measure current again at every {REFRESH_EVERY}th step, and pool its scores
"""


def skill_table(*, skill: str, tasks: str) -> str:
    """The lines of a further skill."""
    return f"[[skill]]\npath = {_quoted(skill)}\ntasks = {_quoted(tasks)}"


def _model(choice: ModelChoice) -> str:
    lines = [f"provider = {_quoted(choice.provider)}", f"model = {_quoted(choice.model)}"]
    if choice.base_url is not None:
        lines.append(f"base_url = {_quoted(choice.base_url)}")
    if choice.api_key_env is not None:
        note = "  # the variable that holds the key" if choice.api_key_env else "  # no key is sent"
        lines.append(f"api_key_env = {_quoted(choice.api_key_env)}{note}")
    if choice.is_local:
        lines.append(
            f"timeout = {LOCAL_TIMEOUT}       # seconds; a model on this machine may be slow"
        )
    return "\n".join(lines)


def _style(optimizer: ModelChoice) -> str:
    """A model on this machine may be too small to be asked for more than rules."""
    note = "for a model of a few billion parameters: plain rules, nothing else"
    return f'\n# style = "plain"   # {note}' if optimizer.is_local else ""


def _quoted(text: str) -> str:
    """The text as a TOML string, which JSON's strings are."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
