"""scikit-image, OpenCV and Pillow."""

from __future__ import annotations

from .case import Case, Library

_SKIMAGE = ", anti_aliasing=False, preserve_range=True)"

SKIMAGE = Library(
    "scikit-image",
    "It computes integers in float64 and returns that (float32 stays float32); `preserve_range=True` "
    "keeps it from scaling values to [0, 1]. With the axes left out all are resized, channels too, in "
    "both libraries.",
    {"np": "numpy", "transform": "skimage.transform"},
    (
        Case(
            'transform.resize(x, (h, w), order=1, mode="edge"' + _SKIMAGE,
            "remapnd.resize(x, (h, w))",
            "computed in float64, float32 too",
            dtypes=("float64", "float32"),
            within={"float64": 2e-14, "float32": 1.3e-7},
            rule="linear",
        ),
        Case(
            "transform.resize(x, (h, w), order=1" + _SKIMAGE,
            "remapnd.resize(x, (h, w))",
            "the default border, `reflect`, mixes the second sample in where a position lies outside: "
            "up to half of the difference to the first, in the outermost lines of an axis that grows",
            dtypes=("float32",),
            within={"float32": 0.75},
        ),
        Case(
            'transform.resize(x, (h, w), order=0, mode="edge"' + _SKIMAGE,
            'remapnd.resize(x, (h, w), mode="nearest")',
            "positions in float64: some ties go down",
            dtypes=("index",),
            within={"index": 1},
            rule="half_pixel, ties up",
        ),
        Case(
            "transform.downscale_local_mean(x, (k, k))",
            'remapnd.resize(x, (h, w), mode="box", antialias="pillow")',
            "lengths that are a multiple of k",
            dtypes=("float64", "float32"),
            sizes="whole shrink",
            within={"float64": 4e-16, "float32": 1.3e-7},
        ),
        Case(
            "transform.resize(x, (h, w), order=3)",
            None,
            "a B-spline of SciPy, as above",
        ),
        Case(
            "transform.resize(x, (h, w), anti_aliasing=True)",
            None,
            "a Gaussian filter before, the default where an axis shrinks; the closest is "
            '`antialias="pillow"`',
        ),
        Case("transform.pyramid_reduce(x)", None, "a Gaussian filter before"),
    ),
    distribution="scikit-image",
)

_CV2 = "cv2.resize(x, (w, h), interpolation=cv2."
_YX = "remapnd.resize(x, (h, w), axes=(0, 1)"

OPENCV = Library(
    "OpenCV",
    "Images (H, W) or (H, W, channels), of any number of channels here. Weights of uint8 are multiples "
    "of 2**-11 in `INTER_LINEAR` and `INTER_CUBIC`.",
    {"np": "numpy", "cv2": "cv2"},
    (
        Case(
            _CV2 + "INTER_NEAREST)",
            _YX + ', coordinates="asymmetric", mode="nearest", nearest_rule="floor")',
            "positions in float64: where X n / m is whole, the index before may come out",
            dtypes=("index",),
            within={"index": 1},
            rule="asymmetric, floor",
        ),
        Case(
            _CV2 + "INTER_NEAREST_EXACT)",
            _YX + ', mode="nearest")',
            "positions are added up: ties go either way, and errors grow with the length",
            dtypes=("index",),
            within={"index": 1},
            rule="half_pixel, ties up",
        ),
        Case(
            _CV2 + "INTER_LINEAR)",
            _YX + ")",
            "uint8: weights in fixed point",
            within={"uint8": 1, "float32": 5e-6},
            rule="linear",
        ),
        Case(
            _CV2 + "INTER_LINEAR_EXACT)",
            _YX + ")",
            "uint8: positions in fixed point; floats as `INTER_LINEAR`",
            within={"uint8": 1, "float32": 5e-6},
            rule="linear",
        ),
        Case(
            _CV2 + "INTER_CUBIC)",
            _YX + ', mode="cubic")',
            "weights in fixed point",
            within={"uint8": 2, "float32": 1e-5},
        ),
        Case(
            _CV2 + "INTER_AREA)",
            _YX + ', mode="box", antialias="pillow")',
            "where H / h and W / w are whole numbers; otherwise samples count by the area that is "
            "covered, which has no equal",
            sizes="whole shrink",
            within={"uint8": 1, "float32": 3e-7},
        ),
        Case(
            "cv2.resize(x, None, fx=s, fy=s, interpolation=cv2.INTER_LINEAR)",
            "remapnd.resize(x, (round(H * s), round(W * s)), axes=(0, 1), scales=s)",
            "positions follow from fx and fy, not from the lengths; but where no length changes, the "
            "image comes back as it was",
            sizes="scale",
            within={"uint8": 1, "float32": 5e-6},
        ),
        Case(_CV2 + "INTER_LANCZOS4)", None, 'eight taps; `mode="lanczos3"` has six'),
        Case(
            _CV2 + "INTER_AREA) where an axis grows",
            None,
            'linear with steeper weights; for a whole factor every sample is repeated: `mode="nearest"`',
        ),
    ),
    arrangement="h w c",
    distribution="opencv-python-headless",
)

_PILLOW = "Image.fromarray(x).resize((w, h), Image.Resampling."

PILLOW = Library(
    "Pillow",
    "uint8 is mode L or, with channels, RGB: its bands are remapnd's last axis (then give `axes=(0, "
    "1)`); float32 is mode F. Filters are antialiasing ones wherever an axis shrinks. Between the "
    "passes uint8 is rounded.",
    {"np": "numpy", "Image": "PIL.Image", "Fraction": "fractions:Fraction"},
    (
        Case(
            _PILLOW + "NEAREST)",
            'remapnd.resize(x, (h, w), mode="nearest")',
            "positions are added up: ties go either way, and errors grow with the length",
            dtypes=("index",),
            within={"index": 1},
            rule="half_pixel, ties up",
        ),
        Case(
            _PILLOW + "BILINEAR)",
            'remapnd.resize(x, (h, w), antialias="pillow")',
            "uint8 is rounded between the passes",
            within={"uint8": 1, "float32": 2e-7},
            rule="antialias",
        ),
        Case(
            _PILLOW + "BICUBIC)",
            'remapnd.resize(x, (h, w), mode="cubic", cubic_coefficient=-0.5, antialias="pillow")',
            "uint8 is rounded and clamped between the passes: more where they overshoot",
            within={"uint8": 16, "float32": 4e-7},
        ),
        Case(
            _PILLOW + "LANCZOS)",
            'remapnd.resize(x, (h, w), mode="lanczos3", antialias="pillow")',
            "uint8 is rounded and clamped between the passes: more where they overshoot",
            within={"uint8": 32, "float32": 4e-7},
        ),
        Case(
            _PILLOW + "BOX)",
            'remapnd.resize(x, (h, w), mode="box", antialias="pillow")',
            "uint8 is rounded between the passes; where lengths do not divide, a sample just at the end "
            "of the box may be in on one side and out on the other",
            sizes="whole shrink",
            within={"uint8": 1, "float32": 2e-7},
        ),
        Case(
            "Image.fromarray(x).reduce(k)",
            'remapnd.resize(x, (h, w), mode="box", antialias="pillow")',
            "lengths that are a multiple of k",
            sizes="whole shrink",
            within={"uint8": 1, "float32": 2e-7},
        ),
        Case(
            "Image.fromarray(x).resize((w, h), Image.Resampling.BILINEAR, box=(0.5, 0.25, W - 1, H - 0.5))",
            "remapnd.resample(x, scales=(h / Fraction(H - 0.75), w / Fraction(W - 1.5)), shape=(h, w), "
            'input_offsets=(0.5 - 0.25, 0.5 - 0.5), antialias="pillow")',
            "uint8 is rounded between the passes; part of an image by offsets",
            within={"uint8": 1, "float32": 3e-7},
        ),
        Case(_PILLOW + "HAMMING)", None, "its filter is not among the modes"),
        Case(
            _PILLOW + "BICUBIC, reducing_gap=g)",
            None,
            "`reduce` first, then the filter: two steps, so two calls here as well",
        ),
    ),
    distribution="pillow",
)
