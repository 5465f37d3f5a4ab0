"""A contender in a process of its own: reads acts from standard input, answers each with its seconds.

python worker.py CONTENDER DATABASE CASE-AS-JSON
"""

from __future__ import annotations

import json
import sys
import time

import numpy as np
from contenders import CONTENDERS, limited
from tables import Case


def main() -> None:
    limited()
    name, database, case = sys.argv[1:]
    contender = CONTENDERS[name](database, Case(**json.loads(case)))
    print("ready", flush=True)
    for line in sys.stdin:
        act, _, argument = line.strip().partition(" ")
        if act == "answers":
            np.savez(argument, **contender.answers())
            print("done", flush=True)
            continue
        start = time.perf_counter()
        getattr(contender, act)()
        print(time.perf_counter() - start, flush=True)


if __name__ == "__main__":
    main()
