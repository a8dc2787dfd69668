"""Where tasks run: on the caller's cluster if there is one, else on threads here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any
from weakref import WeakSet

import cloudpickle
import dask
import numpy as np

from kernelpca.tiles import available_threads

SMALL = 2**16  # bytes that are sent with the tasks that need them
TRIES = 4  # of a pass whose workers die
CHECKED: WeakSet[Any] = WeakSet()  # clients whose workers have this package
DEATHS = {"KilledWorker", "CancelledError", "FutureCancelledError", "FuturesCancelledError"}


def client() -> Any | None:
    """Return the caller's client, if there is one and no other scheduler was asked for."""
    if dask.config.get("scheduler", None) not in (None, "distributed", "dask.distributed"):
        return None
    try:
        from distributed import get_client

        found = get_client()
    except (ImportError, ValueError):
        return None
    if found not in CHECKED:
        check_workers(found)
        CHECKED.add(found)
    return found


def check_workers(cluster: Any) -> None:
    """Refuse a cluster with workers that do not have this package: they would not even say that a task failed."""
    answers = cluster.run(find_spec, "kernelpca.remote", on_error="return")
    missing = [address for address, found in answers.items() if found is None or isinstance(found, Exception)]
    if missing:
        raise RuntimeError(
            f"{len(missing)} of {len(answers)} workers, {missing[0]} first, cannot import 'kernelpca': install it "
            "there too, in the version that is here. With a client at hand: from distributed import PipInstall; "
            "client.register_plugin(PipInstall(['kernelpca']))."
        )


def total_threads() -> int:
    """Return how many tasks run at a time."""
    cluster = client()
    return available_threads() if cluster is None else max(sum(cluster.nthreads().values()), 1)


def n_workers() -> int:
    """Return how many processes the data is spread over."""
    cluster = client()
    return 1 if cluster is None else max(len(cluster.nthreads()), 1)


def run(make: Callable[[], Sequence[Any]]) -> list[Any]:
    """Compute the tasks that `make()` lists, all in one go.

    What was sent to a worker that dies is lost: then tasks are made anew and the pass begins again.
    """
    for left in reversed(range(TRIES)):
        try:
            return list(dask.compute(*make()))
        except Exception as error:
            if not (left and _worker_died(error)):
                raise
    raise AssertionError("the last try returns or raises")


def send(parts: Sequence[Any]) -> Sequence[Any]:
    """Bring what many tasks need to the workers, once; on threads it is here already, and what is small goes along."""
    cluster = client()
    if cluster is None or sum(_bytes(part) for part in parts) < SMALL:
        return [dask.delayed(part, pure=False, traverse=False) for part in parts]
    return cluster.scatter(list(parts), broadcast=True, hash=False)


def _bytes(part: Any) -> int:
    return part.nbytes if isinstance(part, np.ndarray) else len(cloudpickle.dumps(part))


def _worker_died(error: Exception) -> bool:
    """Whether a worker's death is to blame, which a second try may mend."""
    return any(kind.__name__ in DEATHS for kind in type(error).__mro__)
