"""throng: dense-crowd simulation.

    import throng
    world = throng.World("scenes/door.json")
    world.run()
    print(world.statistics()["last_left_time"])
    print(throng.run("scenes/door.json", runs=20).text)

docs/python.md is the guide, docs/scene-format.md the manual of scenes. SPDX-License-Identifier: Apache-2.0
"""
from ._core import Error, build_info, version as __version__
from .fit import Fit, fit
from .models import AGENT, NEIGHBOUR, People, load_plugin, model, model_at, models
from .recording import Recording, convert
from .runs import Results, Table, open_results, read_table, run
from .scene import Scene
from .show import Page, Studio, animation, program, studio
from .vector import CrowdEnv, VectorWorld
from .world import CROWD, FIELDS, MOODS, PHASES, SEEN, Body, Event, Grid, Hit, Recorder, Watch, Way, World, nearest

__all__ = [
    "AGENT", "Body", "CROWD", "CrowdEnv", "Error", "Event", "FIELDS", "Fit", "Grid", "Hit", "MOODS", "NEIGHBOUR", "PHASES", "Page",
    "People", "Recorder", "Recording", "Results", "SEEN", "Scene", "Studio", "Table", "VectorWorld", "Watch", "Way", "World",
    "__version__", "animation", "build_info", "convert", "fit", "load_plugin", "model", "model_at", "models", "nearest", "open_results", "program", "read_table",
    "run", "studio",
]
