"""What lessons, lectures and scenes set only for their time: borrowed, and given back when they are left."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Lent:
    """One thing that can be borrowed: `read` gives it as a value, `put` takes that value back.

    It is not put back while it `is_needed`: a training under way is shown by the form that it began with.
    """

    read: Callable[[], Any]
    put: Callable[[Any], None]
    is_needed: Callable[[], bool] = lambda: False


@dataclass
class _Loan:
    """What a thing was before, who has borrowed it since, and what it became when these had set it."""

    before: Any
    borrowers: set[str] = field(default_factory=set)
    left: Any = None


class Lending:
    """Remembers what somebody is about to set, and puts it back when all who have set it are gone.

    What is out of sight would otherwise go on working after a lesson: its plan in the form of Train, its
    locked die. Several may borrow the same thing; the value before the first of them comes back after the
    last.
    """

    def __init__(self, things: Mapping[str, Lent]) -> None:
        self._things = things
        self._loans: dict[str, _Loan] = {}

    @property
    def things(self) -> tuple[str, ...]:
        """The names of all that can be borrowed."""
        return tuple(self._things)

    def borrow(self, names: Iterable[str], borrower: str) -> None:
        """Say before these are set who sets them."""
        for name in names:
            loan = self._loans.get(name)
            if loan is None:
                loan = self._loans[name] = _Loan(self._things[name].read())
            loan.borrowers.add(borrower)

    def note_set(self, borrower: str) -> None:
        """Say that all is set: what is changed from now on is a person's own choice."""
        for name, loan in self._loans.items():
            if borrower in loan.borrowers:
                loan.left = self._things[name].read()

    def give_back(self, borrower: str, *, but_changed: bool = False) -> None:
        """Say that a borrower is gone. `but_changed`: what a person has changed meanwhile stays theirs."""
        for name, loan in list(self._loans.items()):
            if borrower not in loan.borrowers:
                continue
            if but_changed and self._things[name].read() != loan.left:
                del self._loans[name]
            else:
                loan.borrowers.discard(borrower)
        self.put_back()

    def put_back(self) -> None:
        """Put back what nobody borrows any more, and what is no longer needed as it is."""
        for name in list(self._loans):
            loan = self._loans.get(name)  # putting one thing back may have others put back
            if loan is not None and not loan.borrowers and not self._things[name].is_needed():
                del self._loans[name]
                self._things[name].put(loan.before)
