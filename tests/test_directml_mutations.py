"""Whatever a descriptor holds, it has violations or it runs on buffers of the sizes it says."""

from dataclasses import fields, replace

import numpy as np
from directml_descs import VALID, garbage
from hypothesis import given
from hypothesis import strategies as st

from remapnd.directml import (
    BufferTensorDesc,
    FeatureLevel,
    FieldKind,
    Policy,
    ResampleGrad1OperatorDesc,
    TensorLayout,
    check,
    run,
)
from remapnd.directml.operators import TENSOR_KINDS

BASES = [
    *VALID,
    ResampleGrad1OperatorDesc(
        BufferTensorDesc("FLOAT32", (2, 4)),
        BufferTensorDesc("FLOAT32", (2, 2)),
        "LINEAR",
        "DECREASING",
        None,
        (1, 2),
        (0.5, 0.5),
        (-0.5, -0.5),
    ),
]
SIZES = st.lists(st.integers(1, 4), min_size=1, max_size=5)
FLOATS = st.sampled_from([1, 2, 0.5, 0.1, 1e-30, 3.4e38, 1e-45, -1, 0, float("nan")]) | st.floats(-9, 9)
POLICIES = st.builds(
    Policy,
    gather_oob=st.sampled_from(["clamp", "zero"]),
    gather_under=st.sampled_from(["clamp0", "clampN"]),
    scatter_oob=st.sampled_from(["drop", "clamp"]),
    nearest_ties=st.sampled_from(["up", "down"]),
    grad_offsets=st.sampled_from(["forward", "swapped"]),
    aa_filter=st.sampled_from(["triangle", "iterative", "off"]),
    int_linear_rounding=st.sampled_from(["truncate", "half_even", "half_up"]),
    coordinate_precision=st.sampled_from(["exact", "float64", "float32"]),
    output_overlap=st.sampled_from(["reject", "allow"]),
)


def values(kind, draw):
    """Draw a value that a field of this kind may well take."""
    if kind in TENSOR_KINDS:
        return BufferTensorDesc(
            draw(st.sampled_from(["FLOAT32", "FLOAT16", "INT8", "UINT32", "INT64"])),
            sizes := draw(SIZES),
            draw(st.none() | st.lists(st.integers(0, 9), min_size=len(sizes), max_size=len(sizes))),
            GuaranteedBaseOffsetAlignment=draw(st.sampled_from([0, 8, 64])),
            TotalTensorSizeInBytes=draw(st.sampled_from([None, 0, 1024])),
        )
    if kind is FieldKind.FLOATS:
        return draw(st.lists(FLOATS, min_size=1, max_size=4))
    return draw(st.integers(0, 4))


def mutated(desc, draw):
    """Change some fields of a descriptor, or of its tensors."""
    kinds = desc.field_kinds()
    for _ in range(draw(st.integers(0, 3))):
        name = draw(st.sampled_from(list(kinds)))
        old, way = getattr(desc, name), draw(st.integers(0, 5))
        if isinstance(old, BufferTensorDesc) and way < 3:
            part = draw(st.sampled_from([f.name for f in fields(old)]))
            source = getattr(values(kinds[name], draw), part) if way else draw(garbage)
            desc = replace(desc, **{name: replace(old, **{part: source})})
        else:
            desc = replace(desc, **{name: draw(garbage) if way == 5 else values(kinds[name], draw)})
    return desc


@given(st.data())
def test_a_descriptor_has_violations_or_runs(data):
    desc = mutated(data.draw(st.sampled_from(BASES)), data.draw)
    policy = data.draw(POLICIES)
    level = data.draw(st.sampled_from(list(FeatureLevel)))
    if check(desc, level, policy):
        return
    layouts = {name: TensorLayout.of(getattr(desc, name)) for name in desc.tensor_names(*TENSOR_KINDS)}
    if sum(layout.total_bytes for layout in layouts.values()) > 1 << 20:
        return
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    (output,) = desc.tensor_names(FieldKind.OUTPUT)
    guard, shift = 64, data.draw(st.integers(0, 3))  # no memory need be aligned
    memory = rng.integers(0, 256, shift + layouts[output].total_bytes + guard, np.uint8)
    after = memory[-guard:].copy()
    inputs = {
        name: rng.integers(0, 256, shift + layout.total_bytes, np.uint8)[shift:]
        for name, layout in layouts.items()
        if name != output
    }
    kept = {name: buffer.copy() for name, buffer in inputs.items()}
    got = run(desc, inputs, memory[shift:-guard], feature_level=level, policy=policy)
    assert got.shape == layouts[output].sizes
    assert (memory[-guard:] == after).all()
    again = run(desc, kept, feature_level=level, policy=policy)
    assert again.tobytes() == got.tobytes()
    assert all((inputs[name] == kept[name]).all() for name in inputs)
