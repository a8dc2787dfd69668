"""Kernels written as text: what they stand for, and what every other text is answered with."""

import random
import tracemalloc
from functools import reduce
from operator import add, mul

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from kernelpca import KernelPCA
from kernelpca.kernels import (
    RBF,
    ExponentialChiSquare,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    as_kernel,
)
from kernelpca.kernels.expression import KernelSyntaxError
from kernelpca.kernels.names import KERNELS

X = np.random.default_rng(0).uniform(0, 1, (12, 4))


@pytest.mark.parametrize(
    ("text", "kernel"),
    [
        ("rbf(gamma=0.1) + 2*linear", RBF(0.1) + 2.0 * Linear()),
        ("rbf(0.1)", RBF(0.1)),
        (" rbf( gamma = scale ) ", RBF("scale")),
        ("rbf(gamma='median')", RBF("median")),
        ("2 * (linear + 1)", (Linear() + 1.0) * 2.0),
        ("2*3*rbf(1e-2)", RBF(0.01) * 6.0),
        ("rbf * poly(degree=2, coef0=1)", RBF() * Polynomial(degree=2, coef0=1)),
        ("poly(degree=3, coef0=-0.5)", Polynomial(degree=3, coef0=-0.5)),
        ("normalize(poly(degree=2))", Polynomial(degree=2).normalize()),
        ("rbf_of(chi2(gamma=1), gamma=0.5)", ExponentialChiSquare(1).rbf(0.5)),
        ("laplacian(gamma=2, norm=euclidean)", Laplacian(2, norm="euclidean")),
        ("laplacian_euclidean(gamma=2)", Laplacian(2, norm="euclidean")),
        ("matern(nu=2.5) + 0.1", Matern(nu=2.5) + 0.1),
    ],
)
def test_texts_stand_for_kernels(text, kernel):
    read = as_kernel(text)
    assert read == kernel
    np.testing.assert_array_equal(read.resolve(X)(X), kernel.resolve(X)(X))


@pytest.mark.parametrize("name", sorted(set(KERNELS) - {"precomputed"}))
def test_every_kernel_by_name_with_parentheses(name):
    assert as_kernel(f"{name}()") == as_kernel(name)


def test_estimators_take_texts():
    model = KernelPCA(2, kernel="rbf(gamma=0.1) + 2*linear")
    np.testing.assert_allclose(
        model.fit_transform(X), KernelPCA(2, kernel=RBF(0.1) + 2.0 * Linear()).fit_transform(X), rtol=0, atol=1e-12
    )
    assert model.set_params(kernel__k1__gamma=0.5).kernel.k1.gamma == 0.5


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("rbf(gamma=0.1", "cannot be read"),
        ("rbg(gamma=0.1)", "Did you mean 'rbf'"),
        ("gaussian(gamma=0.1)", "Did you mean 'rbf'"),
        ("rbf(width=1)", "width is none of its parameters. Its parameters: gamma"),
        ("linear(1)", "more than 0 parameters. It has no parameters"),
        ("rbf(0.1, gamma=0.2)", "is given twice"),
        ("2 + 3", "is a number and no kernel"),
        ("rbf - linear", "is no kernel and no number"),
        ("rbf ** 2", "is no kernel and no number"),
        ("__import__('os')", "stands for no kernel"),
        ("rbf.fit", "is no kernel and no number"),
        ("(lambda: 1)()", "is no kernel and no number"),
        ("rbf(gamma=[1])", "a parameter is a number or a word"),
        ("rbf(**{'gamma': 1})", "is none of its parameters"),
        ("normalize(2)", "is a number, and a kernel is needed"),
        ("normalize(rbf, 2)", "write normalize"),
        ("rbf_of(rbf, width=1)", "write normalize"),
        ("9" * 400 + "*rbf", "too large a number"),
        ("1" * 5000, "at most 1000"),
        ("+".join(["rbf"] * 102), "more than 100 operations"),
        ("*".join(["(1+rbf)"] * 60), "more than 100 operations"),
        ("(1+2*" * 51 + "rbf" + ")" * 51, "more than 100 operations"),
        ("rbf_of(" * 101 + "rbf" + ")" * 101, "more than 100 operations"),
        ("2*" * 50 + "rbf_of(" * 51 + "rbf" + ")" * 51, "more than 100 operations"),
        ("-'a'", "is no kernel and no number"),
        ("-None*rbf", "is no kernel and no number"),
        ("rbf(gamma=-scale)", "a parameter is a number or a word"),
        ("(" * 300 + "rbf" + ")" * 300, "cannot be read"),
        ("", "stands for no kernel|cannot be read"),
        ("rbf\0", "cannot be read"),
    ],
)
def test_other_texts_are_answered(text, says):
    with pytest.raises(ValueError, match=says):
        as_kernel(text)


@pytest.mark.parametrize("sign", "+*")
def test_as_many_side_by_side_as_the_limit_allows(sign):
    """They are those of the same expression in Python, and every use of them works from deep within a program."""
    names = ["rbf(0.1)", "linear", "2", "poly(2)"] * 25 + ["rbf(0.1)"]
    makers = {"rbf(0.1)": RBF(0.1), "linear": Linear(), "2": 2.0, "poly(2)": Polynomial(2)}
    wanted = reduce(add if sign == "+" else mul, (makers[name] for name in names))
    assert as_kernel(sign.join(names)) == wanted
    kernel = as_kernel(sign.join(["rbf(0.1)"] * 101))

    def within(frames):
        if frames:
            return within(frames - 1)
        model = clone(KernelPCA(2, kernel=kernel)).fit(X)
        return repr(model), model.denoise(X[:2])

    assert np.isfinite(within(100)[1]).all()


@pytest.mark.parametrize("count", [0, 1, 2, 100, 983, 984])
def test_any_number_of_signs_from_deep_within_a_program(count):
    def within(frames):
        return within(frames - 1) if frames else as_kernel("-" * count + "1*rbf")

    assert within(60) == RBF() * (-1.0) ** count


@pytest.mark.parametrize("text", ["(1+" * 100 + "rbf" + ")" * 100, "rbf_of(" * 100 + "rbf" + ")" * 100])
@pytest.mark.parametrize("frames", [0, 300, 600, 800, 870])
def test_operations_within_one_another_from_deep_within_a_program(text, frames):
    """Where Python allows no more calls, the text is refused; else it is read."""

    def within(frames):
        return within(frames - 1) if frames else outcome(text)

    assert within(frames) in (("read",) if frames <= 300 else ("read", "refused"))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("poly(coef0=scale)", r"Polynomial\(coef0='scale'\): coef0 must be a finite number"),
        ("poly(coef0=None)", "coef0 must be a finite number"),
        ("poly(coef0=True)", "coef0 must be a finite number"),
        ("sigmoid(coef0=word)", "coef0 must be a finite number"),
        ("poly(degree=two)", r"Polynomial\(degree='two'\): degree must be a positive number, such as 2 or 3"),
        ("poly(degree=None)", "degree must be a positive number"),
        ("poly(degree=-1)", "degree must be a positive number"),
        ("poly(coef0=1" + "0" * 299 + ")", "overflow"),
        ("matern(nu=1e299)", r"Matern\(nu=1e\+299\): nu must be a positive number up to 1e\+07 .*use RBF"),
        ("matern(nu=word)", "nu must be a positive number up to 1e"),
        ("matern(nu=None)", "nu must be a positive number up to 1e"),
    ],
)
@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
def test_parameters_that_are_none_are_refused_by_name(text, says):
    with pytest.raises(ValueError, match=says):
        KernelPCA(2, kernel=text).fit(X)


def test_the_smoothest_matern_kernel_is_nearly_the_gaussian():
    np.testing.assert_allclose(Matern(1e7, 0.3)(X), RBF(0.3)(X), atol=1e-6)


PIECES = [
    *KERNELS,
    "gamma",
    "degree",
    "=",
    "(",
    ")",
    "+",
    "*",
    ",",
    "1",
    "0.5",
    "'",
    '"',
    "\\",
    "[",
    "]",
    "{",
    "lambda",
]
PIECES += [
    " ",
    "\n",
    ":",
    ".",
    "__class__",
    "-",
    "**",
    "1e400",
    "0x",
    "1j",
    "None",
    "True",
    "é",
    "\0",
    "#",
    "f'{1}'",
    "@",
]


def outcome(text):
    try:
        as_kernel(text)
    except KernelSyntaxError:
        return "refused"
    except ValueError as error:
        return "unknown name" if "stands for no kernel" in str(error) else repr(error)
    return "read"


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.text(max_size=80), st.lists(st.sampled_from(PIECES), max_size=30).map("".join)))
@example("1_000*rbf")
def test_any_text_is_a_kernel_or_an_error_of_ours(text):
    assert outcome(text) in ("read", "refused", "unknown name")


def test_ten_thousand_mutated_texts():
    draw, seeds = (
        random.Random(0),
        ["rbf(gamma=0.1) + 2*linear", "normalize(poly(degree=2, coef0=1))", "rbf_of(chi2) * 3"],
    )
    read = 0
    tracemalloc.start()
    for _ in range(10_000):
        text = list(draw.choice(seeds))
        for _ in range(draw.randint(1, 6)):
            place = draw.randrange(len(text) + 1)
            change = draw.choice([[], [draw.choice(PIECES)], [chr(draw.randrange(1, 0x300))], text[:place]])
            text[place : place + draw.randint(0, 3)] = change
        found = outcome("".join(text))
        assert found in ("read", "refused", "unknown name")
        read += found == "read"
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 0 < read < 10_000
    assert peak < 10**8
