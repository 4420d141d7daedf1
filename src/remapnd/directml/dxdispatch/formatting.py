"""How values and timings are printed: as DxDispatch prints them.

Uses the data types of `directml.enums`; used by `execute`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt


def _real(value: float) -> str:
    """Write six significant digits, as a C++ stream does."""
    if math.isnan(value):
        return "-nan" if math.copysign(1.0, value) < 0 else "nan"
    return f"{value:.6g}"


def _writer(dtype: np.dtype[np.generic], characters: bool) -> Callable[[Any], str]:
    """Choose how a value is written."""
    if characters and dtype.itemsize == 1:
        return lambda value: chr(value & 0xFF)
    return _real if dtype.kind == "f" else str


def format_values(values: npt.NDArray[np.generic], *, characters: bool = False) -> str:
    """Write the values of a 1-D array on one line: floats with six significant digits, integers in full.

    With `characters` 8-bit integers are the characters with these codes, as DxDispatch prints them.
    """
    write = _writer(values.dtype, characters)
    return ", ".join(map(write, values.tolist()))


def format_values_verbose(values: npt.NDArray[np.generic], *, characters: bool = False) -> Iterator[str]:
    """Write one line for each value of a 1-D array: position, value, and its bits in hexadecimal.

    Positions and bits are padded with spaces to equal widths. `characters` as in `format_values`.
    """
    write = _writer(values.dtype, characters)
    position_width = len(str(values.size))
    bits_width = 2 * values.itemsize
    bits = values.view(f"u{values.itemsize}").tolist()
    for position, (value, pattern) in enumerate(zip(values.tolist(), bits, strict=True)):
        yield f"[{position:{position_width}}] {write(value)} (0x{pattern:{bits_width}X})"


def format_timings(name: str, samples: Sequence[float], warmup_samples: int, verbosity: int) -> Iterator[str]:
    """Write the lines of one dispatch command.

    Parameters
    ----------
    name : of the dispatchable
    samples : milliseconds of each iteration, at least one
    warmup_samples : how many of the first samples are cold; the last sample is always hot
    verbosity : 0: one line; 1: statistics of cold and hot samples; 2: each sample as well
    """
    cold_count = min(len(samples) - 1, warmup_samples)
    cold, hot = samples[:cold_count], samples[cold_count:]
    if verbosity == 0:
        yield f"Dispatch '{name}': {len(samples)} iterations, {_median(hot):.4f} ms median (CPU)"
        return
    yield f"Dispatch '{name}': {len(samples)} iterations"
    for label, part in (("(Cold) ", cold), ("(Hot)  ", hot)):
        if part:
            yield (
                f"CPU Timings {label}: {len(part)} samples, {sum(part) / len(part):.4f} ms average, "
                f"{min(part):.4f} ms min, {_median(part):.4f} ms median, {max(part):.4f} ms max"
            )
    if verbosity >= 2:
        yield "The timings of each iteration: "
        for iteration, sample in enumerate(samples):
            yield f"iteration {iteration}: {sample:.4f} ms (CPU)"


def _median(samples: Sequence[float]) -> float:
    """Of an even number of samples the upper of the middle two, as DxDispatch does."""
    return sorted(samples)[len(samples) // 2]
