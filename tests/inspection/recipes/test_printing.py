"""A recipe prints what it binds last."""

import pytest

from lmviz.inspection.recipes.decoding import distribution_recipe, roll_recipe
from lmviz.inspection.recipes.printing import printing
from lmviz.inspection.recipes.recipe import RecipeSubject, array_recipe

SUBJECT = RecipeSubject("stories-5-gram", "the cows")


def printed(source: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    exec(printing(source), {})
    return capsys.readouterr().out.splitlines()


def test_an_array_is_printed(capsys):
    lines = printed(array_recipe(SUBJECT, "probabilities"), capsys)
    assert lines[0].startswith("[[")


def test_a_distribution_is_printed_by_its_likeliest_words(capsys):
    import lmviz

    lines = printed(distribution_recipe(SUBJECT, {}), capsys)
    best = lmviz.next_token(lmviz.open_model(SUBJECT.model), SUBJECT.text).top(1)[0]
    assert lines[0].split() == [repr(best.token), f"{best.probability:.4f}"]


def test_a_roll_prints_the_word_on_which_it_landed(capsys):
    [line] = printed(roll_recipe(SUBJECT, {}, None), capsys)
    assert line.startswith("'")


def test_several_names_are_printed_together():
    assert printing("ids, tokens = [1], ['a']\n").endswith("print(ids, tokens)\n")


def test_without_a_result_nothing_is_added():
    assert printing("import lmviz\n") == "import lmviz\n"
