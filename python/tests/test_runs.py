"""Runs, their folders, recordings, calibration, pages. SPDX-License-Identifier: Apache-2.0"""
import functools
import gzip
import os
import re
import shutil
import subprocess
import sys
import tempfile
import types
import unittest

import numpy as np
import throng
from support import DOOR, ROOM, ROOT, needs

sys.path.append(str(ROOT / "tests"))
from studio_client import Client, Server  # noqa: E402


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()

    def tearDown(self):
        shutil.rmtree(self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)


# A crowd before a door, with a gap beside it that is too narrow for every body.
CROWDED = {
    "name": "crowded", "levels": [{"walkable": {"rect": [0, 0, 16, 8]},
                                   "walls": [[[8, 0], [8, 2]], [[8, 2.3], [8, 3.5]], [[8, 4.5], [8, 8]]]}],
    "exits": [{"id": "out", "line": [[16, 0], [16, 8]]}],
    "groups": [{"id": "people", "count": 120, "area": {"rect": [0.5, 0.5, 7.5, 7.5]}, "to": "out", "move": "social_force",
                "plan": "field"}],
}


def printed(*words):
    told = subprocess.run([os.environ["TH_PROGRAM"], *words], check=True, capture_output=True, text=True).stdout
    return " ".join(told.split())


class Findings(Folder):
    def assert_shown(self, text, findings):
        """Each of them, in their order."""
        at = 0
        for finding in findings:
            at = text.find(" ".join(finding["text"].split()), at)
            self.assertGreaterEqual(at, 0, f"{finding['text']} is not in {text}")
            at += 1

    def test_are_those_of_the_program(self):
        scene = throng.Scene(CROWDED)
        scene.save(self.path("scene.json"))
        of_scene = scene.findings()
        self.assertEqual(of_scene[0]["kind"], "closed_gap")
        self.assert_shown(printed("check", self.path("scene.json")), of_scene)
        results = throng.run(self.path("scene.json"), out=self.path("run"), record="sqlite")
        world = throng.World(scene)
        watch = world.watch()
        world.run()
        found = watch.findings()
        self.assertGreater(len(found), len(of_scene))
        self.assertEqual(len(found), len(results.findings))
        for ours, theirs in zip(found, results.findings):
            self.assertEqual([ours[key] for key in ("kind", "severity", "text", "cure")],
                             [theirs[key] for key in ("kind", "severity", "text", "cure")])
        self.assert_shown(printed("run", self.path("scene.json"), "--out", "none"), found)
        recorded = results.recording().findings()
        self.assertTrue({f["text"] for f in recorded} <= {f["text"] for f in found})
        self.assert_shown(printed("measure", self.path("run/trajectory.sqlite")), recorded)


class Runs(Folder):
    def test_seeds_are_worlds(self):
        results = throng.run(ROOM, runs=3, seed=5)
        self.assertEqual(results.outcomes["seed"].tolist(), [5, 6, 7])
        self.assertEqual(results.outcomes["left"].tolist(), [30, 30, 30])
        world = throng.World(ROOM, seed=6).run()
        self.assertEqual(world.statistics()["last_left_time"], results.outcomes["egress_time"][1])
        self.assertEqual(results.folder, "")
        with self.assertRaises(FileNotFoundError):
            results.recording()

    def test_values_vary(self):
        results = throng.run(ROOM, runs=2, vary={"groups.0.count": [5, 10], "groups.0.move": ["orca", "people"]})
        self.assertEqual(len(results.points), 4)
        self.assertEqual(results.points[1]["values"], {"groups.0.count": "5", "groups.0.move": "people"})
        self.assertEqual(results.outcomes["spawned"].tolist(), [5, 5, 5, 5, 10, 10, 10, 10])

    @needs("pandas")
    def test_frames(self):
        frame = throng.run(ROOM, runs=2, vary={"groups.0.count": [5, 10]}).frame()
        self.assertEqual(frame.groupby("groups.0.count")["left"].sum().to_dict(), {"10": 20, "5": 10})
        self.assertEqual(len(throng.World(ROOM).frame()), 30)

    def test_a_folder_is_opened_again(self):
        results = throng.run(ROOM, out=self.path("run"), record="sqlite")
        again = throng.open_results(self.path("run"))
        self.assertEqual(again.summary["egress_time_s"], results.summary["egress_time_s"])
        self.assertEqual(len(again.tables["people"]["start_s"]), 30)
        self.assertEqual(again.recording().frame.tolist(), results.recording().frame.tolist())
        with self.assertRaises(FileNotFoundError):
            throng.open_results(self.folder)

    def test_mistakes_are_told(self):
        with self.assertRaises(throng.Error):
            throng.run(ROOM, set={"groups.0.count": -3})
        with self.assertRaises(throng.Error) as caught:
            throng.run(ROOM, record="film")
        self.assertEqual(caught.exception.path, "record")

    def test_progress_may_stop_it(self):
        class Stop(throng.runs.Progress):
            def __call__(self, moment, done, count, time, end, text):
                raise KeyboardInterrupt
        original, throng.runs.Progress = throng.runs.Progress, Stop
        try:
            with self.assertRaises(KeyboardInterrupt):
                throng.run(ROOM, runs=3)
        finally:
            throng.runs.Progress = original


class Recordings(Folder):
    def test_every_format_holds_the_world(self):
        world = throng.World(ROOM)
        seen = {}
        with world.record(self.path("a.sqlite"), fps=10) as recorder:
            for _ in range(20):
                world.step()
                seen[world.steps] = dict(zip(world.id.tolist(), world.position.tolist()))
        self.assertEqual(recorder.path, self.path("a.sqlite"))
        for name, format in (("b.sqlite", "compact"), ("b.txt", "text"), ("b.h5", "hdf5")):
            throng.convert(self.path("a.sqlite"), self.path(name), format)
        for name in ("a.sqlite", "b.sqlite", "b.txt", "b.h5"):
            recording = throng.Recording(self.path(name))
            self.assertEqual(recording.fps, 10.0)
            frame = recording.at(15)
            self.assertEqual(frame["id"].tolist(), sorted(seen[15]))
            wanted = np.array([seen[15][k] for k in frame["id"]])
            self.assertLess(np.abs(np.stack([frame["x"], frame["y"]], 1) - wanted).max(), 0.003, name)
        self.assertTrue(throng.Recording(self.path("a.sqlite")).walkable().startswith("POLYGON"))

    def test_data_of_people(self):
        path = ROOT / "tests/data/readings/uo-050-180-180.txt.gz"
        recording = throng.Recording(path, fps=16, unit="cm")
        with gzip.open(path, "rt") as file:
            rows = [line.split() for line in file if line.strip() and line[0] != "#"]
        self.assertEqual(len(recording), len(rows))
        self.assertEqual(len(np.unique(recording.id)), len({row[0] for row in rows}))
        with self.assertRaises(throng.Error):
            throng.Recording(DOOR)

    @needs("pandas")
    def test_tables(self):
        world = throng.World(ROOM)
        with world.record(self.path("a.sqlite")):
            world.step(10)
        self.assertEqual(len(throng.Recording(self.path("a.sqlite")).frame_table()), 11 * 30)

    @unittest.skipUnless(shutil.which("pedpy") or __import__("importlib").util.find_spec("pedpy"), "PedPy is not installed")
    def test_pedpy(self):
        world = throng.World(ROOM)
        with world.record(self.path("a.sqlite")):
            world.step(10)
        self.assertEqual(throng.Recording(self.path("a.sqlite")).to_pedpy().frame_rate, 10)


class Calibration(unittest.TestCase):
    @needs("scipy")
    def test_finds_the_parameter_that_made_the_flow(self):
        scene = throng.Scene(DOOR, set={"groups.0.count": 60, "groups.0.move": {"model": "collision_free_speed", "time_gap": 0.8}})
        from throng.fit import measure
        target = {"line.threshold.flow": np.mean([measure(scene, seed)["line.threshold.flow"] for seed in (1, 2)])}
        begin = scene.changed({"groups.0.move.time_gap": 1.4})
        found = throng.fit(begin, {"groups.0.move.time_gap": (1.4, 0.5, 2.0)}, target, seeds=(3, 4), evaluations=6)
        self.assertAlmostEqual(found.parameters["groups.0.move.time_gap"], 0.8, delta=0.15)
        self.assertLess(np.abs(found.residuals).mean(), 0.15)

    def test_experiments_are_known_and_mistakes_told(self):
        from throng.fit import _against_experiment, _residuals
        self.assertEqual(_against_experiment({"area.a.samples": np.array([[1.25, 1.117]])}, "uo180")[2], 0.0)
        with self.assertRaises(ValueError):
            _against_experiment({}, "uo180")
        with self.assertRaises(ValueError):
            _against_experiment({}, "none_such")
        with self.assertRaises(ValueError):
            _residuals({"line.a.flow": 1.0}, {"line.b.flow": 1.0})


class Pages(Folder):
    def test_an_animation_plays_without_a_server(self):
        try:
            page = throng.animation(throng.World(ROOM), seconds=2)
        except RuntimeError as error:
            if "has no studio page" not in str(error):
                raise
            self.skipTest("this build has no studio page: Node or its packages were missing")
        self.assertIn("throng-recording", page.html)
        self.assertIn("<iframe", page._repr_html_())
        page.save(self.path("page.html"))
        self.assertGreater(os.path.getsize(self.path("page.html")), 100000)

    def test_the_studio_opens_on_a_world_as_it_stands(self):
        for settings in ({}, {"replan": 1.0, "max_agents": 40}):
            world = throng.World(ROOM, **settings).step(30)
            world.add_wall([9, 1], [9, 3])
            world.spawn([[8, 2], [8, 6]])
            studio = throng.studio(world, browser=False, paused=True)
            try:
                port, token = re.search(r":(\d+)/\?token=(\w+)", studio.address).groups()
                server = types.SimpleNamespace(port=int(port), token=token)
                server.socket = functools.partial(Server.socket, server)
                client = Client(server)
                head, people = client.people()
                client.close()
                self.assertAlmostEqual(head["time"], world.time, places=5)
                self.assertEqual(sorted(people), world.id.tolist())
                shown = np.array([people[id][:2] for id in world.id.tolist()])
                self.assertLess(float(np.abs(shown - world.position).max()), 0.01)
            finally:
                studio.close()
            self.assertIsNotNone(studio.process.returncode)

    def test_a_studio_that_cannot_begin_says_why(self):
        @throng.model("only_here")
        def only_here(people):
            return people.preferred
        with self.assertRaisesRegex(RuntimeError, "only_here"):
            throng.studio(throng.World(throng.Scene(ROOM, set={"groups.0.move": "only_here"})), browser=False)


if __name__ == "__main__":
    unittest.main()
