"""The simulated model: a deterministic stand-in for both roles, in process or over loopback.

It serves demos, tests and benchmarks. Nothing it scores says anything about a real model.
"""

from skillgit.config import ModelConfig
from skillgit.models import Wiring
from skillgit.models.simulated.model import MODEL_NAMES, SimulatedModel

__all__ = ["MODEL_NAMES", "SimulatedModel", "build"]


def build(config: ModelConfig, wiring: Wiring) -> SimulatedModel:
    """The simulated model, in this process."""
    return SimulatedModel(config.simulation, wiring.clock)
