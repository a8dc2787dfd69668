"""The Fisher kernel: two samples are alike if they would change a generative model in the same way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular
from scipy.special import softmax
from sklearn.exceptions import NotFittedError

from kernelpca.kernels.base import Kernel, Rows, check_positive, dtype_of, n_rows
from kernelpca.kernels.products import dot, squared_norms
from kernelpca.tiles import TILE, blocks

if TYPE_CHECKING:
    from sklearn.mixture import GaussianMixture


class Fisher(Kernel):
    """The Fisher kernel g(x)' I^-1 g(y) of a Gaussian mixture, with g(x) the gradient of log p(x | theta).

    The parameters theta are, in this order, the alpha of the weights w = softmax(alpha), the means and the
    standard deviations: K, K d and K d numbers for K components in d dimensions, p in all.

    Parameters
    ----------
    model : GaussianMixture
        A fitted scikit-learn mixture with `covariance_type="diag"`. It is a given: a clone of the kernel
        keeps it as it is, fitted.
    information : {"diagonal", "empirical", "identity"} or array of shape (p, p), default="diagonal"
        The Fisher information matrix I. "diagonal" is its closed form where each sample clearly belongs to
        one component; "empirical" is the mean of g g' over the data given to `resolve`, which puts it
        here as an array; "identity" leaves g as it is; an array must be symmetric and positive definite.
    ridge : float, default=1e-6
        What "empirical" adds to the diagonal, as a fraction of the mean of the diagonal.

    References
    ----------
    Jaakkola and Haussler (1999), Exploiting generative models in discriminative classifiers.
    Sánchez, Perronnin, Mensink and Verbeek (2013), Image classification with the Fisher vector.

    Examples
    --------
    >>> from sklearn.mixture import GaussianMixture
    >>> from kernelpca.kernels import Fisher
    >>> X = [[0.0], [1.0], [10.0], [12.0]]
    >>> model = GaussianMixture(2, covariance_type="diag", random_state=0).fit(X)
    >>> Fisher(model)([[0.5]], [[0.5], [11.0]]).round(2)
    array([[ 2., -1.]])
    >>> Fisher(model).features(X).shape
    (4, 6)
    """

    def __init__(self, model: GaussianMixture, information: str | np.ndarray = "diagonal", ridge: float = 1e-6) -> None:
        self.model = model
        self.information = information
        self.ridge = ridge

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the kernel's own parameters: those of the fitted model are not for tuning."""
        return super().get_params(deep=False)

    def set_params(self, **params: Any) -> Self:
        """Set the kernel's own parameters; changing the fitted model's would not refit it, so that is refused."""
        for name in params:
            if name.startswith("model__"):
                raise ValueError(
                    f"{name}={params[name]!r} would change the fitted model of Fisher without fitting it again. Fit "
                    "models yourself and tune over them: {'kernel__model': [model_1, model_2]}."
                )
        return super().set_params(**params)

    def compute(self, X: Rows, Y: Rows, out: np.ndarray) -> None:
        """(n, d), (m, d) -> write products of whitened gradients."""
        dot(self._whiten(X), self._whiten(Y), out)

    def diag(self, X: Rows) -> np.ndarray:
        """(n, d) -> (n,): squared lengths of whitened gradients."""
        return squared_norms(self._whiten(X))

    def features(self, X: Rows) -> np.ndarray:
        """(n, d) -> (n, p): the whitened gradients, whose dot products are the kernel (Fisher vectors)."""
        return self._whiten(self.check(X))

    def resolve(self, X: Rows, weights: np.ndarray | None = None) -> Self:
        """Make the empirical information a matrix, for data X."""
        if not isinstance(self.information, str) or self.information != "empirical":
            return self
        X, ridge = self.check(X), check_positive(self.ridge, "ridge", self)
        w = np.ones(n_rows(X)) if weights is None else weights
        gradients = ((w[rows], self._gradient(X[rows])) for rows in blocks(n_rows(X), TILE))
        information = sum((G.T * s) @ G for s, G in gradients) / w.sum()
        information.flat[:: len(information) + 1] += ridge * np.trace(information) / len(information)
        return type(self)(self.model, information=information, ridge=self.ridge)

    def check(self, X: Rows) -> Rows:
        """Return rows as wide as those the model was fitted on."""
        X, width = super().check(X), self._parameters()[1].shape[1]
        if X.shape[1] != width:
            raise ValueError(
                f"X has {X.shape[1]} features, but the model of Fisher was fitted on {width}: "
                "give the columns it was fitted on."
            )
        return X

    def _gradient(self, X: np.ndarray) -> np.ndarray:
        """(n, d) -> (n, p): the gradient of log p(x) in alpha, means and standard deviations."""
        w, mu, sigma = self._parameters()
        z = (X[:, None, :] - mu) / sigma  # (n, K, d)
        posterior = softmax(np.log(w) - np.log(sigma).sum(axis=1) - 0.5 * (z**2).sum(axis=2), axis=1)
        by_mean = posterior[:, :, None] * z / sigma
        by_deviation = posterior[:, :, None] * (z**2 - 1) / sigma
        return np.hstack([posterior - w, by_mean.reshape(len(X), -1), by_deviation.reshape(len(X), -1)])

    def _whiten(self, X: np.ndarray) -> np.ndarray:
        """(n, d) -> (n, p): L^-1 g(x), where I = L L'."""
        G, information = self._gradient(X), self.information
        if not isinstance(information, str):
            G = solve_triangular(self._factor(G.shape[1]), G.T, lower=True).T
        elif information == "diagonal":
            w, _, sigma = self._parameters()
            # for alpha the information is diag(w) - w w', and diag(1 / w) inverts it exactly where g lies
            curvature = (w[:, None] / sigma**2).ravel()
            G /= np.sqrt(np.concatenate([w, curvature, 2 * curvature]))
        elif information == "empirical":
            raise ValueError(
                "Fisher(information='empirical') depends on data: call kernel.resolve(X_train) first, "
                "or choose information='diagonal'."
            )
        elif information != "identity":
            raise ValueError(
                f"Fisher(information={information!r}): information must be 'diagonal', 'empirical', "
                "'identity' or a symmetric positive definite matrix. If in doubt, choose 'diagonal'."
            )
        return G.astype(dtype_of(X), copy=False)

    def _factor(self, p: int) -> np.ndarray:
        """Return the Cholesky factor of the given information, or say what is wrong with it."""
        information = np.asarray(self.information, dtype=float)
        if information.shape != (p, p):
            raise ValueError(
                f"Fisher(information=array of shape {information.shape}): the model has {p} parameters "
                f"(weights, means, standard deviations), so the shape must be ({p}, {p})."
            )
        tiny = 1e-8 * np.abs(information).max()
        if not np.isfinite(tiny) or not np.allclose(information, information.T, atol=tiny):
            raise ValueError(
                "Fisher(information=array): the matrix must be symmetric and finite, and this one is not. "
                "Give (A + A.T) / 2 without missing values."
            )
        try:
            return cholesky(information, lower=True)
        except LinAlgError as error:
            raise ValueError(
                "Fisher(information=array): the matrix must be positive definite, and this one is not. Add a "
                "small multiple of the identity, or use information='empirical' with a larger ridge."
            ) from error

    def _parameters(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return weights (K,), means (K, d), standard deviations (K, d), or say what is wrong with them."""
        from sklearn.mixture import GaussianMixture

        model = self.model
        if not isinstance(model, GaussianMixture):
            raise TypeError(
                f"Fisher(model={model!r}): the model must be a scikit-learn GaussianMixture, fitted, with "
                "covariance_type='diag'."
            )
        if model.covariance_type != "diag":
            raise ValueError(
                f"Fisher needs covariance_type='diag'; the model has {model.covariance_type!r}. Fit "
                "GaussianMixture(n_components, covariance_type='diag') instead."
            )
        if not hasattr(model, "weights_"):
            raise NotFittedError("The model of Fisher is not fitted: call model.fit(X) before using the kernel.")
        return model.weights_, model.means_, np.sqrt(model.covariances_)

    def __sklearn_clone__(self) -> Self:
        """Return a kernel with the same fitted model: `clone` would forget the fit."""
        return type(self)(**self.get_params(deep=False))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Fisher) or type(self) is not type(other):
            return NotImplemented
        return _same_model(self.model, other.model) and super().__eq__(
            type(self)(self.model, information=other.information, ridge=other.ridge)
        )

    __hash__ = Kernel.__hash__


def _same_model(a: Any, b: Any) -> bool:
    """Whether two mixtures are one, or were fitted to the same numbers."""
    fitted = ("weights_", "means_", "covariances_")
    if a is b or not all(hasattr(model, name) for model in (a, b) for name in fitted):
        return a is b
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in fitted)
