"""``remapnd run``: run models in the JSON format of DxDispatch."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from remapnd import _core
from remapnd._version import __version__
from remapnd.cli import options
from remapnd.cli.console import complain, say
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
        help="run models in the JSON format of DxDispatch",
        description="Run models in the JSON format of Microsoft's DxDispatch and print what they ask for. "
        "A model that is wrong anywhere is not run at all.",
        epilog="example: remapnd run examples/gather_nd.json",
    )
    parser.add_argument(
        "models", nargs="*", metavar="MODEL.json", help="model file; several run one after another"
    )
    parser.add_argument(
        "-m", "--model", action="append", default=[], metavar="MODEL.json", help="the same as an option"
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
    options.add_policy(parser)
    timing = parser.add_argument_group(
        "timing", "any of these brings lines with timings, in DxDispatch's form"
    )
    timing.add_argument(
        "-v",
        "--timing_verbosity",
        type=int,
        choices=(0, 1, 2),
        metavar="0|1|2",
        help="median; statistics; every iteration",
    )
    count, zero = options.integer(1), options.integer(0)
    timing.add_argument(
        "-i", "--dispatch_iterations", type=count, metavar="N", help="run each dispatch N times"
    )
    timing.add_argument(
        "-r", "--dispatch_repeat", type=count, metavar="N", help="operator runs in each iteration"
    )
    timing.add_argument(
        "-w", "--warmup_samples", type=zero, metavar="N", help="first samples that count as cold"
    )
    timing.add_argument(
        "-t",
        "--milliseconds_to_run",
        type=options.milliseconds,
        metavar="MS",
        help="iterate for MS, whatever -i says",
    )
    timing.add_argument(
        "-I",
        "--dispatch_interval",
        type=options.milliseconds,
        metavar="MS",
        help="least time from one iteration to the next",
    )
    parser.add_argument(
        *_IGNORED_SWITCHES, action="store_true", dest="ignored_switches", help=argparse.SUPPRESS
    )
    parser.add_argument(*_IGNORED_OPTIONS, dest="ignored_options", help=argparse.SUPPRESS)


def run(args: argparse.Namespace) -> int:
    """Run the models; a bad one is reported and the others still run."""
    files = args.model + args.models
    if not files:
        complain("remapnd run: `MODEL.json` must be given, got none")
        return 2
    try:
        how = _options(args)
    except ValueError as error:
        complain(f"remapnd run: {error}")
        return 2
    if how.timing_verbosity is not None:
        threads = _core.get_num_threads()
        say(f"Running on 'CPU, level {_core.level()}, {threads} threads, remapnd {__version__}'")
    status = 0
    for file in files:
        if len(files) > 1:
            say(f"== {file}")
        if not _run_model(file, args, how):
            status = 1
    return status


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
        model = read_model(file, input_path=args.input_path, output_path=args.output_path)
        found = violations(model, how.feature_level, how.policy)
        for name, faults in found.items():
            for fault in faults:
                complain(f"{file}: {model.dispatchables[name].value.path}: {fault}")
        if any(found.values()):
            return False
        check_all_bindings(model)
        execute(model, say, how)
    except ModelError as error:
        complain(str(error))
        return False
    return True
