"""A claim holds, differs or cannot be had, and says so."""

import json
import math

import pytest

from kernelpca_papers.claims import Claim, count_line, joint_error


def claim(measured, relation="equal to", tolerance=0.5, **more):
    return Claim("x", "table 1", 2.0, measured, relation, tolerance, "rounding", **more)


@pytest.mark.parametrize(
    ("relation", "inside", "outside"),
    [("equal to", (1.5, 2.5), (1.49, 2.51)), ("at most", (-9, 2.5), (2.51,)), ("at least", (1.5, 99), (1.49,))],
)
def test_relations_and_their_edges(relation, inside, outside):
    assert all(claim(x, relation).verdict == "pass" for x in inside)
    assert all(claim(x, relation).verdict == "differ" for x in outside)


@pytest.mark.parametrize("nothing", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("relation", ["equal to", "at most", "at least"])
def test_what_is_no_number_never_holds(relation, nothing):
    assert claim(nothing, relation).verdict == "differ"
    assert claim(nothing, relation, expected="differ", evidence="seen").fails


def test_only_what_should_pass_can_fail():
    assert claim(9.0).fails
    assert not claim(2.0).fails
    known = claim(9.0, expected="differ", evidence="measured 9 in 200 runs")
    assert known.verdict == "differ"
    assert not known.fails
    gone = Claim("x", "figure 7", None, None, expected="not reproducible", evidence="the data cannot be had")
    assert gone.verdict == "not reproducible"
    assert not gone.fails


def test_a_claim_that_differed_before_may_pass():
    assert claim(2.0, expected="differ", evidence="differed once").verdict == "pass"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"expected": "differ"}, "give the evidence"),
        ({"expected": "not reproducible"}, "give the evidence"),
        ({"measured": None}, "nothing to compare"),
        ({"target": None}, "nothing to compare"),
        ({"tolerance": 0.1, "reason": ""}, "give the reason"),
    ],
)
def test_claims_without_reasons_are_refused(wrong, message):
    given = {"statement": "x", "source": "table 1", "target": 1.0, "measured": 1.0}
    with pytest.raises(ValueError, match=message):
        Claim(**{**given, **wrong})


def test_counting():
    gone = Claim("x", "figure 7", None, None, expected="not reproducible", evidence="the data cannot be had")
    known = claim(9.0, expected="differ", evidence="seen")
    assert count_line([claim(2.0), claim(2.1), known, gone]) == "4 claims: 2 pass, 1 differ, 1 not reproducible"
    assert count_line([claim(9.0)]).endswith("; 1 that should pass did not")


def test_errors_of_independent_means_add_as_squares():
    assert joint_error(3.0, 4.0, normal=1.0) == 5.0
    assert joint_error(0.1) == pytest.approx(0.3)


def test_a_record_is_plain_json():
    record = json.loads(json.dumps(claim(2.1, error=0.1).record()))
    assert record["verdict"] == "pass"
    assert record["tolerance"] == 0.5
