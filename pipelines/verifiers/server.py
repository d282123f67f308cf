# An environment server of verifiers for the taskset beside it: `python server.py PORT`.
import sys

from verifiers.v1.serve import serve_env

if __name__ == "__main__":
    serve_env(
        max_workers=1,
        address=f"tcp://127.0.0.1:{sys.argv[1]}",
        config_data={
            "taskset": {"id": "race_taskset"},
            "agent": {
                "harness": {"id": "null"},
                "runtime": {"type": "subprocess"},
                "max_turns": 1,
            },
        },
    )
