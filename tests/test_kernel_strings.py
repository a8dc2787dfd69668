"""The string kernels against their naive twins, their laws, and the corners of text."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import reference as naive
from kernelpca.kernels.base import Kernel
from kernelpca.kernels.strings import Spectrum, Subsequence, encode

TEXTS = [
    "banana",
    "bandana",
    "an",
    "",
    "Banana",
    "na  na\t\nna",
    "naïve 漢字 😀😀",
    "aaaaaaa",
    "x\0\0",
    "x\0",
]

texts = st.lists(st.text("aAb \t\n\0é漢😀", max_size=8), min_size=1, max_size=6)
decays = st.floats(0.05, 1.0)
kernels = st.one_of(
    st.builds(Spectrum, st.integers(1, 4), decays, st.booleans()),
    st.builds(Subsequence, st.integers(1, 4), decays),
)


def matrix(kernel: Kernel, X: list[str], Y: list[str]) -> np.ndarray:
    twin = naive.spectrum if isinstance(kernel, Spectrum) else naive.subsequence
    return np.array([[twin(x, y, **kernel.get_params()) for y in Y] for x in X])


@pytest.mark.parametrize(
    "kernel",
    [
        Spectrum(),
        Spectrum(length=1),
        Spectrum(length=2, decay=0.7),
        Spectrum(length=3, decay=0.7, up_to=True),
        Subsequence(),
        Subsequence(length=1, decay=0.9),
        Subsequence(length=2, decay=1.0),
        Subsequence(length=4, decay=0.3),
    ],
    ids=repr,
)
def test_equals_naive_twin(kernel: Kernel) -> None:
    np.testing.assert_allclose(kernel(TEXTS), matrix(kernel, TEXTS, TEXTS), rtol=1e-12)
    np.testing.assert_allclose(kernel(TEXTS[:3], TEXTS), matrix(kernel, TEXTS[:3], TEXTS), rtol=1e-12)
    np.testing.assert_allclose(kernel.diag(TEXTS), np.diag(matrix(kernel, TEXTS, TEXTS)), rtol=1e-12)


@settings(deadline=None)
@given(kernels, texts, texts)
def test_equals_naive_twin_on_any_text(kernel: Kernel, X: list[str], Y: list[str]) -> None:
    np.testing.assert_allclose(kernel(X, Y), matrix(kernel, X, Y), rtol=1e-12)


@settings(deadline=None)
@given(kernels, texts)
def test_laws(kernel: Kernel, X: list[str]) -> None:
    K = kernel(X, X)
    np.testing.assert_allclose(K, K.T, rtol=1e-12)
    np.testing.assert_allclose(kernel.diag(X), np.diag(K), rtol=1e-12)
    assert np.linalg.eigvalsh(K).min() >= -1e-12 * np.trace(K)


@settings(deadline=None)
@given(kernels, texts, st.data())
def test_tiles_do_not_matter(kernel: Kernel, X: list[str], data: st.DataObject) -> None:
    rows = kernel.check(X)
    whole, pieces = np.full((2, len(X), len(X)), np.nan)
    kernel.compute(rows, rows, whole)
    cut = data.draw(st.integers(0, len(X) - 1))
    for block in (slice(0, cut), slice(cut, len(X))):
        for j in range(len(X)):
            if block.stop > block.start:
                kernel.compute(rows[block], rows[j : j + 1], pieces[block, j : j + 1])
    np.testing.assert_allclose(pieces, whole, rtol=1e-12)


@pytest.mark.parametrize("kernel", [Spectrum(2), Spectrum(2, 0.5, True), Subsequence(2)], ids=repr)
def test_many_texts_in_threads(kernel: Kernel) -> None:
    rng = np.random.default_rng(0)
    X = ["".join(rng.choice(list("ab c"), size=rng.integers(0, 9))) for _ in range(1100)]
    whole = np.empty((1100, 1100))
    kernel.compute(kernel.check(X), kernel.check(X), whole)
    np.testing.assert_allclose(kernel(X, threads=2), whole, rtol=1e-12)


@pytest.mark.parametrize("decay", [0.3, 0.5, 1.0])
def test_cat_and_car(decay: float) -> None:
    # Lodhi et al. 2002, section 2
    kernel = Subsequence(2, decay)
    np.testing.assert_allclose(kernel(["cat"], ["car"]), decay**4)
    np.testing.assert_allclose(kernel.diag(["cat"]), 2 * decay**4 + decay**6)


def test_a_long_gap_costs() -> None:
    k = Subsequence(2, 0.5)(["ab"], ["ab", "a" + "-" * 10 + "b"])[0]
    assert k[1] / k[0] == 0.5**10


def test_whitespace_and_case_count() -> None:
    assert Spectrum(2)(["a  b"], ["a b"]) == 2  # "a " and " b", but not "  "
    assert Spectrum(1)(["a\tb"], ["a b"]) == 2
    assert Spectrum(2)(["AB"], ["ab"]) == 0
    assert Subsequence(2)(["AB"], ["ab"]) == 0


@pytest.mark.parametrize("kernel", [Spectrum(3), Spectrum(10**9), Subsequence(3), Subsequence(10**9)], ids=repr)
def test_texts_too_short_share_nothing(kernel: Kernel) -> None:
    np.testing.assert_array_equal(kernel(["", "ab"], ["ab", "", "a"]), np.zeros((2, 3)))
    np.testing.assert_array_equal(kernel(["", "ab"]), np.zeros((2, 2)))
    np.testing.assert_array_equal(kernel.diag(["", "ab"]), np.zeros(2))


def test_long_substrings_do_not_collide() -> None:
    # with an alphabet of 2^16 the first of six characters is lost if numbers overflow 64 bits
    tail = "aaaa\uffff"
    assert Spectrum(6)(["b" + tail], ["c" + tail]) == 0
    assert Spectrum(6)(["b" + tail], ["b" + tail]) == 1
    X = ["\U0010ffff\U0010fffe" * 9, "\U0010fffe\U0010ffff" * 8]
    for up_to in (False, True):
        kernel = Spectrum(13, 0.9, up_to)
        np.testing.assert_allclose(kernel(X), matrix(kernel, X, X), rtol=1e-12)


def test_encode_keeps_every_code_point() -> None:
    codes, starts = encode(["a😀", "", "\ud800\0"])  # a lone surrogate is no valid text, but it is a Python string
    assert codes.tolist() == [97, 0x1F600, 0xD800, 0]
    assert starts.tolist() == [0, 2, 2, 4]
    assert Spectrum(1)(["\ud800"], ["\ud800", "\ud801"]).tolist() == [[1, 0]]


@pytest.mark.parametrize("make", [Spectrum, Subsequence])
@pytest.mark.parametrize("length", [0, -1, 2.0, "3", None, True])
def test_bad_length(make: type[Kernel], length: object) -> None:
    kernel = make(length=length)  # type: ignore[call-arg]
    with pytest.raises(ValueError, match=r"length=.*: length must be a whole number, 1 or more.*such as length=3"):
        kernel(["a"], ["b"])
    with pytest.raises(ValueError, match=f"^{make.__name__}"):
        kernel.diag(["a"])


@pytest.mark.parametrize("make", [Spectrum, Subsequence])
@pytest.mark.parametrize("decay", [0, -0.5, 1.1, float("nan"), "0.5", None, True])
def test_bad_decay(make: type[Kernel], decay: object) -> None:
    kernel = make(decay=decay)  # type: ignore[call-arg]
    with pytest.raises(ValueError, match=r"decay=.*: decay must be a number above 0 and at most 1.*decay=0\.5"):
        kernel(["a"], ["b"])
    with pytest.raises(ValueError, match=f"^{make.__name__}"):
        kernel.diag(["a"])


@pytest.mark.parametrize("make", [Spectrum, Subsequence])
def test_numbers_are_no_text(make: type[Kernel]) -> None:
    with pytest.raises(TypeError, match="needs strings; row 0 is float"):
        make()([1.0, 2.0])


@pytest.mark.parametrize("kernel", [Spectrum(np.int64(2), np.float32(0.5), True), Subsequence(4, 0.25)], ids=repr)
def test_a_part_like_any_other(kernel: Kernel) -> None:
    for copy in (clone(kernel), pickle.loads(pickle.dumps(kernel)), type(kernel)(**kernel.get_params())):
        assert copy == kernel
        assert hash(copy) == hash(kernel)
    assert clone(kernel).set_params(length=7) != kernel
    assert kernel.resolve(["a"]) is kernel
    assert kernel.domain == "text"
    assert kernel.positive_definite
    assert kernel.parallel
    assert not kernel.unit_diagonal
    assert kernel(["abcdab"]).shape == (1, 1)


def test_repr() -> None:
    assert repr(Spectrum(2)) == "Spectrum(decay=1.0, length=2, up_to=False)"
    assert repr(Subsequence()) == "Subsequence(decay=0.5, length=3)"


def test_importing_does_not_compile() -> None:
    code = "import sys, kernelpca.kernels.strings as s; s.Spectrum()(['abc']); print('numba' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
