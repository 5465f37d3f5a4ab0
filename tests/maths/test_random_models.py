"""A small part of the random comparison (tests/benchmarks/random_models.py), whose whole is a command."""

import importlib.util
import sys
from pathlib import Path

import pytest

COMMAND = Path(__file__).parents[1] / "benchmarks" / "random_models.py"


@pytest.fixture(scope="module")
def command():
    spec = importlib.util.spec_from_file_location("random_models", COMMAND)
    module = importlib.util.module_from_spec(spec)
    sys.modules["random_models"] = module  # where dataclasses look for their types
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in range(1, 5))])
def test_random_models_agree_with_a_reference_in_plain_python(command, seed):
    tally = command.compare(12, seed)
    assert not tally.errors
    for kind, (difference, _) in tally.largest.items():
        assert difference < 1e-8, kind
