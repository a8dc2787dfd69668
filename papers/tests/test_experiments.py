"""Every experiment runs at a tiny size, says where its settings come from, and ends in claims, tables and figures."""

import json
import re
from itertools import chain
from pathlib import Path

import pytest

from kernelpca.datasets import MissingData, find
from kernelpca.plotting import style
from kernelpca_papers import catalogue, drawing
from kernelpca_papers.experiment import SIZES
from kernelpca_papers.output import Output
from kernelpca_papers.runner import reproduce

ROOT = Path(__file__).parents[2]
ALL = catalogue.names()


@pytest.fixture(params=ALL)
def experiment(request):
    return catalogue.load(request.param)


def test_every_paper_has_experiments():
    assert set(catalogue.EXPERIMENTS) == set(catalogue.PAPERS)
    assert all(catalogue.EXPERIMENTS.values())


def test_the_number_of_experiments_is_right():
    for page in ("README.md", "CHANGELOG.md"):
        assert re.search(rf"\b{len(ALL)} experiments", (ROOT / page).read_text()), page


def test_experiments_draw_in_the_look_of_the_library():
    for name in ("COLORS", "MARKS", "LINES", "IN_ORDER", "STYLE", "styled", "new_figure", "legend_below", "look"):
        assert getattr(drawing, name) is getattr(style, name)


def test_experiments_say_what_they_are(experiment):
    assert experiment.name in ALL
    assert set(experiment.sizes) == set(SIZES)
    assert set(experiment.seconds) >= {"full", "quick"}
    assert experiment.title
    assert experiment.source
    assert experiment.null.endswith(".")
    assert re.search(r"figure|table|section|appendix|algorithm|equation", experiment.source)


def test_every_setting_is_printed_or_chosen_for_a_reason(experiment):
    assert experiment.settings
    for setting in experiment.settings:
        assert setting.name
        assert setting.value
        assert re.match(r"printed|partly printed: |not printed, ", setting.source), setting


def test_pieces_are_plain_and_differ(experiment):
    for size in SIZES:
        pieces = [json.dumps(piece, sort_keys=True) for piece in experiment.plan(size)]
        assert len(set(pieces)) == len(pieces) > 0


def is_labelled(axis):
    """Whether a reader knows what it shows: from words beside it, or because it is an image or empty."""
    words = axis.get_title() or axis.get_xlabel() or axis.get_ylabel()
    hidden = not axis.get_visible() or not axis.axison or not any(spine.get_visible() for spine in axis.spines.values())
    return words or axis.images or (hidden and not axis.has_data()) or axis.name == "3d"


@pytest.mark.slow
def test_tiny_run(experiment, tmp_path):
    try:
        for name in experiment.data:
            find(name, download=False)
    except MissingData as error:
        pytest.skip(str(error))
    output = Output(tmp_path)
    output.open()
    (result,) = reproduce([experiment], "tiny", output.store, 1)
    assert not result.error, result.trace
    findings = result.findings
    assert findings.claims
    for claim in findings.claims:
        assert claim.source
        assert claim.measured is None or isinstance(claim.measured, int | float)
        assert claim.target is None or isinstance(claim.target, int | float)
    names = [picture.name for picture in findings.pictures]
    assert len(set(names)) == len(names)
    for picture in findings.pictures:
        assert picture.paper.endswith(".")
        assert all(is_labelled(axis) for axis in picture.figure.axes), picture.name
    for table in findings.tables:
        assert table.title
        assert all(len(row) == len(table.columns) for row in table.rows)
        assert all(isinstance(cell, str | int | float) for cell in chain(*table.rows))
    output.add(result)
    output.close()
    record = json.loads((tmp_path / "results.json").read_text())["experiments"][0]
    assert record["name"] == experiment.name
    assert len(record["claims"]) == len(findings.claims)
    page = (tmp_path / "report.html").read_text()
    assert page.count("data:image/png;base64,") == len(findings.pictures)
