# SPDX-License-Identifier: Apache-2.0
"""The server of tests/bench/replay, and the worlds that benchmarks ask it for. `Crowd` of tests/e2e starts it."""
from api_server import built

# Policies by templates.
POLICIES = {10_000: 500, 30_000: 1000, 100_000: 3000, 300_000: 9000, 1_000_000: 30_000}


def replay_program():
    """The program; None where it cannot be built, after printing the reason."""
    folder, reason = built("tests/bench/replay")
    if not folder:
        print(f"  {reason}")
        return None
    return folder / "replay"
