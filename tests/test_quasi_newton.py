"""Many minimizations side by side: against one row at a time, against scipy, and against what must hold."""

import warnings

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
from kernelpca.kernels import RBF
from kernelpca.preimage import Gradient, Weights
from kernelpca.preimage.quasi_newton import minimize

DIGITS = load_digits(return_X_y=True)[0] / 16
law = settings(deadline=None, max_examples=40, derandomize=True)


class Valleys:
    """sum_i log(1 + (a_i (x - c))^2) + ridge |x - c|^2: curved upwards near c and downwards far from it."""

    def __init__(self, n, d, ridge, seed):
        rng = np.random.default_rng(seed)
        self.A, self.c, self.ridge = rng.standard_normal((n, d, d)), rng.standard_normal((n, d)), ridge

    def __call__(self, X, rows):
        off = X - self.c[rows]
        R = np.einsum("nij,nj->ni", self.A[rows], off)
        slopes = np.einsum("nij,ni->nj", self.A[rows], 2 * R / (1 + R**2)) + 2 * self.ridge * off
        return np.log1p(R**2).sum(axis=1) + self.ridge * np.square(off).sum(axis=1), slopes

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
    st.integers(0, 10**6),
)
def test_every_row_goes_as_it_would_alone(n, d, ridge, far, limit, seed):
    """All rows, with ends at different steps, against one row at a time with the inverse Hessian written out."""
    valleys = Valleys(n, d, ridge, seed)
    starts = far * np.random.default_rng(seed).standard_normal((n, d))
    low, high = np.full(d, -limit), np.full(d, 2 * limit)
    twins = [reference.quasi_newton(valleys.of_row(i), x, low, high, 1e-6, 12, 0.0) for i, x in enumerate(starts)]
    for steps in (1, 4, 12):
        found = minimize(valleys, starts, low, high, tol=1e-6, max_iter=steps, floor=np.zeros(n))
        for i, (path, converged) in enumerate(twins):
            np.testing.assert_allclose(found.points[i], path[min(steps, len(path) - 1)], rtol=1e-4, atol=1e-4)
            assert steps < 12 or found.converged[i] == converged
