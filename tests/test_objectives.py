"""Objectives: three formulas each, compared with their naive twins, and the laws that tie them together."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import minimize

import reference
from kernelpca.objectives import EpsilonInsensitive, Huber, Objective, Square

OBJECTIVES = [
    Square(),
    Huber(1.5, "2"),
    Huber(1.5, "1"),
    Huber(2.5, "fro"),
    EpsilonInsensitive(0.8, "2"),
    EpsilonInsensitive(0.8, "inf"),
]
matrices = arrays(np.float64, (5, 3), elements=st.floats(-4, 4, width=32))


@pytest.fixture(params=OBJECTIVES, ids=repr)
def objective(request):
    return request.param


@settings(max_examples=50, deadline=None)
@given(Y=matrices)
@pytest.mark.parametrize("norm", ["2", "1", "fro"])
def test_huber_equals_its_twin(norm, Y):
    huber = Huber(1.5, norm)
    H = huber.prox_conjugate(Y)
    np.testing.assert_allclose(H, reference.huber_gradient(Y, 1.5, norm), atol=1e-12)
    assert huber.value(Y) == pytest.approx(reference.huber_penalty(Y, 1.5, norm), abs=1e-12)
    assert huber.conjugate(H) == 0
    assert huber.conjugate(H + 4.0) == np.inf


@settings(max_examples=50, deadline=None)
@given(Y=matrices)
@pytest.mark.parametrize("norm", ["2", "inf"])
def test_epsilon_insensitive_equals_its_twin(norm, Y):
    insensitive = EpsilonInsensitive(0.8, norm)
    H = insensitive.prox_conjugate(Y)
    np.testing.assert_allclose(H, reference.epsilon_gradient(Y, 0.8, norm), atol=1e-12)
    assert insensitive.conjugate(Y) == pytest.approx(reference.epsilon_penalty(Y, 0.8, norm), abs=1e-12)
    assert insensitive.value((Y - H) * (1 - 1e-12)) == 0
    assert insensitive.value(np.abs(Y) + 5.0) == np.inf


@settings(max_examples=100, deadline=None)
@given(Y=arrays(np.float64, (4, 2), elements=st.floats(-1e6, 1e6)), kappa=st.floats(1e-3, 1e3))
@pytest.mark.parametrize("norm", ["2", "1", "fro"])
def test_hubers_limit_holds_to_the_last_digit(norm, Y, kappa):
    H = Huber(kappa, norm).prox_conjugate(Y)
    sizes = {"2": np.linalg.norm(H, axis=1), "1": np.abs(H), "fro": np.linalg.norm(H)}[norm]
    assert np.max(sizes) <= kappa


def test_the_proximal_operator_is_the_minimizer(objective):
    """prox(Y) has the least 1/2 |Y - H|^2 + Psi*(H): nothing nearby is better."""
    rng = np.random.default_rng(0)
    Y = 2 * rng.standard_normal((4, 2))
    H = objective.prox_conjugate(Y)

    def cost(H):
        return 0.5 * np.sum((Y - H) ** 2) + objective.conjugate(H)

    best = cost(H)
    for size in (1e-3, 1e-1, 1.0):
        for _ in range(200):
            assert cost(H + size * rng.standard_normal(H.shape)) >= best - 1e-12


def test_the_envelope_is_the_infimal_convolution(objective):
    """f(Y) = min 1/2 |Y - V|^2 + Psi(V), here at V = Y - H, and found by a general minimizer where Psi is finite."""
    Y = 2 * np.random.default_rng(1).standard_normal((4, 2))
    H = objective.prox_conjugate(Y)
    value = objective.envelope(Y)
    assert value == pytest.approx(0.5 * np.sum(H**2) + objective.value((Y - H) * (1 - 1e-12)), abs=1e-9)
    if isinstance(objective, Huber):

        def smoothed(v):
            return 0.5 * np.sum((Y - v.reshape(4, 2)) ** 2) + objective.value(v.reshape(4, 2))

        found = min(minimize(smoothed, s * Y.ravel(), method="Powell", tol=1e-10).fun for s in (0.1, 0.5, 0.9))
        assert value <= found + 1e-9
        assert value == pytest.approx(found, abs=1e-2)


def test_the_gradient_of_the_envelope_is_the_proximal_operator(objective):
    rng = np.random.default_rng(2)
    Y, D = 2 * rng.standard_normal((4, 2)), rng.standard_normal((4, 2))
    step = 1e-6
    slope = (objective.envelope(Y + step * D) - objective.envelope(Y - step * D)) / (2 * step)
    assert slope == pytest.approx(np.vdot(objective.prox_conjugate(Y), D), abs=1e-6)


@settings(max_examples=100, deadline=None)
@given(Y=matrices, Z=matrices)
@pytest.mark.parametrize("index", range(len(OBJECTIVES)))
def test_the_majorant_lies_above(index, Y, Z):
    """For all scores no longer than the rows of the matrix, not only near Y; Huber's touches at Y."""
    objective = OBJECTIVES[index]
    lengths = np.maximum(np.linalg.norm(Y, axis=1), np.linalg.norm(Z, axis=1))
    weights, constant = objective.majorant(Y, lengths)
    bound = constant + 0.5 * float(weights @ np.sum(Z**2, axis=1))
    assert objective.envelope(Z) <= bound + 1e-9
    if isinstance(objective, Huber) and objective.norm in ("2", "fro"):
        touching = constant + 0.5 * float(weights @ np.sum(Y**2, axis=1))
        assert objective.envelope(Y) == pytest.approx(touching, abs=1e-9)


@pytest.mark.parametrize("objective", [o for o in OBJECTIVES if getattr(o, "norm", "2") in ("2", "fro")], ids=repr)
def test_lengths_do_not_change_with_rotations(objective):
    rng = np.random.default_rng(3)
    Y, Q = rng.standard_normal((6, 3)), np.linalg.qr(rng.standard_normal((3, 3)))[0]
    assert objective.envelope(Y @ Q) == pytest.approx(objective.envelope(Y))
    np.testing.assert_allclose(objective.prox_conjugate(Y @ Q), objective.prox_conjugate(Y) @ Q, atol=1e-12)


@pytest.mark.parametrize("objective", [o for o in OBJECTIVES if not isinstance(o, Square)], ids=repr)
def test_a_weight_of_two_is_a_row_given_twice(objective):
    rng = np.random.default_rng(4)
    Y = 2 * rng.standard_normal((5, 2))
    counts = np.array([1, 2, 1, 3, 1])
    twice = np.repeat(Y, counts, axis=0)
    roots = np.sqrt(counts)
    weighted = objective.weighted(roots)
    assert weighted.envelope(Y * roots[:, None]) == pytest.approx(objective.envelope(twice))
    H = weighted.prox_conjugate(Y * roots[:, None]) / roots[:, None]
    np.testing.assert_allclose(np.repeat(H, counts, axis=0), objective.prox_conjugate(twice), atol=1e-12)


def test_limits_are_the_square_objective():
    Y = np.random.default_rng(5).standard_normal((5, 3))
    for limit in (Huber(np.inf, "2"), Huber(1e9, "1"), EpsilonInsensitive(0), EpsilonInsensitive(0.0, "inf")):
        np.testing.assert_array_equal(limit.prox_conjugate(Y), Y)
        assert limit.envelope(Y) == pytest.approx(0.5 * np.sum(Y**2))


def test_fractions_of_the_largest_useful_value():
    Y = np.array([[3.0, 4.0], [1.0, 0.0]])
    assert Huber("0.8max").resolve(Y) == Huber(4.0)
    assert Huber("0.5max", "1").resolve(Y) == Huber(2.0, "1")
    assert Huber("max", "fro").resolve(Y).kappa == pytest.approx(np.sqrt(26))
    assert EpsilonInsensitive("0.1max").resolve(Y) == EpsilonInsensitive(0.5)
    assert EpsilonInsensitive("0.5max", "inf").resolve(Y) == EpsilonInsensitive(2.0, "inf")
    assert Huber(0.3).resolve(Y) == Huber(0.3)
    assert Huber("0.8max").relative
    assert not Huber(0.8).relative
    with pytest.raises(ValueError, match=r"call resolve\(scores\) first"):
        Huber("0.8max").prox_conjugate(Y)
    with pytest.raises(ValueError, match=r"call resolve\(scores\) first"):
        EpsilonInsensitive("0.8max").conjugate(Y)


@pytest.mark.parametrize("kappa", [0, -1.0, "0max", "-0.5max", "much", "xmax", None, float("nan"), True, [1.0]])
def test_kappa_must_be_positive(kappa):
    with pytest.raises(ValueError, match=r"kappa must be positive: a number, or a fraction"):
        Huber(kappa).check()


@pytest.mark.parametrize("epsilon", [-1e-9, "-1max", "little", None, float("nan")])
def test_epsilon_must_not_be_negative(epsilon):
    with pytest.raises(ValueError, match=r"epsilon must be 0 \(the square objective\) or more"):
        EpsilonInsensitive(epsilon).check()


def test_unknown_norms_are_refused():
    with pytest.raises(ValueError, match=r"choose one of '2' \(the length of each row is limited\), '1'"):
        Huber(1.0, "inf").check()
    with pytest.raises(ValueError, match=r"choose one of '2' \(rows of H become zero\), 'inf'"):
        EpsilonInsensitive(1.0, "1").prox_conjugate(np.ones((2, 2)))
    with pytest.raises(ValueError, match="choose one of"):
        Huber(1.0, 2).value(np.ones((2, 2)))


class Half(Objective):
    """An objective of a user: f = 1/4 |.|^2."""

    def value(self, Y):
        return 0.5 * float(np.vdot(Y, Y))

    def conjugate(self, H):
        return 0.5 * float(np.vdot(H, H))

    def prox_conjugate(self, Y):
        return Y / 2


def test_three_methods_are_enough():
    Y = np.random.default_rng(6).standard_normal((5, 2))
    half = Half()
    assert half.envelope(Y) == pytest.approx(0.25 * np.sum(Y**2))
    weights, constant = half.majorant(Y, np.ones(5))
    assert half.envelope(Y) <= constant + 0.5 * weights @ np.sum(Y**2, axis=1)
    assert half.resolve(Y) is half
    with pytest.raises(ValueError, match="Leave sample_weight out"):
        half.weighted(np.ones(5))
