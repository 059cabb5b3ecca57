#!/usr/bin/env python3
"""A recording read without throng: Python's sqlite3 and the statements that
PedPy and JuPedSim 1.4 send, then PedPy's own demands. Both storages, the compact one through
`throng convert`. The program is named by TH_PROGRAM.

SPDX-License-Identifier: Apache-2.0
"""
import os
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCENE = ROOT / "scenes" / "door.json"
SECONDS = 20
FPS = 10.0


def rings_of(wkt):
    """The rings of a POLYGON as lists of points."""
    assert wkt.startswith("POLYGON"), wkt
    numbers = r"[-+0-9.eE]+"
    rings = []
    for ring in re.findall(r"\(([^()]*)\)", wkt):
        points = [tuple(map(float, pair)) for pair in re.findall(rf"({numbers})\s+({numbers})", ring)]
        assert len(points) >= 4 and points[0] == points[-1], ring
        rings.append(points)
    return rings


def inside(rings, x, y):
    """Even-odd rule; a person on an edge is not inside."""
    odd = False
    for ring in rings:
        for (ax, ay), (bx, by) in zip(ring, ring[1:]):
            cross = (bx - ax) * (y - ay) - (by - ay) * (x - ax)
            if cross == 0 and min(ax, bx) <= x <= max(ax, bx) and min(ay, by) <= y <= max(ay, by):
                return False
            if (ay <= y) != (by <= y) and ax + (y - ay) / (by - ay) * (bx - ax) > x:
                odd = not odd
    return odd


def metadata(connection, key):
    rows = connection.execute("SELECT value FROM metadata WHERE key = ?", (key,)).fetchall()
    assert len(rows) == 1 and isinstance(rows[0][0], str), f"metadata {key}: {rows}"
    return rows[0][0]


def check_pedpy(connection):
    """Data that PedPy reads, and the demands of its Voronoi cells and validity check."""
    assert int(metadata(connection, "version")) == 2
    assert float(metadata(connection, "fps")) == FPS
    areas = connection.execute("SELECT wkt FROM geometry").fetchall()
    assert len(areas) == 1, "PedPy takes the union of all geometries"
    rings = rings_of(areas[0][0])
    rows = connection.execute("SELECT frame, id, pos_x, pos_y FROM trajectory_data").fetchall()
    frames = {}
    for frame, person, x, y in rows:
        assert isinstance(frame, int) and isinstance(person, int) and person > 0
        assert inside(rings, x, y), f"frame {frame}: person {person} at ({x}, {y}) is outside"
        people, places = frames.setdefault(frame, (set(), set()))
        assert person not in people, f"frame {frame}: person {person} twice"
        assert (x, y) not in places, f"frame {frame}: two people at ({x}, {y})"
        people.add(person)
        places.add((x, y))
    assert sorted(frames) == list(range(int(SECONDS * FPS) + 1)), "frames missing"
    assert len(frames[0][0]) == 150, "frame 0 is before the first step"
    assert len(frames[max(frames)][0]) < 150, "no person left: nothing was tested at the exit"
    return rings


def check_jupedsim(connection, rings):
    """Further data that the Recording and the visualizer of JuPedSim 1.4 read."""
    xs = [x for ring in rings for x, _ in ring]
    ys = [y for ring in rings for _, y in ring]
    bounds = [float(metadata(connection, key)) for key in ("xmin", "xmax", "ymin", "ymax")]
    assert bounds == [min(xs), max(xs), min(ys), max(ys)], bounds
    frames = connection.execute("SELECT MAX(frame) FROM trajectory_data").fetchone()[0]
    joined = connection.execute(
        "SELECT f.frame, g.wkt FROM frame_data f JOIN geometry g ON f.geometry_hash = g.hash ORDER BY f.frame"
    ).fetchall()
    assert [frame for frame, _ in joined] == list(range(frames + 1)), "frame_data"
    for x, y in connection.execute("SELECT ori_x, ori_y FROM trajectory_data WHERE frame = ?", (frames // 2,)):
        assert abs(x * x + y * y - 1) < 1e-6, f"orientation ({x}, {y})"
    plan = connection.execute(
        "EXPLAIN QUERY PLAN SELECT id, pos_x, pos_y, ori_x, ori_y FROM trajectory_data WHERE frame == 5 ORDER BY id ASC"
    ).fetchall()
    assert any("frame_id_idx" in row[-1] for row in plan), f"a frame is found without the index: {plan}"


def run(*arguments):
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(map(str, arguments))}\n{done.stdout}{done.stderr}"


def check_storage(program, folder, storage):
    out = folder / storage
    run(program, "run", SCENE, "--out", out, "--record", storage, "--fps", str(FPS), "--quiet",
        "--set", f"run.max_time={SECONDS}")
    recording = out / "trajectory.sqlite"
    if storage == "compact":
        converted = folder / "rows.sqlite"
        run(program, "convert", recording, converted, "--format", "sqlite")
        recording = converted
    # Others open files they may not write.
    connection = sqlite3.connect(f"file:{recording}?mode=ro", uri=True)
    check_jupedsim(connection, check_pedpy(connection))
    connection.close()


def main():
    program = os.environ.get("TH_PROGRAM")
    if not program:
        print("skipped: TH_PROGRAM does not name the program")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        for storage in ("sqlite", "compact"):
            check_storage(program, pathlib.Path(folder), storage)
    return 0


if __name__ == "__main__":
    sys.exit(main())
