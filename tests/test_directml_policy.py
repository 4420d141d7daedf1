"""Every switch of a policy shows its answers."""

import numpy as np
import pytest
from directml_cases import elements, gather, gather_nd, grad, ramp, resample1, resample2, scatter, scatter_nd

from remapnd.directml import (
    BufferTensorDesc,
    DirectMLError,
    GatherElementsOperatorDesc,
    GatherOperatorDesc,
    Policy,
    Resample1OperatorDesc,
    ResampleOperatorDesc,
    ScatterOperatorDesc,
    check,
    run,
)

F = np.float32


def test_defaults():
    assert Policy() == Policy(
        gather_oob="clamp",
        gather_under="clamp0",
        scatter_oob="drop",
        scatter_duplicates="last",
        off_axis="lenient",
        index_dimensions_max="N",
        nearest_ties="up",
        grad_offsets="forward",
        aa_filter="triangle",
        int_linear_rounding="truncate",
        coordinate_precision="exact",
        output_overlap="reject",
        dxdispatch_compat="off",
    )


@pytest.mark.parametrize(
    ("field", "words"),
    [
        ("gather_oob", "'clamp', 'zero', 'error'"),
        ("gather_under", "'clamp0', 'clampN'"),
        ("scatter_oob", "'drop', 'clamp', 'error'"),
        ("scatter_duplicates", "'last', 'error'"),
        ("index_dimensions_max", "'N', 'N-1'"),
        ("grad_offsets", "'forward', 'swapped'"),
        ("aa_filter", "'triangle', 'iterative', 'off'"),
        ("coordinate_precision", "'exact', 'float64', 'float32'"),
        ("dxdispatch_compat", "'off', 'on'"),
        ("off_axis", "'lenient', 'strict'"),
        ("nearest_ties", "'up', 'down'"),
        ("int_linear_rounding", "'truncate', 'half_even', 'half_up'"),
        ("output_overlap", "'reject', 'allow'"),
    ],
)
@pytest.mark.parametrize("bad", ["Other", None, 1])
def test_other_values(field, words, bad):
    with pytest.raises(ValueError, match=rf"^Policy: `{field}` must be one of {words}, got {bad!r}$"):
        Policy(**{field: bad})


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        (Policy(), [13, 11, 13, 11]),
        (Policy(gather_oob="clamp", gather_under="clampN"), [13, 13, 13, 11]),
        (Policy(gather_oob="zero"), [0, 0, 13, 11]),
    ],
)
def test_out_of_range_of_gather(policy, expected):
    indices = np.array([3, -4, -1, -3], np.int32)
    assert gather([11, 12, 13], indices, (4,), 0, 1, policy=policy) == expected
    column = np.array([[11], [12], [13]])
    singles = [gather(column, indices[k : k + 1, None], (1, 1), 0, 0, policy=policy) for k in range(4)]
    assert singles == [[[v]] for v in expected]
    got = gather(column, indices[None], (4, 1), 0, 1, policy=policy)
    assert got == [[v] for v in expected]


def test_out_of_range_error_of_gather():
    rule = r"`IndicesTensor` must lie in \[-3, 3\) on axis 0 \(gather_oob is 'error'\)"
    with pytest.raises(IndexError, match=rf"^GATHER: {rule}, got 3 at \(0,\)$"):
        gather([11, 12, 13], np.array([3]), (1,), 0, 1, policy=Policy(gather_oob="error"))


@pytest.mark.parametrize(("scatter_oob", "expected"), [("drop", [1, 2, 9, 4]), ("clamp", [6, 2, 9, 8])])
def test_out_of_range_of_scatter(scatter_oob, expected):
    policy = Policy(scatter_oob=scatter_oob)
    indices = np.array([4, -5, -2, 2**31 - 1], np.int32)
    updates = [5, 6, 9, 8]
    assert scatter([1, 2, 3, 4], indices, updates, 0, policy=policy).tolist() == expected
    column = np.array([[1], [2], [3], [4]])
    got = scatter_nd(column, indices[:, None], np.array(updates)[:, None], 2, 2, policy=policy)
    assert got.ravel().tolist() == expected
    # Negative values of indices that a front end has declared unsigned are far out of range.
    unsigned = np.array([2**32 - 1], np.uint32)
    got = scatter([1, 2, 3, 4], unsigned, [7], 0, policy=policy).tolist()
    assert got == ([1, 2, 3, 4] if scatter_oob == "drop" else [1, 2, 3, 7])


def test_out_of_range_error_of_scatter():
    policy = Policy(scatter_oob="error")
    rule = r"`IndicesTensor` must lie in \[-2, 2\) on axis 0 \(scatter_oob is 'error'\)"
    with pytest.raises(IndexError, match=rf"^SCATTER_ELEMENTS: {rule}, got 2 at \(0,\)$"):
        scatter([1, 2], np.array([2]), [3], 0, policy=policy)
    with pytest.raises(IndexError, match=rf"^SCATTER_ND: {rule}, got -3 at \(0, 0\)$"):
        scatter_nd([[1], [2]], np.array([[-3]]), [[3]], 2, 2, policy=policy)
    assert scatter([1, 2], np.array([1, -2]), [3, 4], 0, policy=policy).tolist() == [4, 3]


def test_duplicates_of_scatter():
    error = Policy(scatter_duplicates="error")
    data, indices, updates = [0, 1, 2, 3, 4], np.array([3, 1, 3, 0]), [5, 6, 7, 8]
    assert scatter(data, indices, updates, 0).tolist() == [8, 6, 2, 7, 4]
    rule = r"must lead to each place once \(scatter_duplicates is 'error'\)"
    with pytest.raises(
        IndexError, match=rf"SCATTER_ELEMENTS: `IndicesTensor` {rule}, got 2 updates at \(3,\)"
    ):
        scatter(data, indices, updates, 0, policy=error)
    assert scatter(data, indices[1:], updates[1:], 0, policy=error).tolist() == [8, 6, 2, 7, 4]
    pairs = np.array([[[0, 1], [0, -1], [1, 0]]])
    cube, three = np.zeros((1, 2, 2)), [[[1, 2, 3]]]
    assert scatter_nd(cube, pairs, three, 2, 2).tolist() == [[[0, 2], [3, 0]]]
    with pytest.raises(IndexError, match=rf"SCATTER_ND: `IndicesTensor` {rule}, got 2 updates at \(0, 1\)"):
        scatter_nd(cube, pairs, three, 2, 2, policy=error)


def test_dropped_updates_are_no_duplicates():
    policy = Policy(scatter_duplicates="error")
    assert scatter([1, 2], np.array([5, 5, 0]), [7, 8, 9], 0, policy=policy).tolist() == [9, 2]
    with pytest.raises(IndexError, match=r"got 2 updates at \(1,\)"):
        scatter([1, 2], np.array([5, 5, 0]), [7, 8, 9], 0, policy=Policy("clamp", "clamp0", "clamp", "error"))


def test_off_axis_of_scatter():
    three, two = BufferTensorDesc("FLOAT32", (3, 3)), BufferTensorDesc("FLOAT32", (1, 2))
    desc = ScatterOperatorDesc(three, BufferTensorDesc("UINT32", (1, 2)), two, three, 0)
    assert check(desc) == []
    assert [str(v) for v in check(desc, policy=Policy(off_axis="strict"))] == [
        "SCATTER_ELEMENTS: `IndicesTensor.Sizes[1]` must equal InputTensor.Sizes[1] = 3 "
        "(off_axis is 'strict'), got 2"
    ]


def test_largest_index_dimensions():
    # Example 1 of the page of GATHER, which contradicts the range on the same page.
    four, five = BufferTensorDesc("FLOAT32", (4,)), BufferTensorDesc("FLOAT32", (5,))
    desc = GatherOperatorDesc(four, BufferTensorDesc("UINT32", (5,)), five, 0, 1)
    assert check(desc) == []
    assert [str(v) for v in check(desc, policy=Policy(index_dimensions_max="N-1"))] == [
        "GATHER: `IndexDimensions` must lie in [0, 1) (index_dimensions_max is 'N-1'), got 1"
    ]
    two = GatherOperatorDesc(four, BufferTensorDesc("UINT32", (5,)), five, 0, 2)
    assert [str(v) for v in check(two)] == ["GATHER: `IndexDimensions` must lie in [0, 1], got 2"]


def test_ties_of_resample_and_its_gradient():
    tensors = BufferTensorDesc("FLOAT32", (4,)), BufferTensorDesc("FLOAT32", (2,))
    desc = ResampleOperatorDesc(*tensors, "NEAREST_NEIGHBOR", 1, [0.5])
    assert run(desc, [ramp[:4]], policy=Policy(nearest_ties="up")).tolist() == [1, 3]
    assert run(desc, [ramp[:4]], policy=Policy(nearest_ties="down")).tolist() == [0, 2]
    floats = [0.5], [0.5], [-0.5]
    assert grad([5, 6], (4,), 0, *floats, policy=Policy(nearest_ties="up")).tolist() == [0, 5, 0, 6]
    assert grad([5, 6], (4,), 0, *floats, policy=Policy(nearest_ties="down")).tolist() == [5, 0, 6, 0]


def test_offsets_of_gradients():
    forward = grad([1, 2, 3, 4], (2,), "LINEAR", [2], [0.5], [-0.5])
    assert forward.tolist() == [3.25, 6.75]
    swapped = Policy(grad_offsets="swapped")
    assert grad([1, 2, 3, 4], (2,), "LINEAR", [2], [0.5], [-0.5], policy=swapped).tolist() == [1.25, 8.75]
    # What TensorFlow's plugin passes for half_pixel.
    assert grad([1, 2, 3, 4], (2,), "LINEAR", [2], [-0.5], [0.5], policy=swapped).tolist() == [3.25, 6.75]
    for policy in (Policy(), swapped):
        assert grad([1, 2, 3, 4], (2,), "LINEAR", [2], [0], [0], policy=policy).tolist() == [2, 8]


def test_filters_of_antialiasing():
    floats = [0.25], [0.5], [-0.5]

    def smooth(aa_filter):
        policy = Policy(aa_filter=aa_filter)
        return resample2(ramp, (2,), 1, 0, *floats, antialiased=True, policy=policy).tolist()

    np.testing.assert_allclose(smooth("triangle"), [1.892857, 5.107143], atol=5e-7)
    # Means of two: 0.5, 2.5, 4.5, 6.5; then halfway between two of them.
    assert smooth("iterative") == [1.5, 5.5]
    assert smooth("off") == [1.5, 5.5]
    squares = ramp * ramp
    for aa_filter, expected in (("iterative", [3.5, 31.5]), ("off", [2.5, 30.5])):
        got = resample2(squares, (2,), 1, 0, *floats, antialiased=True, policy=Policy(aa_filter=aa_filter))
        assert got.tolist() == expected


def test_iterative_filter_of_odd_lengths_and_offsets():
    policy = Policy(aa_filter="iterative")
    # 7 -> 4 (the last alone) -> linear at scale 0.6 of positions in the halved row.
    got = resample2(ramp[:7], (2,), 1, 0, [0.25], [0.5], [-0.5], antialiased=True, policy=policy)
    assert got.tolist() == [1.5, 5.25]
    # A pixel on: position 2.5 of the row is between means 0.5 and 2.5, at three quarters and a quarter.
    got = resample2(ramp, (1,), 1, 0, [0.25], [-0.5], [-0.5], antialiased=True, policy=policy)
    assert got.tolist() == [2.5]


@pytest.mark.parametrize("mode", [0, 1])
def test_precision_of_positions(mode):
    # x = 4.5 / 0.3f - 0.5, a little below the tie at 14.5, which float32 cannot tell from it.
    n, m = 40, 12
    data = np.arange(n, dtype=F)
    tensors = BufferTensorDesc("FLOAT32", (n,)), BufferTensorDesc("FLOAT32", (m,))
    desc = ResampleOperatorDesc(*tensors, mode, 1, [0.3])

    def positions(precision):
        return run(desc, [data], policy=Policy(coordinate_precision=precision))

    scale = F(0.3)
    x32 = (np.arange(m, dtype=F) + F(0.5)) / scale - F(0.5)
    x64 = (np.arange(m) + 0.5) / float(scale) - 0.5
    if mode == 0:
        assert positions("float32").tolist() == np.clip(np.floor(x32 + F(0.5)), 0, n - 1).tolist()
        assert positions("float64").tolist() == np.clip(np.floor(x64 + 0.5), 0, n - 1).tolist()
        assert positions("exact").tolist() == positions("float64").tolist()
    else:  # linear interpolation of a ramp gives the positions
        assert positions("float32").tolist() == np.clip(x32, 0, n - 1).tolist()
        assert positions("float64").tolist() == np.clip(x64, 0, n - 1).astype(F).tolist()


def test_precision_decides_ties():
    # 2**-30 beyond the tie: float32 rounds it onto the tie, float64 does not.
    data = np.array([10, 20], F)
    for precision, down in (("exact", 20), ("float64", 20), ("float32", 10)):
        policy = Policy(coordinate_precision=precision, nearest_ties="down")
        tensors = BufferTensorDesc("FLOAT32", (2,)), BufferTensorDesc("FLOAT32", (1,))
        desc = Resample1OperatorDesc(*tensors, 0, 1, [1], [-0.5], [-(2**-30)])
        assert run(desc, [data], policy=policy).tolist() == [down], precision


def test_precision_moves_bits_and_keeps_constants():
    bits = np.array([0x7F800001, 0xFFC12345, 0x80000000], np.uint32)
    tensors = BufferTensorDesc("FLOAT32", (3,)), BufferTensorDesc("FLOAT32", (3,))
    policy = Policy(coordinate_precision="float32")
    got = run(ResampleOperatorDesc(*tensors, 0, 1, [1]), [bits.view(F)], policy=policy)
    assert got.view(np.uint32).tolist() == bits.tolist()
    tensors = BufferTensorDesc("UINT8", (9,)), BufferTensorDesc("UINT8", (23,))
    got = run(ResampleOperatorDesc(*tensors, 1, 1, [2.6]), [np.full(9, 201, np.uint8)], policy=policy)
    assert (got == 201).all()
    grads = [grad([1, 2, 3, 4], (2,), "LINEAR", [2], [0.5], [-0.5], policy=policy) for _ in range(2)]
    assert grads[0].tolist() == grads[1].tolist() == [3.25, 6.75]


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        (Policy(), [13, 11, 13, 11, 11]),
        (Policy(gather_oob="clamp", gather_under="clampN"), [13, 13, 13, 11, 13]),
        (Policy(gather_oob="zero"), [0, 0, 13, 11, 0]),
        (Policy(gather_oob="zero", gather_under="clampN"), [0, 0, 13, 11, 0]),
    ],
)
def test_gather_policies(policy, expected):
    for dtype in (np.int32, np.int64):
        indices = np.array([3, -4, -1, -3, -(2**31)], dtype)
        assert elements([11, 12, 13], indices, 0, policy=policy) == expected
        got = gather_nd([[11], [12], [13]], indices[:, None], (5, 1), 2, 2, policy=policy)
        assert got == [[v] for v in expected]


def test_clamp_below_is_per_component():
    data = np.arange(12).reshape(3, 4)
    indices = np.array([[-9, 1], [1, -9], [-3, -4]])
    under = Policy(gather_under="clampN")
    assert gather_nd(data, indices, (1, 3), 2, 2, policy=under) == [[9, 7, 0]]
    assert gather_nd(data, indices, (1, 3), 2, 2) == [[1, 4, 0]]


def test_unsigned_indices_do_not_wrap():
    indices = np.array([2**32 - 1, 0], np.uint32)
    for under in ("clamp0", "clampN"):
        assert elements([11, 12, 13], indices, 0, policy=Policy(gather_under=under)) == [13, 11]


def test_out_of_range_error_policy():
    policy = Policy(gather_oob="error")
    assert elements([11, 12, 13], np.array([-3, 2]), 0, policy=policy) == [11, 13]
    rule = r"`IndicesTensor` must lie in \[-3, 3\)"
    with pytest.raises(
        IndexError, match=rf"^GATHER_ELEMENTS: {rule} on axis 0 \(gather_oob.*, got 3 at \(1,\)"
    ):
        elements([11, 12, 13], np.array([-3, 3]), 0, policy=policy)
    with pytest.raises(IndexError, match=rf"^GATHER_ND: {rule} on axis 1 \(gather_oob.*, got -4 at \(0, 0\)"):
        gather_nd([[11, 12, 13]], np.array([[-4]]), (1, 1), 1, 2, policy=policy)


@pytest.mark.parametrize(
    ("rounding", "expected"),
    [("truncate", [0, 1, 2, -1]), ("half_even", [0, 2, 2, -2]), ("half_up", [1, 2, 3, -1])],
)
def test_integer_rounding_policy(rounding, expected):
    data = np.array([0, 1, 2, 3, -4, 0], np.int8)  # midway: 0.5, 1.5, 2.5, ...
    policy = Policy(int_linear_rounding=rounding)
    got = [
        int(resample1(data[k : k + 2].copy(), (1,), 1, [1], [-0.5], [0], policy=policy)[0]) for k in range(3)
    ]
    last = resample1(np.array([-3, 0], np.int8), (1,), 1, [1], [-0.5], [0], policy=policy)
    assert [*got, int(last[0])] == expected


def test_output_overlap_policy_keeps_the_last():
    allowed = Policy(output_overlap="allow")
    data = np.array([[1, 2, 3], [4, 5, 6]], F)
    indices = np.array([[0, 1, 2], [0, 1, 2]])
    for strides, expected in (((1, 1), [1, 4, 5, 6]), ((0, 1), [4, 5, 6]), ((1, 0), [3, 6]), ((0, 0), [6])):
        tensors = (
            BufferTensorDesc.of(data),
            BufferTensorDesc.of(indices),
            BufferTensorDesc("FLOAT32", (2, 3), strides),
        )
        desc = GatherElementsOperatorDesc(*tensors, 1)
        with pytest.raises(DirectMLError, match=r"`OutputTensor.Strides` must give each element"):
            run(desc, [data, indices])
        memory = np.full(5, 9, F)
        view = run(desc, [data, indices], memory, policy=allowed)
        assert memory.tolist() == expected + [9] * (5 - len(expected))
        assert view.shape == (2, 3)
    backwards = np.zeros((2, 3), F)
    desc = GatherElementsOperatorDesc(*tensors[:2], BufferTensorDesc.of(data), 1)
    run(desc, [data, indices], backwards[:, ::-1], policy=allowed)
    assert backwards.tolist() == [[3, 2, 1], [6, 5, 4]]


def test_policy_shows_what_is_not_default():
    assert repr(Policy()) == "Policy()"
    assert (
        repr(Policy(gather_oob="zero", off_axis="strict")) == "Policy(gather_oob='zero', off_axis='strict')"
    )
