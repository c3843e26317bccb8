"""How the graph of an answer is made: which nodes matter, what each adds, and what the first alone keep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from lmviz.base.arguments import whole_number
from lmviz.base.errors import LmvizError
from lmviz.circuits.cached_pass import CachedPass
from lmviz.circuits.linear_walk import measure_slopes
from lmviz.circuits.patching import tokens_along
from lmviz.circuits.read_contrast import ReadContrast, read_contrast
from lmviz.features.graph import FeatureGraph, FeatureNode
from lmviz.features.held_walk import HeldWalk, Slopes, Stop
from lmviz.features.kept_alone import kept_alone
from lmviz.features.state_parts import StateParts, check_placed
from lmviz.models.interruption import look_up, part_of_work

if TYPE_CHECKING:
    from lmviz.circuits.contrast import Contrast
    from lmviz.features.dictionary import Dictionary
    from lmviz.inspection.intervention import Intervention
    from lmviz.models.model import Model

MOST = 200
"""So many nodes a graph has if nobody says how many."""

RESTS = ("off", "changed")
AT_ONCE = 4_000_000
"""So many slopes of one tap are held at once."""


def feature_graph(
    model: Model,
    contrast: Contrast,
    dictionaries: Sequence[Dictionary],
    most: int = MOST,
    *,
    rest: str = "off",
    interventions: Sequence[Intervention] = (),
) -> FeatureGraph:
    """The graph of a measure on the text itself: its `most` strongest nodes, and what they keep alone.

    All that is not linear is held (see `lmviz.features.held_walk`), and which features are on. So what flows
    into a feature adds up to its score, and what flows into the measure to the measure. The effect of a node
    is that over all paths, through features as well. LmvizError where no dictionary is given or one stands
    for states of a recurrence, where the measure is no sum of them, and as `lmviz.attribute` raises it.
    """
    most = whole_number("most", most, least=1)
    if rest not in RESTS:
        raise LmvizError(f"All other features are 'off' or as in the 'changed' text, and not {rest!r}.")
    question = read_contrast(model, contrast, interventions)
    read = CachedPass(question.model, question.clean, question.span)
    given = tuple(dictionaries)
    check_placed(given, read)
    scanned = {tap.address for tap in read.taps if tap.scan}
    recurrent = next((one.target for one in given if one.target in scanned), None)
    if recurrent is not None:
        raise LmvizError(
            f"{recurrent} is the state of a recurrence, and a graph follows attention: ask "
            "lmviz.feature_bill what its features add."
        )
    other = None
    if rest == "changed":
        changed = question.passes()[1]
        other = [StateParts.of(one, changed) for one in given]
    parts = [StateParts.of(one, read) for one in given]
    walk = HeldWalk(read)
    begun = measure_slopes(question.scalar, read)
    with part_of_work(0, 3):
        nodes = _nodes(walk, parts, begun, question, most)
    if not any(node.kind != "word" for node in nodes):
        raise LmvizError(
            f"No feature is part of what {question.scalar.name} is a sum of: choose features of the "
            "stream, or of what a layer writes."
        )
    with part_of_work(1, 3):
        weights, left_out, constant, sums = _weighed(walk, parts, begun, nodes)
    sums[-1] = read.measure(question.scalar)
    with part_of_work(2, 3):
        kept = kept_alone(read, question.scalar, parts, nodes, other)
    along = {node.along for node in nodes} | {"position"}
    return FeatureGraph(
        nodes=tuple(nodes),
        weights=weights,
        left_out=left_out,
        rest=constant,
        sums=sums,
        tokens={axis: _tokens(question, axis) for axis in sorted(along)},
        measure=question.scalar.name,
        said=question.scalar.said,
        dictionaries=given,
        contrast=contrast,
        interventions=tuple(interventions),
        kept=kept,
        answer=_answer(question),
    )


def _answer(question: ReadContrast) -> tuple[int, int]:
    """The position and the id of the word that is asked for, or of the label."""
    cell = question.scalar.cells[0]
    return (int(cell[0]) if len(cell) > 1 else len(question.clean.ids) - 1), int(cell[-1])


def _ids(question: ReadContrast, axis: str) -> np.ndarray:
    beside = question.clean.beside
    ids: np.ndarray = beside[axis].ids if axis in beside else question.clean.ids
    return ids


def _tokens(question: ReadContrast, axis: str) -> tuple[str, ...]:
    return tuple(tokens_along(ReadContrast(question.model, question.clean, None, question.scalar, 0), axis))


def _nodes(
    walk: HeldWalk,
    parts: Sequence[StateParts],
    begun: tuple[str, np.ndarray, float],
    question: ReadContrast,
    most: int,
) -> list[FeatureNode]:
    """The nodes with the largest effects over all paths: one walk goes on through all features."""
    through: dict[str, np.ndarray] = {}

    def stop(part: StateParts) -> Stop:
        def onward(slopes: Slopes) -> Mapping[str, Slopes]:
            by_feature = (slopes @ part.decoder.T) * (part.activations > 0)
            through[part.dictionary.target] = by_feature[0]
            given = by_feature @ part.encoder
            return {part.dictionary.tap: given if part.skip is None else given + slopes @ part.skip}

        return onward

    address, slopes, _ = begun
    walked = walk.back({address: slopes[None]}, {part.dictionary.target: stop(part) for part in parts})
    found: list[FeatureNode] = []
    for part in parts:
        target, along = part.dictionary.target, part.along
        if target not in walked.stopped:
            continue
        tokens = _tokens(question, along)
        effects = through[target] * part.activations
        for position, feature in np.argwhere(effects):
            found.append(
                FeatureNode(
                    "feature",
                    target,
                    int(position),
                    tokens[position],
                    float(effects[position, feature]),
                    int(feature),
                    float(part.activations[position, feature]),
                    along,
                )
            )
        of_errors = (walked.stopped[target][0] * part.error).sum(axis=1)
        found += [
            FeatureNode("error", target, int(at), tokens[at], float(of_errors[at]), along=along)
            for at in np.flatnonzero(of_errors)
        ]
    for address, slopes in walked.words.items():
        along = walk.read.axes[address][0]
        tokens, ids = _tokens(question, along), _ids(question, along)
        of_words = (slopes[0] * walk.value(address)).sum(axis=1)
        found += [
            FeatureNode("word", address, int(at), tokens[at], float(of_words[at]), int(ids[at]), along=along)
            for at in np.flatnonzero(of_words)
        ]
    return sorted(found, key=lambda node: -abs(node.effect))[:most]


def _weighed(
    walk: HeldWalk,
    parts: Sequence[StateParts],
    begun: tuple[str, np.ndarray, float],
    nodes: Sequence[FeatureNode],
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The weights (receiver, sender), what other nodes and all else add, and the scores (receiver,)."""
    count = len(nodes)
    weights = np.zeros((count + 1, count))
    left_out, constant, sums = np.zeros(count + 1), np.zeros(count + 1), np.zeros(count + 1)

    def stop(part: StateParts) -> Stop:
        return lambda slopes: {} if part.skip is None else {part.dictionary.tap: slopes @ part.skip}

    stops = {part.dictionary.target: stop(part) for part in parts}

    def weigh(rows: Sequence[int], tap: str, slopes: Slopes, below: str) -> None:
        walked = walk.back({tap: slopes}, stops, below)
        constant[rows] += walked.rest
        for part in parts:
            target = part.dictionary.target
            if target not in walked.stopped:
                continue
            there = walked.stopped[target]
            constant[rows] += (there @ part.average).sum(axis=1)
            of_errors = (there * part.error).sum(axis=2)
            written = (there * (part.activations @ part.decoder)).sum(axis=(1, 2))
            left_out[rows] += written + of_errors.sum(axis=1)
            for at, node in enumerate(nodes):
                if node.tap == target and node.kind == "error":
                    weights[rows, at] = of_errors[:, node.position]
                elif node.tap == target:
                    of_feature = there[:, node.position] @ part.decoder[node.feature]
                    weights[rows, at] = of_feature * part.activations[node.position, node.feature]
        for address, there in walked.words.items():
            of_words = (there * walk.value(address)).sum(axis=2)
            left_out[rows] += of_words.sum(axis=1)
            for at, node in enumerate(nodes):
                if node.kind == "word" and node.tap == address:
                    weights[rows, at] = of_words[:, node.position]

    address, slopes, entropy = begun
    weigh([count], address, slopes[None], "")
    constant[count] += entropy
    widest = max((value.shape[-1] for value in walk.read.values.values() if value.ndim == 3), default=1)
    rows_at_once = max(1, AT_ONCE // (len(walk.read) * widest))
    for part in parts:
        dictionary = part.dictionary
        own = [
            at for at, node in enumerate(nodes) if node.tap == dictionary.target and node.kind == "feature"
        ]
        positions = len(walk.value(dictionary.tap))
        for first in range(0, len(own), rows_at_once):
            look_up()
            rows = own[first : first + rows_at_once]
            begins = np.zeros((len(rows), positions, dictionary.width))
            for row, at in enumerate(rows):
                begins[row, nodes[at].position] = part.encoder[nodes[at].feature]
                constant[at] += float(dictionary.encoder_bias[nodes[at].feature])
                sums[at] = float(part.activations[nodes[at].position, nodes[at].feature])
            weigh(rows, dictionary.tap, begins, "" if dictionary.is_transcoder else dictionary.tap)
    left_out -= weights.sum(axis=1)
    return weights, left_out, constant, sums
