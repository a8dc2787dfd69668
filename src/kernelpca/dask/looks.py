"""How far a look at the data has come, on threads here."""

from __future__ import annotations

from typing import Any

from dask.callbacks import Callback

from kernelpca.progress import Done


class Looks(Callback):
    """Within a `with` block, tell how many tasks of all are finished, in each look at the data anew.

    A cluster has a page of its own for that.

    Parameters
    ----------
    done : callable
        Told `done(tasks, all_tasks)`.
    """

    def __init__(self, done: Done) -> None:
        super().__init__()
        self.done = done

    def _posttask(self, key: Any, result: Any, graph: Any, state: dict[str, Any], worker: Any) -> None:
        finished = len(state["finished"])
        self.done(finished, finished + sum(len(state[kind]) for kind in ("ready", "waiting", "running")))
