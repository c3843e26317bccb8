"""Graphs as circuit-tracer's JSON: written, and read from any program that writes it.

Its parts are `metadata` with the tokens of the prompt, `qParams` with groups (`supernodes`: a name and the
ids of nodes), `nodes` and `links`. A node says its layer, feature, position (`ctx_idx`) and kind
(`feature_type`). Its `influence` is the share that it and all stronger ones have together. What else lmviz
knows stands beside that, where other programs pass it over.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from lmviz.base.arguments import named_file
from lmviz.base.errors import LmvizError
from lmviz.base.files import write_atomically
from lmviz.base.loading import loads
from lmviz.features.graph import FeatureGraph, FeatureNode, KeptAlone, NodeGroup, NodeKind
from lmviz.models.address import Address

LARGEST = 200_000_000
"""Bytes of a file that is read."""

NODES, TOKENS = 10_000, 100_000
"""So many nodes and tokens a file may have."""

FEATURE, ERROR, WORD, ANSWER = "cross layer transcoder", "mlp reconstruction error", "embedding", "logit"
KINDS: Mapping[str, NodeKind] = {FEATURE: "feature", ERROR: "error", WORD: "word"}
SAVED = {kind: told for told, kind in KINDS.items()}
OURS = "lmviz"
_ID = re.compile(r"(\d{1,9})_(\d{1,9})_(\d{1,9})", re.ASCII)


def write_graph(graph: FeatureGraph, path: str | Path) -> Path:
    """Write a graph; LmvizError where it cannot be written."""
    path = named_file(path)
    layers = _layers(graph)
    tokens = graph.tokens.get("position", ())
    ids = [_identity(node, layers) for node in graph.nodes]
    answer = f"{max(layers.values(), default=0) + 1}_{graph.answer[1]}_{graph.answer[0]}"
    shares = np.cumsum([abs(node.effect) for node in graph.nodes])
    nodes = [
        _told(node, identity, layers, float(share / shares[-1]) if shares[-1] > 0 else None)
        for node, identity, share in zip(graph.nodes, ids, shares, strict=True)
    ]
    nodes.append(
        {
            "node_id": answer,
            "feature": graph.answer[1],
            "layer": answer.split("_")[0],
            "ctx_idx": graph.answer[0],
            "feature_type": ANSWER,
            "token_prob": 0.0,
            "is_target_logit": True,
            "run_idx": 0,
            "reverse_ctx_idx": 0,
            "jsNodeId": f"L_{graph.answer[1]}-{graph.answer[0]}",
            "clerp": graph.said or graph.measure,
            "influence": None,
            "activation": None,
        }
    )
    targets = [*ids, answer]
    links = [
        {"source": ids[sender], "target": targets[receiver], "weight": float(graph.weights[receiver, sender])}
        for receiver, sender in np.argwhere(graph.weights)
    ]
    kept = graph.kept
    told = {
        "metadata": {
            "slug": path.stem,
            "scan": next((one.model for one in graph.dictionaries if one.model), "") or OURS,
            "transcoder_list": [one.target for one in graph.dictionaries],
            "prompt_tokens": list(tokens),
            "prompt": _prompt(graph) or " ".join(tokens),
            "node_threshold": None,
            "schema_version": 1,
            OURS: {
                "measure": graph.measure,
                "sums": _plain(graph.sums),
                "rest": _plain(graph.rest),
                "left_out": _plain(graph.left_out),
                "tokens": {axis: list(names) for axis, names in graph.tokens.items()},
                "kept": None
                if kept is None
                else {
                    "sizes": list(kept.sizes),
                    "measures": kept.measures.tolist(),
                    "whole": kept.whole,
                    "nothing": kept.nothing,
                    "rest": kept.rest,
                },
            },
        },
        "qParams": {
            "pinnedIds": [*ids[:20], answer],
            "supernodes": [[group.name, *(ids[node] for node in group.nodes)] for group in graph.groups],
            "linkType": "both",
            "clickedId": "",
            "sg_pos": "",
        },
        "nodes": nodes,
        "links": links,
    }
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, json.dumps(told, ensure_ascii=False, allow_nan=False).encode("utf-8"))
    except OSError as fault:
        raise LmvizError(
            f"The graph cannot be written to {path}: {fault.strerror}. Choose another place."
        ) from fault
    except ValueError as fault:
        raise LmvizError(f"{str(path)!r} cannot be written ({fault}): choose another name.") from fault
    return path


def _prompt(graph: FeatureGraph) -> str:
    text = None if graph.contrast is None else graph.contrast.text
    return text if isinstance(text, str) else ""


def _plain(numbers: np.ndarray) -> list[float | None]:
    """What was not measured is null."""
    return [None if math.isnan(number) else float(number) for number in numbers]


def _layers(graph: FeatureGraph) -> dict[str, int]:
    """The number of each tap's layer, or its place among them where two are of one layer."""
    taps = [one.target for one in graph.dictionaries]
    taps += sorted({node.tap for node in graph.nodes if node.kind != "word"} - set(taps))
    layers = [Address.parse(tap).layer for tap in taps]
    if None in layers or len(set(layers)) < len(layers):
        return {tap: place for place, tap in enumerate(taps)}
    return {tap: layer for tap, layer in zip(taps, layers, strict=True) if layer is not None}


def _identity(node: FeatureNode, layers: Mapping[str, int]) -> str:
    """The id of a node; one of a source is told apart by an ending."""
    ending = "" if node.along == "position" else f"_{node.along}"
    first = "E" if node.kind == "word" else str(layers[node.tap])
    return f"{first}_{node.feature}_{node.position}{ending}"


def _told(
    node: FeatureNode, identity: str, layers: Mapping[str, int], influence: float | None
) -> dict[str, Any]:
    first = identity.split("_")[0]
    number = node.feature
    if node.kind == "feature":  # Cantor's number of a pair
        both = layers[node.tap] + node.feature
        number = both * (both + 1) // 2 + node.feature
    elif node.kind == "word":
        number = node.position
    return {
        "node_id": identity,
        "feature": number,
        "layer": first,
        "ctx_idx": node.position,
        "feature_type": SAVED[node.kind],
        "token_prob": 0.0,
        "is_target_logit": False,
        "run_idx": 0,
        "reverse_ctx_idx": 0,
        "jsNodeId": f"{first}_{node.feature}-{0 if node.kind == 'feature' else node.position}",
        "clerp": node.token if node.kind == "word" else "",
        "influence": influence,
        "activation": node.activation,
        OURS: {
            "tap": node.tap,
            "token": node.token,
            "along": node.along,
            "effect": None if math.isnan(node.effect) else node.effect,
        },
    }


@loads("graph of features")
def open_graph(path: str | Path) -> FeatureGraph:
    """The graph in a file, of lmviz or another program; LmvizError where it holds none.

    Of several answers the target is taken, or the likeliest. Scores and effects that a file does not give are
    NaN; its nodes are in the order of their influence.
    """
    from lmviz.text.ordinary_files import read_file

    path = named_file(path)
    try:
        told: Any = json.loads(read_file(path, LARGEST))
        return _graph(told)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as fault:
        raise LmvizError(
            f"{path} holds no graph of features ({fault}): choose a JSON file of circuit-tracer, or one that "
            "lmviz has saved."
        ) from fault


def _graph(told: Any) -> FeatureGraph:
    metadata, listed = told["metadata"], told["nodes"]
    if len(listed) > NODES or len(metadata["prompt_tokens"]) > TOKENS:
        raise ValueError("it is too large")
    tokens = tuple(str(token) for token in metadata["prompt_tokens"])
    ours = metadata.get(OURS)
    ours = ours if isinstance(ours, dict) else {}
    all_tokens = {"position": tokens} | {
        str(axis): tuple(str(name) for name in names) for axis, names in dict(ours.get("tokens", {})).items()
    }
    answers = [one for one in listed if one["feature_type"] not in KINDS]
    if not answers:
        raise ValueError("no answer is among its nodes")
    answer = max(
        answers, key=lambda one: (bool(one.get("is_target_logit")), _number(one.get("token_prob"), 0))
    )
    others = [one for one in listed if one["feature_type"] in KINDS]
    others.sort(key=lambda one: _number(one.get("influence"), math.inf))
    nodes = tuple(_node(one, all_tokens) for one in others)
    places = {one["node_id"]: at for at, one in enumerate(others)}
    if len(places) < len(others):
        raise ValueError("two nodes have one name")
    rows = places | {answer["node_id"]: len(nodes)}
    weights = np.zeros((len(nodes) + 1, len(nodes)))
    for link in told["links"]:
        sender, receiver = places.get(link["source"]), rows.get(link["target"])
        if sender is not None and receiver is not None:
            weights[receiver, sender] = _finite(link["weight"])
    groups = tuple(
        NodeGroup(str(name), found)
        for name, *members in dict(told.get("qParams") or {}).get("supernodes") or ()
        if (found := tuple(places[one] for one in members if one in places))
    )
    return FeatureGraph(
        nodes=nodes,
        weights=weights,
        left_out=_row(ours.get("left_out"), len(nodes)),
        rest=_row(ours.get("rest"), len(nodes)),
        sums=_row(ours.get("sums"), len(nodes)),
        tokens=all_tokens,
        measure=str(ours.get("measure") or answer.get("clerp") or answer["node_id"]),
        said=str(answer.get("clerp") or ""),
        kept=_kept(ours.get("kept"), len(nodes)),
        groups=groups,
        answer=(_whole(answer["ctx_idx"]), _whole(answer.get("feature", 0))),
    )


def _node(told: Any, tokens: Mapping[str, tuple[str, ...]]) -> FeatureNode:
    kind, position = KINDS[told["feature_type"]], _whole(told["ctx_idx"])
    ours = told.get(OURS)
    ours = ours if isinstance(ours, dict) else {}
    along = str(ours.get("along", "position"))
    names = tokens.get(along, ())
    token = str(ours.get("token") or (names[position] if position < len(names) else told.get("clerp", "")))
    layer = 0 if kind == "word" else _whole(int(told["layer"]))
    tap = "embedding/token" if kind == "word" else f"layers/{layer}/feedforward/output"
    activation = told.get("activation")
    return FeatureNode(
        kind,
        str(ours.get("tap", tap)),
        position,
        token,
        _number(ours.get("effect"), math.nan),
        -1 if kind == "error" else _feature(told, kind, layer),
        None if activation is None or kind != "feature" else _finite(activation),
        along,
    )


def _feature(told: Any, kind: NodeKind, layer: int) -> int:
    """The number of a feature, or the id of a word: out of the node's id, or out of the pair's number."""
    parts = str(told["node_id"]).split("_")
    if kind == "word":
        return int(parts[1]) if len(parts) > 1 and parts[1].isdecimal() and len(parts[1]) < 10 else 0
    found = _ID.match(str(told["node_id"]))
    if found is not None:
        return int(found[2])
    pair = _whole(told["feature"])
    both = (math.isqrt(8 * pair + 1) - 1) // 2
    number = pair - both * (both + 1) // 2
    return number if both - number == layer else pair


def _kept(told: Any, nodes: int) -> KeptAlone | None:
    if told is None:
        return None
    sizes = tuple(_whole(size) for size in told["sizes"])
    measures = np.array([_finite(number) for number in told["measures"]])
    if (
        len(sizes) != len(measures)
        or list(sizes) != sorted(set(sizes))
        or not all(0 < n <= nodes for n in sizes)
    ):
        raise ValueError("what is kept does not fit its nodes")
    return KeptAlone(sizes, measures, _finite(told["whole"]), _finite(told["nothing"]), str(told["rest"]))


def _row(told: Any, nodes: int) -> np.ndarray:
    """(receiver,) of numbers; NaN where there are none."""
    if told is None:
        return np.full(nodes + 1, np.nan)
    if len(told) != nodes + 1:
        raise ValueError("its sums do not fit its nodes")
    return np.array([_number(one, math.nan) for one in told])


def _whole(told: Any) -> int:
    if not isinstance(told, int) or isinstance(told, bool) or not 0 <= told < 2**53:
        raise ValueError(f"{told!r} is no place")
    return told


def _finite(told: Any) -> float:
    if isinstance(told, bool) or not isinstance(told, int | float) or not math.isfinite(told):
        raise ValueError(f"{told!r} is no number")
    return float(told)


def _number(told: Any, otherwise: float) -> float:
    return otherwise if told is None else _finite(told)
