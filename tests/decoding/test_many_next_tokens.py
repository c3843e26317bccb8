"""What follows many prefixes is what follows each alone, for every family that continues a text."""

import numpy as np
import pytest
from family_cases import CASES, IDS, covering, source_of, trained, translates

from lmviz.decoding.continuation import Continuation
from lmviz.decoding.many_next_tokens import next_tokens
from lmviz.decoding.options import SamplingOptions
from lmviz.decoding.sampling import distribution_after
from lmviz.inspection.changed_model import ChangedModel
from lmviz.inspection.interventions import add
from lmviz.models.given_source import GivenSource
from lmviz.models.prefix import read_prefix

ROWS = [IDS, IDS[:3], IDS[::-1], IDS[:5], IDS[1:4], IDS[:1], IDS[2:]]
CONTINUING = [case for case in CASES if case.values[1].get("task") in (None, "translation", "captioning")]


@pytest.mark.parametrize(
    ("family", "options"),
    covering(CONTINUING, [{(case.values[0], case.values[1].get("task"))} for case in CONTINUING]),
)
def test_what_follows_each_of_many_is_what_follows_it_alone(family, options):
    model = trained(family, tuple(sorted(options.items())))
    source = source_of(model) if translates(model) else None
    asked = SamplingOptions(temperature=0.7, top_k=4)
    found = next_tokens(
        model, [read_prefix(model, ids) for ids in ROWS], asked, None if source is None else [source] * 7
    )
    alone = model if source is None else GivenSource(model, source)
    for ids, one in zip(ROWS, found, strict=True):
        same = distribution_after(Continuation.of(alone, ids), asked)
        np.testing.assert_allclose(one.probabilities, same.probabilities, atol=1e-6)


def test_a_changed_model_reads_each_as_it_would_alone():
    model = ChangedModel(trained("transformer", ()), [add("layers/0/residual1", 1.0, position=-1)])
    found = next_tokens(model, [read_prefix(model, ids) for ids in ROWS], SamplingOptions())
    for ids, one in zip(ROWS, found, strict=True):
        same = distribution_after(Continuation.of(model, ids), SamplingOptions())
        np.testing.assert_allclose(one.probabilities, same.probabilities, atol=1e-6)
