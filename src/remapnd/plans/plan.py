"""What all public plans are: immutable, and equal to those made of the same.

Uses nothing; used by `plans.indexed`, `plans.resample` and `plans.sample`.
"""

from __future__ import annotations

from typing import Any


class Plan:
    """An operator prepared for arrays of known shapes and dtypes; subclasses say `_key`."""

    @property
    def _key(self) -> Any:
        """All that the plan is made of."""
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        """Whether both plans are of one class and made of the same."""
        return self._key == other._key if type(other) is type(self) else NotImplemented

    def __hash__(self) -> int:
        """Return one number for equal plans."""
        return hash(self._key)

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse to set a public attribute twice."""
        if name in self.__dict__ and name[0] != "_":
            raise AttributeError(f"{type(self).__name__}: `{name}` must stay as it is: plans are immutable")
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        """Refuse to delete an attribute."""
        raise AttributeError(f"{type(self).__name__}: `{name}` must stay as it is: plans are immutable")
