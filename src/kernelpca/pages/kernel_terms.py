"""Kernels as a page can evaluate them (`templates/kernels.js`): names and numbers, nested as kernels are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kernelpca.kernels.algebra import Normalized, Product, Scale, Shift, Sum
from kernelpca.kernels.base import Kernel
from kernelpca.kernels.dot import ArcCosine, Cosine, Linear, Polynomial, Sigmoid
from kernelpca.kernels.kernel_rbf import KernelRBF
from kernelpca.kernels.less_one import LessOne
from kernelpca.kernels.stationary import RBF, Cauchy, Laplacian, Matern, RationalQuadratic

CLOSED = (0.5, 1.5, 2.5)  # smoothness of the Matérn kernels that need no Bessel function

Term = dict[str, Any]


def describe(kernel: Kernel) -> Term | None:
    """Return a resolved kernel as names and numbers, or None where a page cannot evaluate it."""
    write = TERMS.get(type(kernel))
    return None if write is None else write(kernel)


def describe_sloped(kernel: Kernel) -> Term | None:
    """Return a kernel whose slopes a page knows too, as fixed points and descent need them; or None."""
    return describe(kernel) if kernel.differentiable and kernel.rotatable else None


def _gaussian(kernel: RBF) -> Term:
    return {"name": "rbf", "gamma": kernel.number()}


def _laplacian(kernel: Laplacian) -> Term:
    return {"name": "laplacian" if kernel.norm == "euclidean" else "manhattan", "gamma": kernel.number()}


def _matern(kernel: Matern) -> Term | None:
    return {"name": "matern", "nu": float(kernel.nu), "gamma": kernel.number()} if kernel.nu in CLOSED else None


def _cauchy(kernel: Cauchy) -> Term:
    return {"name": "cauchy", "gamma": kernel.number()}


def _rational(kernel: RationalQuadratic) -> Term:
    return {"name": "rational_quadratic", "alpha": float(kernel.alpha), "gamma": kernel.number()}


def _polynomial(kernel: Polynomial) -> Term:
    numbers = {"degree": float(kernel.degree), "gamma": kernel.number(), "coef0": float(kernel.coef0)}
    return {"name": "polynomial", **numbers}


def _sigmoid(kernel: Sigmoid) -> Term:
    return {"name": "sigmoid", "gamma": kernel.number(), "coef0": float(kernel.coef0)}


def _arc_cosine(kernel: ArcCosine) -> Term:
    return {"name": "arc_cosine", "order": int(kernel.order)}


def _pair(name: str) -> Callable[[Any], Term | None]:
    def write(kernel: Sum | Product) -> Term | None:
        first, second = describe(kernel.k1), describe(kernel.k2)
        return None if first is None or second is None else {"name": name, "first": first, "second": second}

    return write


def _around(name: str, *numbers: str) -> Callable[[Any], Term | None]:
    def write(kernel: Any) -> Term | None:
        inner = describe(kernel.kernel)
        given = {number: float(getattr(kernel, number)) for number in numbers}
        return None if inner is None else {"name": name, "of": inner, **given}

    return write


TERMS: dict[type[Kernel], Callable[[Any], Term | None]] = {
    RBF: _gaussian,
    Laplacian: _laplacian,
    Matern: _matern,
    Cauchy: _cauchy,
    RationalQuadratic: _rational,
    Linear: lambda kernel: {"name": "linear"},
    Polynomial: _polynomial,
    Sigmoid: _sigmoid,
    Cosine: lambda kernel: {"name": "cosine"},
    ArcCosine: _arc_cosine,
    Sum: _pair("sum"),
    Product: _pair("product"),
    Scale: _around("scale", "factor"),
    Shift: _around("shift", "constant"),
    Normalized: _around("normalized"),
    KernelRBF: _around("kernel_rbf", "gamma"),
    LessOne: _around("less_one"),
}
