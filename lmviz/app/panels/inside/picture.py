"""A picture of the whole model at one word; which one depends on what its trace holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lmviz.app.panels.inside.ladder_page import LadderPage
from lmviz.app.panels.inside.page import Page
from lmviz.app.panels.inside.stage_keys import leave_arrow_keys
from lmviz.app.panels.inside.unrolled_page import UnrolledPage
from lmviz.app.panels.inside.whole_model_page import WholeModelPage
from lmviz.app.panels.inside.window_page import WindowPage
from lmviz.app.panels.panel import Panel
from lmviz.app.panels.shared.source_position import source_position
from lmviz.app.session.library import FIRST_MODEL, MODEL_OFFER
from lmviz.app.session.reading import Reading
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import stack
from lmviz.app.widgets.base.invitation import Invitation
from lmviz.app.widgets.base.remark import Remark
from lmviz.app.widgets.diagrams.unrolled import UnrolledView
from lmviz.app.widgets.diagrams.whole_model import WholeModelView
from lmviz.inspection.recipes.recipe import arrays_recipe

if TYPE_CHECKING:
    from lmviz.inspection.gradient import Gradient


Drawn = tuple[Page[Any, Any], "Reading", tuple[int, int], "Gradient | None"]
"""What a picture is of: its page, the reading, the position, and the gradient in the place of values."""


class PicturePanel(Panel):
    """Shows the first page that fits the trace."""

    draws = ("reading", "gradients")

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._unrolled, self._whole = UnrolledPage(self), WholeModelPage(self)
        self._ladder, self._window = LadderPage(self), WindowPage(self)
        self._all: tuple[Page[Any, Any], ...] = (self._ladder, self._window, self._unrolled, self._whole)
        leave_arrow_keys(self, *self._unrolled.views, self._whole.view, self._ladder.view, self._window.view)
        self._drawn: Drawn | None = None
        self._pages = stack()
        for page in self._all:
            self._pages.addWidget(page.widget)
        self._invitation = Invitation("picture_invitation")
        self._invitation.accepted.connect(lambda: session.library.open(FIRST_MODEL))
        self._pages.addWidget(self._invitation)
        self._card = self.add_card("Picture", "", self._pages)
        self._remark = Remark("picture_remark")
        self._card.layout_below.insertWidget(1, self._remark)
        self.follow(
            session.library.model_changed,
            session.reading.prefix_changed,
            session.reading.changed,
            session.focus.position_changed,
            session.focus.hovered_position_changed,
            session.focus.source_changed,
            session.focus.stage_changed,
            session.gradients.changed,
            session.gradients.shown_changed,
        )

    @property
    def unrolled(self) -> UnrolledView:
        """The picture of a recurrence over the text."""
        return self._unrolled.unrolled

    @property
    def whole(self) -> WholeModelView:
        """The picture of layers on a stream."""
        return self.page.view if isinstance(self.page, WholeModelPage) else self._whole.view

    @property
    def page(self) -> Page[Any, Any] | None:
        """The page that is shown; None where there is nothing to draw."""
        return None if self._drawn is None else self._drawn[0]

    def exported_arrays(self) -> dict[str, np.ndarray]:
        if self._drawn is None:
            return {}
        page, reading, _, found = self._drawn
        names = page.addresses(reading.trace)
        if found is not None:
            return {f"gradient/{name}": found[name].array for name in names if name in found}
        return {name: reading.trace[name].array for name in names}

    def recipe(self) -> str:
        if self._drawn is None or self._drawn[3] is not None:
            return ""
        page, reading, _, _ = self._drawn
        return arrays_recipe(reading.moment, page.addresses(reading.trace))

    def show_choices(self) -> None:
        if self.session.reading.current is None:  # what is offered where no model is open goes at once
            self._invite()

    def refresh(self) -> None:
        reading = self.session.reading.current
        page = (
            None if reading is None else next((page for page in self._all if page.fits(reading.trace)), None)
        )
        if reading is None or page is None:
            self._leave(None)
            self._drawn = None
            self._card.set_title("Picture")
            self._card.set_aside("")
            self._remark.say("")
            self._invite()
            return
        position, gradient = self.session.reading.position, self.session.gradients.current
        title, aside = page.title(reading, position)
        asked = (page, reading, (position, source_position(self.session)), gradient)
        question = page.question(reading, position, (source_position(self.session), gradient))

        def ready() -> None:
            """The picture is drawn next: before that, since a page out of sight does not learn its size."""
            self._leave(page)
            self._drawn = asked
            self._pages.setCurrentWidget(page.widget)
            self._card.set_title(title)
            self._card.set_aside(aside)

        def drawn() -> None:
            self._remark.say("" if gradient is not None else page.remark(reading))

        if self.must_ask(question):
            page.show(question, ready, drawn)
        elif self.has_drawn(question):
            self._card.set_aside(aside)
            page.mark(reading)

    def _leave(self, other: Page[Any, Any] | None) -> None:
        """Take down the page that is drawn, where another takes its place."""
        if self.page is not None and self.page is not other:
            self.page.forget()

    def _invite(self) -> None:
        """Show a sentence that says what to do in place of the picture."""
        self._pages.setCurrentWidget(self._invitation)
        if self.session.library.model is None:
            self._invitation.invite("Open or train a model to look inside.", MODEL_OFFER)
        elif self.session.reading.current is not None:
            self._invitation.invite(
                "A table of probabilities has no layers to draw: its stages are beside it."
            )
        else:
            is_coming = bool(self.session.reading.prefix)
            self._invitation.invite("" if is_coming else "Type a prefix above to see its computation.")
