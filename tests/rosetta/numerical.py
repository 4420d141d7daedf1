"""NumPy and SciPy."""

from __future__ import annotations

from .case import Case, Library

NUMPY = Library(
    "NumPy",
    "For arrays of any rank; `n` is the length of `x`, `k` a whole number.",
    {"np": "numpy", "Fraction": "fractions:Fraction"},
    (
        Case(
            "np.repeat(x, k, axis=0)",
            'remapnd.resize(x, scales=k, axes=0, mode="nearest")',
            sizes="factor",
        ),
        Case(
            "x[::k]",
            "remapnd.resample(x, scales=Fraction(1, k), shape=-(-n // k), input_offsets=0, "
            'output_offsets=0, mode="nearest")',
            sizes="factor",
        ),
        Case(
            "x[k // 2 :: k]",
            'remapnd.resize(x, n // k, scales=Fraction(1, k), mode="nearest")',
            "lengths that are a multiple of k; for even k the position is a tie, which goes up",
            sizes="whole shrink",
        ),
        Case(
            "x.reshape(-1, k).mean(axis=1)",
            'remapnd.resize(x, n // k, mode="box", antialias="pillow")',
            "`mean` adds up in pairs and divides once; of integers it makes float64",
            dtypes=("float64", "float32"),
            sizes="whole shrink",
            within={"float64": 4e-16, "float32": 3e-7},
        ),
        Case(
            'np.pad(x, k, mode="edge")',
            "remapnd.resample(x, scales=1, shape=n + 2 * k, input_offsets=0, output_offsets=k, "
            'mode="nearest")',
            sizes="factor",
        ),
        Case(
            "np.interp((np.arange(m) + 0.5) * n / m - 0.5, np.arange(n), x)",
            "remapnd.resize(x, m)",
            "positions in float64",
            dtypes=("float64",),
            within={"float64": 2e-14},
        ),
        Case(
            "np.interp(np.linspace(0, n - 1, m), np.arange(n), x)",
            'remapnd.resize(x, m, coordinates="align_corners")',
            "positions in float64",
            dtypes=("float64",),
            within={"float64": 2e-14},
        ),
    ),
    arrangement="1-d",
    distribution="numpy",
)

_ZOOM = "ndimage.zoom(x, (h / H, w / W), "

SCIPY = Library(
    "SciPy",
    "`H, W` are the lengths of `x` and `h, w` those of the result; the same calls work for any rank. "
    "SciPy computes in float64. Splines of order 2 to 5, with or without `prefilter`, are B-splines: "
    "they have no equal here. Nor have the borders `constant`, `reflect`, `mirror` and `wrap`, where "
    "they are read.",
    {"np": "numpy", "ndimage": "scipy.ndimage", "Fraction": "fractions:Fraction"},
    (
        Case(
            _ZOOM + 'order=1, mode="nearest", grid_mode=True)',
            "remapnd.resize(x, (h, w))",
            "positions in float64: exact halves may be rounded down",
            within={"uint8": 1, "float32": 1.3e-7},
            rule="linear",
        ),
        Case(
            _ZOOM + 'order=1, mode="nearest")',
            'remapnd.resize(x, (h, w), coordinates="align_corners")',
            "positions in float64: exact halves may be rounded down",
            within={"uint8": 1, "float32": 1.3e-7},
        ),
        Case(
            _ZOOM + "order=1)",
            'remapnd.resize(x, (h, w), coordinates="align_corners")',
            "the default border, `constant`, is 0 where rounding leaves a position outside: ones (768, "
            "1024) by 1/8 get a last row of zeros",
            within={"uint8": 255, "float32": 1},
        ),
        Case(
            _ZOOM + 'order=0, mode="nearest", grid_mode=True)',
            'remapnd.resize(x, (h, w), mode="nearest")',
            "positions in float64: some ties go down",
            dtypes=("index",),
            within={"index": 1},
            rule="half_pixel, ties up",
        ),
        Case(
            _ZOOM + 'order=0, mode="nearest")',
            'remapnd.resize(x, (h, w), coordinates="align_corners", mode="nearest")',
            "positions in float64: some ties go down",
            dtypes=("index",),
            within={"index": 1},
            rule="align_corners, ties up",
        ),
        Case(
            'ndimage.shift(x, (s, s), order=1, mode="nearest")',
            "remapnd.resample(x, scales=1, shape=(H, W), input_offsets=s, output_offsets=0)",
            "positions in float64: exact halves may be rounded down",
            sizes="scale",
            within={"uint8": 1, "float32": 1.3e-7},
        ),
        Case(
            'ndimage.affine_transform(x, [s, s], offset=0.25, order=1, mode="nearest")',
            "remapnd.resample(x, scales=1 / Fraction(s), shape=(H, W), input_offsets=-0.25, "
            "output_offsets=0)",
            "positions in float64: exact halves may be rounded down",
            sizes="scale",
            within={"uint8": 1, "float32": 1.3e-7},
        ),
        Case(
            _ZOOM + "order=3)",
            None,
            "a B-spline through the samples, whose coefficients depend on all of them; the closest is "
            '`mode="cubic", cubic_coefficient=-0.5`, a local cubic through the samples',
        ),
        Case(
            _ZOOM + "order=3, prefilter=False)",
            None,
            "the B-spline as a filter, which smooths and does not pass through the samples; no "
            "coefficient makes it",
        ),
        Case("signal.resample(x, m)", None, "by Fourier transform: of a periodic signal"),
    ),
    distribution="scipy",
)
