"""What the language says, which faults it names at which line, and that no text does any harm."""

import contextlib

import numpy as np
import pytest
from hypothesis import given, settings, target
from hypothesis import strategies as some

from lmviz.autodiff import MODULES, NetworkFault, read, shipped_networks
from lmviz.base.errors import LmvizError


def faults(text):
    with pytest.raises(NetworkFault) as raised:
        read(text)
    return [(fault.line, fault.sentence) for fault in raised.value.faults]


def test_a_column_is_a_vector_and_everything_else_a_matrix():
    net = read("s = 3\nv = [1; 2]\nr = [1 2]\nM = [1, 2; 3, 4]\none = [7]\ny = sum(v)")
    shapes = {name: net[name].shape for name in ("s", "v", "r", "M", "one")}
    assert shapes == {"s": (), "v": (2,), "r": (1, 2), "M": (2, 2), "one": (1,)}


@pytest.mark.parametrize(
    ("written", "number"),
    [
        ("0.5", 0.5),
        (".5", 0.5),
        ("2.", 2),
        ("-1", -1),
        ("−1", -1),
        ("+3", 3),
        ("1e-3", 1e-3),
        ("-2.5E2", -250),
    ],
)
def test_numbers(written, number):
    assert read(f"x = {written}\ny = identity(x)").forward()["y"].value == number


def test_an_array_in_the_place_of_a_weight_is_a_parameter():
    net = read("x = [1; 2]\nW = [1 2]\nb = [1]\ny = linear(W, x, b)")
    assert [node.name for node in net.parameters] == ["W", "b"]
    assert [node.name for node in net.inputs] == ["x"]


def test_a_declaration_says_otherwise():
    net = read("parameter x = [1; 2]\ninput W = [1 2]\ny = linear(W, x)")
    assert [node.name for node in net.parameters] == ["x"]
    assert [node.name for node in net.inputs] == ["W"]


def test_comments_and_empty_lines():
    assert read("# a\n\nx = 1  # one\n  # indented\ny = identity(x) # y = 5\n").forward()["y"].value == 1


def test_calls_within_calls_get_names_of_their_own():
    net = read("x = 2\ny = add(square(x), multiply(3, square(x)))").forward()
    assert net["y"].value == 16
    assert [node.name for node in net.tape.modules] == ["y·1", "y·3", "y·2", "y"]


def test_a_loop_runs_over_steps():
    net = read("h[0] = 1\nfor t in 1..3:\n  h[t] = multiply(2, h[t-1])\ny = add(h[0..3])").forward()
    assert net["h[3]"].value == 8
    assert net["y"].value == 15


def test_rows_of_an_array_become_steps():
    net = read("x[1..2] = [1 2; 3 4]\ny = add(x[1], x[2])").forward()
    assert net["x[2]"].value.tolist() == [3, 4]
    assert net["y"].value.tolist() == [4, 6]


def test_letters_with_accents_are_the_same_however_they_are_typed():
    assert "ŷ" in read("x = [1; 2]\ny\u0302 = softmax(x)")


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("x = 1\ny = sigmod(x)", 2, "no module “sigmod”: did you mean sigmoid?"),
        ("x = 1\ny = sigmoid(z)", 2, "no z yet"),
        ("alpha = 1\ny = sigmoid(alhpa)", 2, "did you mean alpha?"),
        ("x = 1\nx = 2\ny = exp(x)", 2, "x is already defined in line 1"),
        ("x = [1 2; 3]\ny = exp(x)", 1, "row 1 has 2 numbers and row 2 has 1"),
        ("x = [1; 2]\nW = [1 2 3]\ny = linear(W, x)", 3, "the weight needs 2 columns"),
        ("q = [1 2; 3 4]\nk = 1\ny = causal_attention(q, k, q)", 3, "keys"),
        ("x = [1; 2]\ny = softmax(x, x)", 2, "written softmax(a)"),
        ("x = 1\ny = linear(x)", 2, "linear(weight, input, bias?)"),
        ("x = 1\ny = x", 2, "write identity(x)"),
        ("x = 1\ny = exp(x) x", 2, "the line should end here, and there is “x”"),
        ("x = 1\ny = exp(x", 2, "the end of the line"),
        ("x = $1\ny = exp(x)", 1, "the character “$” means nothing here"),
        ("x = [1 - 2]\ny = exp(x)", 1, "write the sign beside its number"),
        ("x = []\ny = exp(x)", 1, "no number between the brackets"),
        ("x = 1e999\ny = exp(x)", 1, "larger than any number can be"),
        ("for = 1\n", 1, "needs a name"),
        ("parameter input = 1\n", 1, "is a word of the language"),
        ("parameter y = exp(1)", 1, "given by numbers, not computed"),
        ("  x = 1\ny = exp(x)", 1, "there is no loop above it"),
        ("for t in 1..3:\nx = 1\ny = exp(x)", 1, "the loop is empty"),
        ("for t in 3..1:\n  x[t] = 1\n", 1, "a loop counts upwards"),
        ("for t in 1..999:\n  x[t] = 1\n", 1, "at most 200 times"),
        ("for t in 1..2:\n  for s in 1..2:\n", 2, "a loop cannot be inside another loop"),
        ("h[0] = 1\nfor t in 1..2:\n  h[t] = exp(h[s-1])", 3, "s is not the variable of a loop"),
        ("x = [1; 2]\ny = exp(x[1])", 2, "x has no steps"),
        ("x[1..3] = [1; 2]\ny = exp(x[1])", 1, "needs 3 rows, and here are 2"),
        ("x = 1", 1, "nothing is computed yet"),
        ("", 1, "nothing is computed yet"),
        ("x = [1; 2]\nv = [1; 2; 3]\ny = add(x, v)", 3, "do not go together cell by cell"),
        ("x = 1\ny = softmax(x)", 2, "needs a vector or a matrix"),
        ("x = [1; 2]\ny = transpose(x)", 2, "needs a matrix as its input, and this is a vector of 2"),
        ("x = 1\ny = eval(x)", 2, "no module “eval”"),
    ],
)
def test_a_fault_is_said_at_its_line(text, line, words):
    assert (line, True) in [(at, words in sentence) for at, sentence in faults(text)]


def test_all_faults_are_said_at_once_and_none_that_follows_from_another():
    text = "x = [1 2\ny = sigmod(x)\nz = exp(y)\nw = $"
    assert [line for line, _ in faults(text)] == [1, 2, 4]


def test_a_loop_that_cannot_be_read_is_a_loop_all_the_same():
    assert [line for line, _ in faults("h[0] = 1\nfor t in 1..999:\n  h[t] = exp(h[t-1])\n  z[t] = $")] == [
        2,
        4,
    ]
    assert [line for line, _ in faults("h[0] = 1\nfor t 1..3:\n  h[t] = exp(h[t-1])\n")] == [2]


def test_a_fault_in_a_loop_is_said_once():
    assert len(faults("h[0] = 1\nfor t in 1..9:\n  h[t] = sigmod(h[t-1])")) == 1


@pytest.mark.parametrize(
    "text",
    [
        "x = 1\ny = " + "exp(" * 5000 + "x" + ")" * 5000,
        "x = [" + "1 " * 9000 + "]\ny = exp(x)",
        "a0 = [1 2 3 4; 5 6 7 8]\n"
        + "\n".join(f"a{n} = concatenate(a{n - 1}, a{n - 1})" for n in range(1, 99)),
        "h[0] = 1\nfor t in 1..200:\n" + "\n".join(f"  a{n}[t] = exp(h[0])" for n in range(40)),
        "x = " + "1" * 10_000 + "\ny = exp(x)",
        "x = 1\ny = exp(x)\n" + "#" * 30_000,
        "x = " + "1" * 1_000_000 + "\ny = exp(x)",
        "x = [1]\n" + "1 " * 20_000,
        "x[1..99999999999999999999] = [1; 2]\ny = exp(x[1])",
        "x = 1\ny = add(x[1..99999999999])",
    ],
    ids=[
        "deep",
        "wide",
        "doubling",
        "many",
        "long number",
        "long text",
        "longer number",
        "many numbers",
        "far",
        "far range",
    ],
)
def test_what_is_too_large_is_refused_quickly(text):
    with pytest.raises(NetworkFault):
        read(text)


WORDS = [*MODULES, "x", "W", "h[t]", "h[t-1]", "h[0]", "x[1..2]", "for t in 1..3:", "input", "parameter", "ŷ"]
PIECES = [
    *WORDS,
    "=",
    "(",
    ")",
    "[",
    "]",
    ",",
    ";",
    "..",
    " ",
    "  ",
    "\n",
    "\n  ",
    "-",
    "1",
    "0.5",
    "−2",
    "#",
    "·",
    "\t",
]


@given(some.one_of(some.text(max_size=200), some.lists(some.sampled_from(PIECES), max_size=60).map("".join)))
def test_any_text_is_a_network_or_a_sentence(text):
    net = None
    with contextlib.suppress(LmvizError):
        net = read(text)
    if net is not None:
        net.backward()
        assert read(net.text).text == net.text


def read_or_faults(text):
    """The network, or the faults of the text."""
    try:
        return read(text), ()
    except NetworkFault as refused:
        return None, refused.faults


@some.composite
def damaged_networks(draw):
    """A shipped network in which some characters are gone, or put in, or lines stand elsewhere."""
    text = draw(some.sampled_from(shipped_networks())).text
    for _ in range(draw(some.integers(0, 3))):
        first = draw(some.integers(0, len(text)))
        last = min(len(text), first + draw(some.integers(0, 3)))
        text = text[:first] + draw(some.sampled_from(["", " 1", "; 2", *PIECES])) + text[last:]
    if draw(some.booleans()):
        lines = text.split("\n")
        line = lines.pop(draw(some.integers(0, len(lines) - 1)))
        for _ in range(draw(some.integers(0, 2))):
            lines.insert(draw(some.integers(0, len(lines))), line)
        text = "\n".join(lines)
    return text


@settings(max_examples=300)
@given(damaged_networks())
def test_a_damaged_network_is_another_one_or_faults_at_its_lines(text):
    net, faults = read_or_faults(text)
    for fault in faults:
        assert 1 <= fault.line <= text.count("\n") + 1
        assert fault.sentence
    if net is None:
        assert faults
        target(float(faults[0].line), label="how far it was understood")
        return
    with np.errstate(all="ignore"):
        net.backward()
        again = read(net.text).backward()
    assert again.text == net.text
    for node in net:
        assert node.name[0] not in "[]();,=#"
        assert node.gradient.shape == node.value.shape == again[node.name].shape
        np.testing.assert_array_equal(again[node.name].value, node.value)


@some.composite
def lines_of_networks(draw):
    """Given numbers, then calls of any module with one to three earlier values, whether or not they fit."""
    shapes = some.sampled_from(["1", "[1; 2]", "[1 2; 3 4]", "[0.5 1]", "[1; -1; 0.5]"])
    lines = [f"v{at} = {draw(shapes)}" for at in range(3)]
    for at in range(3, 3 + draw(some.integers(1, 6))):
        inputs = [f"v{draw(some.integers(0, at - 1))}" for _ in range(draw(some.integers(1, 3)))]
        lines.append(f"v{at} = {draw(some.sampled_from([*MODULES]))}({', '.join(inputs)})")
    return lines


@settings(max_examples=200)
@given(lines_of_networks())
def test_well_formed_lines_are_a_network_or_faults_at_the_lines_of_calls(lines):
    net, faults = read_or_faults("\n".join(lines))
    for fault in faults:
        assert 4 <= fault.line <= len(lines)
        assert fault.sentence
    if net is None:
        assert faults
        return
    with np.errstate(all="ignore"):
        net.backward()
    for node in net:
        assert node.gradient.shape == node.value.shape


def test_the_text_holds_the_numbers_of_now():
    source = "x[1..2] = [1; -0.5] # given\nparameter W = 3\ny = linear(W, add(x[1], x[2]))  # computed"
    net = read(source)
    assert net.text == source
    net.edit("x[2]", (), 0.125).set("W", 1e-7)
    assert net.text == source.replace("[1; -0.5]", "[1; 0.125]").replace("W = 3", "W = 1e-07")


@given(some.lists(some.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=2))
def test_numbers_come_back_from_the_text_as_they_were(numbers):
    net = read("x = [0; 0]\ny = sum(x)").set("x", numbers)
    np.testing.assert_array_equal(read(net.text)["x"].value, net["x"].value)


LOOPS = {
    "numbers": "for t in 1..2:\n  x[t] = 3  # given\ny = add(x[1], x[2])",
    "alone in part": "U = 2\nh[0] = 1\nfor t in 1..3: # steps\n  # bias\n  parameter b[t] = 1\n"
    "  h[t] = add(linear(U, h[t-1]), b[t])\n\ny = sum(stack(h[1..3]))",
    "matrices": "for t in 1..3:\n  W[t] = [1 2; 3 4] # weights\n  v[t+2] = [1; 2]\n  o[t] = [7]\n"
    "  a[t] = add(linear(W[t], v[t+2]), sum(o[t]))\ny = sum(stack(a[1..3]))",
    "below 0": "for t in 0..2:\n  x[t-1] = 3\n  y[t] = exp(x[t-1])\nz = add(y[0..2])",
    "rows of one": "for t in 1..3:\n  x[t..t] = [3]\n  y[t] = exp(x[t])",
    "the output": "for t in 1..3:\n  y[t] = exp(2)\n  x[t] = 3",
    "the output below 0": "y = exp(2)\nfor t in 0..0:\n  x[t-1] = 3",
    "in calls": "h[0] = 1\nfor t in 1..4:\n  h[t] = tanh(add(linear(2, h[t-1]), 0.5, [1; 2]))",
}


@settings(max_examples=150)
@given(some.sampled_from([*LOOPS.values(), *(each.text for each in shipped_networks())]), some.data())
def test_a_written_network_has_the_same_numbers_when_it_is_read(text, data):
    net = read(text)
    numbers = some.floats(-1e3, 1e3) | some.sampled_from([1.0, 3.0])
    for node in net.inputs + net.parameters:
        for index in np.ndindex(*node.shape):
            if data.draw(some.booleans(), label=f"{node.name} {index}"):
                net.edit(node.name, index, data.draw(numbers))
    again = read(net.text)
    assert again.text == net.text
    assert again.output.name == net.output.name
    assert len(again.nodes) == len(net.nodes)
    assert {node.name: node.line for node in again if node.module} == {
        node.name: net.lines[node.name] for node in net if node.module
    }
    with np.errstate(all="ignore"):
        for node in net.backward():
            if node.name[0].isalpha() and not node.name.startswith("numbers"):
                assert net.lines[node.name] == again[node.name].line
                assert node.kind == again[node.name].kind
                np.testing.assert_array_equal(again.backward()[node.name].value, node.value)
                np.testing.assert_allclose(again[node.name].gradient, node.gradient, rtol=1e-9)


def test_numbers_of_many_digits_make_no_text_too_long():
    rows = "; ".join([" ".join(["0"] * 45)] * 45)
    net = read(f"x = [{'; '.join(['1'] * 45)}]\nparameter W = [{rows}]\ny = sum(linear(W, x))")
    net.set("W", np.random.default_rng(0).normal(size=(45, 45)) * 1e-7)
    assert len(net.text) > 40_000
    np.testing.assert_array_equal(read(net.text)["W"].value, net["W"].value)


def test_steps_of_a_loop_that_learned_different_numbers_are_written_above_it():
    net = read(LOOPS["alone in part"])
    net.set("b[1]", 5).set("b[2]", 6).set("b[3]", 7)
    assert net.text == (
        "U = 2\nh[0] = 1\nparameter b[1..3] = [5; 6; 7]\nfor t in 1..3: # steps\n  # bias\n"
        "  h[t] = add(linear(U, h[t-1]), b[t])\n\ny = sum(stack(h[1..3]))"
    )
    net.set("b[1]", 4).set("b[2]", 4).set("b[3]", 4)
    assert net.text == LOOPS["alone in part"].replace("b[t] = 1", "b[t] = 4")


def test_a_loop_of_numbers_alone_is_gone_once_they_differ():
    net = read(LOOPS["numbers"]).set("x[1]", 10).set("x[2]", 5)
    assert net.text == "x[1..2] = [10; 5]  # given\ny = add(x[1], x[2])"


def test_a_number_in_a_call_is_one_for_all_steps_of_a_loop():
    net = read("h[0] = 1\nfor t in 1..3:\n  h[t] = add(h[t-1], 2)").set("2", 5).forward()
    assert net["h[3]"].value == 16
    assert [node.name for node in net.inputs] == ["h[0]", "2"]


def test_near_names_are_looked_for_only_where_they_are_said(monkeypatch):
    compared = []
    monkeypatch.setattr(
        "difflib.get_close_matches", lambda name, names, n: compared.append(name) or [*names][:n]
    )
    text = "\n".join([*(f"value{n} = 1" for n in range(100)), *(f"a{n} = exp(valu{n})" for n in range(100))])
    assert faults(text) == [(101, "there is no valu0 yet: did you mean value0?")]
    assert compared == ["valu0"]


def test_numbers_that_have_not_changed_stay_as_they_were_written():
    source = "x = [1.0, 2.50; 3 −4]\nW = 1e0\ny = multiply(W, x)"
    net = read(source).forward()
    assert net.text == source
    assert net.set("W", 2).text == source.replace("1e0", "2")


def test_a_node_knows_where_its_numbers_are_written():
    text = "x = [1; 2]\nparameter w = 3\ny = sum(x)\nz = add(multiply(w, y), 7)"
    net = read(text)
    for name, literal in (("x", "[1; 2]"), ("w", "3"), ("7", "7")):
        place = net[name].place
        assert text.splitlines()[place.line - 1][place.first : place.last] == literal
