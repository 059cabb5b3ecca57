"""Scenes and worlds. SPDX-License-Identifier: Apache-2.0"""
import gc
import os
import subprocess
import tempfile
import threading
import unittest

import numpy as np
import throng
from support import DOOR, ROOM, ROOT


class Scenes(unittest.TestCase):
    def test_a_file_a_dictionary_and_steps_are_the_same_scene(self):
        from_dict = throng.Scene(ROOM)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "room.json")
            from_dict.save(path)
            from_file = throng.Scene(path)
        built = throng.Scene(name="room")
        built.add("level", **ROOM["levels"][0]).add("door", **ROOM["doors"][0]).add("exit", **ROOM["exits"][0])
        built.add("group", **ROOM["groups"][0]).add("line", **ROOM["measure"]["lines"][0])
        built.add("area", **ROOM["measure"]["areas"][0])
        hashes = {throng.World(scene).step(50).hash() for scene in (from_dict, from_file, built)}
        self.assertEqual(len(hashes), 1)

    def test_what_is_refused_is_named_and_not_added(self):
        scene = throng.Scene(ROOM)
        before = dict(scene.document)
        with self.assertRaises(throng.Error) as caught:
            scene.add("group", count=3, sped=1.0)
        self.assertEqual(caught.exception.path, "groups[1].sped")
        self.assertEqual(caught.exception.code, "BAD_SCENE")
        self.assertIn("did you mean", caught.exception.message)
        self.assertEqual(scene.document, before)
        with self.assertRaisesRegex(ValueError, "interest"):
            scene.add("groop", count=1)
        with self.assertRaises(throng.Error) as caught:
            throng.Scene(ROOT / "tests/data/none_such.json")
        self.assertEqual(caught.exception.code, "NO_FILE")

    def test_sections_of_models_are_kinds(self):
        scene = throng.Scene(ROOM).add("stroke", line=[[1, 4], [5, 4]])
        self.assertEqual(len(scene.document["guidance"]), 1)

    def test_an_error_in_a_file_has_its_line(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "bad.json")
            with open(path, "w") as file:
                file.write('{\n "groups": [\n  {"count": "many"}]}')
            with self.assertRaises(throng.Error) as caught:
                throng.Scene(path)
            self.assertEqual(caught.exception.line, 3)

    def test_changes_by_path(self):
        scene = throng.Scene(DOOR, set={"groups.0.count": 20, "groups.0.move": "orca"})
        self.assertEqual(scene.view["groups"][0]["count"], 20)
        self.assertEqual(scene.changed({"groups.0.move": "uic"}).view["groups"][0]["move"], "uic")
        self.assertEqual(scene.view["groups"][0]["move"], "orca")

    def test_questions_of_points(self):
        scene = throng.Scene(ROOM)
        self.assertEqual(scene.walkable([[1, 1], [13, 1]]).tolist(), [True, False])
        self.assertAlmostEqual(float(scene.distance([3, 4])[0]), 3.0, places=4)
        self.assertTrue(scene.wkt().startswith("POLYGON"))
        self.assertIsInstance(scene.findings(), list)
        with self.assertRaises(ValueError):
            scene.walkable([1, 2, 3])
        with self.assertRaises(ValueError):
            scene.walkable([[1, 2]], level="cellar")


class Worlds(unittest.TestCase):
    def test_has_the_hash_of_the_program(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([os.environ["TH_PROGRAM"], "run", str(DOOR), "--max-time", "5", "--out", folder + "/run",
                            "--no-report"], check=True, capture_output=True)
            runs = throng.open_results(folder + "/run").tables["runs"]
        self.assertEqual(f"{throng.World(DOOR).step(50).hash():016x}", str(runs["hash"][0]))

    def test_threads_do_not_matter(self):
        self.assertEqual(throng.World(DOOR, threads=1).step(60).hash(), throng.World(DOOR, threads=3).step(60).hash())

    def test_fields_in_the_order_of_ids_and_of_cells(self):
        world = throng.World(ROOM).step(20)
        self.assertEqual(world.id.tolist(), sorted(world.id))
        place = np.argsort(world.view("id"))
        for name in throng.FIELDS:
            self.assertTrue(np.array_equal(world.view(name)[place], world[name]), name)
        self.assertEqual(world.position.shape, (30, 2))
        with self.assertRaises(KeyError):
            world["posision_x"]

    def test_views_are_read_only_and_outlive_the_world(self):
        world = throng.World(ROOM).step(5)
        x, expected = world.view("position_x"), world.view("position_x").copy()
        self.assertFalse(x.flags.writeable)
        self.assertFalse(x.flags.owndata)
        del world
        gc.collect()
        throng.World(ROOM).step(5)
        self.assertTrue(np.array_equal(x, expected))

    def test_fields_are_written_and_checked(self):
        world = throng.World(ROOM)
        world["speed"] = 0.5
        self.assertTrue(np.all(world["speed"] == 0.5))
        with self.assertRaises(ValueError):
            world["speed"] = np.full(len(world), np.nan)
        self.assertTrue(np.all(world["speed"] == 0.5))
        with self.assertRaises(ValueError):
            world["speed"] = [1.0, 2.0]

    def test_people_come_and_go(self):
        world = throng.World(ROOM)
        ids = world.spawn([[8, 2], [9, 2], [10, 2]], speed=1.2)
        self.assertEqual(len(world), 33)
        self.assertTrue(np.all(world["speed"][np.isin(world.id, ids)] == np.float32(1.2)))
        self.assertEqual(world.remove(ids[:2]), 2)
        self.assertEqual(world.remove(ids[:2]), 0)
        self.assertFalse(world.alive(ids[0]))
        self.assertTrue(world.alive(ids[2]))
        with self.assertRaises(throng.Error):
            world.spawn([[1, 1]] * 100000)
        counts = world.step().statistics()
        self.assertEqual(counts["spawned"], counts["inside"] + counts["left"] + counts["removed"])

    def test_own_goals(self):
        plane = {"groups": [{"count": 3, "area": {"rect": [0, 0, 4, 4]}, "own_goal": {"in": {"rect": [20, 0, 24, 4]}}}]}
        world = throng.World(plane)
        world.set_goal(world.id[:2], [[-20, 1], [-20, 3]])
        world.run(8)
        self.assertTrue(np.all(world.position[:2, 0] < 0) and world.position[2, 0] > 4)
        with self.assertRaises(ValueError):
            world.set_goal([99], [0, 0])

    def test_doors_walls_and_parameters(self):
        world = throng.World(ROOM)
        world.set_door("middle", False)
        self.assertFalse(world.step().door_open("middle"))
        world.run(10)
        self.assertEqual(world.statistics()["left"], 0)
        world.set_door("middle", True)
        wall = world.add_wall([9, 0], [9, 8])
        world.run(15)
        self.assertEqual(world.statistics()["left"], 0)
        world.remove_wall(wall)
        world.run(30)
        self.assertGreater(world.statistics()["left"], 20)
        with self.assertRaises(throng.Error):
            world.remove_wall(wall)
        with self.assertRaises(throng.Error):
            world.set_door("cellar", True)
        with self.assertRaises(throng.Error):
            world.set_parameter("people", "none_such", 1.0)

    def test_events_lines_areas_and_exits(self):
        world = throng.World(ROOM)
        left = 0
        while not world.done and world.time < 60:
            left += sum(event.kind == "left" for event in world.step().events())
        self.assertEqual(left, 30)
        self.assertEqual(world.counted("exits")[0]["left"], 30)
        line = world.counted("lines")[0]
        self.assertEqual(abs(line["forward"] - line["backward"]), 30)
        self.assertEqual(world.counted("areas")[0]["count"], 0)
        self.assertEqual(world.counted("doors")[0]["id"], "middle")

    def test_snapshots_go_on_bit_by_bit(self):
        world = throng.World(ROOM).step(20)
        kept = world.snapshot()
        after = world.step(30).hash()
        world.restore(kept)
        self.assertEqual(world.step(30).hash(), after)
        with self.assertRaises(throng.Error):
            world.restore(kept[:-1] + bytes([kept[-1] ^ 1]))
        with self.assertRaises(throng.Error):
            world.restore(b"")

    def test_goes_on_in_another_scene(self):
        world = throng.World(ROOM).step(20)
        other = world.continued(throng.Scene(ROOM).changed({"groups.0.move": "orca"}))
        self.assertEqual(other.time, world.time)
        self.assertTrue(np.array_equal(other.id, world.id))

    def test_questions(self):
        world = throng.World(ROOM)
        self.assertAlmostEqual(float(world.distances("out", [[8.0, 4.0]])[0]), 4.0, delta=0.2)
        indices, distances = world.nearest(3, 2.0)
        at = world.position
        apart = np.linalg.norm(at[:, None] - at[None], axis=2)
        np.fill_diagonal(apart, np.inf)
        wanted = np.sort(apart, axis=1)[:, :3]
        self.assertTrue(np.allclose(distances, np.where(wanted <= 2.0, wanted, np.inf), atol=1e-5))
        self.assertTrue(np.all((indices >= 0) == (wanted <= 2.0)))
        self.assertEqual(world.contact_forces().shape, (30,))
        self.assertIsNone(world.grid("density"))
        with self.assertRaises(ValueError):
            world.distances("cellar", [[0, 0]])

    def test_bodies_moved_by_hand(self):
        world = throng.World(ROOM)
        tram = world.add_body([[-1, -2], [1, -2], [1, 2], [-1, 2]], position=[8, 4], velocity=[-0.5, 0])
        robot, arm = world.add_body(position=[10, 1], radius=0.3), world.add_body([[-1, 0], [1, 0]], position=[10, 7], radius=0.1)
        self.assertEqual([len(world.body(b).corners) for b in (tram, robot, arm)], [4, 12, 12])
        for _ in range(10):
            world.step()
            self.assertEqual(len(world.within(world.body(tram).corners)), 0)
        self.assertAlmostEqual(world.body(tram).position[0], 8 - 5 * world.step_length, places=4)
        world.move_body(robot, [10, 1.5], spin=1.0)
        moved = world.body(robot)
        self.assertEqual((moved.position, moved.spin, moved.velocity), ((10.0, 1.5), 1.0, (0.0, 0.0)))
        kept = world.snapshot()
        after = world.step(10).hash()
        world.restore(kept)
        self.assertEqual(world.step(10).hash(), after)
        world.remove_body(tram)
        for wrong in (lambda: world.body(tram), lambda: world.move_body(99, [0, 0])):
            with self.assertRaisesRegex(ValueError, "no body"):
                wrong()
        with self.assertRaises(throng.Error):
            world.remove_body(tram)
        with self.assertRaisesRegex(throng.Error, "convex"):
            world.add_body([[0, 0], [2, 0], [0.1, 0.1], [0, 2]], position=[9, 4])
        with self.assertRaises(throng.Error):
            world.add_body(position=[float("nan"), 0], radius=0.3)

    def test_orders_to_one_agent(self):
        world = throng.World(ROOM, replan=1.0)
        world.send(world.id[0], [2, 7])
        world.set_value(world.id[1], "speed", 0.4)
        world.run(12)
        self.assertLess(float(np.hypot(*(world.position[world.id == 1][0] - [2, 7]))), 0.6)
        self.assertEqual(throng.PHASES[world["phase"][world.id == 1][0]], "arrived")
        world.set_leg(1, 0)
        world.run(30)
        self.assertFalse(world.alive(1))
        for wrong in (lambda: world.send(1, [0, 0]), lambda: world.set_leg(2, 5), lambda: world.set_value(1, "speed", 1)):
            with self.assertRaises(throng.Error):
                wrong()
        with self.assertRaises(KeyError):
            world.set_value(2, "sped", 1)
        with self.assertRaises(throng.Error):
            throng.World(ROOM, replan=-1.0)

    def test_ways_follow_a_shut_door_within_the_time(self):
        scene = throng.Scene(ROOM).changed({"groups.0.plan": "field"})
        for replan, later in ((0.0, False), (1.0, True)):
            world = throng.World(scene, replan=replan).step(2)
            world.set_door("middle", False)
            world.step()
            self.assertEqual(bool(np.isfinite(world.distances("out", [[2.0, 4.0]])[0])), later)
            world.run(1.1)
            self.assertTrue(np.isinf(world.distances("out", [[2.0, 4.0]])[0]))

    def test_questions_about_places(self):
        world = throng.World(ROOM).step(3)
        at, ids = world.position, world.id
        far = np.linalg.norm(at - [2.0, 4.0], axis=1)
        near = world.near([2.0, 4.0], 3.0, count=5)
        self.assertEqual(near["id"].tolist(), ids[np.argsort(far)[:5]].tolist())
        self.assertTrue(np.allclose(near["distance"], np.sort(far)[:5], atol=1e-5))
        self.assertTrue(np.array_equal(near["position"], at[near["id"] - 1]))
        for shape, radius, inside in (([2, 4], 1.5, far <= 1.5), ([[3, 5], [1, 2]], 0, np.all((at >= [1, 2]) & (at <= [3, 5]), axis=1)),
                                      ([[0, 0], [5, 0], [0, 5]], 0, at.sum(axis=1) < 5)):
            self.assertEqual(sorted(world.within(shape, radius)["id"]), ids[inside].tolist())
        hit = world.ray([7, 1], [5, 1], stops="walls")
        self.assertEqual((hit.kind, hit.door), ("wall", -1))
        self.assertAlmostEqual(hit.distance, 1.0, places=4)
        hit = world.ray([11, 7.5], near["position"][0], "agents")
        self.assertEqual(hit.kind, "agent")
        self.assertNotEqual(world.ray([11, 7.5], near["position"][0], "agents", but=hit.agent).agent, hit.agent)
        way = world.path([2, 1], [10, 1], 0.2)
        self.assertGreater(way.length, float(np.hypot(4, 2)) * 2 - 0.1)
        self.assertTrue(np.allclose(way.points[-1], [10, 1]))
        world.set_door("middle", False)
        self.assertIsNone(world.path([2, 1], [10, 1], 0.2))
        place = world.free_place(near["position"][0], 0.25, 6.0)
        self.assertGreater(np.linalg.norm(at - place, axis=1).min(), 0.25)
        self.assertIsNone(world.free_place([2, 4], 0.25, 0.0) if far.min() < 0.25 else None)
        crowd = world.crowd_at([[2, 4], [11, 7]], forces=world.contact_forces())
        self.assertGreater(crowd["density"][0], 0.2)
        self.assertEqual(crowd["density"][1], 0.0)
        self.assertTrue(np.isnan(crowd["speed"][1]) and crowd["speed"][0] > 0)
        self.assertEqual({throng.MOODS[m] for m in world.moods()}, {"calm"})
        for wrong in (lambda: world.ray([0, 0], [1, 1], "glass"), lambda: world.near([1, 1], 2.0, level="cellar"),
                      lambda: world.crowd_at([[1, 1]], forces=np.zeros(3))):
            with self.assertRaises(ValueError):
                wrong()

    def test_grids_of_a_fluid(self):
        world = throng.World(throng.Scene(ROOM, set={"groups.0.move": "uic"})).step(5)
        grid = world.grid("density")
        self.assertAlmostEqual(float(grid.values.sum()) * grid.cell**2, 30.0, delta=3.0)
        with self.assertRaises(ValueError):
            world.grid("colour")

    def test_other_threads_run_and_may_not_touch_a_stepping_world(self):
        world = throng.World(DOOR, threads=1)
        refused = []
        worker = threading.Thread(target=lambda: world.step(600))
        worker.start()
        while worker.is_alive():
            try:
                world.hash()
            except RuntimeError:
                refused.append(True)
        worker.join()
        self.assertTrue(refused)
        self.assertEqual(world.steps, 600)

    def test_pictures(self):
        world = throng.World(ROOM)
        for png in (world._repr_png_(), world.scene._repr_png_(), world.picture(colour="density")):
            self.assertEqual(png[:8], b"\x89PNG\r\n\x1a\n")
        with self.assertRaises(OSError):
            world.picture("/none_such/x.png")


if __name__ == "__main__":
    unittest.main()
