"""Write docs/conformance.md: how the public test suites fare, by suite and operator.

``python -m tests.conformance``, in the repository's folder, runs the tests that read the suites.
"""

from __future__ import annotations

import datetime
import importlib.metadata
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import remapnd

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import vectors  # noqa: E402

# Front ends by the tests that run rows through them.
FRONT_ENDS = {
    "test_conformance_gather": "functions",
    "test_conformance_scatter": "functions",
    "test_conformance_resize": "functions",
    "test_conformance_sample": "functions",
    "test_conformance_webnn": "`remapnd.webnn`",
    "test_onnx_conformance": "`remapnd.onnx`",
    "test_directml_docs": "`remapnd.directml`",
}
# Tables of the tests whose rows are answered otherwise than their source answers, each entry with the reason.
OTHERWISE = ("DIFFERENCES", "REFUSED", "TAKEN", "IMPOSSIBLE")
# Tables of rows that are answered as their source does by another option than the default, or corrected.
BY_OPTION = ("OPTIONS", "RULES", "CORRECTED")
HEADER = """# Conformance

Rows of public test suites, run through the front end that each belongs to and through the functions. Made by
`python -m tests.conformance`, not by hand, on {date} with remapnd {version}{others}.

A row *passes* if it has the values that its source gives, within the tolerance of the source, or fails where
the source fails. *By option*: it passes with an option that is not the default, or once a slip of the source
is mended. *Otherwise*: the source's answer is not ours, for a reason given below; that is tested as well.
*Failed*: none of these.

| suite | operator | rows | front end | passed | by option | otherwise | failed |
| --- | --- | ---: | --- | ---: | ---: | ---: | ---: |
"""


class Rows:
    """Collects the outcome of each test of a row, by front end."""

    def __init__(self) -> None:
        self.outcomes: dict[tuple[str, str], set[str]] = defaultdict(set)
        self.tables: dict[str, Any] = {}

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        for item in items:
            self.tables[item.module.__name__] = vars(item.module)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: Any) -> Iterator[None]:
        report = yield
        row = _row_of(item)
        if row is not None and (report.when == "call" or report.outcome != "passed"):
            self.outcomes[item.module.__name__, row["id"]].add(report.outcome)
        return report


def _row_of(item: Any) -> vectors.Row | None:
    """Return the row that a test is of; None of a test of something else."""
    values = item.callspec.params.values() if hasattr(item, "callspec") else ()
    for value in values:
        row = value[0] if isinstance(value, tuple) and value else value
        if isinstance(row, dict) and {"id", "op"} <= row.keys():
            return row
    return None


def _reason(tables: dict[str, Any], names: tuple[str, ...], row: vectors.Row) -> str | None:
    """Return the reason that the first of the named tables has for a row; None where none has it."""
    for name in names:
        table = tables.get(name)
        if isinstance(table, str):
            table = {table: "no array can have its shape"}
        found = vectors.entry(table, row) if isinstance(table, dict) else None
        if found is not None:
            if isinstance(found, dict):
                return f"the page gets wrong, or leaves out, {', '.join(found)}"
            return found[-1] if isinstance(found, tuple) else found
    return None


def report(rows: Rows) -> str:
    """Return the page."""
    names = ("numpy", "onnx", "onnxruntime")
    installed = [f"{n} {importlib.metadata.version(n)}" for n in names if _is_installed(n)]
    lines = [
        HEADER.format(
            date=datetime.datetime.now(datetime.timezone.utc).date(),
            version=remapnd.__version__,
            others="".join(f", {one}" for one in installed),
        )
    ]
    reasons: dict[str, Counter[str]] = defaultdict(Counter)
    failures: list[str] = []
    untouched: Counter[tuple[str, str]] = Counter()
    for path in sorted(vectors.PLACE.glob("*.jsonl")):
        by_group: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        for row in vectors.rows(path.stem):
            runs = {
                module: outcomes
                for (module, one), outcomes in rows.outcomes.items()
                if one == row["id"] and outcomes != {"skipped"}
            }
            if not runs:
                untouched[path.stem, row["op"]] += 1
            for module, outcomes in runs.items():
                group = by_group[row["op"], FRONT_ENDS[module]]
                group["rows"] += 1
                tables = rows.tables[module]
                otherwise = _reason(tables, OTHERWISE, row)
                option = _reason(tables, BY_OPTION, row)
                if "failed" in outcomes:
                    group["failed"] += 1
                    failures.append(f"* {FRONT_ENDS[module]}: {row['id']}")
                elif otherwise is not None:
                    group["otherwise"] += 1
                    reasons[f"{FRONT_ENDS[module]}, {row['op']}"][otherwise] += 1
                elif option is not None:
                    group["option"] += 1
                    reasons[f"{FRONT_ENDS[module]}, {row['op']}, by option"][option] += 1
                else:
                    group["passed"] += 1
        for (op, front_end), c in sorted(by_group.items()):
            cells = (c["rows"], front_end, c["passed"], c["option"], c["otherwise"], c["failed"])
            lines[0] += f"| {path.stem} | {op} | " + " | ".join(map(str, cells)) + " |\n"
    lines.append("## Otherwise, and by option\n")
    for group, counted in sorted(reasons.items()):
        lines += [f"* {group}: {n} row{'s' * (n > 1)}: {text}" for text, n in sorted(counted.items())]
    lines.append("\n## Failed\n")
    lines += failures or ["None."]
    lines.append("\n## Not run\n")
    lines += [f"* {suite}, {op}: {n} rows" for (suite, op), n in sorted(untouched.items())] or ["None."]
    return "\n".join(lines) + "\n"


def _is_installed(name: str) -> bool:
    """Whether a distribution is there."""
    try:
        importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def main() -> int:
    """Run the tests and write the page; 0 if no row failed."""
    rows = Rows()
    files = [str(HERE / f"{module}.py") for module in FRONT_ENDS]
    status = pytest.main(["-q", "-p", "no:cacheprovider", *files], plugins=[rows])
    (HERE.parent / "docs" / "conformance.md").write_text(report(rows), "utf-8")
    return int(status)


if __name__ == "__main__":
    sys.exit(main())
