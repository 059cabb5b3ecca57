"""Recordings of every format as arrays. SPDX-License-Identifier: Apache-2.0"""
from __future__ import annotations

import json
import os
from typing import Any, Dict, List, Union

import numpy as np

from . import _core
from ._arrays import Array, address

Path = Union[str, "os.PathLike[str]"]


class Recording:
    """A trajectory: JuPedSim's SQLite, throng's compact form, Juelich text (also .gz) or HDF5.

    ``frame``, ``id``, ``x``, ``y``, ``velocity_x``, ``velocity_y`` (NaN where the file has none) and ``level`` have a row
    per person and frame, frame after frame. ``fps`` and ``unit`` ("m" or "cm") are taken for granted where a text does
    not say them.
    """

    def __init__(self, path: Path, *, fps: float = 0.0, unit: str = "m") -> None:
        if unit not in ("m", "cm"):
            raise ValueError(f'unit is "m" or "cm", not {unit!r}')
        self.path = os.fspath(path)
        core = _core.Trajectory(os.fsencode(self.path), fps, 0.01 if unit == "cm" else 1.0)
        about = core.about()
        self.format: str = about["format"]
        self.fps: float = about["fps"]
        self.levels: List[Dict[str, Any]] = about["levels"]
        self.notes: Dict[str, str] = about["notes"]
        self.first_frame: int = about["first_frame"]
        self.last_frame: int = about["last_frame"]
        rows = about["rows"]
        self.frame, self.id = (np.empty(rows, dtype=np.int64) for _ in range(2))
        self.x, self.y, self.velocity_x, self.velocity_y = (np.empty(rows) for _ in range(4))
        self.level: Array = np.empty(rows, dtype=np.int32)
        columns = (self.frame, self.id, self.x, self.y, self.velocity_x, self.velocity_y, self.level)
        filled = core.read(*(address(column) for column in columns), rows)
        if filled != rows:
            raise ValueError(f"{self.path} holds {filled} rows and announces {rows}")

    def __len__(self) -> int:
        return len(self.frame)

    @property
    def time(self) -> Array:
        """Of every row [s]."""
        return self.frame / self.fps

    def at(self, frame: int) -> Dict[str, Array]:
        """All agents in one frame."""
        rows = slice(*np.searchsorted(self.frame, [frame, frame + 1]))
        return {name: getattr(self, name)[rows] for name in ("id", "x", "y", "velocity_x", "velocity_y", "level")}

    def frame_table(self) -> Any:
        """All rows as a pandas frame."""
        import pandas
        names = ("frame", "id", "x", "y", "velocity_x", "velocity_y", "level")
        return pandas.DataFrame({name: getattr(self, name) for name in names})

    def to_pedpy(self) -> Any:
        """PedPy's TrajectoryData, where PedPy is installed."""
        import pandas
        import pedpy
        table = pandas.DataFrame({"id": self.id, "frame": self.frame, "x": self.x, "y": self.y})
        return pedpy.TrajectoryData(data=table, frame_rate=self.fps)

    def walkable(self, level: int = 0) -> str:
        """The walkable area that the recording carries, as well-known text; "" where it has none."""
        return str(self.levels[level]["wkt"] or "") if level < len(self.levels) else ""

    def findings(self, walkable: Union[None, str] = None) -> List[Dict[str, Any]]:
        """The findings of ``throng measure`` about the whole ground: dangers first. ``walkable`` is well-known text; default: the
        recording's own, or endless ground."""
        return list(json.loads(_core.recording_findings(os.fsencode(self.path), walkable)))

    def __repr__(self) -> str:
        return f"<throng.Recording {self.path!r}: {self.format}, {len(self)} rows at {self.fps:g} frames/s>"


def convert(source: Path, target: Path, format: str = "") -> None:
    """Writes a recording in another format: sqlite, compact, text, csv or hdf5; default: by the name's ending."""
    endings = {".sqlite": "sqlite", ".db": "sqlite", ".txt": "text", ".csv": "csv", ".h5": "hdf5", ".hdf5": "hdf5"}
    chosen = format or endings.get(os.path.splitext(os.fspath(target))[1], "")
    if not chosen:
        raise ValueError("say which format: sqlite, compact, text, csv or hdf5")
    _core.convert(os.fsencode(source), os.fsencode(target), chosen)
