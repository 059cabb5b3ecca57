"""Many worlds at once, environments. SPDX-License-Identifier: Apache-2.0"""
import unittest

import numpy as np
import throng
from support import ROOM


def steered(stage="filter"):
    group = dict(ROOM["groups"][0], count=1, id="robot", area={"rect": [1, 3, 2, 5]}, **{stage: "action"})
    return throng.Scene({**ROOM, "groups": [group, dict(ROOM["groups"][0], count=9)]})


class Vectors(unittest.TestCase):
    def test_each_is_a_world_of_its_seed(self):
        for threads in (1, 3):
            worlds = throng.VectorWorld(ROOM, 5, seed=7, threads=threads)
            worlds.step(30)
            self.assertEqual(worlds.hashes().tolist(), [throng.World(ROOM, seed=7 + k).step(30).hash() for k in range(5)])

    def test_observations_are_the_fields_by_slot_and_the_same_array(self):
        worlds = throng.VectorWorld(ROOM, 3, fields=("position_x", "group", "speed"))
        seen = worlds.observations
        self.assertIs(worlds.step(5), seen)
        for k in range(3):
            world = throng.World(ROOM, seed=1 + k).step(5)
            self.assertTrue(np.array_equal(seen[k, :, 0], world["position_x"]))
            self.assertTrue(np.array_equal(seen[k, :, 2], world["speed"]))
        self.assertTrue(worlds.present.all())
        worlds.step(600)
        self.assertTrue(worlds.done.all() and not worlds.present.any() and not seen.any())

    def test_reset_by_mask(self):
        worlds = throng.VectorWorld(ROOM, 4)
        start, first = worlds.hashes(), worlds.observations.copy()
        worlds.step(20)
        after = worlds.hashes()
        worlds.reset([True, False, True, False])
        self.assertEqual((worlds.hashes() == start).tolist(), [True, False, True, False])
        self.assertEqual((worlds.hashes() == after).tolist(), [False, True, False, True])
        self.assertTrue(np.array_equal(worlds.observations[0], first[0]))
        worlds.reset(seeds=[9, 9, 9, 10])
        hashes = worlds.hashes()
        self.assertEqual(hashes[0], hashes[1])
        self.assertNotEqual(hashes[0], hashes[3])
        self.assertEqual(worlds.time.tolist(), [0.0] * 4)

    def test_actions_steer(self):
        for stage in ("filter", "move"):
            worlds = throng.VectorWorld(steered(stage), 2)
            self.assertTrue(worlds.acts)
            worlds.actions[0, 0] = [0.0, 0.3]
            before = worlds.observations[:, 0, :2].copy()
            worlds.step(10)
            moved = worlds.observations[:, 0, :2] - before
            self.assertAlmostEqual(float(moved[0, 1]), 0.3, delta=0.1)
            self.assertLess(abs(float(moved[0, 0])), 0.15)
            self.assertGreater(float(moved[1, 0]), 0.4)  # left alone, it walks to the exit
        self.assertFalse(throng.VectorWorld(ROOM, 1).acts)

    def test_mistakes_are_told(self):
        with self.assertRaises(ValueError):
            throng.VectorWorld(ROOM, 0)
        with self.assertRaises(ValueError):
            throng.VectorWorld(ROOM, 1, fields=("none_such",))
        with self.assertRaises(ValueError):
            throng.VectorWorld(ROOM, 2).reset([True, False, True])
        with self.assertRaises(throng.Error):
            throng.VectorWorld({**ROOM, "groups": [dict(ROOM["groups"][0], count=5000)]}, 2)


class Environments(unittest.TestCase):
    def test_has_the_shape_of_gymnasium(self):
        env = throng.CrowdEnv(steered(), goal=[5.0, 4.0], seconds=20)
        observation, info = env.reset(seed=3)
        self.assertEqual(observation.shape, env.observation_space.shape)
        self.assertTrue(env.action_space.contains(env.action_space.sample()))
        gained, terminated, truncated = 0.0, False, False
        while not (terminated or truncated):
            way = observation[:2]
            observation, reward, terminated, truncated, info = env.step(1.2 * way / np.linalg.norm(way))
            gained += reward
        self.assertTrue(terminated)
        self.assertGreater(gained, 1.0)
        again, _ = env.reset(seed=3)
        self.assertTrue(np.array_equal(again, throng.CrowdEnv(steered(), goal=[5.0, 4.0]).reset(seed=3)[0]))
        self.assertEqual(env.render()[:4], b"\x89PNG")
        with self.assertRaises(ValueError):
            throng.CrowdEnv(ROOM, goal=[0, 0])


if __name__ == "__main__":
    unittest.main()
