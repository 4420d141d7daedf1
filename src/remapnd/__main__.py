"""``python -m remapnd``: the command line."""

import sys

from remapnd.cli import main

sys.exit(main())
