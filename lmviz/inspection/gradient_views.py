"""What to draw of a gradient: the cells of a view, with their gradients in the place of their values."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from lmviz.inspection.views import View
from lmviz.models.address import gradient_of

if TYPE_CHECKING:
    from lmviz.inspection.gradient import Gradient


def gradient_view(view: View, gradient: Gradient) -> View:
    """The same cells of the gradient of the view's tap, under the address "gradient/…", in signed numbers.

    LmvizError where the gradient has no such tap.
    """
    part = gradient[view.address].at(**view.fixed)
    free = [axis for axis in view.axes if axis not in view.fixed]
    places = {view.row_axis: list(view.rows), view.column_axis: list(view.columns)}
    part = part[np.ix_(*(places[axis] for axis in free))] if free else part
    drawn = [axis for axis in (view.row_axis, view.column_axis) if axis]
    values = part.transpose([free.index(axis) for axis in drawn]).reshape(view.values.shape)
    return replace(view, address=gradient_of(view.address), values=values, scale="signed")
