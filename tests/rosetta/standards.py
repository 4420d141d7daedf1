"""ONNX, WebNN and DirectML: operators of a text, of which there are several implementations."""

from __future__ import annotations

from .case import Case, Library

_ONNX = "Resize(x, sizes=(h, w), "

ONNX = Library(
    "ONNX",
    "Resize-19; attributes are written as keywords. What is left out has its default: "
    '`coordinate_transformation_mode="half_pixel"`, `nearest_mode="round_prefer_floor"`, '
    "`cubic_coeff_a=-0.75`. `axes` is `axes`. With `keep_aspect_ratio_policy` the lengths are `round(n "
    "* s)` for the least (`not_larger`) or greatest (`not_smaller`) of the ratios s; give these and "
    "`scales=s`. `remapnd.onnx` runs whole nodes and models.",
    {"np": "numpy", "Resize": "rosetta.onnx_node:resize", "Upsample": "rosetta.onnx_node:upsample"},
    (
        Case(
            _ONNX + 'mode="nearest")',
            'remapnd.resize(x, (h, w), mode="nearest", nearest_rule="half_down")',
            "positions in float32",
            dtypes=("index",),
            within={"index": 1},
            rule="half_pixel, ties down",
        ),
        Case(
            _ONNX + 'mode="nearest", nearest_mode="round_prefer_ceil")',
            'remapnd.resize(x, (h, w), mode="nearest")',
            "positions in float32",
            dtypes=("index",),
            within={"index": 1},
            rule="half_pixel, ties up",
        ),
        Case(
            _ONNX + 'mode="nearest", nearest_mode="floor", coordinate_transformation_mode="asymmetric")',
            'remapnd.resize(x, (h, w), coordinates="asymmetric", mode="nearest", nearest_rule="floor")',
            "positions in float32",
            dtypes=("index",),
            within={"index": 1},
            rule="asymmetric, floor",
        ),
        Case(
            _ONNX + 'mode="nearest", nearest_mode="ceil", coordinate_transformation_mode="align_corners")',
            'remapnd.resize(x, (h, w), coordinates="align_corners", mode="nearest", nearest_rule="ceil")',
            "positions in float32",
            dtypes=("index",),
            within={"index": 1},
            rule="align_corners, ceil",
        ),
        Case(
            _ONNX
            + 'mode="nearest", nearest_mode="floor", coordinate_transformation_mode="tf_half_pixel_for_nn")',
            'remapnd.resize(x, (h, w), coordinates="tf_half_pixel_for_nn", mode="nearest", '
            'nearest_rule="floor")',
            "positions in float32",
            dtypes=("index",),
            within={"index": 1},
            rule="half_pixel, ties up",
        ),
        *(
            Case(
                _ONNX + f'mode="linear", coordinate_transformation_mode="{mode}")',
                f'remapnd.resize(x, (h, w), coordinates="{mode}", integer_rule="truncate")',
                "ONNX Runtime cuts integers here; positions in float32",
                within={"uint8": 1, "float32": 1e-5},
                rule="linear" if mode == "half_pixel" else "",
            )
            for mode in (
                "half_pixel",
                "half_pixel_symmetric",
                "pytorch_half_pixel",
                "align_corners",
                "asymmetric",
            )
        ),
        Case(
            _ONNX + 'mode="linear", coordinate_transformation_mode="tf_crop_and_resize", '
            "roi=(0.1, 0.2, 0.8, 1.1), extrapolation_value=0.5)",
            'remapnd.resize(x, (h, w), coordinates="tf_crop_and_resize", roi=(0.1, 0.2, 0.8, 1.1), '
            "extrapolation_value=0.5)",
            "positions in float32. ONNX Runtime gives `x` back where no length changes, whatever the roi",
            dtypes=("float32",),
            sizes="changed",
            within={"float32": 1e-5},
        ),
        Case(
            _ONNX + 'mode="linear", antialias=1)',
            'remapnd.resize(x, (h, w), antialias="onnx")',
            "ONNX Runtime rounds uint8, also between the passes; positions in float32",
            within={"uint8": 1, "float32": 1e-5},
        ),
        Case(
            _ONNX + 'mode="linear", antialias=1, exclude_outside=1)',
            'remapnd.resize(x, (h, w), antialias="onnx", exclude_outside=True)',
            'the same as `antialias="pillow"`; ONNX Runtime rounds uint8, also between the passes',
            within={"uint8": 1, "float32": 1e-5},
            rule="antialias",
        ),
        Case(
            _ONNX + 'mode="cubic")',
            'remapnd.resize(x, (h, w), mode="cubic")',
            "positions in float32",
            dtypes=("float32",),
            within={"float32": 1e-5},
        ),
        Case(
            _ONNX + 'mode="cubic", cubic_coeff_a=-0.5, exclude_outside=1)',
            'remapnd.resize(x, (h, w), mode="cubic", cubic_coefficient=-0.5, exclude_outside=True)',
            "positions in float32",
            dtypes=("float32",),
            within={"float32": 1e-5},
        ),
        Case(
            _ONNX + 'mode="cubic", antialias=1)',
            'remapnd.resize(x, (h, w), mode="cubic", antialias="onnx")',
            "positions in float32",
            dtypes=("float32",),
            within={"float32": 1e-5},
        ),
        Case(
            'Resize(x, scales=(s, s), mode="linear")',
            "remapnd.resize(x, (int(np.float32(H) * np.float32(s)), int(np.float32(W) * "
            "np.float32(s))), scales=np.float32(s))",
            "positions follow from the scale; lengths are of the product in float32. ONNX Runtime gives "
            "`x` back where no length changes, whatever the scale",
            dtypes=("float32",),
            sizes="scale",
            within={"float32": 1e-5},
        ),
        Case(
            'Upsample(x, scales=(k, k), mode="nearest")',
            'remapnd.resize(x, scales=k, coordinates="asymmetric", mode="nearest", nearest_rule="floor")',
            dtypes=("float32",),
            sizes="factor",
        ),
        Case(
            'Upsample(x, scales=(k, k), mode="linear")',
            'remapnd.resize(x, scales=k, coordinates="asymmetric")',
            "positions in float32",
            dtypes=("float32",),
            sizes="factor",
            within={"float32": 5e-6},
        ),
    ),
    distribution="onnxruntime",
    program="ONNX Runtime",
)

_FORMULAS = {"np": "numpy", "definition": "rosetta.definitions:resample", "Fraction": "fractions:Fraction"}

WEBNN = Library(
    "WebNN",
    "No browser can be called from Python; tried are the formulas of the specification, in exact "
    "arithmetic. `axes` is `axes`; with `scales` the lengths are `floor(n * s)`, and positions follow "
    "from the lengths. `remapnd.webnn.resample2d` has the names and the checks of the specification.",
    _FORMULAS,
    (
        Case(
            "definition(x, (h, w), 'nearest', ties='down')",
            'remapnd.resize(x, (h, w), mode="nearest", nearest_rule="half_down")',
            'Chromium on DirectML takes the sample above a tie: `nearest_rule="half_up"`',
            shown='resample2d(x, {mode: "nearest-neighbor", sizes: [h, w]})',
            dtypes=("index",),
        ),
        Case(
            "definition(x, (h, w), 'linear')",
            "remapnd.resize(x, (h, w))",
            "rounding errors of float32 here",
            shown='resample2d(x, {mode: "linear", sizes: [h, w]})',
            dtypes=("float32",),
            within={"float32": 2e-7},
        ),
    ),
)

_SCALED = "remapnd.resample(x, scales=s, shape=(h, w)"
_OFFSETS = ", input_offsets=i, output_offsets=o"
_NEAREST = "NEAREST_NEIGHBOR"

DIRECTML = Library(
    "DirectML",
    "Tried are the formulas of the documentation, in exact arithmetic. `s, i, o` are Scales, "
    "InputPixelOffsets and OutputPixelOffsets, `h, w` the sizes of the output tensor, which are free. "
    "`remapnd.directml` checks and runs the descriptors themselves, and has switches for what the "
    "documentation leaves open.",
    _FORMULAS,
    (
        Case(
            "definition(x, (h, w), 'linear', s=s)",
            _SCALED + ")",
            "rounding errors of float32 here",
            shown="RESAMPLE, LINEAR",
            dtypes=("float32",),
            sizes="scale",
            within={"float32": 2e-7},
        ),
        Case(
            "definition(x, (h, w), 'nearest', s=s, ties='up')",
            _SCALED + ', mode="nearest")',
            "ties are not documented; up is what was seen of devices",
            shown=f"RESAMPLE, {_NEAREST}",
            dtypes=("index",),
            sizes="scale",
        ),
        Case(
            "definition(x, (h, w), 'linear', s=s, i=i, o=o)",
            _SCALED + _OFFSETS + ")",
            "rounding errors of float32 here",
            shown="RESAMPLE1, RESAMPLE2 or RESAMPLE3, LINEAR",
            dtypes=("float32",),
            sizes="scale",
            within={"float32": 2e-7},
        ),
        *(
            Case(
                f"definition(x, (h, w), 'nearest', s=s, i=i, o=o, ties='{ties}')",
                _SCALED + _OFFSETS + f', mode="nearest"{rule})',
                shown=f"{operator}, {_NEAREST}",
                dtypes=("index",),
                sizes="scale",
            )
            for operator, ties, rule in (
                ("RESAMPLE1", "up", ""),
                ("RESAMPLE2 or RESAMPLE3, DECREASING", "floor", ', nearest_rule="floor"'),
                ("RESAMPLE2 or RESAMPLE3, INCREASING", "ceil", ', nearest_rule="ceil"'),
            )
        ),
        Case(
            "definition(x, (h, w), 'triangle where 1/s > 2', s=s, i=i, o=o)",
            _SCALED + _OFFSETS + ', antialias="directml")',
            "the weights of devices are not documented; this is the stretched triangle of the text, "
            "taken at one sample outside for positions further out",
            shown="RESAMPLE3, LINEAR, Antialiased",
            dtypes=("float32",),
            sizes="scale",
            within={"float32": 3e-7},
        ),
        Case(
            "definition(x, (H * k, W * k), 'nearest', ties='up')",
            'remapnd.resize(x, scales=k, mode="nearest")',
            "no ties: every sample is repeated",
            shown="UPSAMPLE_2D, NEAREST_NEIGHBOR, ScaleSize = (k, k)",
            dtypes=("uint8", "float32"),
            sizes="factor",
        ),
        Case(
            "definition(x, (H * k, W * k), 'linear')",
            "remapnd.resize(x, scales=k)",
            "rounding errors of float32 here",
            shown="UPSAMPLE_2D, LINEAR, ScaleSize = (k, k)",
            dtypes=("float32",),
            sizes="factor",
            within={"float32": 2e-7},
        ),
    ),
)
