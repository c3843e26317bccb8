"""How a dictionary of features, and a graph of them, look."""

from __future__ import annotations

import math

from lmviz.base.figures import count, counted, percentage, plain, signed_figure
from lmviz.features.alone_by_size import AloneBySize
from lmviz.features.dictionary import Dictionary
from lmviz.features.edge_trial import EdgeTrial
from lmviz.features.graph import FeatureGraph
from lmviz.features.remembered import RememberedWords
from lmviz.features.score_pairs import ScorePairs
from lmviz.looks.curve import PlotCurve
from lmviz.looks.look import Look
from lmviz.looks.parts import Curves, LookPart, Table
from lmviz.showing.pieces import figures, named, numbers, signed_share, texts


def look_of_dictionary(found: Dictionary) -> Look:
    """What it is of, and what it keeps and loses of the states."""
    worth = found.worth
    said: list[tuple[str, str | None]] = [
        ("kind", found.kind + ("" if found.k is None else f", {count(found.k)} at a token")),
        ("tap", found.tap or None),
        ("writes", found.written if found.is_transcoder else None),
        ("model", named(found.model, "", found.step) if found.model else None),
        ("learned from", None if found.tokens is None else counted(found.tokens, "token")),
    ]
    if worth is not None:
        said += [
            ("variance explained", percentage(worth.variance_explained)),
            ("on at a token", plain(worth.active)),
            ("never on", f"{count(worth.silent)} of {count(found.size)}"),
            ("loss of the model", _nats(worth.loss)),
            ("with the features alone", _nats(worth.loss_reconstructed)),
            ("with the mean state", _nats(worth.loss_mean)),
        ]
    return Look((figures(said),), title=f"Dictionary of {counted(found.size, 'feature')}")


def _nats(value: float | None) -> str | None:
    return None if value is None else f"{plain(value, 4)} nats per token"


def look_of_graph(found: FeatureGraph) -> Look:
    """The strongest nodes and edges, and how much so many nodes keep alone."""
    nodes, edges = found.nodes[:SHOWN], found.edges(SHOWN)
    parts: list[LookPart] = [
        Table(
            "nodes",
            columns=[
                texts("node", map(str, nodes)),
                numbers("effect", (node.effect for node in nodes), _signed, bar=True),
            ],
        ),
        Table(
            "edges",
            columns=[
                texts("from", (str(found.nodes[edge.sender]) for edge in edges)),
                texts(
                    "to",
                    (
                        "the answer" if edge.receiver is None else str(found.nodes[edge.receiver])
                        for edge in edges
                    ),
                ),
                numbers("adds", (edge.weight for edge in edges), _signed, bar=True),
            ],
        ),
    ]
    kept = found.kept
    if kept is not None and len(kept.sizes) > 1:
        curve = PlotCurve("share kept", [float(size) for size in kept.sizes], kept.shares, role="accent")
        parts.append(Curves("kept", curves=[curve], x_name="nodes", writes=(None, signed_share)))
    aside = "" if math.isnan(found.value) else f"{found.measure} = {plain(found.value)}"
    return Look(
        parts,
        title=f"Graph of {counted(len(found.nodes), 'node')}: {found.said or found.measure}",
        aside=aside,
    )


def look_of_trial(found: EdgeTrial) -> Look:
    """What the edge says, and what was measured."""
    said: list[tuple[str, str | None]] = [
        ("from", found.sender),
        ("to", found.receiver),
        ("the edge says", _signed(found.said)),
        ("measured, all others held", _signed(found.direct)),
        ("measured, nothing held", _signed(found.free)),
    ]
    return Look((figures(said),), title="An edge tried")


def look_of_alone(found: AloneBySize) -> Look:
    """The shares by how many features a word has."""
    sizes = [float(size) for size in found.sizes]
    drawn = (
        ("variance explained", found.explained, "accent"),
        ("errors alone", found.errors, "muted_text"),
        ("features alone", found.features, "signed_positive"),
    )
    curves = [PlotCurve(name, sizes, shares, role=role) for name, shares, role in drawn]
    return Look(
        (
            Curves(
                "shares",
                curves=curves,
                x_name="features at a word",
                logarithmic=(True, False),
                writes=(None, signed_share),
            ),
        ),
        title="What features alone, and errors alone, take of the answer",
        aside=f"{found.measure}: {plain(found.clean)}, in the changed text {plain(found.changed)}",
    )


def look_of_pairs(found: ScorePairs) -> Look:
    """The pairs that add most, and what each side's parts add over all their pairs."""
    pairs = found.strongest(SHOWN)
    return Look(
        (
            Table(
                "pairs",
                columns=[
                    texts("of the query", (str(found.queries[pair.query]) for pair in pairs)),
                    texts("of the key", (str(found.keys[pair.key]) for pair in pairs)),
                    numbers("adds", (pair.share for pair in pairs), _signed, bar=True),
                ],
            ),
        ),
        title=f"Score of head {found.layer}·{found.head}, {plain(found.value)}, as pairs of features",
        aside=f"“{found.tokens[found.query]}” looks at “{found.tokens[found.key]}”",
    )


def look_of_remembered(found: RememberedWords) -> Look:
    """For each word that can be exchanged, for how many tokens it is read, and the controls."""
    words = range(len(found.words))
    columns = [
        texts("word", found.words),
        numbers("others of its kind", (len(found.alike[word]) - 1 for word in words), count),
        numbers("read for, tokens", map(found.lasts, words), count),
    ]
    if found.untrained is not None:
        before = (found.lasts(word, untrained=True) for word in words)
        columns.append(numbers("before training", before, count))
    columns += [
        numbers("read at last", (found.since(word)[-1] for word in words), percentage),
        numbers("by chance", found.chance, percentage),
    ]
    return Look(
        (Table("words", columns=columns),),
        title=f"What {found.tap} still says of the words before",
        aside=f"{counted(found.tested, 'text')} held out",
    )


def _signed(value: float) -> str:
    return signed_figure(value, 3)


SHOWN = 12
"""So many nodes and edges are in the table."""

LOOKS = {
    Dictionary: look_of_dictionary,
    FeatureGraph: look_of_graph,
    EdgeTrial: look_of_trial,
    ScorePairs: look_of_pairs,
    AloneBySize: look_of_alone,
    RememberedWords: look_of_remembered,
}
"""How each kind of result looks, by its class."""
