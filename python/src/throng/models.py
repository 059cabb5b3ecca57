"""Models written in Python, or given as the address of a compiled function. SPDX-License-Identifier: Apache-2.0"""
from __future__ import annotations

from typing import Any, Callable, Dict, List, Mapping, Sequence, Tuple

import numpy as np

from . import _core
from ._arrays import Array, address
from .world import FIELDS, nearest

STAGES = ("events", "index", "behave", "plan", "filter", "move")
_FIELD_NUMBER = {name: number for number, name in enumerate(FIELDS)}
_registered: Dict[Tuple[str, str], Tuple[int, Any]] = {}


class People:
    """The input of a model: all its people at the beginning of the stage, as arrays in one order.

    Any common field by its name (``people.radius``), ``position``, ``velocity`` and ``preferred`` with shape (n, 2),
    the model's parameters (``people.parameter("tau")``, one value each) and own fields (``people["memory"]``, to read
    and to assign). ``others`` has all agents, those of other models included. Valid during the call.
    """

    def __init__(self, core: _core.Crowd, parameters: Sequence[str], fields: Sequence[str]) -> None:
        self._core = core
        self._parameters = list(parameters)
        self._fields = list(fields)
        self._count, self._all, self.time, self.step, self.seed = core.now()

    def __len__(self) -> int:
        return self._count

    def _gather(self, name: str, whole: bool = False) -> Array:
        result = np.empty(self._all if whole else self._count, dtype=FIELDS[name])
        self._core.gather(_FIELD_NUMBER[name], address(result), whole)
        return result

    def __getattr__(self, name: str) -> Array:
        if name not in FIELDS:
            raise AttributeError(f"people have no {name!r}; there are {', '.join(FIELDS)}")
        values = self._gather(name)
        self.__dict__[name] = values
        return values

    @property
    def position(self) -> Array:
        return np.stack([self.position_x, self.position_y], axis=1)

    @property
    def velocity(self) -> Array:
        return np.stack([self.velocity_x, self.velocity_y], axis=1)

    @property
    def preferred(self) -> Array:
        """The preferred velocity, as plan and filter have it so far [m/s]."""
        return np.stack([self.preferred_x, self.preferred_y], axis=1)

    @property
    def others(self) -> Dict[str, Array]:
        """Position, velocity, radius, level, id of all agents present; ``self`` has the places of the model's people."""
        phase = self._gather("phase", True)
        there = np.flatnonzero(phase < 7)  # not left, not removed
        places = np.empty(self._count, dtype=np.int32)
        self._core.places(address(places))
        crowd = {name: self._gather(name, True)[there] for name in ("radius", "level", "id", "phase", "group")}
        for name in ("position", "velocity"):
            crowd[name] = np.stack([self._gather(f"{name}_{axis}", True)[there] for axis in "xy"], axis=1)
        crowd["self"] = np.searchsorted(there, places)
        return crowd

    def nearest(self, count: int = 8, range: float = 3.0) -> Tuple[Dict[str, Array], Array, Array]:
        """``others``, and of each of the model's people the nearest of them: indices (-1: fewer) and distances."""
        crowd = self.others
        indices, distances = nearest(crowd["position"], crowd["level"], count, range, crowd["id"])
        return crowd, indices[crowd["self"]], distances[crowd["self"]]

    def parameter(self, name: str) -> Array:
        """The value that each person's group has."""
        result = np.empty(self._count, dtype=np.float32)
        self._core.param(self._parameters.index(name), address(result))
        return result

    def random(self, number: int = 0) -> Array:
        """In 0 .. 1, another for every person, step and number, the same in every run with the same seed."""
        result = np.empty(self._count, dtype=np.float32)
        self._core.random(number, address(result))
        return result

    def __getitem__(self, field: str) -> Array:
        result = np.empty(self._count, dtype=np.float32)
        self._core.own(self._fields.index(field), address(result), False)
        return result

    def __setitem__(self, field: str, values: Any) -> None:
        array = np.ascontiguousarray(np.broadcast_to(np.asarray(values, dtype=np.float32), (self._count,)))
        self._core.own(self._fields.index(field), address(array), True)


Parameter = Sequence[Any]  # default, least, most[, unit]


def _infos(parameters: Mapping[str, Parameter]) -> List[Tuple[str, str, float, float, float, str, str]]:
    return [(name, str(value[3]) if len(value) > 3 else "-", value[1], value[2], value[0], "own", "")
            for name, value in parameters.items()]


def model(name: str, stage: str = "move", *, parameters: Mapping[str, Parameter] = {}, fields: Sequence[str] = (),
          doc: str = "", source: str = "own") -> Callable[[Callable[[People], Any]], Callable[[People], Any]]:
    """Registers a function as a model that scenes can name, as any other::

        @throng.model("calm", parameters={"share": (0.5, 0.0, 1.0)})
        def calm(people):
            return people.parameter("share")[:, None] * people.preferred

    It gets all people of the groups that chose it and returns velocities, shape (n, 2): the new ones (stage move) or the
    preferred ones (plan, filter). Parameters are name: (default, least, most[, unit]); fields are values of every person
    that are kept, saved and hashed, 0 at first. Contact then keeps people apart and out of walls. The result does not
    depend on the number of threads if the function depends on nothing but its people. A function of the same name and
    parameters replaces the earlier one. Register before loading scenes that name it.
    """
    def register(function: Callable[[People], Any]) -> Callable[[People], Any]:
        names = list(parameters)

        def call(core: _core.Crowd) -> None:
            people = People(core, names, fields)
            velocities = np.ascontiguousarray(function(people), dtype=np.float32)
            if velocities.shape != (len(people), 2):
                raise ValueError(f"model {name!r} returned the shape {velocities.shape} for {len(people)} people")
            core.answer(address(velocities))

        shape = (_infos(parameters), tuple(fields))
        known = _registered.get((stage, name))
        if known and known[1] == shape:
            _core.replace(known[0], call)
        else:
            own = [(field, True, "own") for field in fields]
            number = _core.register(_stage(stage), name, doc or (function.__doc__ or "own").split("\n")[0], source,
                                    shape[0], own, call, 0, (0, 0.0, False, 0, 0.0))
            _registered[(stage, name)] = (number, shape)
        return function

    return register


def _stage(stage: str) -> int:
    if stage not in ("plan", "filter", "move"):
        raise ValueError(f"a model in Python is for plan, filter or move, not {stage!r}")
    return STAGES.index(stage)


_kept_alive: List[Any] = []


def model_at(name: str, function: Any, stage: str = "move", *, parameters: Mapping[str, Parameter] = {},
             fields: Sequence[str] = (), neighbours: int = 0, neighbour_range: float = 0.0, through_walls: bool = False,
             walls: int = 0, wall_range: float = 0.0, doc: str = "own", source: str = "own") -> None:
    """Registers a compiled function of one person: ``void f(const th_agent *agent, float velocity[2])``.

    ``function`` is its address, a cffi or ctypes function, or what numba's ``cfunc`` makes (with an ``address``).
    ``velocity`` holds the preferred velocity when it is called, on all threads at once. ``throng.AGENT`` and
    ``throng.NEIGHBOUR`` are the structs as numpy types, docs/own-model.md says what they hold.
    """
    number = _core.register(_stage(stage), name, doc, source, _infos(parameters), [(f, True, "own") for f in fields],
                            None, _address_of(function), (neighbours, neighbour_range, through_walls, walls, wall_range))
    _registered[(stage, name)] = (number, None)
    _kept_alive.append(function)


def _address_of(function: Any) -> int:
    if isinstance(function, int):
        return function
    if hasattr(function, "address"):  # numba
        return int(function.address)
    try:
        import ctypes
        return int(ctypes.cast(function, ctypes.c_void_p).value or 0)
    except (TypeError, ctypes.ArgumentError):
        import cffi  # type: ignore[import]
        return int(cffi.FFI().cast("intptr_t", function))


_PAIR = np.dtype([("x", "f4"), ("y", "f4")])
#: th_agent of throng/model.h
AGENT = np.dtype([
    ("position", _PAIR), ("velocity", _PAIR), ("preferred", _PAIR), ("direction", _PAIR), ("radius", "f4"),
    ("speed", "f4"), ("mass", "f4"), ("step", "f4"), ("time", "f8"), ("id", "u4"), ("level", "i4"), ("group", "i4"),
    ("phase", "i4"), ("params", "u8"), ("own", "u8"), ("neighbours", "u8"), ("walls", "u8"), ("neighbour_count", "i4"),
    ("wall_count", "i4"), ("seed", "u8"), ("step_count", "u8"), ("world", "u8"), ("model", "i4")], align=True)
#: th_near_agent of throng/model.h
NEIGHBOUR = np.dtype([("position", _PAIR), ("velocity", _PAIR), ("radius", "f4"), ("distance", "f4"), ("id", "u4"),
                      ("level", "i4"), ("group", "i4"), ("reacts", "?")], align=True)


def models() -> List[Dict[str, Any]]:
    """All models: stage, name, doc, source and parameters with unit, range, default and source."""
    return [dict(zip(("stage", "name", "doc", "source", "parameters"), one)) for one in _core.models()]


def load_plugin(path: Any) -> None:
    """Loads models from a shared library (docs/own-model.md)."""
    import ctypes
    import os
    ctypes.CDLL(_core.__file__, mode=ctypes.RTLD_GLOBAL)  # plugins find the library's functions in the extension
    _core.plugin(os.fsencode(path))
