"""Pages in a real browser without a network: what they show and answer is what lmviz computed."""

from datetime import date

import numpy as np
import pytest
from browsers import SIZES, Opened, browser
from page_parts import HOSTILE, some_of

import lmviz
from lmviz.base.figures import percentage, whole_percentage
from lmviz.looks.look import Look
from lmviz.pages.page import HtmlPage, PageSection
from lmviz.polls.poll import Poll, PollChoice

pytestmark = pytest.mark.slow

TEXT = "Maya owned a brown stone . Later , there lay the brown"
OTHER = "Maya owned a brown bell . Later , there lay the brown"


@pytest.fixture(scope="module")
def chromium():
    with browser() as running:
        yield running


@pytest.fixture(scope="module")
def results():
    model = lmviz.open_model("stories-transformer")
    trace = lmviz.trace(model, TEXT)
    contrast = lmviz.contrast(TEXT, changed=OTHER)
    return {
        "trace": trace,
        "lens": lmviz.logit_lens(model, trace),
        "patches": lmviz.patch(model, contrast),
        "ablation": lmviz.ablate(model, contrast),
        "attribution": lmviz.attribute(model, contrast),
        "circuit": lmviz.circuit(model, contrast),
        "scores": lmviz.head_scores(model),
    }


@pytest.fixture(scope="module")
def reading(results, tmp_path_factory):
    """The page of all results."""
    path = tmp_path_factory.mktemp("pages") / "page.html"
    lmviz.page(list(results.values()), out=path, title="A reading")
    return path


@pytest.fixture
def opened(chromium, reading):
    found = Opened(chromium, reading)
    yield found
    found.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_every_kind_of_part_opens_without_a_message_or_a_request(chromium, reading, tmp_path, size, scheme):
    every = tmp_path / "every.html"
    sections = [PageSection(Look((part,), title=type(part).__name__)) for part in some_of("word")]
    HtmlPage(sections, title="Every part").save(every)
    for path in (reading, every):
        opened = Opened(chromium, path, size, scheme)
        assert opened.requests == [path.as_uri()]
        assert opened.messages == []
        wide = opened.page.evaluate("document.documentElement.scrollWidth")
        assert wide <= SIZES[size][0], f"{path.name} scrolls sideways"
        opened.close()


@pytest.mark.parametrize("size", SIZES)
def test_a_page_of_hostile_names_runs_nothing(chromium, tmp_path, size):
    path = tmp_path / "hostile.html"
    look = Look(
        [part for part in some_of(HOSTILE) if type(part).__name__ != "FixedPicture"], HOSTILE, HOSTILE
    )
    HtmlPage([PageSection(look, [(HOSTILE, HOSTILE)], [HOSTILE])], title=HOSTILE, lead=[HOSTILE]).save(path)
    opened = Opened(chromium, path, size)
    assert opened.messages == []
    assert opened.requests == [path.as_uri()]
    assert opened.page.locator("img").count() == 0
    assert opened.page.locator("script").count() == 2
    assert "alert(1)" in opened.page.locator("main").inner_text()
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= SIZES[size][0]
    opened.close()


def test_the_policy_forbids_what_is_not_of_the_page(opened):
    opened.page.evaluate(
        """() => {
            const script = document.createElement("script"), image = new Image();
            script.textContent = "window.ran = 1";
            document.body.append(script);
            image.src = "https://example.org/x.png";
        }"""
    )
    opened.page.wait_for_function("true")
    assert opened.page.evaluate("window.ran") is None
    assert len(opened.messages) >= 2  # the browser says what it has refused


def test_hovering_a_cell_says_the_weight_of_the_trace(opened, results):
    weights = results["trace"]["layers/0/attention/weights"].array[0]
    section = "section[aria-label='Attention by head']"
    for row, column in ((12, 5), (3, 1), (9, 9)):
        opened.page.hover(f"{section} td[data-row='{row}'][data-column='{column}']")
        assert percentage(float(weights[row, column])) in opened.readout(f"{section} figure")


def test_a_word_says_its_surprisal_and_where_it_looks(opened, results):
    trace = results["trace"]
    logits = trace["logits"].array.astype(np.float64)
    opened.page.hover("section[aria-label='The text'] [data-position='5']")
    shares = np.exp(logits[4] - logits[4].max())
    surprisal = -np.log2(shares[trace.ids[5]] / shares.sum())
    said = opened.readout("section[aria-label='The text']")
    assert f"surprisal {surprisal:.2f} bits" in said
    row = trace["layers/0/attention/weights"].array[0, 5]
    assert f"with {whole_percentage(float(row.max()))} of its attention" in said


def test_temperature_and_filters_give_what_python_gives(opened, results):
    trace = results["trace"]
    section = "section[aria-label='Next word']"
    for name, value in (("temperature", "0.5"), ("top_k", "4"), ("min_p", "0.03")):
        opened.page.locator(f"{section} input[name={name}]").evaluate(
            "(input, value) => { input.value = value; input.dispatchEvent(new Event('input')); }", value
        )
    from lmviz.decoding.distribution import next_distribution

    expected = next_distribution(trace["logits"].array[-1], 0.5, 4, 1.0, 0.03, tokens=trace.vocabulary)
    rows = opened.page.locator(f"{section} table.bars tr")
    shown = [rows.nth(rank).inner_text().split() for rank in range(10)]
    for (word, *figure), candidate in zip(shown, expected.top(10), strict=True):
        assert word == candidate.token
        said = f"cut by {candidate.cut_by}" if candidate.cut_by else percentage(candidate.probability)
        assert " ".join(figure) == said


def test_arrow_keys_move_through_the_text(opened):
    opened.page.focus("section[aria-label='The text'] [role=option][tabindex='0']")
    opened.page.keyboard.press("ArrowLeft")
    opened.page.keyboard.press("ArrowLeft")
    assert opened.readout("section[aria-label='The text']").startswith("“lay”")
    assert opened.page.evaluate("document.activeElement.dataset.position") == "10"


def test_patches_say_what_they_are(opened, results):
    patches = results["patches"]
    section = "section[aria-label='What brings the answer back']"
    opened.page.hover(f"{section} td[data-row='0'][data-column='12']")
    assert f"{percentage(float(patches.array[-1, 12]))} comes back" in opened.readout(section)


def test_every_picture_has_its_numbers_as_a_table(opened):
    figures = opened.page.locator("figure")
    for place in range(figures.count()):
        details = figures.nth(place).locator("details.behind")
        assert details.count() == 1
        details.locator("summary").click()
        details.locator("tbody tr").first.wait_for()


def test_roles_and_names(opened):
    unnamed = opened.page.evaluate(
        """() => {
            const kinds = "button, input, [role=img], [role=application], [role=listbox]";
            const all = document.querySelectorAll(kinds), label = (one) => one.getAttribute("aria-label");
            const isNamed = (one) => label(one) || one.textContent.trim() || one.closest("label");
            return [...all].filter((one) => !isNamed(one)).map((one) => one.outerHTML);
        }"""
    )
    assert unnamed == []


def test_a_slider_shows_the_numbers_of_each_step(chromium, tmp_path):
    path = tmp_path / "steps.html"
    traces = lmviz.trace("stories-gru", TEXT, taps=["logits"], steps="all")
    lmviz.page([traces], out=path, title="Over the steps")
    opened = Opened(chromium, path)
    section = "section[aria-label='Next word']"
    names = sorted(traces)
    for place in (0, len(names) - 1):
        opened.page.locator(f"{section} .slider input").evaluate(
            "(input, value) => { input.value = value; input.dispatchEvent(new Event('input')); }", str(place)
        )
        logits = traces[names[place]]["logits"].array[-1].astype(np.float64)
        shares = np.exp(logits - logits.max())
        first = opened.page.locator(f"{section} table.bars tr").first.inner_text()
        assert percentage(float(shares.max() / shares.sum())) in first
        assert f"{names[place]:,}" in opened.page.locator(f"{section} .slider").inner_text()
    assert opened.messages == []
    opened.close()


def test_the_answer_of_a_poll_is_hidden_until_asked_for(chromium, tmp_path):
    path = tmp_path / "poll.html"
    poll = Poll(
        "Two", "How many?", (PollChoice("A", "one"), PollChoice("B", "two")), "One and one.", right="B"
    )
    lmviz.page([poll], out=path)
    opened = Opened(chromium, path)
    answer = opened.page.get_by_text("B is right.")
    assert not answer.is_visible()
    opened.page.get_by_text("Show the answer").click()
    assert answer.is_visible()
    opened.close()


def test_a_page_opens_within_a_second(chromium, reading):
    opened = Opened(chromium, reading)
    took = opened.page.evaluate(
        "performance.timing.domContentLoadedEventEnd - performance.timing.navigationStart"
    )
    assert took < 1000
    opened.close()


def test_a_page_prints(opened, tmp_path):
    opened.page.pdf(path=str(tmp_path / "page.pdf"))
    assert (tmp_path / "page.pdf").stat().st_size > 10_000


def test_the_day_stands_in_the_foot(chromium, tmp_path):
    path = tmp_path / "day.html"
    HtmlPage(
        [PageSection(Look(some_of("word")[2:3]), [("model", "m")])], title="x", made=date(2026, 1, 2)
    ).save(path)
    opened = Opened(chromium, path)
    foot = opened.page.locator("footer").inner_text()
    assert "2026-01-02" in foot
    assert "model" in foot
    opened.close()
