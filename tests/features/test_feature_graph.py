"""The graph of an answer through features: its sums, what nodes keep alone, edges tried, and files."""

import json

import numpy as np
import pytest

import lmviz
from lmviz.base.errors import LmvizError
from lmviz.families import build_model
from lmviz.features.dictionary import Dictionary
from lmviz.models.transformer_configuration import TransformerConfiguration
from tests.features.test_feature_bills import CHANGED, CLEAN, drawn

MEASURE = "logit: stone- bell"
FEED_FORWARD = tuple(f"layers/{layer}/feedforward/output" for layer in range(3))


@pytest.fixture(scope="module")
def model():
    return lmviz.open_model("stories-transformer")


@pytest.fixture(scope="module")
def contrast():
    return lmviz.contrast(CLEAN, CHANGED, measure=MEASURE)


@pytest.fixture(scope="module")
def dictionaries(model):
    return [drawn(model, tap, seed) for seed, tap in enumerate(FEED_FORWARD)]


@pytest.fixture(scope="module")
def graph(model, contrast, dictionaries):
    return lmviz.feature_graph(model, contrast, dictionaries, most=40)


def transcoder(model, layer, seed, size=24):
    """Drawn at random, with a skip: from what a feed-forward network reads to what it writes."""
    random = np.random.default_rng(seed)
    tap, written = f"layers/{layer}/norm2", f"layers/{layer}/feedforward/output"
    width = model.configuration.width
    encoder, decoder = (random.standard_normal((size, width)).astype(np.float32) / 8 for _ in range(2))
    return Dictionary(
        "relu",
        tap,
        encoder,
        random.standard_normal(size).astype(np.float32),
        decoder,
        random.standard_normal(width).astype(np.float32),
        written=written,
        skip=(random.standard_normal((width, width)) / 20).astype(np.float32),
    )


@pytest.mark.parametrize("kind", ["feed-forward", "stream", "transcoders", "both", "words"])
def test_what_flows_into_each_feature_and_into_the_measure_adds_up(model, contrast, dictionaries, kind):
    chosen = {
        "feed-forward": dictionaries,
        "stream": [drawn(model, "layers/0/residual2", 7), drawn(model, "layers/1/residual1", 8)],
        "transcoders": [transcoder(model, layer, layer) for layer in range(3)],
        "both": [dictionaries[0], transcoder(model, 1, 9), drawn(model, "layers/1/residual2", 10)],
        "words": [drawn(model, "embedding/sum", 11)],
    }[kind]
    graph = lmviz.feature_graph(model, contrast, chosen, most=30)
    features = [at for at, node in enumerate(graph.nodes) if node.kind == "feature"]
    assert features
    assert np.abs(graph.rounding[[*features, -1]]).max() < 1e-5 * max(1, np.abs(graph.sums).max())
    by_tap = {one.target: one for one in chosen}
    trace = lmviz.trace(model, CLEAN)
    for at in features:
        node = graph.nodes[at]
        own = by_tap[node.tap].encode(trace[by_tap[node.tap].tap].array)
        assert graph.sums[at] == pytest.approx(own[node.position, node.feature], rel=1e-4, abs=1e-5)
    bill = lmviz.attribute(model, contrast)
    assert graph.value == pytest.approx(bill.value, abs=1e-6)


def test_every_edge_into_the_measure_is_a_share_of_the_bill(model, contrast, dictionaries):
    """The bill stops at heads: what the last states write straight into the measure is the same."""
    bill = lmviz.feature_bill(model, contrast, dictionaries)
    graph = lmviz.feature_graph(model, contrast, dictionaries, most=5000)
    last = len(lmviz.trace(model, CLEAN)[FEED_FORWARD[-1]].array) - 1
    direct = {
        (node.tap, node.feature): weight
        for node, weight in zip(graph.nodes, graph.weights[-1], strict=True)
        if node.tap == FEED_FORWARD[-1] and node.position == last
    }
    for share in bill.features:
        if share.dictionary == 2:
            assert direct[FEED_FORWARD[-1], share.feature] == pytest.approx(share.share, abs=1e-9)
    assert direct[FEED_FORWARD[-1], -1] == pytest.approx(bill.errors[2], abs=1e-9)
    assert abs(graph.left_out[-1]) < 1e-9  # with all nodes nothing is left out


def test_the_effect_is_the_sum_over_all_paths(model, contrast, dictionaries):
    graph = lmviz.feature_graph(model, contrast, dictionaries, most=5000)
    scores = np.array([node.activation or 1.0 for node in graph.nodes])
    per_score = graph.weights / np.array([*scores, 1.0])[None, :-1]  # per unit of the sender
    slopes = np.zeros(len(graph.nodes))
    for _ in range(len(FEED_FORWARD) + 1):  # as long as the longest path
        slopes = per_score[-1] + slopes @ per_score[:-1]
    effects = np.array([node.effect for node in graph.nodes])
    np.testing.assert_allclose(slopes * scores, effects, atol=1e-8)
    begins = sum(node.effect for node in graph.nodes if node.kind != "feature")
    assert abs(begins) > 0


KINDS = {
    "gated": {"gated": True, "activation": "silu", "norm_kind": "rms", "key_value_heads": 1},
    "after": {"norm": "post", "activation": "relu_squared", "positions": "sinusoidal"},
    "parallel": {"parallel": True, "positions": "rotary", "activation": "gelu_tanh"},
}


@pytest.mark.parametrize("kind", KINDS)
def test_sums_hold_in_transformers_of_all_kinds(kind):
    small = {"layers": 2, "heads": 2, "width": 16, "context": 12} | KINDS[kind]
    model = build_model("transformer", TransformerConfiguration(**small), 9, seed=1).eval()
    ids = [1, 4, 2, 7, 3, 5]
    contrast = lmviz.contrast(ids, measure=("logits", (5, 2)))
    random = np.random.default_rng(0)
    taps = [f"layers/{layer}/residual2" for layer in (0, 1)]
    taps = (
        taps if taps[0] in {tap.address for tap in model.taps()} else ["layers/0/stream2", "layers/1/stream2"]
    )

    def made(tap):
        encoder, decoder = (random.standard_normal((12, 16)).astype(np.float32) for _ in range(2))
        return Dictionary(
            "topk", tap, encoder, random.random(12).astype(np.float32), decoder, decoder[0], k=3
        )

    graph = lmviz.feature_graph(model, contrast, [made(tap) for tap in taps], most=500)
    rows = [at for at, node in enumerate(graph.nodes) if node.kind == "feature"] + [-1]
    assert len(rows) > 5
    assert np.abs(graph.rounding[rows]).max() < 1e-5
    words = [at for at, node in enumerate(graph.nodes) if node.kind == "word"]
    assert np.abs(graph.weights[rows][:, words]).max() > 1e-3
    assert np.abs(graph.rest).max() < 100  # nothing swallows what features write
    assert graph.kept.shares[-1] == pytest.approx(1, abs=1e-4)


def test_a_path_through_a_dictionary_is_no_edge(model, contrast):
    """All that a lower state writes passes through the one above it: nothing is left of the straight way."""
    chosen = [drawn(model, "layers/0/residual2", 3), drawn(model, "layers/1/residual2", 4)]
    graph = lmviz.feature_graph(model, contrast, chosen, most=20)
    at = next(
        number
        for number, node in enumerate(graph.nodes)
        if node.tap == "layers/0/residual2" and node.kind == "feature"
    )
    trial = lmviz.try_edge(model, graph, at)
    assert trial.said == 0
    assert trial.direct == pytest.approx(0, abs=1e-4)
    assert abs(trial.free) > 1e-3
    assert graph.nodes[at].effect != 0


def kept_by_hand(model, dictionaries, nodes, other=None):
    """A run in which every feature and error that is no node is off, or as in another text."""

    def change(dictionary, there):
        def made(states):
            states = states.astype(np.float64)
            on = dictionary.encode(states.astype(np.float32)).astype(np.float64)
            error = states - on @ dictionary.decoder - dictionary.decoder_bias
            if there is None:
                on_there, error_there = np.zeros_like(on), np.zeros_like(error)
            else:
                on_there = dictionary.encode(there).astype(np.float64)
                error_there = there - on_there @ dictionary.decoder - dictionary.decoder_bias
            found = on_there @ dictionary.decoder + error_there + dictionary.decoder_bias
            for node in nodes:
                if node.tap == dictionary.target and node.kind == "feature":
                    moved = on[node.position, node.feature] - on_there[node.position, node.feature]
                    found[node.position] += moved * dictionary.decoder[node.feature]
                elif node.tap == dictionary.target:
                    found[node.position] += error[node.position] - error_there[node.position]
            found[0] = states[0]
            return found.astype(np.float32)

        return lmviz.replace(dictionary.target, made)

    traced = None if other is None else lmviz.trace(model, other)
    changes = [change(one, None if traced is None else traced[one.target].array) for one in dictionaries]
    logits = lmviz.trace(model, CLEAN, interventions=changes)["logits"].array[-1].astype(float)
    words = [model.tokenizer.id_of(word) for word in ("stone", "bell")]
    return logits[words[0]] - logits[words[1]]


@pytest.mark.parametrize("rest", ["off", "changed"])
def test_what_is_kept_is_that_of_a_run_with_all_others_taken_out(model, contrast, dictionaries, rest):
    graph = lmviz.feature_graph(model, contrast, dictionaries, most=40, rest=rest)
    other = CHANGED if rest == "changed" else None
    kept = graph.kept
    assert kept.sizes[-1] == len(graph.nodes) == 40
    assert kept.whole == pytest.approx(kept_of_all(model), abs=1e-4)
    assert kept.nothing == pytest.approx(kept_by_hand(model, dictionaries, [], other), abs=1e-3)
    for size in (kept.sizes[0], kept.sizes[len(kept.sizes) // 2], kept.sizes[-1]):
        measured = kept.measures[kept.sizes.index(size)]
        assert measured == pytest.approx(
            kept_by_hand(model, dictionaries, graph.nodes[:size], other), abs=1e-3
        )
    share = (kept.measures[-1] - kept.nothing) / (kept.whole - kept.nothing)
    assert kept.shares[-1] == pytest.approx(share)


def kept_of_all(model):
    logits = lmviz.trace(model, CLEAN)["logits"].array[-1].astype(float)
    words = [model.tokenizer.id_of(word) for word in ("stone", "bell")]
    return logits[words[0]] - logits[words[1]]


def test_of_transcoders_the_whole_is_kept_by_all_and_a_part_by_some(model, contrast):
    chosen = [transcoder(model, layer, layer) for layer in (0, 1)]
    graph = lmviz.feature_graph(model, contrast, chosen, most=5000)
    assert graph.kept.shares[-1] == pytest.approx(1, abs=1e-3)
    assert graph.kept.whole != pytest.approx(graph.kept.nothing, abs=1e-3)


def test_an_edge_tried_is_what_the_run_loses(model, contrast, graph):
    by_weight = sorted(graph.edges(200), key=lambda edge: -abs(edge.weight))
    for edge in [edge for edge in by_weight if graph.nodes[edge.sender].kind != "word"][:4]:
        trial = lmviz.try_edge(model, graph, edge.sender, edge.receiver)
        assert trial.said == edge.weight
        assert np.isfinite([trial.direct, trial.free]).all()
    last = FEED_FORWARD[-1]
    position = len(lmviz.trace(model, CLEAN)[last].array) - 1
    at = next(
        number
        for number, node in enumerate(graph.nodes)
        if (node.tap, node.position, node.kind) == (last, position, "feature")
    )
    trial, node = lmviz.try_edge(model, graph, at), graph.nodes[at]
    written = node.activation * graph.dictionaries[2].decoder[node.feature]
    states = lmviz.trace(model, CLEAN)[last].array.copy()
    states[position] -= written
    logits = lmviz.trace(model, CLEAN, interventions=[lmviz.replace(last, states)])["logits"].array[-1]
    words = [model.tokenizer.id_of(word) for word in ("stone", "bell")]
    lost = kept_of_all(model) - float(logits[words[0]] - logits[words[1]])
    assert trial.direct == pytest.approx(lost, abs=1e-4)
    assert trial.free == pytest.approx(lost, abs=1e-4)  # nothing stands between the two


def test_where_nothing_is_held_back_an_edge_is_exact(model, contrast):
    """From one dictionary of the stream straight to what reads the same states there is only a sum."""
    chosen = [drawn(model, "layers/1/feedforward/output", 3), drawn(model, "layers/1/residual2", 4)]
    graph = lmviz.feature_graph(model, contrast, chosen, most=500)
    edges = [
        edge
        for edge in graph.edges(5000)
        if edge.receiver is not None and graph.nodes[edge.sender].tap == "layers/1/feedforward/output"
    ]
    for edge in edges[:5]:
        trial = lmviz.try_edge(model, graph, edge.sender, edge.receiver)
        assert trial.direct == pytest.approx(edge.weight, abs=1e-4)
        assert trial.free == pytest.approx(edge.weight, abs=1e-4)


def test_nodes_are_put_together_under_a_name(graph):
    grouped = graph.grouped("colours", [3, 1]).grouped("others", [1, 2])
    assert [(group.name, group.nodes) for group in grouped.groups] == [("colours", (3,)), ("others", (1, 2))]
    assert [group.name for group in grouped.ungrouped("colours").groups] == ["others"]
    for name, nodes in (("", [1]), ("x", []), ("x", [4000])):
        with pytest.raises(LmvizError):
            graph.grouped(name, nodes)


def test_a_graph_is_saved_and_opened_as_it_was(graph, tmp_path):
    grouped = graph.grouped("a few", [0, 2])
    opened = lmviz.open_feature_graph(lmviz.save_feature_graph(grouped, tmp_path / "graph.json"))
    assert opened.nodes == graph.nodes
    np.testing.assert_allclose(opened.weights, graph.weights)
    np.testing.assert_allclose(opened.sums, graph.sums)
    np.testing.assert_allclose(opened.kept.shares, graph.kept.shares)
    assert opened.groups == grouped.groups
    assert opened.value == graph.value
    with pytest.raises(LmvizError, match="comes from a file"):
        lmviz.try_edge("stories-transformer", opened, 0)


def test_the_file_has_what_circuit_tracer_asks_for(graph, tmp_path):
    path = lmviz.save_feature_graph(graph.grouped("g", [0]), tmp_path / "graph.json")
    told = json.loads(path.read_text(encoding="utf-8"))
    metadata = told["metadata"]
    assert {"slug", "scan", "transcoder_list", "prompt_tokens", "prompt"} <= metadata.keys()
    assert metadata["prompt"] == CLEAN
    assert {"pinnedIds", "supernodes", "linkType", "clickedId", "sg_pos"} <= told["qParams"].keys()
    ids = {node["node_id"] for node in told["nodes"]}
    assert len(ids) == len(told["nodes"])
    for node in told["nodes"]:
        assert isinstance(node["layer"], str)
        assert isinstance(node["feature"], int)
        assert 0 <= node["ctx_idx"] < len(metadata["prompt_tokens"])
        assert {"feature_type", "jsNodeId", "clerp", "influence", "activation"} <= node.keys()
    assert all({link["source"], link["target"]} <= ids for link in told["links"])
    assert told["qParams"]["supernodes"] == [["g", told["nodes"][0]["node_id"]]]
    [answer] = [node for node in told["nodes"] if node["feature_type"] == "logit"]
    assert answer["is_target_logit"]
    assert answer["layer"] == "3"


FOREIGN = {
    "metadata": {
        "slug": "x",
        "scan": "gemma",
        "transcoder_list": [],
        "prompt_tokens": ["<bos>", "Fact"],
        "prompt": "Fact",
        "node_threshold": 0.8,
    },
    "qParams": {
        "pinnedIds": [],
        "supernodes": [["said", "4_17_1", "gone"]],
        "linkType": "both",
        "clickedId": "",
        "sg_pos": "",
    },
    "nodes": [
        {"node_id": "4_17_1", "feature": 248, "layer": "4", "ctx_idx": 1, "influence": 0.7, "activation": 2.5}
        | {"feature_type": "cross layer transcoder", "jsNodeId": "4_17-0", "clerp": ""},
        {"node_id": "0_-1_1", "feature": -1, "layer": "0", "ctx_idx": 1, "influence": 0.2}
        | {"feature_type": "mlp reconstruction error", "jsNodeId": "0_-1-1"},
        {"node_id": "E_99_1", "feature": 1, "layer": "E", "ctx_idx": 1, "feature_type": "embedding"},
        {"node_id": "27_5_1", "feature": 5, "layer": "27", "ctx_idx": 1, "feature_type": "logit"}
        | {"token_prob": 0.1, "is_target_logit": False},
        {"node_id": "27_6_1", "feature": 6, "layer": "27", "ctx_idx": 1, "feature_type": "logit"}
        | {"token_prob": 0.6, "is_target_logit": True, "clerp": 'Output "six"'},
    ],
    "links": [
        {"source": "4_17_1", "target": "27_6_1", "weight": 3.5},
        {"source": "0_-1_1", "target": "4_17_1", "weight": -1.25},
        {"source": "E_99_1", "target": "27_5_1", "weight": 9.0},
    ],
}


def test_a_file_of_another_program_is_opened(tmp_path):
    (tmp_path / "graph.json").write_text(json.dumps(FOREIGN))
    graph = lmviz.open_feature_graph(tmp_path / "graph.json")
    assert [(node.kind, node.feature, node.layer) for node in graph.nodes] == [
        ("error", -1, 0),
        ("feature", 17, 4),
        ("word", 99, None),
    ]
    assert graph.said == 'Output "six"'
    assert graph.weights[-1].tolist() == [0, 3.5, 0]
    assert graph.weights[1].tolist() == [-1.25, 0, 0]
    assert [(group.name, group.nodes) for group in graph.groups] == [("said", (1,))]
    assert np.isnan(graph.value)
    assert "Graph of 3 nodes" in repr(graph)


@pytest.mark.parametrize(
    "damage",
    [
        lambda told: told.pop("links"),
        lambda told: told["nodes"].clear(),
        lambda told: told["nodes"][0].update(ctx_idx="far"),
        lambda told: told["nodes"][0].update(layer="E"),
        lambda told: told["nodes"][1].update(node_id="4_17_1"),
        lambda told: told["links"][0].update(weight="much"),
        lambda told: told["links"][0].update(weight=True),
        lambda told: told["metadata"].update(prompt_tokens=3),
        lambda told: told["qParams"].update(supernodes=[[]]),
        lambda told: told["metadata"].update(lmviz={"sums": [1.0]}),
        lambda told: told["metadata"].update(
            lmviz={"kept": {"sizes": [9], "measures": [1], "whole": 1, "nothing": 0, "rest": "off"}}
        ),
    ],
)
def test_a_damaged_file_is_refused_in_a_sentence(tmp_path, damage):
    told = json.loads(json.dumps(FOREIGN))
    damage(told)
    (tmp_path / "graph.json").write_text(json.dumps(told))
    with pytest.raises(LmvizError, match="holds no graph of features"):
        lmviz.open_feature_graph(tmp_path / "graph.json")


def test_what_is_no_part_of_the_sum_is_refused_in_a_sentence(model, contrast):
    gru = lmviz.open_model("stories-gru")
    hidden = drawn(gru, "layers/0/hidden", 3)
    with pytest.raises(LmvizError, match="state of a recurrence"):
        lmviz.feature_graph(gru, contrast, hidden)
    one = drawn(model, "layers/1/residual2", 8)
    with pytest.raises(LmvizError, match="each of other states"):
        lmviz.feature_graph(model, contrast, [one, one])
    with pytest.raises(LmvizError, match="'off' or as in"):
        lmviz.feature_graph(model, contrast, one, rest="mean")
    with pytest.raises(LmvizError, match="No feature is part"):
        lmviz.feature_graph(model, lmviz.contrast(CLEAN, measure=("layers/0/residual1", (3, 2))), one)
    graph = lmviz.feature_graph(model, contrast, one, most=20)
    word = next(at for at, node in enumerate(graph.nodes) if node.kind != "feature")
    with pytest.raises(LmvizError, match="Nothing flows into"):
        lmviz.try_edge(model, graph, 0, word)
