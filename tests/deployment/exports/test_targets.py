"""One table of exports: writers, their options and the command line agree with it."""

from __future__ import annotations

import inspect
from importlib import import_module

import click
import pytest

from sdpmetric.cli import main
from sdpmetric.deployment.exports import SUFFIXES, TARGETS
from sdpmetric.problem.loss_names import LOSSES


@pytest.mark.parametrize("to", TARGETS)
def test_options_are_those_of_the_writer(to: str) -> None:
    module, _, function = TARGETS[to].writer.partition(":")
    writer = getattr(import_module(f"sdpmetric.deployment.exports.{module}"), function)
    expected = list(inspect.signature(writer).parameters)[2:]  # after the metric and the path
    assert [option.name for option in TARGETS[to].options] == expected


def test_every_extension_names_one_target() -> None:
    assert len(SUFFIXES) == sum(target.suffix is not None for target in TARGETS.values())


def test_the_command_line_offers_every_export() -> None:
    parameters = {parameter.name: parameter for parameter in main.commands["export"].params}
    choice = parameters["to"].type
    assert isinstance(choice, click.Choice)
    assert list(choice.choices) == list(TARGETS)
    offered = set(parameters) - {"model", "target", "output", "to", "as_json", "max_bytes"}
    assert offered == {option.name for target in TARGETS.values() for option in target.options}


def test_the_command_line_offers_every_loss() -> None:
    [loss] = [p for p in main.commands["fit"].params if p.name == "loss"]
    assert [loss.type.convert(name, loss, None) for name in LOSSES] == list(LOSSES)
    with pytest.raises(click.BadParameter, match="huber"):
        loss.type.convert("absolute", loss, None)
