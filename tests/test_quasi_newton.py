"""Many minimizations side by side: against one row at a time, against scipy, and against what must hold."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize as scipy_minimize
from sklearn.datasets import load_digits

import kernelpca.preimage.gradient
import kernelpca.preimage.weights
import reference
from kernelpca import KernelPCA
from kernelpca.features import RandomFourier
from kernelpca.preimage import Gradient, Weights
from kernelpca.preimage.quasi_newton import minimize

DIGITS = load_digits(return_X_y=True)[0] / 16
STEPS = 20  # after which rounding may show
law = settings(deadline=None, max_examples=60, derandomize=True)


class Valleys:
    """sum_i log(1 + (a_i (x - c))^2) + ridge |x - c|^2: curved upwards near c and downwards far from it.

    With a cusp, |x - c| is added, from which rows hardly get to c.
    """

    def __init__(self, n, d, ridge, seed, cusp=0.0):
        rng = np.random.default_rng(seed)
        self.A, self.c, self.ridge, self.cusp = rng.standard_normal((n, d, d)), rng.standard_normal((n, d)), ridge, cusp

    def __call__(self, X, rows):
        off = X - self.c[rows]
        R = np.einsum("nij,nj->ni", self.A[rows], off)
        slopes = np.einsum("nij,ni->nj", self.A[rows], 2 * R / (1 + R**2)) + 2 * self.ridge * off
        values = np.log1p(R**2).sum(axis=1) + self.ridge * np.square(off).sum(axis=1)
        return values + self.cusp * np.abs(off).sum(axis=1), slopes + self.cusp * np.sign(off)

    def of_row(self, i):
        """The function of one row alone."""

        def function(x):
            value, slope = self(x[None], np.array([i]))
            return value[0], slope[0]

        return function


@law
@given(
    st.integers(1, 6),
    st.integers(1, 5),
    st.sampled_from([0.0, 1e-3, 0.1]),
    st.sampled_from([1.0, 30.0]),
    st.sampled_from([np.inf, 1.0]),
    st.sampled_from([0.0, 1.0]),
    st.sampled_from([1e-6, 1e-2]),
    st.integers(0, 10**6),
)
def test_every_row_goes_as_it_would_alone(n, d, ridge, far, limit, cusp, tol, seed):
    """All rows, with ends at different steps, against one row at a time with the inverse Hessian written out."""
    valleys = Valleys(n, d, ridge, seed, cusp)
    starts = far * np.random.default_rng(seed).standard_normal((n, d))
    low, high = np.full(d, -limit), np.full(d, 2 * limit)
    twins = [reference.quasi_newton(valleys.of_row(i), x, low, high, tol, STEPS, 0.0) for i, x in enumerate(starts)]
    for steps in (1, 4, 12, STEPS):
        found = minimize(valleys, starts, low, high, tol=tol, max_iter=steps, floor=np.zeros(n))
        for i, (path, converged) in enumerate(twins):
            np.testing.assert_allclose(found.points[i], path[min(steps, len(path) - 1)], rtol=1e-4, atol=1e-4)
            assert steps < STEPS or found.converged[i] == converged


@law
@given(st.integers(1, 5), st.integers(-12, 12), st.integers(-12, 12), st.integers(0, 10**6))
def test_units_of_points_and_values_change_nothing(d, points, values, seed):
    """Powers of two: not a digit changes."""
    valleys, length, height = Valleys(3, d, 1e-3, seed), 2.0**points, 2.0**values
    starts = 30 * np.random.default_rng(seed).standard_normal((3, d))

    def scaled(X, rows):
        f, g = valleys(X / length, rows)
        return f * height, g * (height / length)

    free = np.full(d, np.inf)
    plain = minimize(valleys, starts, -free, free, tol=1e-6, max_iter=30, floor=np.zeros(3))
    found = minimize(scaled, starts * length, -free, free, tol=1e-6, max_iter=30, floor=np.zeros(3))
    np.testing.assert_array_equal(found.points, plain.points * length)
    np.testing.assert_array_equal(found.iterations, plain.iterations)


@pytest.mark.parametrize("far", [1.0, 30.0, 1000.0])
@pytest.mark.parametrize("limit", [np.inf, 3.0])
def test_rows_without_curvature_get_on(far, limit):
    """Far from the minimum no step shows positive curvature: nearly as few evaluations as scipy takes, and all done."""
    n, d = 20, 5
    valleys, counts = Valleys(n, d, 1e-4, 0), np.zeros(n, int)
    starts = far * np.random.default_rng(1).standard_normal((n, d))
    low, high = np.full(d, -limit), np.full(d, limit)

    def counted(X, rows):
        counts[rows] += 1
        return valleys(X, rows)

    found = minimize(counted, starts, low, high, tol=1e-6, max_iter=200, floor=np.zeros(n))
    bounds = None if np.isinf(limit) else [(-limit, limit)] * d
    theirs = [
        scipy_minimize(valleys.of_row(i), np.clip(x, low, high), jac=True, method="L-BFGS-B", bounds=bounds)
        for i, x in enumerate(starts)
    ]
    assert found.converged.all()
    assert np.median(counts / [one.nfev for one in theirs]) < 2
    again = [peer(valleys.of_row(i), x, bounds) for i, x in enumerate(found.points)]
    assert (found.values <= np.array(again) * 1.01 + 1e-9).all()


def peer(function, start, bounds):
    """The least value that scipy finds from there."""
    options = {"ftol": 1e-13, "gtol": 1e-9, "maxiter": 500}
    return scipy_minimize(function, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options).fun


OBJECTIVES = {
    "discrepancy": (Weights(), {}),
    "discrepancy, all samples": (Weights(n_neighbors=None), {}),
    "discrepancy, digest": (Weights(scaling="digest"), {}),
    "discrepancy, threshold": (Weights(threshold=0.5), {}),
    "discrepancy, any sum": (Weights(sum_to_one=False), {}),
    "discrepancy, polynomial": (Weights(), {"kernel": "polynomial"}),
    "discrepancy, sigmoid": (Weights(), {"kernel": "sigmoid"}),
    "logarithms": (Weights("log_discrepancy"), {"center": False}),
    "logarithms, all samples": (Weights("log_discrepancy", n_neighbors=None), {"center": False}),
    "logarithms, digest": (Weights("log_discrepancy", scaling="digest"), {"center": False}),
    "logarithms, threshold": (Weights("log_discrepancy", threshold=0.5), {"center": False}),
    "descent": (Gradient(), {}),
    "descent, bounds": (Gradient(bounds=(0.05, 0.6)), {}),
    "descent, polynomial, bounds": (Gradient(bounds=(0.05, 0.6)), {"kernel": "polynomial"}),
    "descent, cusp": (Gradient(), {"kernel": "laplacian_euclidean"}),
    "descent, histograms": (Gradient(), {"kernel": "chi2"}),
    "descent, features": (Gradient(), {"approximation": RandomFourier(200)}),
    "descent, sines": (Gradient(bounds=(0.05, 0.6)), {"approximation": RandomFourier(200, form="sin")}),
}


@pytest.mark.parametrize("name", OBJECTIVES)
@pytest.mark.filterwarnings("ignore:There are negative eigenvalues")
def test_every_objective_is_minimized_as_well_as_by_scipy(name, monkeypatch):
    """Every answer is a minimum, where scipy's L-BFGS-B finds nothing lower; and it is had as cheaply as scipy's."""
    problems = []

    def spy(function, X, low, high, **options):
        counts = np.zeros(len(X), int)

        def counted(Y, rows):
            counts[rows] += 1
            return function(Y, rows)

        problems.append((function, X.copy(), low, high, options, minimize(counted, X, low, high, **options), counts))
        return problems[-1][-2]

    for module in (kernelpca.preimage.gradient, kernelpca.preimage.weights):
        monkeypatch.setattr(module, "minimize", spy)
    method, params = OBJECTIVES[name]
    model = KernelPCA(15, preimage=method, random_state=0, **params).fit(DIGITS[:200])
    model.inverse_transform(model.transform(DIGITS[300:330]))
    lower, higher, n, ratios = 0, 0, 0, []
    for function, X, low, high, options, found, counts in problems:
        assert found.converged.all()
        bounds = None if np.isinf(low).all() and np.isinf(high).all() else list(zip(low, high, strict=True))
        for i, start in enumerate(X):

            def of_row(x, i=i, function=function):
                value, slope = function(x[None], np.array([i]))
                return value[0], slope[0]

            ours, rounding = found.values[i], 10 * options["floor"][i]
            theirs = scipy_minimize(of_row, start, jac=True, method="L-BFGS-B", bounds=bounds)
            assert ours <= peer(of_row, found.points[i], bounds) * 1.01 + rounding
            lower += ours * 1.01 + rounding < theirs.fun
            higher += ours > theirs.fun * 1.01 + rounding
            ratios.append(counts[i] / theirs.nfev)
            n += 1
    assert n == 30
    assert np.median(ratios) < 2
    assert higher <= 1 + lower  # of several minima either may find the lower one
