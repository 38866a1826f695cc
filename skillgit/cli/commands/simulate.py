"""`skillgit simulate`: the simulated model as an OpenAI-compatible server on loopback."""

from __future__ import annotations

from typing import Any

import click

from skillgit.cli.app.invocation import Invocation
from skillgit.cli.show.output import say
from skillgit.config import SimulationConfig
from skillgit.errors import UserError
from skillgit.models.simulated.model import OPTIMIZER, TARGET
from skillgit.models.simulated.server import ServerSettings, SimulatedServer

SHARE = click.FloatRange(0, 1)
FORMATS = click.Choice(["json_schema", "json_object"])


@click.command()
@click.option(
    "--port",
    metavar="N",
    type=click.IntRange(0, 65535),
    default=0,
    help="0 takes a free one.",
    show_default=True,
)
@click.option(
    "--latency",
    metavar="MS",
    type=click.FloatRange(0),
    default=0.0,
    help="How long an answer takes.",
)
@click.option(
    "--obedience", metavar="SHARE", type=SHARE, help="How likely the target follows a rule, 0 to 1."
)
@click.option("--noise", metavar="SHARE", type=SHARE, help="How likely a rule goes the other way.")
@click.option(
    "--forgetting", metavar="SHARE", type=SHARE, help="How much a long skill is forgotten."
)
@click.option("--key", metavar="KEY", help="Answer 401 to any other key.")
@click.option(
    "--refuse-format",
    "refuses",
    metavar="FORMAT",
    type=FORMATS,
    multiple=True,
    help="Refuse json_schema, or json_object.",
)
@click.option(
    "--busy-every",
    metavar="N",
    type=click.IntRange(0),
    default=0,
    help="Answer each n-th with 429.",
)
@click.option(
    "--retry-after", metavar="S", type=click.FloatRange(0), default=1.0, help="What a 429 asks for."
)
@click.option(
    "--garbled-every",
    metavar="N",
    type=click.IntRange(0),
    default=0,
    help="Break each n-th answer.",
)
@click.pass_obj
def command(
    invocation: Invocation,
    /,
    *,
    port: int,
    latency: float,
    obedience: float | None,
    noise: float | None,
    forgetting: float | None,
    **behaviour: Any,
) -> None:
    """Serve the simulated model on loopback, as chat completions.

    It is a simulation: it says nothing about any real model. Its models are
    sim-target and sim-optimizer, and equal questions get equal answers. The
    first line on stdout is its base URL. Ctrl-C ends it.
    """
    chances = {"obedience": obedience, "noise": noise, "forgetting": forgetting}
    simulation = SimulationConfig.model_validate(
        {"latency_ms": latency, **{k: v for k, v in chances.items() if v is not None}}
    )
    settings = ServerSettings(simulation=simulation, **behaviour)
    with _listening(settings, invocation, port) as server:
        print(server.url, flush=True)
        words = ("init", "SKILL", "--base-url", server.url)
        models = ("--model", TARGET, "--optimizer-model", OPTIMIZER)
        say("A simulation, not a model. In another terminal:")
        say(f"  {invocation.typed(*words, *models)}")
        try:
            server.serve_forever(0.1)
        except KeyboardInterrupt:
            say("\nstopped")


def _listening(settings: ServerSettings, invocation: Invocation, port: int) -> SimulatedServer:
    try:
        return SimulatedServer(settings, invocation.clock, port=port)
    except OSError as error:
        raise UserError(
            f"port {port} cannot be listened on: {error.strerror}",
            hint="Leave out --port to take a free one.",
        ) from error
