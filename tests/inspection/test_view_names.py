"""What stands along the axes of a view."""

from lmviz.inspection.tracing import trace
from lmviz.inspection.view_names import names_along


def test_words_have_their_names_and_units_their_numbers(a, text):
    model = a("lstm")
    found = trace(model, text)
    assert names_along(found, "position", (2, 0)) == (found.tokens[2], found.tokens[0])
    assert names_along(found, "token", (5, 1)) == tuple(model.tokenizer.token(id) for id in (5, 1))
    assert names_along(found, "unit", (0, 4)) == ("unit 1", "unit 5")
    assert names_along(found, "", (0, 1)) == ()
