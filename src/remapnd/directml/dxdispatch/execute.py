"""Running a model: buffers, dispatches, printed lines and written files.

Uses `model`, `bindings`, `formatting`, `directml` and `remapnd.files`; used by the command line.
"""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from remapnd.directml.check import check
from remapnd.directml.dxdispatch.bindings import Binding, check_bindings, is_owned
from remapnd.directml.dxdispatch.formatting import format_timings, format_values, format_values_verbose
from remapnd.directml.dxdispatch.model import Command, Dispatch, Dispatchable, Model, Print, WriteFile
from remapnd.directml.dxdispatch.values import ModelError
from remapnd.directml.enums import FeatureLevel
from remapnd.directml.operators import TENSOR_KINDS, FieldKind
from remapnd.directml.policy import Policy
from remapnd.directml.run import CompiledOperator
from remapnd.directml.violation import Violation
from remapnd.files import replacing

_Buffer = npt.NDArray[np.uint8]
_Write = Callable[[str], None]


@dataclass(frozen=True)
class Options:
    """How to run a model.

    Attributes
    ----------
    feature_level : what the operators must be valid at
    policy : what is done where DirectML's documentation is silent
    iterations : how often each dispatch command runs and is timed
    repeats : how often the operator runs in each iteration, whose time is divided by it
    milliseconds_to_run : ends the iterations of a command, whatever `iterations` says; None for no such end
    interval : milliseconds from the beginning of an iteration to that of the next, at least
    warmup_samples : how many of the first timings are cold
    timing_verbosity : None for no lines of timing, else 0, 1 or 2 as in DxDispatch
    print_commands : whether each command is printed before and after it runs
    """

    feature_level: FeatureLevel = FeatureLevel.LEVEL_6_4
    policy: Policy = field(default_factory=Policy)
    iterations: int = 1
    repeats: int = 1
    milliseconds_to_run: float | None = None
    interval: float = 0.0
    warmup_samples: int = 1
    timing_verbosity: int | None = None
    print_commands: bool = False


def violations(model: Model, feature_level: FeatureLevel, policy: Policy) -> dict[str, list[Violation]]:
    """Check all operators of a model.

    Returns
    -------
    dict
        For each dispatchable, by name, what is wrong with its descriptor; an empty list where all is well.
    """
    return {name: check(item.desc, feature_level, policy) for name, item in model.dispatchables.items()}


def check_all_bindings(model: Model) -> None:
    """Check the bindings of a model whose operators are valid; `ModelError` names the first that is wrong."""
    for item in model.dispatchables.values():
        place = item.value.find("bindings") or item.value
        check_bindings(item.desc, item.bindings, model.resources, place, initial=True)
    for command in model.commands:
        if isinstance(command, Dispatch):
            place = command.value.member("bindings")
            check_bindings(command.dispatchable.desc, command.bindings, model.resources, place, initial=False)


def execute(model: Model, write: _Write, options: Options | None = None) -> None:
    """Run a model.

    Parameters
    ----------
    model : its operators must have no `violations`, its bindings have passed `check_all_bindings`
    write : called with each line of output, without its newline

    Raises
    ------
    ModelError
        A file cannot be written; an index is out of range and the policy makes that an error. Commands before
        the one that fails have run.
    """
    _Execution(model, write, options or Options()).run()


class _Execution:
    """The state of one run: buffers, and what was bound at the initialisation."""

    def __init__(self, model: Model, write: _Write, options: Options) -> None:
        self._model = model
        self._write = write
        self._options = options
        self._buffers = {name: resource.allocate() for name, resource in model.resources.items()}
        self._operators: dict[str, CompiledOperator] = {}
        self._owned: dict[str, dict[str, _Buffer]] = {}

    def run(self) -> None:
        """Initialise all dispatchables, then run the commands in their order."""
        for item in self._model.dispatchables.values():
            self._initialize(item)
        for number, command in enumerate(self._model.commands):
            if self._options.print_commands:
                self._run_printed_command(number, command)
            else:
                self._run_command(command)

    def _run_printed_command(self, number: int, command: Command) -> None:
        """Run a command between two lines that say which and how it ended."""
        text = json.dumps(command.value.content, separators=(",", ":"), ensure_ascii=False, default=str)
        self._write(f"[StartCmd][{number:04}]\t: {text}")
        try:
            self._run_command(command)
        except ModelError as error:
            self._write(f"[EndCmd][{number:04}]\t: hr=0x80004005 {error}\n")  # E_FAIL
            raise
        self._write(f"[EndCmd][{number:04}]\t: hr=0x00000000 \n")

    def _initialize(self, item: Dispatchable) -> None:
        """Compile an operator and copy what is OWNED_BY_DML: later changes of its resource are not seen."""
        start = time.perf_counter()
        options = self._options
        self._operators[item.name] = CompiledOperator(
            item.desc, feature_level=options.feature_level, policy=options.policy
        )
        self._owned[item.name] = {
            name: self._bound(item.bindings[name]).copy()
            for name in item.desc.tensor_names(*TENSOR_KINDS)
            if is_owned(getattr(item.desc, name))
        }
        if (options.timing_verbosity or 0) >= 1:
            self._write(f"Initialize '{item.name}': {_milliseconds_since(start):.4f} ms")

    def _run_command(self, command: Command) -> None:
        """Run a command of any kind."""
        if isinstance(command, Dispatch):
            self._dispatch(command)
        elif isinstance(command, Print):
            self._print(command)
        else:
            self._write_file(command)

    def _bound(self, binding: Binding) -> _Buffer:
        """View the bytes that a binding names."""
        return self._buffers[binding.resource][binding.offset :]

    def _dispatch(self, command: Dispatch) -> None:
        """Run an operator, once or as often as is asked for to time it."""
        options, item = self._options, command.dispatchable
        operator = self._operators[item.name]
        buffers: Mapping[str, _Buffer] = self._owned[item.name] | {
            name: self._bound(command.bindings[name])
            for name in item.desc.tensor_names(*TENSOR_KINDS)
            if name not in self._owned[item.name]
        }
        (output,) = item.desc.tensor_names(FieldKind.OUTPUT)
        run = operator.bind({name: b for name, b in buffers.items() if name != output}, buffers[output]).run
        samples: list[float] = []
        begin = time.perf_counter()
        timed_out = False
        while not timed_out and (
            options.milliseconds_to_run is not None or len(samples) < options.iterations
        ):
            start = time.perf_counter()
            for _ in range(options.repeats):
                try:
                    run()
                except IndexError as error:
                    raise ModelError(f"{self._model.file}: `{command.value.path}`: {error}") from None
            samples.append(_milliseconds_since(start) / options.repeats)
            pause = max(0.0, options.interval - _milliseconds_since(start))
            limit = options.milliseconds_to_run
            timed_out = limit is not None and _milliseconds_since(begin) + pause > limit
            if pause and not timed_out:
                time.sleep(pause / 1000)
        if options.timing_verbosity is not None:
            for line in format_timings(item.name, samples, options.warmup_samples, options.timing_verbosity):
                self._write(line)

    def _print(self, command: Print) -> None:
        """Print the elements of a resource, without its padding."""
        resource = command.resource
        values = resource.elements(self._buffers[resource.name])
        characters = self._options.policy.dxdispatch_compat == "on"
        if not command.verbose:
            self._write(f"Resource '{resource.name}': {format_values(values, characters=characters)}")
            return
        self._write(f"Resource '{resource.name}':")
        for line in format_values_verbose(values, characters=characters):
            self._write(line)
        self._write("")

    def _write_file(self, command: WriteFile) -> None:
        """Write the whole buffer, padding and all, as DxDispatch does, or as many elements as a shape has."""
        resource = command.resource
        buffer = self._buffers[resource.name]
        try:
            command.target.parent.mkdir(parents=True, exist_ok=True)
            with replacing(command.target) as file:
                if command.is_npy:
                    dtype = resource.data_type.dtype
                    elements = buffer[: buffer.size // dtype.itemsize * dtype.itemsize].view(dtype)
                    shape = command.shape or elements.shape
                    array = elements[: math.prod(shape)].reshape(shape)
                    np.lib.format.write_array(file, array, version=(1, 0))
                else:
                    file.write(buffer.data)
        except OSError as error:
            place = command.value.child("targetPath")
            raise place.error(f"name a file that can be written ({error.strerror})") from None
        self._write(f"Resource '{resource.name}' written to '{os.path.abspath(command.target)}'")


def _milliseconds_since(start: float) -> float:
    """Milliseconds from `start`, a value of `time.perf_counter`, to now."""
    return (time.perf_counter() - start) * 1000
