"""What is known of a training by its steps: one snapshot is asked after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeVar

from lmviz.app.panels.panel import Panel
from lmviz.app.panels.question import Key, Question
from lmviz.app.session.opened_model import OpenedModel

if TYPE_CHECKING:
    from lmviz.models.model import Model

Answer = TypeVar("Answer")


class AnswersByStep(dict[int, Answer]):
    """What a panel knows so far of one subject, by step.

    Snapshots are asked under `key`, one at a time, so that others have their turn, and only while the panel
    is in sight. Each answer is `answered` by drawing it and asking for the next. It adds to what is drawn;
    the first of a subject replaces it, unless something else is drawn beside these answers.
    """

    def __init__(
        self, panel: Panel, answered: Callable[[], object], *, key: Key, beside_others: bool = False
    ) -> None:
        super().__init__()
        self.key = key
        self._panel, self._answered, self._beside_others = panel, answered, beside_others
        self._subject: object = None
        self._asked: int | None = None

    def forget(self) -> None:
        """Know nothing, and wait for nothing."""
        self._subject = None
        self.clear()
        self._panel.silence(self.key)

    def be_about(self, subject: object) -> bool:
        """Forget what is known of another subject; whether anything was forgotten."""
        if subject == self._subject:
            return False
        knew = bool(self)
        self.forget()
        self._subject = subject
        return knew

    def ask_next(self, model: OpenedModel, steps: Iterable[int], work: Callable[[Model], Answer]) -> None:
        """Ask for the first of these steps that is not known, unless it is being asked."""
        panel, step = self._panel, next((step for step in steps if step not in self), None)
        is_asked = step == self._asked and panel.session.work.is_busy(self.key)
        if step is None or is_asked:
            return
        if not panel.is_in_sight:
            panel.refresh_soon()  # it goes on when it is seen again
            return
        self._asked = step

        def take(found: Answer) -> None:
            self[step] = found
            self._answered()

        grows = self._beside_others or bool(self)
        panel.ask(Question(self.key, (model, step), work, grows=grows), take)
