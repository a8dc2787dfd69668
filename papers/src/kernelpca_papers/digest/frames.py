"""The video that stands for the paper's: which frames are taken, which one is left out, and their enlargement."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernelpca.datasets import load_hands

SHAPE = (60, 80)
SHAPE_PRINTED = (1080, 1920)
LEFT_OUT = 49  # a closed hand, in the middle of both windows


@dataclass(frozen=True)
class Window:
    """Consecutive frames of the video, first to last; one of them is left out of training."""

    first: int
    last: int

    @property
    def middle(self) -> int:
        """Which frame of the window is left out."""
        return LEFT_OUT - self.first

    def __len__(self) -> int:
        return self.last - self.first + 1


WINDOWS = {"69 frames": Window(14, 83), "one closing": Window(30, 68)}


def load_window(name: str, dtype: type = np.float64) -> np.ndarray:
    """-> (frames, 4800): gray values from 0 to 1."""
    window = WINDOWS[name]
    frames = load_hands()[window.first : window.last + 1]
    return frames.reshape(len(frames), -1) / dtype(255)


def enlarge(frames: np.ndarray, times: tuple[int, int]) -> np.ndarray:
    """(n, 4800) -> (n, 4800 times[0] times[1]): each pixel repeated in both directions, as uint8 or whatever it was."""
    images = frames.reshape(len(frames), SHAPE[0], 1, SHAPE[1], 1)
    large = np.broadcast_to(images, (len(frames), SHAPE[0], times[0], SHAPE[1], times[1]))
    return large.reshape(len(frames), -1)
