"""A program: a fit on a cluster that others have started, which stands still after some steps.

Run by test_interrupted.py, which kills it there. The steps are written to a checkpoint before.
"""

from __future__ import annotations

import pickle
import sys
import time
from pathlib import Path
from typing import Any

STEPS = 4


def main(address: str, folder: Path) -> None:
    from distributed import Client

    from sdpmetric import TripletSDPMetric
    from sdpmetric.persistence import state_file
    from tests.support.faults import SETTINGS

    state_file._SECONDS = 0.0  # every step is written
    rows, triplets = pickle.loads((folder / "data").read_bytes())

    def stand_still(now: Any) -> bool:
        if now.n_iter > STEPS:
            print("written", flush=True)
            time.sleep(600.0)
        return False

    with Client(address):
        metric = TripletSDPMetric(**SETTINGS, checkpoint=folder / "state")
        metric._watch = stand_still
        metric.fit(rows, triplets)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
