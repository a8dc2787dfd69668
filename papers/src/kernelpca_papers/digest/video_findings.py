"""What follows from the video: tables, and figures 2 to 4."""

from __future__ import annotations

import numpy as np

from kernelpca_papers.claims import Claim
from kernelpca_papers.digest.frames import SHAPE, WINDOWS
from kernelpca_papers.digest.photos import draw_photos
from kernelpca_papers.digest.video_claims import METHODS, UNIT, chosen, curve, in_turn, mapped_back
from kernelpca_papers.digest.ways_back import MEAN, NULLS
from kernelpca_papers.drawing import COLORS, IN_ORDER, new_figure
from kernelpca_papers.experiment import Findings, Found, Picture, Table


def conclude(found: Found) -> Findings:
    """Judge every rule by its error beside null models, and the scores by what a curve is."""
    claims: list[Claim] = []
    for window in WINDOWS:
        middle, starts = found.where(window=window, part="middle")[0], found.where(window=window, part="starts")[0]
        errors = dict(zip(METHODS, middle["errors"], strict=True))
        claims += [*curve(window, middle), *mapped_back(window, errors, middle), *chosen(window, middle, starts)]
        claims += in_turn(window, turns(found, window))
    tables = [table_of_models(found), table_of_errors(found)]
    pictures = [draw_frames(found), draw_scores(found), *(draw_answers(found, window) for window in WINDOWS)]
    return Findings(claims, tables, pictures, NOTES)


def turns(found: Found, window: str) -> np.ndarray:
    """-> (frames, methods): errors of the frames that were left out in turn."""
    return np.concatenate([values["errors"] for values in found.where(window=window, part="turns")])


def table_of_models(found: Found) -> Table:
    """Widths, variance kept, and how the scores lie."""
    rows: list[list[str | float]] = []
    for window in WINDOWS:
        one = found.where(window=window, part="middle")[0]
        many = found.where(window=window, part="starts")[0]
        rows += [
            [window, "beta (gray values from 0 to 1)", f"{one['beta']:.5f}", "not printed"],
            [window, "variance kept by 3 components", f"{one['kept']:.3f}", "about 0.5"],
            [window, "the same, not centered", f"{one['kept_plain']:.3f}", "not printed"],
            [window, "the same, linear PCA", f"{one['kept_linear']:.3f}", "not printed"],
            [window, "beta where the uncentered keep half", f"{one['beta_uncentered']:.5f}", "not printed"],
            [window, "path over mean of shuffled paths", f"{one['path'] / one['shuffled'].mean():.3f}", "a curve"],
            [window, "frames whose nearest is next in time", f"{one['next']:.2f}", "not printed"],
            [window, "the same by chance", f"{2 / (len(one['scores']) - 1):.2f}", ""],
            [window, "dimension of the scores", f"{one['dimension']:.2f}", "one"],
            [window, "dimension of clouds of that covariance", f"{one['clouds'].mean():.2f}", ""],
            [window, "entries of V z <= 0, centered", f"{one['negative_centered']}", "some"],
            [window, "entries of V z <= 0, not centered", f"{one['negative_plain']}", "none"],
            [
                window,
                "eq. 33: starts that reach zero",
                f"{many['plain_zero']} of {many['plain_starts']}",
                "not printed",
            ],
            [window, "eq. 33: starts that reach the least", f"{many['plain_best']} of {many['plain_starts']}", "all"],
            [window, "eq. 33: answers apart (1: frame from mean)", f"{many['plain_apart']:.2f}", "0"],
            [window, "eq. 35: starts that reach the least", f"{many['log_best']} of {many['log_starts']}", "all"],
            [window, "eq. 35: answers apart (1: frame from mean)", f"{many['log_apart']:.1e}", "0"],
        ]
    return Table("Models and scores", ["stretch", "what", "ours", "printed"], rows)


def table_of_errors(found: Found) -> Table:
    """Errors of the middle frame and of all."""
    rows: list[list[str | float]] = []
    for window in WINDOWS:
        middle, others = found.one("errors", window=window, part="middle"), turns(found, window)
        shares = (
            1 - middle / middle[METHODS.index(MEAN)],
            1 - others.mean(axis=0) / others[:, METHODS.index(MEAN)].mean(),
        )
        for i, method in enumerate(METHODS):
            kind = "null model" if method in NULLS else "rule"
            figures = middle[i], np.median(others[:, i]), others[:, i].mean()
            row = [f"{shares[0][i]:.2f}", *(f"{figure / UNIT:.2f}" for figure in figures), f"{shares[1][i]:.2f}"]
            rows.append([window, kind, method, row[1], row[0], row[2], row[3], row[4]])
    columns = [
        "stretch",
        "",
        "method",
        "frame 49",
        "reproduced",
        "median in turn",
        "mean in turn",
        "reproduced in turn",
    ]
    return Table(
        f"Mean squared error of a pixel (1e-4): frame 49, and {len(others)} to {len(turns(found, '69 frames'))} frames "
        "left out in turn",
        columns,
        rows,
        "Gray values from 0 to 1. Reproduced: one minus the error over that of the mean frame. The paper prints no "
        "errors.",
    )


def draw_frames(found: Found) -> Picture:
    """Figure 2."""
    window = WINDOWS["69 frames"]
    numbers = np.linspace(0, len(window) - 1, 9).round().astype(int) + window.first
    photos = found.one("photos", window="69 frames", part="middle").reshape(-1, *SHAPE)
    named = {f"frame {number}": photo for number, photo in zip(numbers, photos, strict=True)}
    return Picture(
        "frames",
        draw_photos(named, 3),
        "Figure 2 shows nine of the 69 training frames: an open hand closes and opens once.",
        "Nine of our 69 in order of time: the hand at the right closes and opens three times, the other stays open.",
    )


def draw_scores(found: Found) -> Picture:
    """Figure 3."""
    figure, axes = new_figure(1, 2, 9.6, 4.4, subplot_kw={"projection": "3d"})
    for axis, (name, window) in zip(axes, WINDOWS.items(), strict=True):
        Z, new = (found.one(value, window=name, part="middle") for value in ("scores", "new"))
        time = np.delete(np.arange(len(window)), window.middle) + window.first
        axis.plot(*Z.T, color=COLORS[7], linestyle="--", linewidth=0.9)
        dots = axis.scatter(*Z.T, c=time, cmap=IN_ORDER, s=16, depthshade=False)
        axis.scatter(*new, color=COLORS[1], marker="X", s=110, edgecolor="black", depthshade=False, label="frame 49")
        axis.set(title=name, xlabel="score 1", ylabel="score 2", zlabel="score 3")
        axis.legend(loc="upper left")
        figure.colorbar(dots, ax=axis, label="frame", shrink=0.6, pad=0.12)
    return Picture(
        "scores",
        figure,
        "Figure 3 shows the three scores of the 69 frames, consecutive ones joined by a dashed line, and the left-out "
        "frame as a red dot on it: a curve.",
        "The same for both stretches (scores as printed, z = V'g). The path leads from the open hand to the closed one "
        "and back by nearly the same way; frames at rest crowd at its ends, and since the hands shift between closings "
        "the open ones have several places. The left-out frame lies on the path, among the closed hands.",
    )


def draw_answers(found: Found, window: str) -> Picture:
    """Figure 4."""
    one = found.where(window=window, part="middle")[0]
    photos = {"frame 49, left out\n": one["frame"].reshape(SHAPE)}
    for method, image, error in zip(METHODS, one["images"], one["errors"], strict=True):
        null = "null: " if method in NULLS else ""
        photos[f"{null}{method}\n{error / UNIT:.1f}"] = image.reshape(SHAPE)
    return Picture(
        f"answers {window}".replace(" ", "_"),
        draw_photos(photos, 5),
        "Figure 4 shows the left-out frame beside what three scores give back of it.",
        f"{window}: the left-out frame, then null models and rules with their mean squared error (1e-4). "
        f"{SEEN[window]}",
    )


SEEN = {
    "69 frames": "The closed hand is back, more or less blurred; eq. 35, and eq. 33 with 30 neighbors, give the hand "
    "of another closing, at another height.",
    "one closing": "The closed hand is back by every rule; exp(-d), whose weights hardly fall, blurs it.",
}
NOTES = (
    "Three scores are enough to find the right part of the video, and what a rule adds to that is small: the nearest "
    "training frame and the mean of the two neighbors in time, which need no kernel PCA, have less error than nearly "
    "every rule.",
    "What eq. 33 gives depends on the start: with 69 frames some searches reach zero, at different images, and most "
    "end in a corner of the bounds above it; over one closing none reaches zero, and some end above the others. Eq. 35 "
    "had one minimum from all starts, which is not at the frame, since V V'g is not g.",
    "Weights that sum to one, and only the nearest frames (section 4 proposes a threshold for speed), make the new "
    "weights reliable: no search is lost.",
)
