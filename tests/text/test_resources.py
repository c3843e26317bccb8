import pytest

from lmviz.base.errors import LmvizError
from lmviz.text import resources


def test_resources_are_found_in_a_checkout():
    assert resources.resource_path("corpora", "farm.txt").is_file()


def test_a_resource_that_is_missing_is_said():
    with pytest.raises(LmvizError, match=r"lacks the file corpora/other\.txt"):
        resources.resource_path("corpora", "other.txt")


def test_the_data_folder_can_be_chosen(monkeypatch, tmp_path):
    monkeypatch.setenv("LMVIZ_DATA", str(tmp_path))
    assert resources.data_folder() == tmp_path
    monkeypatch.delenv("LMVIZ_DATA")
    assert "lmviz" in str(resources.data_folder())
