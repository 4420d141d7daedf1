"""What ends a sub-command early, and with which exit status.

Used by the sub-commands.
"""

from __future__ import annotations


class UsageError(Exception):
    """The command line contradicts itself; exit status 2."""


class InputError(Exception):
    """A file or its content does not fit; exit status 1."""
