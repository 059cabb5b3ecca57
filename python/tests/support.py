"""Shared by several tests. SPDX-License-Identifier: Apache-2.0"""
import os
import pathlib
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOOR = ROOT / "scenes" / "door.json"

ROOM = {
    "name": "room",
    "levels": [{"walkable": {"rect": [0, 0, 12, 8]}, "walls": [[[6, 0], [6, 8]]]}],
    "doors": [{"id": "middle", "line": [[6, 3], [6, 5]]}],
    "exits": [{"id": "out", "line": [[12, 3], [12, 5]]}],
    "groups": [{"id": "people", "count": 30, "area": {"rect": [0, 0, 5, 8]}, "to": "out"}],
    "measure": {"lines": [{"id": "gap", "line": [[6, 3], [6, 5]]}], "areas": [{"id": "west", "area": {"rect": [0, 0, 6, 8]}}]},
}


def needs(module):
    """Skips a test where a module is missing; where THRONG_NEED_PYTHON is set it then fails."""
    try:
        __import__(module)
        missing = False
    except ImportError:
        missing = not os.environ.get("THRONG_NEED_PYTHON")
    return unittest.skipIf(missing, f"{module} is not installed")
