"""What lint says of nodes: the DirectML operator and level, differences with numbers, WebNN."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="the extra remapnd[onnx] is not installed")
import onnx_models as models  # noqa: E402
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

from remapnd.onnx.lint import NodeReport, lint  # noqa: E402

IMAGE = np.zeros((1, 3, 8, 8), np.float32)


def looked_at(
    op: str, x: np.ndarray, *others: np.ndarray | None, known: bool = True, **options: Any
) -> NodeReport:
    """Report on one node; `others` are constants if `known`, else inputs."""
    inputs: dict[str, np.ndarray | None] = {"x": x} | {f"i{k}": array for k, array in enumerate(others)}
    model = models.node_model(op, inputs, **options)
    if known:
        del model.graph.input[1:]
        constants = [
            numpy_helper.from_array(a, name) for name, a in inputs.items() if a is not None and name != "x"
        ]
        model.graph.initializer.extend(constants)
    (report,) = lint(model)
    return report


def resized(
    x: np.ndarray = IMAGE, *, sizes: Any = None, scales: Any = None, roi: Any = None, **options: Any
) -> NodeReport:
    inputs = [None if roi is None else np.array(roi, np.float32)]
    inputs.append(None if scales is None else np.array(scales, np.float32))
    if sizes is not None:
        inputs.append(np.array(sizes, np.int64))
    return looked_at("Resize", x, *inputs, **options)


def placed(report: NodeReport) -> tuple[str, str]:
    """Operator and level, or the reason."""
    assert report.error == ""
    placement = report.directml
    if placement.operator is None:
        return "", placement.reason
    return str(placement.operator), str(placement.feature_level)


INDEX, WIDE = np.zeros(2, np.int32), np.zeros(2, np.int64)


@pytest.mark.parametrize(
    ("dtype", "level"),
    [
        ("float32", "3_0"), ("float16", "3_0"), ("uint8", "3_0"), ("int32", "3_0"), ("bool", "3_0"),
        ("int64", "4_1"), ("uint64", "4_1"), ("float64", "4_1"),
    ],
)  # fmt: skip
def test_level_of_a_gather(dtype, level):
    """Signed indices came with 3_0, 64-bit data with 4_1."""
    x = np.zeros((3, 2), dtype)
    assert placed(looked_at("Gather", x, INDEX)) == ("GATHER", level)
    assert placed(looked_at("GatherElements", x, INDEX[:, None])) == ("GATHER_ELEMENTS", level)
    assert placed(looked_at("GatherND", x, WIDE[:, None])) == ("GATHER_ND1", level)


def test_level_of_a_scatter():
    """The provider passes int32 indices as uint32, which 2_1 has."""
    x = np.zeros((3, 2), np.float32)
    update = x[:1, :1]
    assert placed(looked_at("ScatterElements", x, INDEX[:1, None], update)) == ("SCATTER_ELEMENTS", "2_0")
    assert placed(looked_at("ScatterElements", x, WIDE[:1, None], update)) == ("SCATTER_ELEMENTS", "3_0")
    assert placed(looked_at("ScatterND", x, WIDE[:1, None], x[:1])) == ("SCATTER_ND", "3_0")
    assert placed(looked_at("Scatter", x, INDEX[:1, None], update, opset=9)) == ("SCATTER_ELEMENTS", "2_0")


@pytest.mark.parametrize(
    ("op", "shape", "options", "reason"),
    [
        ("Gather", (1,) * 9, {}, "GATHER takes at most 8 dimensions, here 10"),
        ("Gather", (1,) * 8, {}, "GATHER takes at most 8 dimensions, here 9"),
        ("ScatterElements", (1,) * 5, {},
         "the provider takes at most 4 dimensions for ScatterElements, here 5"),
        ("ScatterElements", (1,) * 2, {"reduction": "add"},
         "DirectML's scatters have no reduction, here 'add'"),
        ("GatherND", (1,) * 2, {"domain": "com.microsoft"},
         "what the provider makes of com.microsoft::GatherND is not known"),
    ],
)  # fmt: skip
def test_what_directml_does_not_take(op, shape, options, reason):
    x = np.zeros(shape, np.float32)
    indices = np.zeros((1, 1), np.int64)
    more = []
    if op == "ScatterElements":
        indices = np.zeros(shape, np.int64)
        more = [x]
    assert placed(looked_at(op, x, indices, *more, **options)) == ("", reason)


def test_types_that_directml_does_not_have():
    strings = np.array(["a", "b"], object)
    assert placed(looked_at("Gather", strings, INDEX)) == ("", "DirectML has no data type for tensor(string)")
    assert placed(looked_at("Gather", np.zeros(2, complex), INDEX)) == (
        "",
        "DirectML has no data type for tensor(complex128)",
    )
    doubles = resized(np.zeros((4, 4)), scales=[2, 2])
    assert placed(doubles) == ("", "RESAMPLE2 takes no FLOAT64")


def test_resize():
    assert placed(resized(scales=[1, 1, 2, 2])) == ("RESAMPLE2", "5_1")
    assert placed(resized(IMAGE.astype(np.uint8), scales=[1, 1, 2, 2])) == ("RESAMPLE2", "6_2")
    assert placed(resized(scales=[1, 1, 2, 2], mode="cubic")) == ("", "DirectML has no cubic interpolation")
    assert placed(resized(scales=[1, 1, 2, 2], exclude_outside=1)) == (
        "",
        "the provider refuses exclude_outside, as DirectML clamps to the edge",
    )
    assert placed(resized(scales=[1, 1, 2, 2], extrapolation_value=0.5)) == (
        "",
        "the provider refuses an extrapolation_value other than 0, here 0.5",
    )


def test_dimensions_of_size_1_before_and_after_do_not_count():
    five = np.zeros((1, 3, 2, 4, 4), np.float32)
    assert placed(resized(five, scales=[1, 1, 1, 2, 2])) == ("RESAMPLE2", "5_1")
    two = np.zeros((2, 3, 2, 4, 4), np.float32)
    assert placed(resized(two, scales=[1, 1, 1, 2, 2])) == (
        "",
        "RESAMPLE2 takes at most 4 dimensions, here 5",
    )


def differences(report: NodeReport) -> list[str]:
    return [str(difference) for difference in report.directml.differences]


def test_indices_that_are_known_to_be_in_range():
    x = np.zeros((3, 2), np.float32)
    assert differences(looked_at("Gather", x, np.array([2, -3]))) == []
    assert differences(looked_at("GatherND", x, np.array([[2, 1], [-3, -2]]))) == []
    assert differences(looked_at("GatherElements", x, np.array([[1, -2]]), axis=1)) == []
    out = [
        "an index out of range fails on the CPU; DirectML reads the nearest valid element (reported); data "
        "10 20 30, index 3: CPU error, DirectML 30"
    ]
    assert differences(looked_at("Gather", x, np.array([3]))) == out
    assert differences(looked_at("GatherND", x, np.array([[0, 2]]))) == out
    assert differences(looked_at("Gather", x, np.array([2]), known=False)) == out


def test_scatters_differ_in_order_sign_and_range():
    x = np.zeros((3, 2), np.float32)

    def causes(indices: list[list[int]]) -> list[str]:
        i = np.array(indices)
        return [
            text.split(";")[0] for text in differences(looked_at("ScatterElements", x, i, x[: len(i), :1]))
        ]

    assert causes([[0], [2]]) == []
    assert causes([[0], [0]]) == ["of several updates of one place the last wins on the CPU"]
    assert causes([[0], [-1]]) == ["a negative index counts from the end on the CPU"]
    assert causes([[2], [-1]]) == [
        "a negative index counts from the end on the CPU",
        "of several updates of one place the last wins on the CPU",
    ]
    assert causes([[3]]) == ["an index out of range fails on the CPU"]
    unknown = looked_at("ScatterND", x, np.array([[0], [1]]), x[:2], known=False)
    assert len(unknown.directml.differences) == 3
    assert differences(looked_at("ScatterND", x, np.array([[0], [1]]), x[:2])) == []
    assert len(differences(looked_at("ScatterND", x, np.array([[1], [1]]), x[:2]))) == 1


@pytest.mark.parametrize(
    ("options", "texts"),
    [
        ({"scales": [1, 1, 2, 2]}, []),
        ({"scales": [1, 1, 2, 2], "mode": "linear"}, []),
        ({"sizes": [1, 3, 5, 5], "coordinate_transformation_mode": "align_corners", "mode": "linear"}, []),
        ({"scales": [1, 1, 0.5, 1]},
         ["4 of 4 positions along axis 2 are ties, decided by the rounding of floats; output 0 reads "
          "position 0.5: exactly sample 0, perhaps 1"]),
        ({"scales": [1, 1, 0.5, 1], "nearest_mode": "round_prefer_ceil"},
         ["4 of 4 positions along axis 2 are ties, decided by the rounding of floats; output 0 reads "
          "position 0.5: exactly sample 1, perhaps 0"]),
        ({"scales": [1, 1, 0.5, 1], "nearest_mode": "floor"}, []),
        ({"sizes": [1, 3, 1, 8], "coordinate_transformation_mode": "pytorch_half_pixel", "mode": "linear"},
         ["the provider asks for the length before, ONNX for the length after, whether it is 1; ramp 0..7 of "
          "8 to 1 samples: output 0 is 0 on the CPU, 3.5 in DirectML"]),
        ({"scales": [1, 1, 2, 2], "mode": "linear", "opset": 10},
         ["the provider takes half_pixel for Resize-10, the CPU X / scale; ramp 0..7 of 8 to 16 samples: "
          "output 1 is 0.5 on the CPU, 0.25 in DirectML"]),
        ({"sizes": [1, 3, 4, 8], "mode": "linear", "antialias": 1},
         ["DirectML antialiases only where an axis shrinks by more than 2, and by another filter; ramp 0..7 "
          "of 8 to 4 samples: output 0 is 0.625 on the CPU, 0.5 in DirectML"]),
        ({"sizes": [1, 3, 16, 16], "mode": "linear", "antialias": 1}, []),
        ({"sizes": [1, 3, 4, 4], "mode": "linear", "coordinate_transformation_mode": "tf_crop_and_resize",
          "roi": [0, 0, 0.25, 0.25, 1, 1, 0.75, 1.25]},
         ["DirectML has no extrapolation value, it repeats the edge, and reads at least one sample; ramp "
          "0..7 of 8 to 4 samples: output 3 is 0 on the CPU, 7 in DirectML"]),
        ({"sizes": [1, 3, 4, 4], "mode": "linear", "coordinate_transformation_mode": "tf_crop_and_resize",
          "roi": [0, 0, 0.25, 0.25, 1, 1, 0.75, 0.5]}, []),
        ({"scales": [1, 1, 1.1, 1.1], "mode": "linear"},
         ["the CPU copies an input whose shape does not change, whatever scales and roi; ramp 0..7 of 8 to 8 "
          "samples: output 7 is 7 on the CPU, 6.31818 in DirectML"]),
    ],
)  # fmt: skip
def test_differences_of_resize(options, texts):
    if options.get("opset") == 10:
        report = looked_at("Resize", IMAGE, np.array(options.pop("scales"), np.float32), **options)
    else:
        report = resized(**options)
    assert differences(report) == texts


def test_integers():
    report = resized(IMAGE.astype(np.uint8), scales=[1, 1, 2, 2], mode="linear")
    assert differences(report) == [
        "how DirectML rounds 8-bit integers is not documented; the CPU cuts the fraction; 1 2 to 4 samples: "
        "exact 1 1.25 1.75 2, CPU 1 1 1 2"
    ]


def test_sizes_that_are_not_known_give_an_example():
    report = resized(
        scales=[1, 1, 1, 0.5], known=False, coordinate_transformation_mode="pytorch_half_pixel", mode="linear"
    )
    assert placed(report) == ("RESAMPLE2", "5_1")
    (text,) = differences(report)
    assert text.endswith("(an example: sizes are not known)")


def test_shapes_that_are_not_known():
    x, i = models.value_info("x", IMAGE, None), models.value_info("i", WIDE)
    x.type.tensor_type.ClearField("shape")
    node = helper.make_node("Gather", ["x", "i"], ["y"], name="g")
    (report,) = lint(models.model([node], [x, i], [helper.make_empty_tensor_value_info("y")]))
    assert placed(report) == ("GATHER", "3_0")
    assert report.directml.reason == "a shape is not known"
    node = helper.make_node("Gather", ["unknown", "i"], ["y"], name="g")
    (report,) = lint(models.model([node], [x, i], [helper.make_empty_tensor_value_info("y")]))
    assert report.directml.reason == "the type and a shape is not known"


def test_sizes_that_the_model_computes_from_known_shapes():
    nodes = [
        helper.make_node("Shape", ["x"], ["shape"]),
        helper.make_node("Slice", ["shape", "zero", "two"], ["front"]),
        helper.make_node("Concat", ["front", "hw"], ["sizes"], axis=0),
        helper.make_node("Resize", ["x", "", "", "sizes"], ["y"], name="r"),
    ]
    constants = [
        numpy_helper.from_array(np.array(v, np.int64), k)
        for k, v in {"zero": [0], "two": [2], "hw": [4, 16]}.items()
    ]
    x = models.value_info("x", IMAGE, ["n", 3, 8, 8])
    model = models.model(nodes, [x], [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], constants)
    (symbolic,) = lint(model)
    assert [str(tensor) for tensor in symbolic.inputs] == ["float[n,3,8,8]", "None", "None", "int64[4]"]
    (static,) = lint(model, dims={"n": 2})
    assert str(static.inputs[0]) == "float[2,3,8,8]"
    (text,) = differences(static)
    assert text.startswith("4 of 4 positions along axis 2 are ties")


def test_dims_without_a_name():
    x = models.value_info("x", IMAGE, [None, -1, 8, 8])
    node = helper.make_node("Resize", ["x", "", "s"], ["y"])
    scales = numpy_helper.from_array(np.array([1, 1, 2, 2], np.float32), "s")
    model = models.model([node], [x], [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], [scales])
    (report,) = lint(model, dims={"x.0": 2, "x.1": 5})
    assert str(report.output) == "float[2,5,16,16]"
    with pytest.raises(
        ValueError, match=r"^lint: `dims` must name symbolic dimensions of inputs \(x.0, x.1\), got x.2$"
    ):
        lint(model, dims={"x.2": 2})


def test_shapes_that_cannot_be_inferred(monkeypatch):
    def refuse(*_: object, **__: object) -> None:
        raise onnx.shape_inference.InferenceError("the node is\nwrong")

    monkeypatch.setattr(onnx.shape_inference, "infer_shapes", refuse)
    with pytest.raises(
        ValueError, match=r"^lint: `model` must have shapes that can be .*, got the node is wrong$"
    ):
        resized(scales=[1, 1, 2, 2])


GRID = np.zeros((1, 4, 4, 2), np.float32)
REGIONS = np.zeros((2, 4), np.float32)


def reasons(report: NodeReport) -> tuple[str, str]:
    assert report.error == ""
    return report.directml.reason, report.webnn.reason


@pytest.mark.parametrize(
    ("x", "options", "reason"),
    [
        (IMAGE, {"opset": 20}, "the provider knows the modes bilinear, nearest and bicubic, here 'linear'"),
        (IMAGE.astype(np.float64), {"opset": 16}, "own shader takes float and float16, here double"),
        (np.zeros((1, 1, 2, 2, 2), np.float32), {"opset": 16}, "own shader takes 4 dimensions, here 5"),
    ],
)  # fmt: skip
def test_grid_sample_that_stays_on_the_cpu(x, options, reason):
    report = looked_at("GridSample", x, GRID, **options)
    assert placed(report) == ("", reason)
    assert reasons(report)[1] == "WebNN has no GridSample"


def test_grid_sample_by_the_shader_of_the_provider():
    report = looked_at("GridSample", IMAGE, GRID, opset=16)
    assert placed(report) == ("own shader", "1_0")
    assert (
        reasons(report)[0]
        == "a shader of the provider's own, which needs no level: DirectML has no GridSample"
    )
    assert report.directml.differences == ()
    cubic = looked_at("GridSample", IMAGE, GRID, opset=16, mode="bicubic", padding_mode="border")
    assert [str(one) for one in cubic.directml.differences] == [
        "bicubic beyond a border: the provider moves the position there, the CPU repeats border samples; "
        "ramp 0..3, position -0.7: -0.04725 on the CPU, 0 in DirectML"
    ]


def test_roi_align():
    """Where the page of ROI_ALIGN1 and the CPU part."""
    images = np.zeros(2, np.int64)
    options = {"opset": 16, "mode": "max", "coordinate_transformation_mode": "output_half_pixel"}
    report = looked_at("RoiAlign", IMAGE, REGIONS, images, known=False, **options)
    assert placed(report) == ("ROI_ALIGN1", "4_0")
    assert reasons(report) == (
        "ROI_ALIGN1 is none of the operators of remapnd.directml: level and types are those of its page",
        "WebNN has no RoiAlign",
    )
    assert [one.example for one in report.directml.differences] == [
        "pixels 1 2 3 4, one sample midway between them: CPU 1, DirectML 2.5",
        "region of 3 pixels to 2 bins: CPU 2 samples, DirectML 1.5 (no more said)",
        "ramp 0..3, region 0 to 0.5, one sample: CPU 0.5, DirectML 0.25",
        "one image, batch index 1: CPU error, DirectML undefined",
    ]
    same = looked_at("RoiAlign", IMAGE, REGIONS, images, opset=16, sampling_ratio=2)
    assert same.directml.differences == ()
    outside = looked_at("RoiAlign", IMAGE, REGIONS, images + 1, opset=16, sampling_ratio=2)
    assert [one.cause for one in outside.directml.differences] == [
        "a batch index out of range fails on the CPU; what DirectML does is undefined"
    ]


@pytest.mark.parametrize(
    ("op", "arrays", "options"),
    [
        ("AffineGrid", [np.zeros((1, 2, 3), np.float32), np.array([1, 1, 2, 2])], {"opset": 20}),
        ("TensorScatter", [np.zeros((1, 4, 2), np.float32), np.zeros((1, 1, 2), np.float32)], {"opset": 24}),
        (
            "CropAndResize",
            [IMAGE, REGIONS, np.zeros(2, np.int32), np.array([2, 2], np.int32)],
            {"domain": "com.microsoft"},
        ),
    ],
)
def test_operators_that_the_provider_does_not_have(op, arrays, options):
    report = looked_at(op, *arrays, **options)
    assert placed(report) == ("", f"the provider has no {op}")
    assert reasons(report)[1] == f"WebNN has no {op}"


def test_nodes_that_are_wrong_are_said_to_be():
    report = resized(scales=[1, 1, 2, 2], mode="area")
    assert report.error == "`mode` must be one of 'nearest', 'linear', 'cubic', got 'area'"
    assert report.directml.operator is report.webnn.method is None
    assert (
        looked_at("Gather", IMAGE, INDEX, axes=1).error
        == "`attribute` must be one of axis in Gather-13, got 'axes'"
    )


def test_subgraphs():
    def branch(name: str) -> onnx.GraphProto:
        gather = helper.make_node("Gather", ["x", "i"], [name], name=f"in_{name}")
        return helper.make_graph(
            [gather], name, [], [helper.make_tensor_value_info(name, TensorProto.FLOAT, None)]
        )

    node = helper.make_node(
        "If", ["c"], ["y"], name="choice", then_branch=branch("t"), else_branch=branch("e")
    )
    inputs = [
        models.value_info("x", IMAGE),
        models.value_info("i", WIDE),
        helper.make_tensor_value_info("c", TensorProto.BOOL, []),
    ]
    reports = lint(
        models.model([node], inputs, [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)])
    )
    assert sorted((report.path, report.node) for report in reports) == [
        ("choice.else_branch/", "in_e"),
        ("choice.then_branch/", "in_t"),
    ]
    assert {str(report.inputs[0]) for report in reports} == {"float[1,3,8,8]"}


# ---- WebNN


def web(report: NodeReport) -> tuple[str | None, str]:
    assert report.error == ""
    return report.webnn.method, report.webnn.reason


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"scales": [1, 1, 2, 2]}, ("resample2d", "")),
        ({"sizes": [1, 3, 5, 7], "mode": "linear"}, ("resample2d", "")),
        ({"scales": [1, 1, 2, 2], "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"},
         ("resample2d", "")),
        ({"scales": [1, 1, 2, 2], "mode": "cubic"}, (None, "resample2d has no cubic interpolation")),
        ({"scales": [2, 1, 2, 2]}, (None, "resample2d changes 2 axes, here 3")),
        ({"scales": [1, 1, 1.5, 2], "nearest_mode": "floor"},
         (None, "resample2d samples at half pixels, ties down, here half_pixel/floor")),
        ({"scales": [1, 1, 2, 2], "mode": "linear", "coordinate_transformation_mode": "align_corners"},
         (None, "resample2d samples at half pixels, ties down, here align_corners")),
        ({"scales": [1, 1, 1.3, 1], "mode": "linear"},
         (None, "resample2d samples with output size / input size = 10/8, not 1.3, along axis 2")),
        ({"x": IMAGE[0], "scales": [1, 2, 2]}, (None, "resample2d takes tensors of 4 dimensions, here 3")),
        ({"x": IMAGE.astype(np.float64), "scales": [1, 1, 2, 2]},
         (None, "resample2d takes no tensor(double)")),
        ({"scales": [1, 1, 2, 2], "known": False},
         (None, "resample2d needs scales or sizes when the graph is built")),
    ],
)  # fmt: skip
def test_webnn_resize(options, expected):
    assert web(resized(**options)) == expected


def test_webnn_indexed():
    x = np.zeros((3, 2), np.float32)
    assert web(looked_at("Gather", x, INDEX)) == ("gather", "")
    assert web(looked_at("GatherND", x, WIDE[:, None])) == ("gatherND", "")
    assert web(looked_at("GatherND", x, np.zeros((3, 1), np.int64), batch_dims=1)) == (
        None,
        "gatherND has no batch dimensions, here 1",
    )
    assert web(looked_at("ScatterND", x, WIDE[:1, None], x[:1], reduction="mul")) == (
        None,
        "scatterND has no reduction, here 'mul'",
    )
    assert web(looked_at("Gather", x.astype(np.float64), INDEX))[0] is None


def test_webnn_has_no_empty_operands():
    report = looked_at("Gather", np.zeros((0, 3), np.float32), INDEX, axis=1)
    reason = "an operand's shape must have dimensions from 1 to 2147483647, got (0, 3)"
    assert (report.webnn.method, report.webnn.reason) == (None, reason)
