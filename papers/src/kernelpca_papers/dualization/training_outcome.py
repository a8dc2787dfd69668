"""What came out for one data set in one of the tables of training times, and what is printed there."""

from __future__ import annotations

import numpy as np

from kernelpca_papers.dualization.contest import EXACT, FULL, LANCZOS, LBFGS, OURS, RSVD
from kernelpca_papers.experiment import Found

COMPONENTS = 20
SOLVERS = (FULL, EXACT, LANCZOS, RSVD, LBFGS, OURS)
TABLES = {"2": ("laplace", 1e-2), "3": ("laplace", 1e-4), "5": ("gaussian", 1e-2)}
TARGETS = {"laplace": (1e-2, 1e-4), "gaussian": (1e-2,)}
PRINTED = {  # seconds of the SVD, Lanczos, RSVD and L-BFGS, and RSVD's over those of L-BFGS
    "2": {
        "Synth 1": (96.73, 0.85, 1.97, 0.53, 3.72),
        "Protein": (868.64, 3.46, 6.70, 1.07, 6.25),
        "RCV1": (np.nan, 6.04, 12.50, 2.12, 5.90),
        "CIFAR-10": (np.nan, 48.10, 123.89, 13.51, 9.17),
    },
    "3": {
        "Synth 1": (96.73, 4.78, 1.97, 0.56, 3.52),
        "Protein": (868.64, 3.51, 6.95, 1.07, 6.59),
        "RCV1": (np.nan, 19.72, 12.75, 3.78, 3.38),
        "CIFAR-10": (np.nan, 48.15, 122.58, 29.26, 4.19),
    },
    "5": {
        "Synth 1": (87.33, 1.05, 3.04, 0.56, 5.41),
        "Protein": (979.84, 3.86, 10.61, 1.08, 9.81),
        "RCV1": (np.nan, 21.03, 19.69, 3.76, 5.23),
        "CIFAR-10": (np.nan, 47.94, 197.99, 13.47, 14.70),
    },
}
PRINTED_COLUMN = {FULL: 0, LANCZOS: 1, RSVD: 2, LBFGS: 3}
STANDS_FOR = {"synth": "Synth 1", "protein": "Protein", "rcv1": "RCV1", "reuters": "RCV1", "usps": "CIFAR-10"}
TITLES = {
    "synth": "Synth 1",
    "protein": "Protein, validation part",
    "rcv1": "RCV1, a sample",
    "reuters": "Reuters for RCV1",
    "usps": "USPS for CIFAR-10",
}


class Outcome:
    """What came out for a data set in one of the tables."""

    def __init__(self, found: Found, table: str, data: str) -> None:
        kernel, target = TABLES[table]
        (values,) = found.where(data=data, kernel=kernel)
        row = TARGETS[kernel].index(target)
        self.table, self.data = table, data
        self.printed = PRINTED[table][STANDS_FOR[data]]
        self.n, self.d = (int(number) for number in values["shape"])
        self.random = float(values["random"])
        self.of = {
            name: {what: float(values[what][row, j]) for what in ("seconds", "eta", "products", "setting", "reached")}
            for j, name in enumerate(SOLVERS)
        }

    def seconds(self, name: str) -> float:
        """Return the time of a solver."""
        return self.of[name]["seconds"]

    def remark(self, name: str) -> str:
        """Say that the most effort that was tried was too little."""
        return " (not enough)" if self.of[name]["reached"] == 0 else ""

    def factor(self, name: str) -> float:
        """Return the time of a solver over that of L-BFGS."""
        return self.seconds(name) / self.seconds(LBFGS)

    def printed_factor(self, name: str) -> float:
        """Return the same of the printed times."""
        return self.printed[PRINTED_COLUMN[name]] / self.printed[PRINTED_COLUMN[LBFGS]]
