"""The long run in short, and that it sees a leak."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.campaigns.soak import growth

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.hard
@pytest.mark.slow
def test_ten_seconds_of_the_long_run() -> None:
    command = [sys.executable, "-m", "tests.campaigns.soak", "--seconds", "10"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "round 1:" in done.stdout


def test_a_leak_is_seen_through_the_noise_of_the_allocator() -> None:
    rng = np.random.default_rng(0)
    noise = 300.0 + rng.uniform(-2.0, 2.0, size=200)
    noise[120] += 50.0
    assert not growth("memory", noise, 1.0).grew
    leak = growth("memory", noise + 0.05 * np.arange(200), 1.0)
    assert leak.grew
    assert leak.per_round == pytest.approx(0.05, abs=0.01)
    assert leak.last - leak.first == pytest.approx(10.0, abs=3.0)


def test_one_file_left_open_a_hundred_rounds_is_seen() -> None:
    assert not growth("files", np.full(50, 7.0), 0.0).grew
    assert growth("files", np.repeat([7.0, 8.0, 9.0, 10.0, 11.0], 10), 0.0).grew


def test_nan_is_no_success() -> None:
    assert growth("memory", np.full(9, np.nan), 1.0).grew


@pytest.mark.hard
@pytest.mark.slow
def test_the_makefile_calls_campaigns_with_options_that_they_have() -> None:
    """`make soak` once ended after an hour in a campaign that did not know its option."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    makefile = makefile.replace("$(SECONDS_OF_SOAK)", "600")
    calls = re.findall(r"-m (tests\.campaigns\.\w+)((?: --\w+(?: \d+)?)*)", makefile)
    assert len(calls) >= 8
    for module, options in calls:
        # An option that is unknown, or lacks its value, is an error before the help is printed.
        command = [sys.executable, "-m", module, *options.split(), "--help"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
