"""Scenes: from a file, from a dictionary, or built step by step. SPDX-License-Identifier: Apache-2.0"""
from __future__ import annotations

import copy
import json
import os
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

import numpy as np

from . import _core
from ._arrays import Array, address, points_of

# Lists of the scene file that `add` knows, by what one of them is called.
KINDS = {
    "level": "levels", "stairs": "stairs", "zone": "zones", "picture": "pictures", "door": "doors", "exit": "exits",
    "waypoint": "waypoints", "waiting_area": "waiting_areas", "group": "groups", "scripted": "scripted",
    "underlay": "underlays",
}


def _kinds() -> Dict[str, str]:
    """Those, and the sections that models declare, plugins included."""
    return {**KINDS, **{item: name for name, item in _core.sections()}}


def _overrides(changes: Optional[Mapping[str, Any]]) -> List[bytes]:
    return [f"{path}={value if isinstance(value, str) else json.dumps(value)}".encode()
            for path, value in (changes or {}).items()]


class Scene:
    """The constant part of a simulation: the plan, the doors, the groups and their models.

    ``Scene("door.json")`` reads a file, ``Scene({...})`` takes a dictionary with the same keys
    (docs/scene-format.md), ``Scene()`` begins an empty plane to be filled with :meth:`add`. ``set`` changes values by
    their paths: ``Scene("door.json", set={"groups.0.count": 400})``. Linked files lie beside the scene; ``allow_links``
    lets it read others. A scene that is not valid raises :class:`throng.Error`, which names the place.
    """

    def __init__(self, source: Union[None, str, "os.PathLike[str]", Mapping[str, Any]] = None, *,
                 set: Optional[Mapping[str, Any]] = None, base: Union[None, str, "os.PathLike[str]"] = None,
                 name: str = "scene", files: bool = True, allow_links: bool = False) -> None:
        self._files, self._allow_links = files, allow_links
        if source is None or isinstance(source, Mapping):
            self.document: Dict[str, Any] = copy.deepcopy(dict(source if source is not None else {"name": name}))
            self.base = os.fspath(base) if base is not None else None
            self._name = name
            if set:
                self.document = json.loads(_apply(self.document, set))
            self._core = self._compile(self.document)
        else:  # compiled from the file itself, whose lines an error then names
            path = os.fspath(source)
            self.base = os.path.dirname(os.path.abspath(path))
            self._name = path
            self._core = _core.Scene(None, os.fsencode(path), None, _overrides(set), not files, allow_links)
            self.document = json.loads(_core.overridden(os.fsencode(path), _overrides(set)))

    def _compile(self, document: Mapping[str, Any]) -> _core.Scene:
        base = os.fsencode(self.base) if self.base is not None else None
        return _core.Scene(json.dumps(document), self._name.encode(), base, [], not self._files, self._allow_links)

    # ---- building

    def add(self, kind: str, check: bool = True, **values: Any) -> "Scene":
        """Adds an element and checks the scene: ``scene.add("exit", id="out", line=[[9, 4], [9, 6]])``.

        Kinds are those of the scene file: level, stairs, zone, door, exit, waypoint, waiting_area, group, scripted, ...;
        the elements of sections that models declare: ``strip``, ``stroke``, ``interest``, those of plugins; ``line`` and ``area`` (measurements), and ``run`` and ``record`` (settings). What is refused is not added.
        With ``check=False`` the scene is looked at with the next checked call, or when a world is made.
        """
        document, kinds = copy.deepcopy(self.document), _kinds()
        if kind in ("line", "area"):
            document.setdefault("measure", {}).setdefault(kind + "s", []).append({**values, kind: values[kind]})
        elif kind in ("run", "record"):
            document.setdefault(kind, {}).update(values)
        elif kind in kinds:
            document.setdefault(kinds[kind], []).append(values)
        else:
            known = ", ".join([*kinds, "line", "area", "run", "record"])
            raise ValueError(f'there is no kind "{kind}"; there are {known}')
        if check:
            self._core = self._compile(document)
        self.document = document
        self._stale = not check
        return self

    _stale = False

    def changed(self, changes: Mapping[str, Any]) -> "Scene":
        """Another scene with values changed by their paths: ``scene.changed({"groups.0.move": "orca"})``."""
        return Scene(json.loads(_apply(self.document, changes)), base=self.base, name=self._name, files=self._files)

    # ---- questions

    @property
    def core(self) -> _core.Scene:
        if self._stale:
            self._core = self._compile(self.document)
            self._stale = False
        return self._core

    @property
    def view(self) -> Dict[str, Any]:
        """The compiled scene: levels, doors, goals, groups, lines, areas, settings."""
        return self.core.view()

    @property
    def name(self) -> str:
        return str(self.view["name"])

    def ids(self, what: str) -> List[str]:
        """Ids of ``levels``, ``doors``, ``goals``, ``groups``, ``lines`` or ``areas``; their places are the numbers
        that worlds use."""
        return [one["id"] for one in self.view[what]]

    def index(self, what: str, which: Union[int, str]) -> int:
        """The number of an element by its id; a number is only checked."""
        ids = self.ids(what)
        if isinstance(which, str) and which in ids:
            return ids.index(which)
        if isinstance(which, (int, np.integer)) and 0 <= which < len(ids):
            return int(which)
        raise ValueError(f"there is no {what[:-1]} {which!r}; there are {ids}")

    def walkable(self, points: Any, level: Union[int, str] = 0) -> Array:
        """Whether each point is ground, all doors open."""
        at = points_of(points)
        result = np.zeros(len(at), dtype=np.uint8)
        self.core.walkable(self.index("levels", level), address(at), len(at), address(result))
        return result.astype(bool)

    def distance(self, points: Any, level: Union[int, str] = 0) -> Array:
        """To the nearest wall [m]: positive on ground, negative in solids."""
        at = points_of(points)
        result = np.zeros(len(at), dtype=np.float32)
        self.core.distance(self.index("levels", level), address(at), len(at), address(result))
        return result

    def wkt(self, level: Union[int, str] = 0) -> str:
        """The walkable area of a level as well-known text."""
        return self.core.wkt(self.index("levels", level))

    def findings(self) -> List[Dict[str, Any]]:
        """The findings of ``throng check``: narrow gaps, doors that close nothing, models beyond their limits."""
        return list(json.loads(self.core.findings()))

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the scene as a file. Linked files keep their names, so it belongs into the same folder."""
        with open(path, "w", encoding="utf-8") as file:
            json.dump(self.document, file, indent=2)
            file.write("\n")

    def __repr__(self) -> str:
        people = sum(group["count"] for group in self.view["groups"])
        return f"<throng.Scene {self.name!r}: {len(self.view['groups'])} groups, {people} people at the start>"

    def _repr_png_(self) -> bytes:
        from .world import World
        return World(self, threads=1).picture()


def _apply(document: Mapping[str, Any], changes: Mapping[str, Any]) -> str:
    """The document as JSON with the changes that the library makes of them."""
    import tempfile
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "scene.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(document, file)
        return _core.overridden(os.fsencode(path), _overrides(changes))


SceneLike = Union[Scene, str, "os.PathLike[str]", Mapping[str, Any]]


def scene_of(scene: SceneLike) -> Scene:
    return scene if isinstance(scene, Scene) else Scene(scene)


def numbers(values: Union[int, Sequence[int], Array]) -> Array:
    """Ids as they are handed to C."""
    return np.ascontiguousarray(np.atleast_1d(values), dtype=np.uint32)
