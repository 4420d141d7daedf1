"""`python -m benchmarks`: `remapnd bench` from a checkout, with the core that was built into `src`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

from remapnd.cli import main

if __name__ == "__main__":
    sys.exit(main(["bench", *sys.argv[1:]]))
