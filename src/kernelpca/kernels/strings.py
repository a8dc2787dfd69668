"""Kernels between strings: how many substrings, or subsequences, two texts share.

Texts are compared character by character as they are given: case, spaces and accents all count. Clean them
first if they should not, and call `kernel.normalize()` if long texts should not outweigh short ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse

from kernelpca.kernels.base import Kernel, Rows, check_positive, n_rows
from kernelpca.kernels.products import squared_norms


class Spectrum(Kernel):
    """The string kernel of the tutorial: a dot product of counts of contiguous substrings.

    k(x, y) = sum over substrings u of psi_u(x) psi_u(y), where psi_u(x) is the number of times u occurs in x,
    times decay^|u|. The counts are exact: nothing is hashed.

    Parameters
    ----------
    length : int, default=3
        Number of characters of a substring.
    decay : float, default=1.0
        Weight of a character, in (0, 1]. With a single length it only scales the kernel.
    up_to : bool, default=False
        Whether shorter substrings count too: all lengths from 1 to `length`.

    References
    ----------
    Leslie, Eskin and Noble (2002), The spectrum kernel: a string kernel for SVM protein classification.

    Examples
    --------
    >>> from kernelpca.kernels import Spectrum
    >>> Spectrum(length=2)(["banana", "bandana"])
    array([[9., 7.],
           [7., 8.]])
    """

    domain = "text"

    def __init__(self, length: int = 3, decay: float = 1.0, up_to: bool = False) -> None:
        self.length = length
        self.decay = decay
        self.up_to = up_to

    def compute(self, X: Rows, Y: Rows, out: np.ndarray) -> None:
        """n texts, m texts -> write products of counts, in whole numbers until they are weighted."""
        decay, n = check_decay(self.decay, self), n_rows(X)
        out[...] = 0.0
        for length, counts in self._counts([*X, *Y]):
            out += decay ** (2 * length) * (counts[:n] @ counts[n:].T).toarray()

    def diag(self, X: Rows) -> np.ndarray:
        """n texts -> (n,): weighted sums of squared counts."""
        decay, result = check_decay(self.decay, self), np.zeros(n_rows(X))
        for length, counts in self._counts(X):
            result += decay ** (2 * length) * squared_norms(counts)
        return result

    def _counts(self, texts: Rows) -> Iterator[tuple[int, Any]]:
        """For each length, yield how often each substring (a column) occurs in each text: a sparse matrix.

        A substring is a number: the number of all but its last character times the size of the alphabet, plus
        that character. Numbers give way to their ranks before they overflow, so equal means equal substrings.
        """
        longest = check_length(self.length, self)
        codes, starts = encode(texts)
        rows = np.repeat(np.arange(len(texts)), np.diff(starts))
        left = starts[1:][rows] - np.arange(len(codes))  # characters from here to the end of the text
        letters = int(codes.max(initial=0)) + 1
        begins, numbers, bound = np.arange(len(codes)), np.zeros(len(codes), dtype=np.int64), 1
        for length in range(1, longest + 1):
            fits = left[begins] >= length
            begins = begins[fits]
            if not begins.size:
                return
            numbers = numbers[fits] * letters + codes[begins + length - 1]
            bound *= letters
            wanted = length == longest or self.up_to
            if wanted or bound > 2**62 // letters:
                distinct, numbers = np.unique(numbers, return_inverse=True)
                bound = len(distinct)
            if wanted:
                entries = (np.ones(len(begins)), (rows[begins], numbers))
                yield length, sparse.csr_array(entries, shape=(len(texts), bound))


class Subsequence(Kernel):
    """The gap-weighted string kernel: subsequences two texts share, each occurrence weighted by its span.

    k(x, y) = sum over strings u of `length` characters of psi_u(x) psi_u(y), where psi_u(x) sums decay^span
    over all ways to find u in x, gaps allowed: "ct" is found in "cat" with span 3. A pair of texts costs
    length |x| |y| steps.

    Parameters
    ----------
    length : int, default=3
        Number of characters of a subsequence.
    decay : float, default=0.5
        Weight of a character of the span, in (0, 1]: the smaller, the more a gap costs.

    References
    ----------
    Lodhi, Saunders, Shawe-Taylor, Cristianini and Watkins (2002), Text classification using string kernels.

    Examples
    --------
    >>> from kernelpca.kernels import Subsequence
    >>> Subsequence(length=2, decay=0.5)(["cat"], ["car", "cart"])
    array([[0.0625   , 0.1015625]])
    """

    domain = "text"
    tile = 64  # every pair is a dynamic programme: share them out evenly

    def __init__(self, length: int = 3, decay: float = 0.5) -> None:
        self.length = length
        self.decay = decay

    def compute(self, X: Rows, Y: Rows, out: np.ndarray) -> None:
        """n texts, m texts -> write the kernel, one dynamic programme for each pair."""
        length, decay = check_length(self.length, self), check_decay(self.decay, self)
        _compiled()(*encode(X), *encode(Y), length, decay, out)

    def diag(self, X: Rows) -> np.ndarray:
        """n texts -> (n,): each text with itself."""
        result = np.empty(n_rows(X))
        for i in range(n_rows(X)):
            self.compute(X[i : i + 1], X[i : i + 1], result[i : i + 1, None])
        return result


@lru_cache(maxsize=1)
def _compiled() -> Callable:
    """Compile the recursion of Lodhi et al. (section 2) for all pairs; the loop releases the GIL."""
    import numba

    @numba.njit(nogil=True, fastmath=True)
    def compare(s: Any, t: Any, n: int, decay: float, K: Any) -> float:
        # K[i, j] is K'_i of the part of s read so far and t[:j]; step is K''_i. Nothing is subtracted.
        K[0, : len(t) + 1] = 1.0
        K[1:, : len(t) + 1] = 0.0
        total = 0.0
        for a in range(len(s)):
            for j in range(len(t)):
                total += decay * decay * K[n - 1, j] if t[j] == s[a] else 0.0
            for i in range(n - 1, 0, -1):
                step = 0.0
                for j in range(len(t)):
                    step = decay * step + (decay * decay * K[i - 1, j] if t[j] == s[a] else 0.0)
                    K[i, j + 1] = decay * K[i, j + 1] + step
        return total

    @numba.njit(nogil=True)
    def loop(S: Any, s: Any, T: Any, t: Any, n: int, decay: float, out: Any) -> None:
        longest = np.max(t[1:] - t[:-1])
        out[:, :] = 0.0
        if n > longest:
            return
        K = np.empty((n, longest + 1))
        for i in range(len(s) - 1):
            for j in range(len(t) - 1):
                if min(s[i + 1] - s[i], t[j + 1] - t[j]) >= n:
                    out[i, j] = compare(S[s[i] : s[i + 1]], T[t[j] : t[j + 1]], n, decay, K)

    return loop


def encode(texts: Rows) -> tuple[np.ndarray, np.ndarray]:
    """n texts -> the code points of all, one text after the other, and (n + 1,) where each begins."""
    data = "".join(texts).encode("utf-32-le", "surrogatepass")
    codes = np.frombuffer(data, dtype="<i4").astype(np.int32)
    return codes, np.concatenate([[0], np.cumsum([len(text) for text in texts], dtype=np.int64)])


def check_length(length: Any, kernel: Kernel) -> int:
    """Return a number of characters, or say what is allowed."""
    if isinstance(length, bool) or not isinstance(length, Integral) or length < 1:
        raise ValueError(
            f"{type(kernel).__name__}(length={length!r}): length must be a whole number, 1 or more. "
            "Give an int, such as length=3."
        )
    return int(length)


def check_decay(decay: Any, kernel: Kernel) -> float:
    """Return the weight of a character, or say what is allowed."""
    allowed = "a number above 0 and at most 1. Give, for example, decay=0.5"
    decay = check_positive(decay, "decay", kernel, allowed)
    if decay > 1:
        raise ValueError(f"{type(kernel).__name__}(decay={decay!r}): decay must be {allowed}.")
    return decay
