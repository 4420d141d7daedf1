"""`python -m benchmarks`: `remapnd bench` under the name that a checkout has for it."""

import sys

from remapnd.cli import main

if __name__ == "__main__":
    sys.exit(main(["bench", *sys.argv[1:]]))
