"""PyTorch, TensorFlow and JAX."""

from __future__ import annotations

from .case import Case, Library

_TORCH = "F.interpolate(x, (h, w), mode="
_NCHW = "remapnd.resize(x, (h, w), axes=(2, 3)"

TORCH = Library(
    "PyTorch",
    "Tensors (N, C, H, W); with (N, C, L) and (N, C, D, H, W) the same with `axes=(2,)` and `axes=(2, "
    "3, 4)`. remapnd takes CPU tensors and gives tensors back. "
    "`torchvision.transforms.v2.functional.resize` is `interpolate` with `antialias=True`.",
    {"torch": "torch", "F": "torch.nn.functional"},
    (
        Case(
            _TORCH + '"nearest")',
            _NCHW + ', coordinates="asymmetric", mode="nearest", nearest_rule="floor")',
            "positions in float32",
            dtypes=("index",),
            within={"index": 1},
            rule="asymmetric, floor",
        ),
        Case(
            _TORCH + '"nearest-exact")',
            _NCHW + ', mode="nearest")',
            "positions in float32",
            dtypes=("index",),
            within={"index": 1},
            rule="half_pixel, ties up",
        ),
        Case(
            _TORCH + '"bilinear")',
            _NCHW + ")",
            "uint8 is rounded between the passes; positions in float32",
            within={"uint8": 1, "float32": 5e-6},
            rule="linear",
        ),
        Case(
            _TORCH + '"bilinear", align_corners=True)',
            _NCHW + ', coordinates="align_corners")',
            "uint8 is rounded between the passes; positions in float32",
            within={"uint8": 1, "float32": 5e-6},
        ),
        Case(
            _TORCH + '"bilinear", antialias=True)',
            _NCHW + ', antialias="pillow")',
            "uint8 is rounded between the passes",
            within={"uint8": 1, "float32": 2e-6},
            rule="antialias",
        ),
        Case(
            _TORCH + '"bicubic")',
            _NCHW + ', mode="cubic")',
            "uint8 is rounded and clamped between the passes; positions in float32",
            within={"uint8": 32, "float32": 1e-5},
        ),
        Case(
            _TORCH + '"bicubic", align_corners=True)',
            _NCHW + ', coordinates="align_corners", mode="cubic")',
            "uint8 is rounded and clamped between the passes; positions in float32",
            within={"uint8": 32, "float32": 1e-5},
        ),
        Case(
            _TORCH + '"bicubic", antialias=True)',
            _NCHW + ', mode="cubic", cubic_coefficient=-0.5, antialias="pillow")',
            "another coefficient than without antialiasing; uint8 is rounded and clamped between the passes",
            within={"uint8": 32, "float32": 4e-6},
        ),
        Case(
            _TORCH + '"area")',
            _NCHW + ', mode="box", antialias="pillow")',
            "where H / h and W / w are whole numbers; otherwise it takes the mean of all samples that a "
            "bin touches, which has no equal",
            dtypes=("float32",),
            sizes="whole shrink",
            within={"float32": 3e-7},
        ),
        Case(
            'F.interpolate(x, scale_factor=s, mode="bilinear")',
            "remapnd.resize(x, (int(H * s), int(W * s)), axes=(2, 3), scales=s)",
            "positions follow from s, not from the lengths, which are cut from the product in float64: "
            "40 by 0.3 are 12, of the exact product 11",
            dtypes=("float32",),
            sizes="scale",
            within={"float32": 5e-6},
        ),
        Case(
            'F.interpolate(x, scale_factor=s, mode="bilinear", recompute_scale_factor=True)',
            "remapnd.resize(x, (int(H * s), int(W * s)), axes=(2, 3))",
            "positions follow from the lengths",
            dtypes=("float32",),
            sizes="scale",
            within={"float32": 5e-6},
        ),
    ),
    arrangement="n c h w",
    convert="torch.from_numpy(x)",
    distribution="torch",
)

_TF = "tf.image.resize(x, (h, w), "
_NHWC = "remapnd.resize(x, (h, w), axes=(1, 2)"
_V1 = "tf.compat.v1.image.resize_"

TENSORFLOW = Library(
    "TensorFlow",
    "Tensors (N, H, W, C), or (H, W, C) with `axes=(0, 1)`. All but nearest give float32.",
    {"tf": "tensorflow", "np": "numpy"},
    (
        Case(
            _TF + '"nearest")',
            _NHWC + ', mode="nearest")',
            "positions in float32",
            dtypes=("index",),
            within={"index": 1},
            rule="half_pixel, ties up",
        ),
        Case(
            _TF + '"bilinear")',
            _NHWC + ")",
            "positions in float32",
            dtypes=("float32",),
            within={"float32": 5e-6},
            rule="linear",
        ),
        Case(
            _TF + '"bilinear", antialias=True)',
            _NHWC + ', antialias="pillow")',
            "positions in float32",
            dtypes=("float32",),
            within={"float32": 5e-6},
            rule="antialias",
        ),
        Case(
            _TF + '"bicubic")',
            _NHWC + ', mode="cubic", cubic_coefficient=-0.5, exclude_outside=True)',
            "weights from a table of 1024 positions between samples",
            dtypes=("float32",),
            within={"float32": 2e-3},
        ),
        Case(
            _TF + '"bicubic", antialias=True)',
            _NHWC + ', mode="cubic", cubic_coefficient=-0.5, antialias="pillow")',
            "positions in float32",
            dtypes=("float32",),
            within={"float32": 5e-6},
        ),
        Case(
            _TF + '"lanczos3")',
            _NHWC + ', mode="lanczos3", exclude_outside=True)',
            "positions in float32",
            dtypes=("float32",),
            within={"float32": 5e-6},
        ),
        Case(
            _TF + '"lanczos3", antialias=True)',
            _NHWC + ', mode="lanczos3", antialias="pillow")',
            "positions in float32",
            dtypes=("float32",),
            within={"float32": 5e-6},
        ),
        Case(
            _TF + '"area")',
            _NHWC + ', mode="box", antialias="pillow")',
            "where H / h and W / w are whole numbers; otherwise samples count by the area that is "
            "covered, which has no equal",
            dtypes=("float32",),
            sizes="whole shrink",
            within={"float32": 5e-6},
        ),
        Case(_TF + '"lanczos5")', None, "ten taps"),
        Case(_TF + '"gaussian")', None, "its filter is not among the modes"),
        Case(_TF + '"mitchellcubic")', None, "a cubic that does not pass through the samples"),
        Case(
            _V1 + "bilinear(x, (h, w))",
            _NHWC + ', coordinates="asymmetric")',
            "positions in float32",
            dtypes=("float32",),
            within={"float32": 5e-6},
        ),
        Case(
            _V1 + "bilinear(x, (h, w), align_corners=True)",
            _NHWC + ', coordinates="align_corners")',
            "positions in float32",
            dtypes=("float32",),
            within={"float32": 5e-6},
        ),
        Case(
            _V1 + "bilinear(x, (h, w), half_pixel_centers=True)",
            _NHWC + ")",
            "positions in float32",
            dtypes=("float32",),
            within={"float32": 5e-6},
        ),
        Case(
            _V1 + "nearest_neighbor(x, (h, w))",
            _NHWC + ', coordinates="asymmetric", mode="nearest", nearest_rule="floor")',
            "positions in float32",
            dtypes=("index",),
            within={"index": 1},
            rule="asymmetric, floor",
        ),
        Case(
            _V1 + "nearest_neighbor(x, (h, w), align_corners=True)",
            _NHWC + ', coordinates="align_corners", mode="nearest")',
            "positions in float32",
            dtypes=("index",),
            within={"index": 1},
            rule="align_corners, ties up",
        ),
        Case(
            _V1 + "nearest_neighbor(x, (h, w), half_pixel_centers=True)",
            _NHWC + ', coordinates="tf_half_pixel_for_nn", mode="nearest", nearest_rule="floor")',
            "positions in float32; the same elements as half_pixel with ties up",
            dtypes=("index",),
            within={"index": 1},
            rule="half_pixel, ties up",
        ),
        Case(
            _V1 + "bicubic(x, (h, w))",
            _NHWC + ', coordinates="asymmetric", mode="cubic")',
            "weights from a table of 1024 positions between samples",
            dtypes=("float32",),
            within={"float32": 4e-3},
        ),
        Case(
            "tf.image.crop_and_resize(x, [[0.1, 0.2, 0.8, 1.1]], [0], (h, w), extrapolation_value=0.5)",
            _NHWC + ', coordinates="tf_crop_and_resize", roi=(0.1, 0.2, 0.8, 1.1), extrapolation_value=0.5)',
            "positions in float32; one box a call",
            dtypes=("float32",),
            within={"float32": 1e-5},
        ),
        Case(
            "tf.image.crop_and_resize(x, [[0.1, 0.2, 0.8, 1.05], [0.9, 0, 0, 1]], [0, 0], (h, w))",
            "np.moveaxis(remapnd.crop_and_resize(np.moveaxis(x, 3, 1), [[0.1, 0.2, 0.8, 1.05], [0.9, 0, "
            "0, 1]], [0, 0], (h, w)), 1, 3)",
            "any number of boxes, turned around ones too; positions in float32, in float64 here, so one "
            "right at the edge may be outside there: 40 x 27 to 7 x 64 by a box that ends at 1.1",
            dtypes=("float32",),
            within={"float32": 1e-5},
        ),
    ),
    arrangement="n h w c",
    convert="tf.constant(x)",
    distribution="tensorflow-cpu",
)

_JAX = "jax.image.resize(x, (h, w), "

JAX = Library(
    "JAX",
    "Arrays of any rank; `antialias=True` is the default. Its filters leave out taps outside in either case.",
    {"jax": "jax", "jnp": "jax.numpy"},
    (
        Case(
            _JAX + '"nearest")',
            'remapnd.resize(x, (h, w), mode="nearest")',
            "positions in float32",
            dtypes=("index",),
            within={"index": 1},
            rule="half_pixel, ties up",
        ),
        Case(
            _JAX + '"linear")',
            'remapnd.resize(x, (h, w), antialias="pillow")',
            "positions in float32",
            dtypes=("float32",),
            within={"float32": 5e-6},
            rule="antialias",
        ),
        Case(
            _JAX + '"linear", antialias=False)',
            "remapnd.resize(x, (h, w))",
            "positions in float32",
            dtypes=("float32",),
            within={"float32": 5e-6},
            rule="linear",
        ),
        Case(
            _JAX + '"cubic")',
            'remapnd.resize(x, (h, w), mode="cubic", cubic_coefficient=-0.5, antialias="pillow")',
            "positions in float32",
            dtypes=("float32",),
            within={"float32": 5e-6},
        ),
        Case(
            _JAX + '"cubic", antialias=False)',
            'remapnd.resize(x, (h, w), mode="cubic", cubic_coefficient=-0.5, exclude_outside=True)',
            "positions in float32",
            dtypes=("float32",),
            within={"float32": 5e-6},
        ),
        Case(
            _JAX + '"lanczos3")',
            'remapnd.resize(x, (h, w), mode="lanczos3", antialias="pillow")',
            "positions in float32",
            dtypes=("float32",),
            within={"float32": 5e-6},
        ),
        Case(
            _JAX + '"lanczos3", antialias=False)',
            'remapnd.resize(x, (h, w), mode="lanczos3", exclude_outside=True)',
            "positions in float32",
            dtypes=("float32",),
            within={"float32": 5e-6},
        ),
        Case(
            "jax.image.scale_and_translate(x, (h, w), (0, 1), jnp.array([h / H, w / W]), jnp.zeros(2), "
            '"linear", antialias=False)',
            "remapnd.resample(x, scales=(h / H, w / W), shape=(h, w), output_offsets=-0.5)",
            "with a translation t, `output_offsets=t - 0.5`; positions outside are 0 there, the edge "
            "sample here",
            dtypes=("float32",),
            within={"float32": 5e-6},
        ),
        Case(_JAX + '"lanczos5")', None, "ten taps"),
    ),
    convert="jnp.asarray(x)",
    distribution="jax",
    longest=24,
)
