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
