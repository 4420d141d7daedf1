"""``remapnd run``: run models in the JSON format of DxDispatch."""

from __future__ import annotations

import argparse
import platform
from typing import TYPE_CHECKING

import numpy as np

from remapnd import _core
from remapnd._version import __version__
from remapnd.cli import options
from remapnd.cli.console import fail, say
from remapnd.cli.hints import onnx_hint
from remapnd.directml.dxdispatch import (
    ModelError,
    Options,
    check_all_bindings,
    execute,
    read_model,
    violations,
)
from remapnd.directml.enums import FeatureLevel

if TYPE_CHECKING:
    from remapnd.cli.options import Subparsers

# Of DxDispatch's options these mean nothing on a CPU; scripts that give them still run.
_IGNORED_SWITCHES = (
    "-d", "--debug", "--disable_custom_heaps", "--clear_shader_caches", "--disable_gpu_timeout",
    "--enable_dred", "--disable_background_processing", "--set_stable_power_state", "--disable_agility_sdk",
    "--print_hlsl_disassembly", "--xbox_allow_precompile", "--present_separator",
)  # fmt: skip
_IGNORED_OPTIONS = (
    "-a", "--adapter", "-q", "--queue_type", "--post_dispatch_barriers", "--max_gpu_time_measurements",
    "-c", "--pix_capture_type", "-o", "--pix_capture_name",
)  # fmt: skip


def add_parser(subparsers: Subparsers) -> None:
    """Add the sub-command."""
    parser = subparsers.add_parser(
        "run",
        usage="remapnd run [options] MODEL.json [MODEL.json ...]",
        help="run models in the JSON format of DxDispatch",
        description="Run models in the JSON format of Microsoft's DxDispatch and print what they ask for. "
        "A model that is wrong anywhere is not run at all.",
        epilog="example: remapnd run examples/gather_nd.json",
    )
    parser.add_argument(
        "models",
        nargs="*",
        metavar="MODEL.json",
        help="model file, at least one; several run one after another",
    )
    parser.add_argument(
        "-m",
        "--model",
        action="append",
        default=[],
        metavar="MODEL.json",
        help="model file, as DxDispatch wants it given; may be given several times",
    )
    parser.add_argument(
        "--input_path", metavar="DIR", help="where source files are (default: beside the model)"
    )
    parser.add_argument("--output_path", metavar="DIR", help="where files are written (default: here)")
    parser.add_argument(
        "--dml_feature_level",
        "--feature-level",
        type=options.feature_level,
        default=max(FeatureLevel),
        metavar="X_Y",
        help="feature level that the operators must be valid at (default: %(default)s)",
    )
    parser.add_argument(
        "--print_commands", action="store_true", help="print each command before and after it runs"
    )
    parser.add_argument(
        "-S", "--show_dependencies", action="store_true", help="print the versions of what is used"
    )
    parser.add_argument("-s", "--show_adapters", action="store_true", help="print what models run on")
    options.add_policy(parser)
    timing = parser.add_argument_group(
        "timing",
        "Any of these options makes each dispatch print how long it took, in DxDispatch's form. A dispatch "
        "command is run as a number of iterations; each iteration is one sample.",
    )
    timing.add_argument(
        "-v",
        "--timing_verbosity",
        type=int,
        choices=(0, 1, 2),
        metavar="0|1|2",
        help="what to print: 0 the median, 1 statistics, 2 also the time of every iteration (default: 0)",
    )
    count, zero = options.integer(1), options.integer(0)
    timing.add_argument(
        "-i", "--dispatch_iterations", type=count, metavar="N", help="run N iterations (default: 1)"
    )
    timing.add_argument(
        "-r",
        "--dispatch_repeat",
        type=count,
        metavar="N",
        help="run the operator N times in each iteration, whose time is that of one run on average "
        "(default: 1)",
    )
    timing.add_argument(
        "-w",
        "--warmup_samples",
        type=zero,
        metavar="N",
        help="take the first N iterations for warm-up: they do not count for the median, and have statistics "
        "of their own, named cold (default: 1)",
    )
    timing.add_argument(
        "-t",
        "--milliseconds_to_run",
        type=options.milliseconds,
        metavar="MS",
        help="run iterations for MS milliseconds, however many, instead of -i",
    )
    timing.add_argument(
        "-I",
        "--dispatch_interval",
        type=options.milliseconds,
        metavar="MS",
        help="start an iteration MS milliseconds after the one before, or later (default: 0)",
    )
    parser.add_argument(
        *_IGNORED_SWITCHES, action="store_true", dest="ignored_switches", help=argparse.SUPPRESS
    )
    parser.add_argument(*_IGNORED_OPTIONS, dest="ignored_options", help=argparse.SUPPRESS)


def run(args: argparse.Namespace) -> int:
    """Run the models; a bad one is reported and the others still run."""
    files = args.model + args.models
    if args.show_dependencies:
        say(f"remapnd {__version__}, NumPy {np.__version__}, Python {platform.python_version()}")
    if args.show_adapters:
        say(_adapter())
    if not files and (args.show_dependencies or args.show_adapters):
        return 0
    if not files:
        fail("run", "at least one MODEL.json must be given, got none")
        return 2
    how = _options(args)
    if how.timing_verbosity is not None:
        say(f"Running on '{_adapter()}'")
    status = 0
    for file in files:
        if len(files) > 1:
            say(f"== {file}")
        if not _run_model(file, args, how):
            status = 1
    return status


def _adapter() -> str:
    """Describe what models run on."""
    return f"CPU, level {_core.level()}, {_core.get_num_threads()} threads, remapnd {__version__}"


def _options(args: argparse.Namespace) -> Options:
    """Collect how to run; DxDispatch's defaults where an option is not given."""
    timing = (
        args.timing_verbosity,
        args.dispatch_iterations,
        args.dispatch_repeat,
        args.warmup_samples,
        args.milliseconds_to_run,
        args.dispatch_interval,
    )
    timed = any(option is not None for option in timing)
    return Options(
        feature_level=args.dml_feature_level,
        policy=options.policy(args),
        iterations=args.dispatch_iterations or 1,
        repeats=args.dispatch_repeat or 1,
        milliseconds_to_run=args.milliseconds_to_run,
        interval=args.dispatch_interval or 0.0,
        warmup_samples=1 if args.warmup_samples is None else args.warmup_samples,
        timing_verbosity=(args.timing_verbosity or 0) if timed else None,
        print_commands=args.print_commands,
    )


def _run_model(file: str, args: argparse.Namespace, how: Options) -> bool:
    """Run one model if nothing is wrong with it."""
    try:
        try:
            model = read_model(
                file,
                input_path=args.input_path,
                output_path=args.output_path,
                compat=how.policy.dxdispatch_compat == "on",
            )
        except ModelError as error:
            fail("run", f"{error}{onnx_hint(file)}")
            return False
        found = violations(model, how.feature_level, how.policy)
        for name, faults in found.items():
            for fault in faults:
                fail("run", f"{file}: {model.dispatchables[name].value.path}: {fault}")
        if any(found.values()):
            return False
        check_all_bindings(model)
        execute(model, say, how)
    except ModelError as error:
        fail("run", error)
        return False
    return True
