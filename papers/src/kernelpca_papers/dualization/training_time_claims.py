"""Claims of tables 2, 3 and 5: which solver is faster than which, and what is known of each ordering."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernelpca_papers.claims import Claim
from kernelpca_papers.dualization.contest import FULL, LANCZOS, RSVD
from kernelpca_papers.dualization.training_outcome import PRINTED, SOLVERS, STANDS_FOR, TITLES, Outcome
from kernelpca_papers.experiment import Found

SMALL = 1500  # rows of the quick size
REPEATING = 0.05  # of a ratio: what two runs of the same differ by


def claims_of(found: Found, outcomes: dict[str, list[Outcome]]) -> list[Claim]:
    """List all claims."""
    claims = [claim for those in outcomes.values() for outcome in those for claim in compare(outcome)]
    claims += [all_pairs(table, those) for table, those in outcomes.items()]
    claims += [three_times(outcomes["2"]), smaller(outcomes)]
    claims += [no_gain(found, data) for data in ("protein", "usps") if data in found.options("data")]
    return claims


def compare(outcome: Outcome) -> list[Claim]:
    """L-BFGS beside the randomized SVD and beside Lanczos."""
    table, data = outcome.table, outcome.data
    bound = "" if outcome.of[RSVD]["reached"] else ", which was not good enough yet"
    return [
        Claim(
            f"L-BFGS is faster than the randomized SVD on {TITLES[data]}: time of the randomized SVD{bound} over that "
            "of L-BFGS",
            f"table {table}",
            1.0,
            outcome.factor(RSVD),
            "at least",
            printed=f"{outcome.printed[-1]:.2f}",
            **expect(outcome, RSVD),
        ),
        Claim(
            f"L-BFGS is faster than Lanczos on {TITLES[data]}: time of Lanczos over that of L-BFGS",
            f"table {table}",
            1.0,
            outcome.factor(LANCZOS),
            "at least",
            printed=f"{outcome.printed_factor(LANCZOS):.2f}",
            **expect(outcome, LANCZOS),
        ),
    ]


def expect(outcome: Outcome, solver: str) -> dict[str, Any]:
    """Return what is known of an ordering, which depends on the size: small matrices stay in the cache."""
    holds = HOLD_SMALL if outcome.n <= SMALL else HOLD
    if (outcome.table, solver, outcome.data) in holds:
        return {}
    return {"expected": "differ", "evidence": EVIDENCE[solver]}


def all_pairs(table: str, outcomes: list[Outcome]) -> Claim:
    """L-BFGS beside the full decomposition."""
    factors = [outcome.factor(FULL) for outcome in outcomes if np.isfinite(outcome.seconds(FULL))]
    printed = [row[0] / row[3] for row in PRINTED[table].values() if np.isfinite(row[0])]
    tie = table == "3" and outcomes[0].n <= SMALL
    known: dict[str, Any] = {"expected": "differ", "evidence": EVIDENCE["all pairs"]} if tie else {}
    return Claim(
        "L-BFGS is faster than the decomposition into all eigenpairs: the least of its times over that of L-BFGS",
        f"table {table}",
        1.0,
        min(factors),
        "at least",
        printed=f"{min(printed):.0f}",
        **known,
    )


def three_times(outcomes: list[Outcome]) -> Claim:
    """The advantage over the randomized SVD for the looser target."""
    return Claim(
        "For 1e-2 L-BFGS is at least 3 times faster than the randomized SVD on every data set: the least factor",
        "section 5.1, table 2",
        3.0,
        min(outcome.factor(RSVD) for outcome in outcomes),
        "at least",
        printed="3.72",
        expected="differ",
        evidence=EVIDENCE["three times"],
    )


def smaller(outcomes: dict[str, list[Outcome]]) -> Claim:
    """The advantage over the randomized SVD is smaller for the tighter target."""
    ratios = [b.factor(RSVD) / a.factor(RSVD) for a, b in zip(outcomes["2"], outcomes["3"], strict=True)]
    printed = [PRINTED["3"][name][-1] / PRINTED["2"][name][-1] for name in PRINTED["2"]]
    return Claim(
        "The speedup over the randomized SVD is generally smaller for 1e-4 than for 1e-2: median over data sets of the "
        "ratio of the two",
        "section 5.1, tables 2 and 3",
        1.0,
        float(np.median(ratios)),
        "at most",
        printed=", ".join(f"{ratio:.2f}" for ratio in printed),
        expected="differ",
        evidence=EVIDENCE["smaller"],
    )


def no_gain(found: Found, data: str) -> Claim:
    """Lanczos gains nothing from the looser target."""
    (values,) = found.where(data=data, kernel="laplace")
    loose, tight = values["products"][:, SOLVERS.index(LANCZOS)]
    name = STANDS_FOR[data]
    return Claim(
        f"Lanczos takes no advantage of the looser target on {TITLES[data]}: products with the matrix for 1e-4 over "
        "those for 1e-2",
        "section 5.1, tables 2 and 3",
        1.0,
        float(tight / loose),
        "at most",
        tolerance=REPEATING,
        reason="the printed times of the two differ by a hundredth; a twentieth is what repeated runs differ by",
        printed=f"{PRINTED['3'][name][1] / PRINTED['2'][name][1]:.2f} (of times)",
        expected="differ",
        evidence=EVIDENCE["no gain"],
    )


REPEATED = {("2", "reuters"), ("3", "reuters")}  # eigenvalues of equal rows, with the Laplace kernel
HOLD = {  # orderings that came out at full size by a margin, on a quiet machine with two threads
    *((table, RSVD, data) for table in PRINTED for data in STANDS_FOR if (table, data) not in REPEATED),
    ("2", LANCZOS, "synth"),
    ("2", LANCZOS, "usps"),
    ("5", LANCZOS, "synth"),
    ("5", LANCZOS, "usps"),
}
HOLD_SMALL = {  # those that came out in every run with 1500 rows, by a margin
    ("2", RSVD, "protein"),
    ("2", RSVD, "rcv1"),
    ("2", RSVD, "usps"),
    ("3", RSVD, "rcv1"),
    ("5", RSVD, "protein"),
    ("5", RSVD, "reuters"),
    ("5", RSVD, "usps"),
}
EVIDENCE = {
    "all pairs": "A tie with 1500 rows, whose decomposition takes half a second: in four runs the least factor was "
    "1.12, 1.18, 2.87 and 0.998. With all rows the claim is expected to hold, and did.",
    "smaller": "It is not general. In four runs with 1500 rows the median was 0.79, 0.81, 0.93 and 1.01: smaller on "
    "Protein (0.3 to 0.4) and Synth 1 (0.4 to 1.0), mostly on USPS (0.6 to 1.1), and mostly larger on Reuters (0.9 to "
    "1.7). At full size it was 0.4 on Protein and USPS, 0.6 on Synth 1 and 1.4 on RCV1.",
    RSVD: "Too near to 1, or below, with 1500 rows: the randomized SVD with 10 oversamples multiplies the matrix with "
    "480 columns in all, L-BFGS with 20 in each product, 200 to 440 for 1e-2 and 500 to 2300 for 1e-4. That gave "
    "factors of 1.0 (Synth 1) to 1.4 for 1e-2, and of 0.55 to 0.9 for 1e-4. At full size, with matrices larger than "
    "the cache, factors were 2.7 to 7.6 for 1e-2 and 1.5 to 10.8 for 1e-4.",
    LANCZOS: "ARPACK with the loosest tolerance that is enough takes 42 to 151 products with one column for either "
    "target; L-BFGS takes 5 to 22 products with 20 columns for 1e-2 and 5 to 116 for 1e-4. At full size Lanczos took "
    "0.4 to 2.4 times the time of L-BFGS for 1e-2, and 0.3 to 0.9 times for 1e-4; with 1500 rows 0.3 to 1.3 and 0.05 "
    "to 1.0 times. Run to machine precision, as in the published script, it took 1.1 to 4.7 times as long as L-BFGS "
    "for 1e-2, and 0.4 to 5 times for 1e-4. Large matrices favor L-BFGS, which reads them once for 20 columns.",
    "no gain": "Products for 1e-4 over those for 1e-2: 53 over 42 on USPS, 110 over 53 on the 2871 rows of protein; 42 "
    "over 42 on 1500 of these, where the first basis of 41 vectors is enough for both. The printed times are alike to "
    "a hundredth, as those of one and the same run: the published script gives ARPACK no tolerance.",
    "three times": "16 products with 30 columns and 12 to 20 with 20 columns do not differ by a factor of 3. At full "
    "size 2.7 on Synth 1; with 1500 rows 1.0 on Synth 1, 1.4 on Reuters, 1.5 on USPS; 2.6 on protein, where no "
    "oversamples that were tried are enough, and 3.3 on RCV1, where random directions are.",
}
