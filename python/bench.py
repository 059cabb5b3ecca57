"""The time that Python adds to a step of 10 000 people, and the speed of a thousand small worlds; in processor time, which does not
depend on what else the machine does. THRONG_BUILD or TH_PROGRAM is not needed: the package alone is measured.

SPDX-License-Identifier: Apache-2.0
"""
import sys
import time

import numpy as np
import throng

HALL = {"levels": [{"walkable": {"rect": [0, 0, 100, 100]}}], "exits": [{"id": "out", "line": [[100, 40], [100, 60]]}],
        "groups": [{"count": 10000, "area": {"rect": [0, 0, 100, 100]}, "to": "out"}]}
ROOM = {"levels": [{"walkable": {"rect": [0, 0, 20, 20]}}], "exits": [{"id": "out", "line": [[20, 8], [20, 12]]}],
        "groups": [{"count": 50, "area": {"rect": [0, 0, 20, 20]}, "to": "out"}]}


def seconds(function, repeats):
    """Of the whole process, the least of some repetitions."""
    def once():
        begin = time.process_time()
        function()
        return time.process_time() - begin
    return min(once() for _ in range(repeats))


def overhead(move):
    """One call per step, positions and velocities read without a copy, against all steps in one call of C."""
    world = throng.World(throng.Scene(HALL, set={"groups.0.move": move}), threads=1).step(5)
    start, steps = world.snapshot(), 20

    def by_python():
        world.restore(start)
        for _ in range(steps):
            world.step()
            for name in ("position_x", "position_y", "velocity_x", "velocity_y"):
                world.view(name)

    def by_c():
        world.restore(start)
        world.step(steps)
    plain, whole = seconds(by_c, 5), seconds(by_python, 5)
    print(f"overhead {move:8s} {1e3 * plain / steps:8.3f} ms/step in C, {100 * (whole / plain - 1):6.2f} % more from Python")


def vector(move, plan, cell, worlds=1000, steps=20):
    values = {"groups.0.move": move, "groups.0.plan": plan, "plan_cell": cell}
    many = throng.VectorWorld(throng.Scene(ROOM, set=values), worlds, threads=1)

    def go():
        many.reset()
        for _ in range(steps):
            many.step()
    people = int(many.present.sum())
    rate = people * steps / seconds(go, 3)
    print(f"vector   {move:8s} {plan:8s} cell {cell or 'own':<4} {rate / 1e6:8.3f} M person-steps/s of one core, {2 * rate / 1e6:.3f} M of two, "
          f"hash {np.bitwise_xor.reduce(many.hashes()):016x}")


def main():
    print(throng.build_info)
    for move in sys.argv[1:] or ("people", "orca"):
        overhead(move)
        for plan, cell in (("field", 0), ("quickest", 0), ("quickest", 0.7)):
            vector(move, plan, cell)


if __name__ == "__main__":
    main()
