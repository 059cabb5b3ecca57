"""Models in Python and by address. SPDX-License-Identifier: Apache-2.0"""
import ctypes
import os
import subprocess
import tempfile
import unittest

import numpy as np
import throng
from support import DOOR, ROOM, ROOT, needs


@throng.model("py_gap", parameters={"time_gap": (0.5, 0.1, 5.0, "s")}, fields=["slowed"])
def keep_gap(people):
    """walks as fast as the nearest person ahead allows"""
    wanted = people.preferred
    speed = np.linalg.norm(wanted, axis=1)
    along = wanted / np.maximum(speed, 1e-6)[:, None]
    crowd, near, distance = people.nearest(8, 3.0)
    offset = crowd["position"][near] - people.position[:, None]
    ahead = (near >= 0) & (np.einsum("nkd,nd->nk", offset, along) > 0.7 * distance)
    gap = np.where(ahead, distance - people.radius[:, None] - crowd["radius"][near], np.inf).min(axis=1)
    allowed = np.minimum(speed, np.maximum(gap, 0.05) / people.parameter("time_gap"))
    people["slowed"] = people["slowed"] + (speed - allowed) * people.step
    return along * allowed[:, None]


def mixed(move="py_gap"):
    groups = [dict(ROOM["groups"][0], id="python", count=15, move=move), dict(ROOM["groups"][0], id="c", count=15)]
    return throng.Scene({**ROOM, "groups": groups})


class PythonModels(unittest.TestCase):
    def test_moves_its_people_among_others(self):
        world = throng.World(mixed()).run(60)
        self.assertEqual(world.statistics()["left"], 30)
        self.assertEqual(world.statistics()["wall_crossings"], 0)

    def test_any_number_of_threads_gives_the_same_crowd(self):
        scene = throng.Scene(DOOR, set={"groups.0.move": "py_gap"})
        self.assertEqual(len({throng.World(scene, threads=t).step(40).hash() for t in (1, 2, 4)}), 1)

    def test_is_the_formula_it_says(self):
        @throng.model("py_half", parameters={"share": (0.5, 0.0, 1.0)})
        def half(people):
            return people.parameter("share")[:, None] * people.preferred
        plane = {"groups": [{"positions": [[0, 0]], "speed": 1.0, "own_goal": {"in": {"rect": [100, -1, 101, 1]}},
                             "plan": "straight", "move": {"model": "py_half", "share": 0.25}}]}
        world = throng.World(plane, step=0.1).step(40)
        self.assertAlmostEqual(float(np.hypot(*world.position[0])), 1.0, places=3)

    def test_fields_are_kept_and_restored(self):
        world = throng.World(mixed()).step(40)
        slowed, kept = world["py_gap.slowed"], world.snapshot()
        self.assertGreater(slowed.max(), 0.0)
        after = world.step(20).hash()
        world.restore(kept)
        self.assertTrue(np.array_equal(world["py_gap.slowed"], slowed))
        self.assertEqual(world.step(20).hash(), after)

    def test_random_numbers_belong_to_person_and_step(self):
        seen = []

        @throng.model("py_random")
        def drawn(people):
            seen.append((people.time, dict(zip(people.id.tolist(), people.random().tolist()))))
            return people.preferred
        scene = mixed("py_random")
        for threads in (1, 2):
            throng.World(scene, threads=threads).step(3)
        self.assertEqual(seen[:3], seen[3:])
        self.assertNotEqual(seen[0][1], seen[1][1])

    def test_exceptions_reach_the_caller_and_the_world_goes_on(self):
        fail = [True]

        @throng.model("py_fails")
        def fails(people):
            if fail[0]:
                raise KeyError("on purpose")
            return people.preferred
        world = throng.World(mixed("py_fails"))
        with self.assertRaisesRegex(KeyError, "on purpose"):
            world.step()
        fail[0] = False
        world.step(10)
        self.assertEqual(world.steps, 11)

        @throng.model("py_shape")
        def shape(people):
            return people.preferred[:, 0]
        with self.assertRaisesRegex(ValueError, "shape"):
            throng.World(mixed("py_shape")).step()

    def test_a_world_cannot_step_itself_and_people_do_not_outlive_the_call(self):
        kept = []

        @throng.model("py_nested")
        def nested(people):
            kept.append(people)
            world.step()
            return people.preferred
        world = throng.World(mixed("py_nested"))
        with self.assertRaises(RuntimeError):
            world.step()
        with self.assertRaises(RuntimeError):
            kept[0].radius

    def test_a_function_is_replaced(self):
        for factor in (0.0, 1.0):
            @throng.model("py_again")
            def again(people, factor=factor):
                return factor * people.preferred
        world = throng.World(mixed("py_again")).step(5)
        self.assertGreater(np.linalg.norm(world.velocity[world["group"] == 0], axis=1).max(), 0.5)

    def test_filters_and_wrong_stages(self):
        @throng.model("py_still", stage="filter")
        def still(people):
            return 0 * people.preferred
        scene = throng.Scene(ROOM, set={"groups.0.filter": "py_still"})
        self.assertEqual(throng.World(scene).step(100).statistics()["left"], 0)
        with self.assertRaises(ValueError):
            throng.model("py_none", stage="behave")(lambda people: None)
        with self.assertRaises(throng.Error):
            throng.model("orca")(lambda people: None)

    def test_runs_take_it(self):
        outcomes = throng.run(mixed(), runs=2, jobs=2, max_time=60).outcomes
        self.assertEqual(outcomes["left"].tolist(), [30, 30])


SOURCE = """
#include <throng/model.h>
void velocity(const th_agent *agent, float *velocity) {
    float slow = agent->params[0];
    for (int k = 0; k < agent->neighbour_count; ++k)
        if (agent->neighbours[k].distance < 0.6f) agent->own[0].real += 1.0f;
    velocity[0] = slow * agent->preferred.x;
    velocity[1] = slow * agent->preferred.y;
}
"""


class ModelsByAddress(unittest.TestCase):
    def test_a_compiled_function(self):
        with tempfile.TemporaryDirectory() as folder:
            source, library = os.path.join(folder, "own.c"), os.path.join(folder, "own.so")
            with open(source, "w") as file:
                file.write(SOURCE)
            subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-I", str(ROOT / "include"), source, "-o", library], check=True)
            function = ctypes.CDLL(library).velocity
            throng.model_at("at_slow", function, parameters={"share": (0.5, 0.0, 1.0)}, fields=["touched"], neighbours=4,
                            neighbour_range=2.0)
        scene = mixed("at_slow")
        hashes = {throng.World(scene, threads=t).step(50).hash() for t in (1, 3)}
        self.assertEqual(len(hashes), 1)
        self.assertGreater(throng.World(scene).step(80)["at_slow.touched"].max(), 0)

    @needs("cffi")
    def test_a_function_of_cffi(self):
        import cffi
        ffi = cffi.FFI()

        @ffi.callback("void(void *, float *)")
        def half(agent, velocity):
            record = np.frombuffer(ffi.buffer(agent, throng.AGENT.itemsize), dtype=throng.AGENT)[0]
            velocity[0], velocity[1] = 0.5 * record["preferred"]["x"], 0.5 * record["preferred"]["y"]
        throng.model_at("at_cffi", half)
        world = throng.World(mixed("at_cffi"), threads=1).step(10)
        speeds = np.linalg.norm(world.velocity, axis=1)
        self.assertLess(speeds[world["group"] == 0].max(), 1.0)
        self.assertGreater(speeds[world["group"] == 1].max(), 1.0)

    @needs("numba")
    def test_a_function_of_numba(self):
        import numba
        agents, velocities = numba.types.CPointer(numba.from_dtype(throng.AGENT)), numba.types.CPointer(numba.float32)

        @numba.cfunc(numba.void(agents, velocities))
        def half(agent, velocity):
            preferred = numba.carray(agent, 1)[0].preferred
            velocity[0], velocity[1] = numba.float32(0.5) * preferred.x, numba.float32(0.5) * preferred.y

        @throng.model("py_half_of", parameters={})
        def half_of(people):
            return np.float32(0.5) * people.preferred
        throng.model_at("at_numba", half)
        hashes = {throng.World(mixed(name), threads=threads).step(40).hash()
                  for name in ("at_numba", "py_half_of") for threads in (1, 3)}
        self.assertEqual(len(hashes), 1)

    def test_all_models_are_listed(self):
        listed = {(one["stage"], one["name"]) for one in throng.models()}
        self.assertTrue({("move", "orca"), ("move", "py_gap"), ("filter", "action")} <= listed)


if __name__ == "__main__":
    unittest.main()
