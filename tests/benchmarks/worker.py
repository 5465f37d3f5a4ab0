"""A contender in a process of its own: reads acts from standard input, answers each with its seconds.

python worker.py CONTENDER DATABASE CASE-AS-JSON

An answer is "ready", "done", the seconds by the clock and those of this process on all processors, or "stopped: " and why.
"""

import json
import sys
import time
import traceback

import numpy as np
from contenders import limited, load
from tables import Case


def main() -> None:
    limited()
    name, database, case = sys.argv[1:]
    try:
        contender = load(name)(database, Case(**json.loads(case)))
        print("ready", flush=True)
        for line in sys.stdin:
            act, _, argument = line.strip().partition(" ")
            if act == "answers":
                file, options = json.loads(argument)
                np.savez(file, **contender.answers(options))
                print("done", flush=True)
                continue
            start = time.perf_counter(), time.process_time()
            getattr(contender, act)()
            print(time.perf_counter() - start[0], time.process_time() - start[1], flush=True)
        contender.stop()
    except Exception as error:
        traceback.print_exc()
        print("stopped: " + (str(error).strip().splitlines() or [type(error).__name__])[0], flush=True)
        raise SystemExit(1) from error


if __name__ == "__main__":
    main()
