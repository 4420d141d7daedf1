"""Measure, and write docs/rosetta.md and the tables of docs/exactness.md.

    PYTHONPATH=src:tests python -m rosetta measure [LIBRARY ...]   those named, or all that are installed
    PYTHONPATH=src:tests python -m rosetta write

Libraries that cannot be installed together are measured one after the other, in an environment each.
"""

from __future__ import annotations

import datetime
import json
import platform
import sys
import warnings

from . import lengths, measure, page


def measure_all(keys: list[str]) -> None:
    """Measure libraries and store the results beside those of the others."""
    for key in keys or measure.LIBRARIES:
        library = measure.LIBRARIES[key]
        try:
            library.load()
        except ImportError as error:
            if keys:
                raise
            print(f"{key}: {error}", file=sys.stderr)
            continue
        results = {**measure.measure(library), "lengths": lengths.measure(library)}
        found = page.measured() if page.MEASURED.exists() else {"libraries": {}}
        libraries = {**found["libraries"], key: results}
        stored = {
            "date": datetime.date.today().isoformat(),
            "machine": f"{platform.machine()} {platform.system()}",
            "libraries": {k: libraries[k] for k in measure.LIBRARIES if k in libraries},
        }
        page.MEASURED.write_text(json.dumps(stored, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        print(key, results["version"], flush=True)


def main(arguments: list[str]) -> int:
    if arguments == ["write"]:
        page.write()
    elif arguments[:1] == ["measure"] and set(arguments[1:]) <= measure.LIBRARIES.keys():
        warnings.simplefilter("ignore")  # of the peers
        measure_all(arguments[1:])
    else:
        print(__doc__, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
