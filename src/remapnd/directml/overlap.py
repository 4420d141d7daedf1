"""Whether a strided tensor puts two of its elements at one address."""

from __future__ import annotations

import math
from collections.abc import Sequence

# Layouts met in practice take some tens of steps; only strides built to be hard reach the limit.
_MAX_STEPS = 200_000


def overlaps_itself(sizes: Sequence[int], strides: Sequence[int]) -> bool:
    """Tell whether two coordinates have the same address.

    Parameters
    ----------
    sizes : sequence of int, shape (n,), each at least 1
    strides : sequence of int, shape (n,), each at least 0, in elements

    Returns
    -------
    bool
        Exact, except that layouts whose search takes more than 200,000 steps count as overlapping (the
        general problem is NP-complete; a layout that needs as many has several dimensions with nearly equal
        strides).

    Notes
    -----
    Two coordinates meet when some difference `k`, not all zero, has ``abs(k[d]) < sizes[d]`` and ``sum(k[d] *
    strides[d]) == 0``. Taking the largest stride first, few values of ``k[d]`` leave a remainder that the
    smaller strides can still make up: at most one, if the dimensions nest as they do in padded or permuted
    tensors.
    """
    axes = sorted(((s, n) for n, s in zip(sizes, strides, strict=True) if n > 1), reverse=True)
    if any(stride == 0 for stride, _ in axes):
        return True
    reach = [0] * (len(axes) + 1)  # reach[d]: the largest sum that axes d and later can make
    divisor = [0] * (len(axes) + 1)
    for d in range(len(axes) - 1, -1, -1):
        stride, size = axes[d]
        reach[d] = reach[d + 1] + stride * (size - 1)
        divisor[d] = math.gcd(divisor[d + 1], stride)
    if math.prod(size for _, size in axes) > reach[0] + 1:
        return True  # more elements than addresses
    steps = 0

    def made_by_rest(d: int, target: int) -> bool:
        """Tell whether axes d and later can make `target`; a search that is too long says yes."""
        nonlocal steps
        steps += 1
        if target == 0 or steps > _MAX_STEPS:
            return True
        if d == len(axes) or target % divisor[d]:
            return False
        stride, size = axes[d]
        low = max(1 - size, -((reach[d + 1] - target) // stride))
        high = min(size - 1, (reach[d + 1] + target) // stride)
        return any(made_by_rest(d + 1, target - k * stride) for k in range(low, high + 1))

    # Differences come in pairs k, -k: it is enough to look at those whose first non-zero component is
    # positive.
    return any(
        made_by_rest(d + 1, k * stride)
        for d, (stride, size) in enumerate(axes)
        for k in range(1, min(size - 1, reach[d + 1] // stride) + 1)
    )
