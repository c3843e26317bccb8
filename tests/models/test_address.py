"""Addresses are taken apart in one place, and written as they were read."""

import ast
import re
from pathlib import Path

import pytest
from family_cases import every_case, untrained
from hypothesis import given
from hypothesis import strategies as st

from lmviz.models.address import Address, gradient_of

SOURCES = Path(__file__).parent.parent.parent / "lmviz"
ROOMS = (
    "models",
    "inspection",
    "decoding",
    "autodiff",
    "app/session",
    "app/panels",
    "app/widgets",
    "app/window",
)
"""Where addresses are read."""

TAKING_APART = {"startswith", "endswith", "split", "rsplit", "partition", "rpartition"} | {
    "removeprefix",
    "removesuffix",
}
SUSPECT = re.compile(rf"\bre\.\w+\(|\.({'|'.join(sorted(TAKING_APART))})\(")
"""A file in which nothing of this is called takes nothing apart, and need not be parsed."""

ADDRESSES = {"address", "addresse", "place", "source", "tap", "operand", "result", "cell"}
"""What addresses are called in the code, without the s of several; alone, or as a longer name's last word."""

PARTS = st.lists(
    st.sampled_from(["encoder", "decoder", "layers", "orders", "0", "11", "forward", "attention", "weights"])
    | st.text(st.characters(blacklist_characters="/.")),
    min_size=1,
)


@given(PARTS.filter(lambda parts: parts[0] != "gradient"), st.booleans(), st.booleans())
def test_an_address_is_read_as_it_was_written(parts, is_gradient, is_parameter):
    address = Address(tuple(parts), is_gradient, is_parameter and len(parts) > 1)
    assert Address.parse(str(address)) == address


@given(st.text("ab01/.*", max_size=12) | st.text())
def test_every_text_is_an_address_and_is_written_unchanged(text):
    assert str(Address.parse(text)) == text
    assert Address.parse(gradient_of(text)).value == text
    assert Address.parse(text).layer is None or Address.parse(text).layer >= 0


@every_case
def test_the_addresses_of_every_model_say_where_they_stand(family, options):
    model = untrained(family, options)
    places = {stage.place for stage in model.stages()}
    for address in [tap.address for tap in model.taps()]:
        found = Address.parse(address)
        assert str(found) == found.value == address
        assert Address.parse(gradient_of(address)).is_gradient
        assert not found.is_parameter
        assert found.place == "" or (found.beside(found.name) == address and found.is_in(found.place))
        assert found.matches(address)
        assert ("layers" in found.parts) == (found.layer is not None) == bool(found.place_of_layer)
        assert ("orders" in found.parts) == (found.order is not None)
        assert found.layer is None or any(Address.parse(place).layer == found.layer for place in places)
    for name, _ in model.named_parameters():
        found = Address.parse(gradient_of(name))
        assert (found.value, found.is_gradient, found.is_parameter) == (name, True, True)


@pytest.mark.parametrize(
    ("address", "parts"),
    [
        ("layers/0/attention/weights", ("", 0, "", "attention", "weights")),
        ("encoder/layers/1/forward/hidden", ("encoder", 1, "forward", "", "hidden")),
        ("decoder/layers/10/cross/weights", ("decoder", 10, "", "cross", "weights")),
        ("gradient/layers/2/residual1", ("", 2, "", "", "residual1")),
        ("orders/3/counts", ("", None, "", "", "counts")),
        ("embedding/token", ("", None, "", "embedding", "token")),
        ("encoder/embedding", ("encoder", None, "", "", "embedding")),
        ("logits", ("", None, "", "", "logits")),
        ("layers/*/hidden", ("", None, "", "*", "hidden")),
        ("decoder/layers", ("decoder", None, "", "", "layers")),
        ("output.weight", ("", None, "", "output", "weight")),
    ],
)
def test_the_parts_of_an_address(address, parts):
    found = Address.parse(address)
    assert (found.side, found.layer, found.direction, found.block, found.name) == parts


def test_a_layer_holds_what_lies_in_it_and_not_itself():
    assert Address.parse("encoder/layers/1/forward/hidden").place_of_layer == "encoder/layers/1"
    assert Address.parse("layers/1").place_of_layer == ""
    assert Address.parse("layers/1/hidden").is_in("layers/1")
    assert not Address.parse("layers/11/hidden").is_in("layers/1")
    assert not Address.parse("layers/1").is_in("layers/1")


@pytest.mark.parametrize(
    ("pattern", "meant"),
    [
        ("layers/*/hidden", {"layers/0/hidden"}),
        ("*/hidden", {"layers/0/hidden", "layers/0/feedforward/hidden", "hidden"}),
        ("layers/[01]/**", {"layers/0/hidden", "layers/0/feedforward/hidden"}),
        ("hidden", {"hidden"}),
        ("*", {"layers/0/hidden", "layers/0/feedforward/hidden", "hidden"}),
        ("layers/?/feed*/hidden", {"layers/0/feedforward/hidden"}),
    ],
)
def test_a_pattern_means_addresses_part_by_part(pattern, meant):
    addresses = ("layers/0/hidden", "layers/0/feedforward/hidden", "hidden")
    assert {address for address in addresses if Address.parse(address).matches(pattern)} == meant


def test_no_other_module_takes_an_address_apart():
    found = []
    for path in (path for room in ROOMS for path in sorted((SOURCES / room).rglob("*.py"))):
        text = path.read_text(encoding="utf-8")
        if path != SOURCES / "models" / "address.py" and SUSPECT.search(text):
            tree = ast.parse(text)
            found += [
                f"{path.relative_to(SOURCES)}:{node.lineno}" for node in ast.walk(tree) if _takes_apart(node)
            ]
    assert not found


@pytest.mark.parametrize(
    ("code", "is_found"),
    [
        ("address.rpartition('/')[2]", True),
        ("stage.results[0].endswith('joined')", True),
        ("cell[0].startswith(GRADIENT)", True),
        ("rows[0].startswith(f'{place}/')", True),
        ("self.stage.place.split(SLASH)", True),
        ("re.fullmatch(r'layers/\\d+/hidden', text)", True),
        ("'/'.join(parts)", False),
        ("text.split(' ')", False),
        ("re.sub(r'\\d', '8', text)", False),
    ],
)
def test_what_takes_an_address_apart_is_known(code, is_found):
    assert any(_takes_apart(node) for node in ast.walk(ast.parse(code))) == is_found


def _takes_apart(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    receiver = node.func.value
    receiver = receiver.value if isinstance(receiver, ast.Subscript) else receiver
    texts = [
        part.value
        for argument in node.args
        for part in ast.walk(argument)
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
    ]
    if isinstance(receiver, ast.Name) and receiver.id == "re":
        return any(kind in text for text in texts for kind in ("layers", "orders"))
    name = getattr(receiver, "attr", getattr(receiver, "id", ""))
    is_address = name.rpartition("_")[2].removesuffix("s") in ADDRESSES
    return node.func.attr in TAKING_APART and (is_address or any("/" in text for text in texts))
