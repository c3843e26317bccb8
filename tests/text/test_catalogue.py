import hashlib
import re
from collections import Counter

import pytest

from lmviz.base.errors import LmvizError
from lmviz.text.catalogue import CATALOGUE, corpus_path, find_entry
from lmviz.text.corpus import load_corpus
from lmviz.text.corpus_options import CorpusOptions
from lmviz.text.grammar import Grammar
from lmviz.text.own_corpora import sums
from lmviz.text.resources import resource_path

OWN = tuple(entry.name for entry in CATALOGUE if not entry.address)


@pytest.fixture(scope="module")
def stories() -> str:
    return corpus_path("stories").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", OWN)
def test_our_own_corpora_are_the_same_everywhere(name):
    entry = find_entry(name)
    data = corpus_path(name).read_bytes()
    assert hashlib.sha256(data).hexdigest() == entry.sha256
    assert len(data.decode("utf-8")) == entry.characters
    assert entry.is_present


@pytest.mark.parametrize("entry", CATALOGUE, ids=lambda entry: entry.name)
def test_every_entry_tells_what_it_is(entry):
    CorpusOptions(**entry.options)
    assert entry.title
    assert entry.description.endswith((".", "?"))
    assert re.fullmatch(r"[0-9a-f]{64}", entry.sha256)
    assert entry.licence
    assert not entry.address or entry.address.startswith("https://")
    assert entry.address or entry.characters


def test_a_corpus_opens_by_name_in_the_way_that_suits_it():
    farm = load_corpus("farm")
    assert farm.name == "farm"
    assert farm.sources == ("farm",)
    assert farm.options.documents == "line"
    assert farm.options.lower_case
    assert load_corpus("sums").tokenizer.kind == "characters"
    assert load_corpus("farm", "characters", documents="file").tokenizer.kind == "characters"


def test_a_spoilt_file_is_made_again():
    path = corpus_path("sums")
    path.write_text("1+1=3\n", encoding="utf-8")
    assert corpus_path("sums").read_text(encoding="utf-8") == sums()


def test_what_is_not_there_is_said(monkeypatch, tmp_path):
    with pytest.raises(LmvizError, match="the catalogue has farm, stories"):
        corpus_path("nothing")
    monkeypatch.setenv("LMVIZ_DATA", str(tmp_path))
    assert not find_entry("tiny-shakespeare").is_present
    with pytest.raises(LmvizError, match="download it"):
        load_corpus("tiny-shakespeare")


def test_no_place_for_what_is_made_says_how_to_name_another(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("x", encoding="utf-8")
    monkeypatch.setenv("LMVIZ_DATA", str(tmp_path / "file" / "folder"))
    with pytest.raises(LmvizError, match=r"^sums is made .*: name another folder in LMVIZ_DATA\.$"):
        corpus_path("sums")


def test_the_farm_is_plain():
    lines = resource_path("corpora", "farm.txt").read_text(encoding="utf-8").splitlines()
    assert len(lines) == len(set(lines)) > 300
    assert all(re.fullmatch(r"[A-Z][A-Za-z' ]+\.", line) for line in lines)
    followers = Counter(re.findall(r"cows eat (\w+)", " ".join(lines).lower()))
    assert followers == {"corn": 4, "grass": 3, "hay": 2, "if": 1, "which": 1}


def test_all_sums_are_right():
    lines = sums().splitlines()
    assert len(lines) == len(set(lines)) == 10_000
    for line in lines:
        left, right, total = map(int, re.fullmatch(r"(\d+)\+(\d+)=(\d+)", line).groups())
        assert left + right == total


def test_the_stories_are_many_and_clean(stories):
    told = stories.strip().split("\n\n")
    assert len(told) == len(set(told)) > 3000
    assert not set(stories) & set("{}[]|*_")
    words = set(re.findall(r"\w+(?:-\w+)*", stories.lower()))
    assert 600 < len(words) < 1500
    assert "  " not in stories
    assert not re.findall(r"\ba [aeio]|\ban [^aeiou]|[.?!] [a-z]|[.,?!][.,?!]", stories)
    assert all(story.count('"') % 2 == 0 for story in told)


def test_things_return_several_sentences_later(stories):
    found = re.findall(
        r"put the (\w+ \w+) in the (\w+) .{40,600}?opened the \2 and took out the (\w+ \w+)\.", stories
    )
    assert len(found) > 100
    assert all(put == taken for put, _, taken in found)


def test_verbs_agree_with_the_noun_in_front(stories):
    grammar = Grammar.parse(resource_path("corpora", "stories.grammar").read_text(encoding="utf-8"))
    verbs = {}
    for name in ("thing", "animal"):
        words = grammar.lists[name]
        for choice in words.choices:
            one, many = ("".join(choice.forms[words.place(form)]) for form in ("one", "many"))
            if one != many:
                verbs |= {one: "was", many: "were"}
    found = re.findall(r"The (\w+) (?:near the|that lived under the) \w+ (was|were) ", stories)
    told = [(noun, verb) for noun, verb in found if noun in verbs]
    assert {verb for _, verb in told} == {"was", "were"}
    assert all(verbs[noun] == verb for noun, verb in told)


def test_a_name_is_always_that_of_a_girl_or_a_boy(stories):
    kinds = dict.fromkeys(re.findall(r"a (?:\w+ )?(boy|girl) named (\w+)", stories))
    names = [name for _, name in kinds]
    assert len(names) == len(set(names)) == 40


def test_every_list_of_the_grammar_is_used():
    text = resource_path("corpora", "stories.grammar").read_text(encoding="utf-8")
    rules = re.sub(r"(?m)^#.*$", "", text)
    for name in re.findall(r"(?m)^\[(\w+)", rules):
        assert name == "story" or re.search(rf"\{{(?:\w+:)?{name}[.?}}]", rules), name
