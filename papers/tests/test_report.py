"""The page of results in a real browser: figures load, tables sort and filter, on a phone and in the dark."""

import json

import numpy as np
import pytest

from browsing import click, column, contrasts, open_browser, set_screen
from kernelpca_papers.claims import Claim
from kernelpca_papers.drawing import new_figure, styled
from kernelpca_papers.experiment import Experiment, Findings, Picture, Setting, Table
from kernelpca_papers.output import Output
from kernelpca_papers.runner import Result

HOSTILE = "<script>document.title = 'taken'</script> & \"quotes\" <b>"


def made(name, claims, pictures=(), tables=(), **more):
    experiment = Experiment(
        name,
        f"Title of {name}",
        "table 1",
        (Setting("gamma", "0.5", "printed, section 1"),),
        "the training mean.",
        {},
        lambda: [],
        dict,
        lambda found: Findings(claims),
    )
    findings = Findings(claims, tables, pictures, [HOSTILE])
    return Result(experiment, "quick", findings, 1.0, 1.0, 10**8, 3, **more)


def picture(name):
    with styled():
        figure, axis = new_figure()
        axis.plot(np.arange(5), np.arange(5) ** 2)
        axis.set(xlabel="x", ylabel="y")
    return Picture(name, figure, "The paper shows a line.", HOSTILE)


def write(folder):
    claims = [
        Claim("first error", "table 1", 10.0, 9.5, tolerance=1.0, reason="rounding"),
        Claim("second error", "table 1", 2.0, 100.0, "at most", expected="differ", evidence="measured 100"),
        Claim("third", "figure 2", None, None, expected="not reproducible", evidence="no data", printed="7"),
    ]
    more = [Claim(f"error {HOSTILE}", "table 2", 1.0, float(i), "at least") for i in (3, 20, 1)]
    table = Table("A table", ["method", "error"], [["b", 2.5], ["a", 11.0], ["c", -1.0]], HOSTILE)
    output = Output(folder)
    output.open()
    output.add(made("ikpca/one", claims, [picture("a"), picture("b")], [table]))
    output.add(made("tutorial/two", more, [picture("a")]))
    skipped = made("digest/three", []).experiment
    output.add(Result(skipped, "quick", skipped="usps.npz is not here"))
    output.add(Result(made("mika-analysis/four", []).experiment, "quick", error="RuntimeError: boom"))
    output.close()
    return folder / "report.html"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    return write(tmp_path_factory.mktemp("report"))


@pytest.fixture(scope="module")
def browser(page, tmp_path_factory):
    with open_browser(tmp_path_factory.mktemp("profile")) as driver:
        driver.get(page.as_uri())
        yield driver


def shown(browser):
    return browser.execute_script(
        "return [...document.querySelectorAll('tr.claim')].filter(r => r.offsetParent).length"
    )


def set_filter(browser, words="", verdict=""):
    browser.execute_script(
        "const f = document.querySelector('form.filter'); f.elements.words.value = arguments[0];"
        "f.elements.verdict.value = arguments[1]; f.dispatchEvent(new Event('input', {bubbles: true}))",
        words,
        verdict,
    )


def test_nothing_is_loaded_from_elsewhere(page):
    text = page.read_text()
    for address in ('src="http', 'href="http', "url(http", "@import", "//cdn"):
        assert address not in text


def test_no_console_errors_and_no_script_of_others(browser):
    assert browser.get_log("browser") == []
    assert browser.title == "kernelpca: the papers' experiments, rerun"


def test_every_figure_loads(browser):
    widths = browser.execute_async_script(
        "const done = arguments[0], images = [...document.images];"
        "images.forEach(i => { i.loading = 'eager' });"
        "const widths = () => done(images.map(i => i.naturalWidth));"
        "Promise.all(images.map(i => i.decode())).then(widths, e => done(String(e)))"
    )
    assert len(widths) == 3
    assert min(widths) > 300
    assert browser.execute_script("return [...document.images].every(i => i.alt)")


def test_tables_sort_numbers_as_numbers_both_ways(browser):
    table = "article table.sorts"
    assert column(browser, table, 1) == ["2.5", "11", "-1"]
    click(browser, table, 1)
    assert column(browser, table, 1) == ["-1", "2.5", "11"]
    click(browser, table, 1)
    assert column(browser, table, 1) == ["11", "2.5", "-1"]
    click(browser, table, 0)
    assert column(browser, table, 0) == ["a", "b", "c"]


def test_claims_sort_by_our_number(browser):
    table = "#tutorial table.claims"
    click(browser, table, 3)
    assert column(browser, table, 3) == ["1", "3", "20"]


def test_claims_filter_by_words_and_verdict(browser):
    set_filter(browser)
    assert shown(browser) == 6
    set_filter(browser, verdict="differ")
    assert shown(browser) == 1
    set_filter(browser, words="Second ERROR")
    assert shown(browser) == 1
    set_filter(browser, words="error")
    assert shown(browser) == 5
    set_filter(browser, words="error", verdict="not reproducible")
    assert shown(browser) == 0
    set_filter(browser, verdict="pass")
    assert shown(browser) == 4
    assert browser.execute_script("return document.querySelector('output').textContent") == "4 shown"
    set_filter(browser)


def test_count_problems_and_evidence_are_on_the_page(browser):
    text = browser.execute_script("return document.body.textContent")
    for words in ("6 claims: 4 pass, 1 differ, 1 not reproducible", "usps.npz is not here", "boom", "measured 100"):
        assert words in text


@pytest.mark.parametrize(("width", "height"), [(1280, 900), (360, 740)])
def test_nothing_is_wider_than_the_screen(browser, width, height):
    set_screen(browser, width, height, touch=width < 600)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_in_light_and_dark(browser, scheme):
    set_screen(browser, scheme=scheme)
    selectors = ["body", ".quiet", ".verdict.pass", ".verdict.differ", ".verdict.open", "a", "summary"]
    for selector, ratio in contrasts(browser, selectors).items():
        assert ratio >= 4.5, selector


def test_experiments_stand_in_the_order_asked_for(tmp_path):
    output = Output(tmp_path)
    output.open()
    for name in ("digest/timed", "ikpca/two", "ikpca/one"):
        output.add(made(name, []))
    output.close(["ikpca/one", "ikpca/two"])
    names = [record["name"] for record in json.loads((tmp_path / "results.json").read_text())["experiments"]]
    assert names == ["ikpca/one", "ikpca/two", "digest/timed"]
    page = (tmp_path / "report.html").read_text()
    assert page.index("Title of ikpca/one") < page.index("Title of ikpca/two") < page.index("Title of digest/timed")
