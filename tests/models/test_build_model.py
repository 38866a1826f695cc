"""What the folder itself offers: the registry of providers."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

from skillgit.config import ModelConfig
from skillgit.models import build_model
from skillgit.models.openai_chat import OpenAIChat
from skillgit.models.simulated import SimulatedModel


def test_every_provider_can_be_built(clock: Any) -> None:
    openai = ModelConfig(model="m", base_url="http://127.0.0.1:1/v1")
    assert isinstance(build_model(openai, api_key="k", clock=clock, workers=1), OpenAIChat)
    simulated = ModelConfig(model="sim-target", provider="simulated")
    model = build_model(simulated, api_key=None, clock=clock, workers=1)
    assert isinstance(model, SimulatedModel)


def test_the_registry_does_not_wait_for_the_sdk() -> None:
    program = "import sys, skillgit.models; print('openai' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"
