"""Worlds: a crowd in a scene, step by step. SPDX-License-Identifier: Apache-2.0"""
from __future__ import annotations

import json
import os
import tempfile
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from . import _core
from ._arrays import Array, address, points_of, view
from .scene import Scene, SceneLike, numbers, scene_of

FIELDS = dict(_core.fields())  # name: kind, of every person of every world
PHASES = ("standing", "walking", "waiting", "arrived", "fallen", "scripted", "body", "left", "removed")
GRIDS = ("density", "packing", "pressure")
COLOURS = ("speed", "density", "group")
MOODS = ("calm", "waits", "impatient", "in panic", "fallen")
STOPS = {"walls": 1, "agents": 2, "both": 3}
#: Records of agents that a question found; distance is from the place asked for [m].
SEEN = np.dtype([("id", "u4"), ("group", "i4"), ("phase", "i4"), ("position", "f4", 2), ("velocity", "f4", 2), ("radius", "f4"),
                 ("distance", "f4")])
#: Records of the crowd at points: density [1/m2], mean speed and velocity [m/s] and line pressure [N/m]; NaN: no people.
CROWD = np.dtype([("density", "f4"), ("speed", "f4"), ("velocity", "f4", 2), ("pressure", "f4")])
_CORNER = np.dtype([("point", "f4", 2), ("level", "i4")])


def _pair(point: Sequence[float]) -> Tuple[float, float]:
    x, y = point
    return float(x), float(y)


class Event(NamedTuple):
    """Something that happened in the last call of :meth:`World.step`."""

    kind: str  #: "left", "door_opened" or "door_closed"
    time: float  #: [s]
    number: int  #: of the exit among the goals, or of the door
    agent: int  #: id of the agent that left; 0: none


class Grid(NamedTuple):
    """Values of the cells of a level, row by row from the lower left."""

    values: Array
    min_x: float
    min_y: float
    cell: float  #: side of a cell [m]


class Body(NamedTuple):
    """A body moved by hand, where it is now."""

    position: Tuple[float, float]  #: of its origin [m]
    velocity: Tuple[float, float]  #: [m/s]
    angle: float  #: counter-clockwise [rad]
    spin: float  #: [rad/s]
    level: int
    cornered: int  #: agents that walls left no room to step out of it
    corners: Array  #: (n, 2) [m]


class Hit(NamedTuple):
    """The first thing on a ray."""

    kind: str  #: "nothing", "wall" or "agent"
    distance: float  #: from the start [m]
    point: Tuple[float, float]
    normal: Tuple[float, float]  #: of what was hit, towards the start
    agent: int  #: id; 0: none
    door: int  #: the shut door that was hit; -1: none


class Way(NamedTuple):
    """A short way around walls."""

    points: Array  #: its corners, the goal last, (n, 2) [m]
    levels: Array  #: of the corners
    length: float  #: [m]


class World:
    """All agents at one moment. Many worlds may share one scene.

    ``World(scene, seed=1, threads=0, step=0, max_agents=0)``: the scene may be a file or a dictionary, too; 0 stands for
    the scene's own seed and step, as many threads as pay, and room for all people the scene can bring. Results do not
    depend on the number of threads. ``device="cuda"`` runs on a GPU where the library was built for one. With ``replan``
    ways follow a changed door or wall within so many seconds, a share in every step, and no step takes much longer.
    """

    def __init__(self, scene: SceneLike, *, seed: int = 0, threads: int = 0, step: float = 0.0, end: float = 0.0,
                 max_agents: int = 0, device: str = "cpu", replan: float = 0.0, _from: Optional["World"] = None) -> None:
        self.scene: Scene = scene_of(scene)
        if device not in ("cpu", "cuda"):
            raise ValueError(f'device is "cpu" or "cuda", not {device!r}')
        self._core: _core.World = _core.World(self.scene.core, _from._core if _from else None, threads, seed, step, end, max_agents,
                                              device == "cuda", replan)
        self.max_agents, self.replan = max_agents, replan
        self._followers: List[Union[Recorder, Watch]] = []  # see every step

    # ---- time

    def step(self, steps: int = 1) -> "World":
        """Goes on by so many steps. Other Python threads run meanwhile."""
        if not self._followers:
            self._core.step(steps)
        for _ in range(steps if self._followers else 0):
            self._core.step(1)
            for follower in self._followers:
                follower._core.see()
        return self

    def run(self, seconds: Optional[float] = None) -> "World":
        """Goes on for so many simulated seconds, or until no agent is on the way or the scene's time is over."""
        settings = self.scene.view["run"]
        end = self.time + seconds if seconds is not None else settings["duration"] or settings["max_time"]
        while self.time < end - 0.5 * self.step_length and not (seconds is None and self.done):
            left = int(round((end - self.time) / self.step_length))
            self.step(min(left, 10) if seconds is None else left)
        return self

    @property
    def time(self) -> float:
        """Simulated so far [s]."""
        return self._core.now()[0]

    @property
    def steps(self) -> int:
        return self._core.now()[1]

    @property
    def step_length(self) -> float:
        """[s]"""
        return self._core.now()[2]

    @property
    def seed(self) -> int:
        return self._core.now()[3]

    @property
    def done(self) -> bool:
        """No agent is on the way and none is still to come."""
        return self._core.now()[4]

    def __len__(self) -> int:
        """Agents, scripted bodies included; the length of every array in id order."""
        return self._core.now()[5]

    def hash(self) -> int:
        """A number that differs when anything of the crowd differs; the same for any number of threads."""
        return self._core.hash()

    # ---- fields

    @property
    def fields(self) -> Dict[str, str]:
        """Names of all fields and their kinds, those of the groups' models included ("move/hidac.patience")."""
        return {**FIELDS, **dict(self._core.own_fields())}

    def _field(self, name: str) -> Tuple[int, str]:
        number = self._core.field(name)
        if number < 0:
            raise KeyError(f"this world has no field {name!r}; there are {', '.join(self.fields)}")
        if name in FIELDS:
            return number, FIELDS[name]
        own = self._core.own_fields()
        return number, next(kind for full, kind in own if full == name or full.split("/", 1)[1] == name)

    def __getitem__(self, name: str) -> Array:
        """A field of all agents in the order of ids, as a copy: ``world["speed"]``."""
        number, kind = self._field(name)
        result = np.empty(len(self), dtype=kind)
        self._core.read(number, address(result), len(result))
        return result

    def __setitem__(self, name: str, values: Any) -> None:
        """Writes a field of all agents, in the order of ids. An impossible value (not a number, a level that does not
        exist) raises ValueError; the rest is written."""
        number, kind = self._field(name)
        array = np.ascontiguousarray(np.broadcast_to(np.asarray(values, dtype=kind), (len(self),)))
        refused = self._core.write(number, address(array), len(array))
        if refused:
            raise ValueError(f"{refused} values of {name!r} are impossible and were not taken over")

    def view(self, name: str) -> Array:
        """The memory of a field itself, read only, without a copy: in the order of cells, the same order for all fields
        until the next step or change. It also holds agents that left in the last step (``phase`` "left", "removed").
        The array stays valid memory as long as you keep it, but means this moment only until the world goes on."""
        number, kind = self._field(name)
        where, count = self._core.stored(number)
        return view(self._core, where, count, kind)

    @property
    def position(self) -> Array:
        """Of all agents, shape (n, 2), in the order of ids, in the scene's coordinates less ``scene.view["origin"]`` [m]."""
        return np.stack([self["position_x"], self["position_y"]], axis=1)

    @property
    def velocity(self) -> Array:
        """[m/s], shape (n, 2), in the order of ids."""
        return np.stack([self["velocity_x"], self["velocity_y"]], axis=1)

    @property
    def id(self) -> Array:
        """Ids, ascending; never given twice."""
        return self["id"]

    def frame(self) -> Any:
        """All common fields as a pandas frame with the ids as index."""
        import pandas
        return pandas.DataFrame({name: self[name] for name in FIELDS}).set_index("id")

    def contact_forces(self) -> Array:
        """Sum of the magnitudes of all contact forces of each agent [N], in the order of ids."""
        result = np.zeros(len(self), dtype=np.float32)
        self._core.forces(address(result))
        return result

    def grid(self, what: str = "density", level: Union[int, str] = 0) -> Optional[Grid]:
        """``density``, ``packing`` or ``pressure`` of a model that keeps grids (uic); None where no group has one."""
        if what not in GRIDS:
            raise ValueError(f"a grid is one of {', '.join(GRIDS)}, not {what!r}")
        found = self._core.grid(GRIDS.index(what), self.scene.index("levels", level))
        if found is None:
            return None
        nx, ny, min_x, min_y, cell, values = found
        return Grid(np.frombuffer(values, dtype=np.float32).reshape(ny, nx), min_x, min_y, cell)

    # ---- people come and go

    def spawn(self, positions: Any, *, group: Union[int, str] = 0, level: Union[int, str] = 0, velocity: Any = 0.0,
              goal: Any = 0.0, goal_level: Union[int, str] = 0, radius: Any = 0.0, speed: Any = 0.0,
              mass: Any = 0.0) -> Array:
        """Places people, all or none, and returns their ids. Radius, speed and mass of 0 are drawn as the group has them."""
        at = points_of(positions)
        reals = np.zeros((len(at), 9), dtype=np.float32)
        for columns, values in ((slice(0, 2), at), (slice(2, 4), velocity), (slice(4, 6), goal)):
            reals[:, columns] = values
        for column, values in ((6, radius), (7, speed), (8, mass)):
            reals[:, column] = values
        wholes = np.zeros((len(at), 3), dtype=np.int32)
        wholes[:] = [self.scene.index("levels", level), self.scene.index("levels", goal_level),
                     self.scene.index("groups", group)]
        ids = np.zeros(len(at), dtype=np.uint32)
        self._core.spawn(address(reals), address(wholes), len(at), address(ids))
        return ids

    def remove(self, ids: Union[int, Sequence[int], Array]) -> int:
        """Takes people out; returns how many of them were there."""
        array = numbers(ids)
        return self._core.remove(address(array), len(array))

    def alive(self, id: int) -> bool:
        return self._core.alive(int(id))

    def set_goal(self, ids: Union[int, Sequence[int], Array], goals: Any) -> None:
        """Own goal points of people whose group has them (``own_goal``) [m]."""
        places: Array = np.searchsorted(self.id, numbers(ids))
        if not np.array_equal(self.id[np.minimum(places, len(self) - 1)], numbers(ids)):
            raise ValueError("an agent of these ids is not there")
        points = np.broadcast_to(np.asarray(goals, dtype=np.float32), (len(places), 2))
        for name, column in (("goal_x", 0), ("goal_y", 1)):
            values = self[name]
            values[places] = points[:, column]
            self[name] = values

    # ---- orders to one agent, from the next step on

    def send(self, id: int, point: Sequence[float], level: Union[int, str] = 0) -> None:
        """The agent walks to the point and stays there, whatever its group does."""
        self._core.send(int(id), self.scene.index("levels", level), point[0], point[1])

    def set_leg(self, id: int, leg: int) -> None:
        """The agent walks this leg of its group's route, 0 the first, and those after it."""
        self._core.set_leg(int(id), leg)

    def set_value(self, id: int, field: str, value: float) -> None:
        """One value of one agent, such as its ``speed``."""
        self._core.set_value(int(id), self._field(field)[0], value)

    # ---- bodies moved by hand: a player, a vehicle, a robot. Agents step out of their way and are never run through.

    def add_body(self, outline: Any = (), *, position: Sequence[float], velocity: Sequence[float] = (0, 0), angle: float = 0.0,
                 spin: float = 0.0, radius: float = 0.0, level: Union[int, str] = 0) -> int:
        """Places a disc (a radius alone), a capsule (two points and a radius) or a convex polygon of at most 16 corners
        about its origin, and returns its number."""
        shape = points_of(np.reshape(outline, (-1, 2)))
        return self._core.add_body(address(shape), len(shape), radius, self.scene.index("levels", level), *_pair(position),
                                   *_pair(velocity), angle, spin)

    def body(self, body: int) -> Body:
        """Where a body is now."""
        told = self._core.body(body)
        if told is None:
            raise ValueError(f"there is no body {body!r}")
        x, y, vx, vy, angle, spin, level, cornered, corners = told
        return Body((x, y), (vx, vy), angle, spin, level, cornered, np.frombuffer(corners, dtype=np.float32).reshape(-1, 2))

    def move_body(self, body: int, position: Optional[Sequence[float]] = None, *, velocity: Optional[Sequence[float]] = None,
                  angle: Optional[float] = None, spin: Optional[float] = None) -> None:
        """Sets what is given; the rest stays. It goes on with its velocity and spin until they are changed, and sweeps what
        lies between its place and a new one."""
        now = self.body(body)
        self._core.move_body(body, *(now.position if position is None else _pair(position)),
                             *(now.velocity if velocity is None else _pair(velocity)), now.angle if angle is None else angle,
                             now.spin if spin is None else spin)

    def remove_body(self, body: int) -> None:
        self._core.remove_body(body)

    # ---- edits, from the next step on

    def set_door(self, door: str, open: bool) -> None:
        self._core.set_door(door, open)

    def door_open(self, door: Union[int, str]) -> bool:
        return self._core.door_open(self.scene.index("doors", door))

    def add_wall(self, a: Sequence[float], b: Sequence[float], level: Union[int, str] = 0) -> int:
        """A thin wall from a to b; its number is for :meth:`remove_wall`."""
        return self._core.add_wall(self.scene.index("levels", level), a[0], a[1], b[0], b[1])

    def remove_wall(self, wall: int) -> None:
        self._core.remove_wall(wall)

    def set_parameter(self, group: Union[int, str], name: str, value: float) -> None:
        """Of one of the group's models, for the people who are there, too."""
        self._core.set_param(self.scene.index("groups", group), name, value)

    def continued(self, scene: SceneLike, **settings: Any) -> "World":
        """The same people in another scene, such as one with a wall moved; ids, time and counts go on."""
        return World(scene, _from=self, **settings)

    # ---- what happened

    def events(self) -> List[Event]:
        """Of the last call of :meth:`step`, in time order."""
        return [Event(*event) for event in self._core.events()[0]]

    def statistics(self, overlaps: bool = True) -> Dict[str, Any]:
        """Counts of people and of what models did; without overlaps it costs nothing."""
        return self._core.statistics(overlaps)

    def profile(self) -> Dict[str, float]:
        """Seconds spent in each stage."""
        return self._core.profile()

    def counted(self, what: str) -> List[Dict[str, Any]]:
        """Running results of ``lines``, ``doors``, ``areas`` or ``exits`` (all goals; only exits count)."""
        if what not in ("lines", "doors", "areas", "exits"):
            raise ValueError(f"lines, doors, areas or exits, not {what!r}")
        return self._core.counted(what)

    # ---- questions

    def _target(self, goal: Union[int, str]) -> int:
        number = self.scene.index("goals", goal)
        targets = self.scene.view["targets"]
        if [number] in targets:
            return int(targets.index([number]))
        raise ValueError(f"no group's route leads to {goal!r} alone")

    def distances(self, goal: Union[int, str], points: Any, level: Union[int, str] = 0) -> Array:
        """Walking distance to a goal of a route [m]; infinity where there is no way."""
        at = points_of(points)
        result = np.zeros(len(at), dtype=np.float32)
        self._core.distances(self._target(goal), self.scene.index("levels", level), address(at), len(at), address(result))
        return result

    def directions(self, goal: Union[int, str], points: Any, level: Union[int, str] = 0) -> Optional[Array]:
        """Which way the planner leads to the goal, unit vectors; NaN where it knows no way, None where none can tell."""
        at = points_of(points)
        result = np.zeros((len(at), 2), dtype=np.float32)
        told = self._core.directions(self._target(goal), self.scene.index("levels", level), address(at), len(at),
                                     address(result))
        return result if told else None

    def influences(self, id: int) -> List[Dict[str, Any]]:
        """The influences on a person: forces, half-planes, rectangles, in the words of its models."""
        return self._core.influences(int(id))

    def near(self, point: Sequence[float], range: float, count: int = 8, level: Union[int, str] = 0) -> Array:
        """The nearest agents to a point, nearest first, as records (``throng.SEEN``)."""
        records = np.empty(max(int(count), 0), dtype=SEEN)
        found = self._core.near(self.scene.index("levels", level), point[0], point[1], range, address(records), len(records))
        return records[:found]

    def within(self, shape: Any, radius: float = 0.0, level: Union[int, str] = 0) -> Array:
        """All agents in a circle (one point and a radius), in the box between two points or in a polygon, as records."""
        corners = points_of(shape)
        records = np.empty(len(self), dtype=SEEN)
        found = self._core.within(self.scene.index("levels", level), address(corners), len(corners), radius, address(records),
                                  len(records))
        return records[:found]

    def ray(self, start: Sequence[float], end: Sequence[float], stops: str = "both", but: int = 0,
            level: Union[int, str] = 0) -> Hit:
        """The first wall or agent between two points, ``but`` one agent; ``stops``: "walls", "agents" or "both"."""
        if stops not in STOPS:
            raise ValueError(f"stops is one of {', '.join(STOPS)}, not {stops!r}")
        kind, distance, x, y, nx, ny, agent, door = self._core.ray(self.scene.index("levels", level), *_pair(start), *_pair(end),
                                                                   STOPS[stops], int(but))
        return Hit(kind, distance, (x, y), (nx, ny), agent, door)

    def path(self, start: Sequence[float], end: Sequence[float], radius: float = 0.25, level: Union[int, str] = 0,
             end_level: Union[None, int, str] = None) -> Optional[Way]:
        """A short way for a disc of this radius, around walls and shut doors, not around agents; None: there is none."""
        begin = self.scene.index("levels", level)
        there = begin if end_level is None else self.scene.index("levels", end_level)
        corners = np.empty(64, dtype=_CORNER)
        while True:
            count, length = self._core.path(begin, *_pair(start), there, *_pair(end), radius, address(corners), len(corners))
            if count <= len(corners):
                break
            corners = np.empty(count, dtype=_CORNER)
        return Way(corners["point"][:count], corners["level"][:count], length) if count else None

    def free_place(self, point: Sequence[float], radius: float = 0.25, range: float = 5.0,
                   level: Union[int, str] = 0) -> Optional[Tuple[float, float]]:
        """The nearest place at which a disc of this radius touches neither wall nor agent; None within the range."""
        return self._core.free_place(self.scene.index("levels", level), *_pair(point), radius, range)

    def crowd_at(self, points: Any, level: Union[int, str] = 0, forces: Optional[Array] = None) -> Array:
        """Density, speed and velocity at points, as records (``throng.CROWD``); with :meth:`contact_forces` also the
        pressure."""
        at = points_of(points)
        records = np.empty(len(at), dtype=CROWD)
        pressing = None if forces is None else np.ascontiguousarray(forces, dtype=np.float32)
        if pressing is not None and pressing.shape != (len(self),):
            raise ValueError(f"forces have the shape ({len(self)},), as contact_forces returns them, not {pressing.shape}")
        self._core.crowd_at(self.scene.index("levels", level), address(at), len(at),
                            0 if pressing is None else address(pressing), address(records))
        return records

    def moods(self) -> Array:
        """Of all agents in the order of ids, numbers of ``throng.MOODS``."""
        result = np.zeros(len(self), dtype=np.uint8)
        self._core.moods(address(result))
        return result

    def nearest(self, count: int = 8, range: float = 3.0) -> Tuple[Array, Array]:
        """The nearest neighbours of all agents on their levels, see :func:`throng.nearest`."""
        return nearest(self.position, self["level"], count, range)

    # ---- state

    def snapshot(self) -> bytes:
        """Everything that changes; :meth:`restore` goes back to it bit by bit."""
        return self._core.snapshot()

    def restore(self, snapshot: bytes) -> None:
        self._core.restore(snapshot)

    def record(self, path: Union[str, "os.PathLike[str]"], format: str = "sqlite", fps: float = 10.0) -> "Recorder":
        """Writes all following steps into a file: ``with world.record("out.sqlite"): world.run()``."""
        return Recorder(self, path, format, fps)

    def watch(self) -> "Watch":
        """Looks at all following steps, for the findings of the run: ``watch = world.watch()``."""
        return Watch(self)

    # ---- pictures

    def picture(self, path: Union[None, str, "os.PathLike[str]"] = None, *, width: int = 1200,
                colour: str = "speed") -> bytes:
        """The plan with all agents on it as PNG, coloured by ``speed``, ``density`` or ``group``."""
        if colour not in COLOURS:
            raise ValueError(f"colour is one of {', '.join(COLOURS)}, not {colour!r}")
        with tempfile.TemporaryDirectory() as folder:
            target = os.fspath(path) if path is not None else os.path.join(folder, "world.png")
            _core.picture(self._core, os.fsencode(target), width, COLOURS.index(colour))
            with open(target, "rb") as file:
                return file.read()

    def _repr_png_(self) -> bytes:
        return self.picture(width=800)

    def __repr__(self) -> str:
        return f"<throng.World {self.scene.name!r}: {self.time:.1f} s, {len(self)} agents>"


class Recorder:
    """A recording that a world writes into while it goes on. Close it, or use it with ``with``."""

    def __init__(self, world: World, path: Union[str, "os.PathLike[str]"], format: str, fps: float) -> None:
        if format not in ("sqlite", "compact", "text"):
            raise ValueError(f"a recording is sqlite, compact or text, not {format!r}; throng.convert makes HDF5")
        self.path = os.fspath(path)
        self._world = world
        self._core = _core.Recorder(world._core, os.fsencode(self.path), format, fps)
        self._core.see()
        world._followers.append(self)

    def close(self) -> Dict[str, int]:
        """Waits until all is written; frames, rows and bytes of the file."""
        if self in self._world._followers:
            self._world._followers.remove(self)
        return self._core.close()

    def __enter__(self) -> "Recorder":
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()


class Watch:
    """The problems of a running world since the watch was made, and those of its scene."""

    def __init__(self, world: World) -> None:
        self._core = _core.Watch(world._core)
        world._followers.append(self)

    def findings(self) -> List[Dict[str, Any]]:
        """The list that ``throng run`` prints and the report shows, dangers first."""
        return list(json.loads(self._core.findings()))


def nearest(positions: Any, level: Any = 0, count: int = 8, range: float = 3.0, ids: Any = None) -> Tuple[Array, Array]:
    """The nearest ``count`` of the other points within ``range`` and on the same level, nearest first: their indices, -1
    where there are fewer, and distances, shape (n, count) each. Equally near ones by id (default: index)."""
    at = points_of(positions)
    levels = np.broadcast_to(np.asarray(level), (len(at),))
    names = np.ascontiguousarray(np.arange(len(at)) if ids is None else ids, dtype=np.uint32)
    indices = np.full((len(at), count), -1, dtype=np.int32)
    distances = np.full((len(at), count), np.inf, dtype=np.float32)
    for one in np.unique(levels):
        here = np.flatnonzero(levels == one)
        x, y, who = (np.ascontiguousarray(a[here]) for a in (at[:, 0], at[:, 1], names))
        found = np.empty((len(here), count), dtype=np.int32)
        far = np.empty((len(here), count), dtype=np.float32)
        _core.nearest(address(x), address(y), address(who), len(here), count, range, address(found), address(far))
        indices[here] = np.where(found >= 0, here[found], -1)
        distances[here] = far
    return indices, distances
