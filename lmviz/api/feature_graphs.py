"""The public functions that follow an answer back through features: the graph, its edges, and its files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lmviz.api.feature_readings import check_contrast, several_dictionaries
from lmviz.api.given import listed, opened_model
from lmviz.base.arguments import whole_numbers
from lmviz.base.errors import LmvizError

if TYPE_CHECKING:
    from lmviz.api.given import Given, Ids
    from lmviz.circuits.contrast import Contrast
    from lmviz.features.alone_by_size import AloneBySize
    from lmviz.features.dictionary import Dictionary
    from lmviz.features.edge_trial import EdgeTrial
    from lmviz.features.graph import FeatureGraph
    from lmviz.features.score_pairs import ScorePairs
    from lmviz.inspection.intervention import Intervention


def feature_graph(
    model: Given,
    contrast: Contrast,
    dictionaries: Dictionary | Sequence[Dictionary],
    most: int = 200,
    *,
    rest: str = "off",
    interventions: Sequence[Intervention] = (),
) -> FeatureGraph:
    """The graph of an answer: features, errors and words, and what each adds to each that reads it.

    With attention, normalisations and gates held, what flows into a feature adds up to its score, and what
    flows into the measure to the measure: `.weights` (receiver, sender) are these parts, `.edges()` the
    strongest. `.nodes` are the `most` with the largest effects over all paths. `.kept.shares` says how much
    of the measure so many of them keep alone, in runs of the model in which all others are off, or with
    `rest` "changed" as in the changed text. LmvizError as of `feature_bill`, and for states of a recurrence.
    """
    from lmviz.features.graph_making import feature_graph as made

    given = several_dictionaries(dictionaries)
    check_contrast(contrast)
    return made(opened_model(model), contrast, given, most, rest=rest, interventions=listed(interventions))


def try_edge(model: Given, graph: FeatureGraph, sender: int, receiver: int | None = None) -> EdgeTrial:
    """An edge of a graph tried: what a node, or the measure, loses without the sender in runs of the model.

    `sender` and `receiver` are numbers of nodes; without a receiver it is the measure. `.said` is the weight
    of the edge, `.direct` is measured with all other features and errors as they are, and `.free` with
    nothing held. LmvizError where there is no such edge, and for a graph that comes from a file.
    """
    from lmviz.features.edge_trial import try_edge as tried

    _check_graph(graph)
    return tried(opened_model(model), graph, sender, receiver)


def alone_by_size(
    model: Given,
    contrast: Contrast,
    dictionaries: Dictionary | Sequence[Dictionary],
    sizes: Sequence[int] | None = None,
    *,
    interventions: Sequence[Intervention] = (),
) -> AloneBySize:
    """The shares of an answer of errors alone and of features alone, by how many features each word has.

    `.features` and `.errors` (size,) are shares of the measure's change from the text to the changed one,
    with only these as in the changed text; `.explained` (size,) is the share of the variance. By default
    `sizes` are 1, 2, 4, … 64. LmvizError without a changed text.
    """
    from lmviz.features.alone_by_size import alone_by_size as found

    given = several_dictionaries(dictionaries)
    check_contrast(contrast)
    if sizes is not None:
        sizes = whole_numbers("sizes", sizes, least=1)
        if not sizes:
            raise LmvizError("There are no sizes: give some, such as [4, 8, 16].")
    return found(opened_model(model), contrast, given, sizes, interventions=listed(interventions))


def score_pairs(
    model: Given,
    text: str | Ids,
    dictionaries: Dictionary | Sequence[Dictionary],
    layer: int,
    head: int,
    key: int,
    query: int = -1,
    *,
    interventions: Sequence[Intervention] = (),
) -> ScorePairs:
    """Why a head looks there: its score of a key from a query, as the sum over pairs of features.

    `.queries` and `.keys` are the parts of both, features, what these leave, words and all else, and
    `.shares` (query part, key part) what each pair adds; `.strongest()` are the largest. They add up to
    `.value`, the score before any mask and cap. Layers, heads and positions count from 0, positions also from
    the end. LmvizError where there is no such head or place.
    """
    from lmviz.features.score_pairs import score_pairs as found

    opened, given, changes = opened_model(model), several_dictionaries(dictionaries), listed(interventions)
    return found(opened, text, given, layer, head, key, query, interventions=changes)


def save_feature_graph(graph: FeatureGraph, path: str | Path) -> Path:
    """Write a graph of features as circuit-tracer's JSON, and return the file.

    LmvizError where it cannot be written.
    """
    from lmviz.features.graph_file import write_graph

    _check_graph(graph)
    return write_graph(graph, path)


def open_feature_graph(path: str | Path) -> FeatureGraph:
    """A graph of features out of a JSON file of circuit-tracer, or one that was saved.

    Numbers that a file does not give are NaN. LmvizError where it holds no graph.
    """
    from lmviz.features.graph_file import open_graph

    return open_graph(path)


def _check_graph(graph: FeatureGraph) -> None:
    from lmviz.features.graph import FeatureGraph

    if not isinstance(graph, FeatureGraph):
        raise LmvizError(f"{graph!r} is no graph of features: give what feature_graph returns.")
