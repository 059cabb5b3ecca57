"""Runs over seeds and values, and their folders. SPDX-License-Identifier: Apache-2.0"""
from __future__ import annotations

import csv
import json
import os
import sys
import tempfile
from typing import Any, Dict, List, Mapping, Optional, Sequence

import numpy as np

from . import _core
from ._arrays import Array
from .recording import Path, Recording
from .scene import Scene, SceneLike, _overrides

OUTCOME = np.dtype([
    ("point", "i4"), ("seed", "u8"), ("hash", "u8"), ("egress_time", "f8"), ("p95_time", "f8"), ("flow", "f8"),
    ("mean_jam_time", "f8"), ("max_density", "f8"), ("largest_overlap", "f8"), ("time", "f8"), ("wall_seconds", "f8"),
    ("spawned", "u8"), ("left", "u8"), ("inside", "u8"), ("fallen", "u8"), ("lying", "u8"), ("interrupted", "?")])


class Progress:
    """A line that tells how far the runs are, in a terminal or a notebook."""

    def __init__(self, show: Optional[bool]) -> None:
        self.show = sys.stderr.isatty() or "ipykernel" in sys.modules if show is None else show
        self.text = ""

    def __call__(self, moment: str, done: int, count: int, time: float, end: float, text: str) -> None:
        if not self.show:
            return
        if moment == "NOTE":
            sys.stderr.write(f"\r{text}\n")
        share = done / count if count > 1 else min(time / end, 1.0) if end > 0 else 0.0
        bar = "#" * int(30 * share)
        self.write(f"[{bar:<30}] {done} of {count} runs, {time:.0f} s simulated")

    def write(self, text: str) -> None:
        if text != self.text:
            sys.stderr.write("\r" + text + " " * max(0, len(self.text) - len(text)))
            sys.stderr.flush()
            self.text = text

    def end(self) -> None:
        if self.text:
            sys.stderr.write("\n")


class Table(Dict[str, Array]):
    """A table of a run's folder: an array per column, numbers where they are numbers, NaN where nothing is known."""

    def frame(self) -> Any:
        """As a pandas frame."""
        import pandas
        return pandas.DataFrame(dict(self))


def _column(values: List[str]) -> Array:
    try:
        return np.array([float(value) if value else np.nan for value in values])
    except ValueError:
        return np.array(values)


def read_table(path: Path) -> Table:
    """A CSV file of a run's folder."""
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    return Table({name: _column([row[k] for row in rows[1:]]) for k, name in enumerate(rows[0])}) if rows else Table()


class Results:
    """The results of :func:`run`, or of a finished folder opened again with :func:`open`."""

    def __init__(self, folder: str, summary: Dict[str, Any], outcomes: Optional[Array] = None,
                 points: Sequence[Dict[str, Any]] = (), text: str = "") -> None:
        self.folder = folder  #: "" when nothing is kept
        self.summary = summary  #: summary.json, or sweep.json
        self.points = list(points)  #: of a sweep: values, and a summary of the egress times
        self.text = text  #: what ``throng run`` prints
        self._outcomes = outcomes

    @property
    def outcomes(self) -> Array:
        """A row per run: seed, hash, egress_time [s], flow [1/s], max_density [1/m2], ..., see ``throng/run.h``."""
        if self._outcomes is None:
            raise ValueError(f"{self.folder} was opened again; its runs are in tables['runs']")
        return self._outcomes

    def frame(self) -> Any:
        """The outcomes as a pandas frame, with the values of a sweep as columns."""
        import pandas
        table = pandas.DataFrame({name: self.outcomes[name] for name in OUTCOME.names or ()})
        for path in self.points[0]["values"] if self.points else ():
            table[path] = [self.points[point]["values"][path] for point in self.outcomes["point"]]
        return table

    @property
    def tables(self) -> Dict[str, Table]:
        """The CSV files of the folder by their names: evacuation, counters, areas, people, runs."""
        names = sorted(name for name in os.listdir(self.folder) if name.endswith(".csv")) if self.folder else []
        return {name[:-4]: read_table(os.path.join(self.folder, name)) for name in names}

    @property
    def findings(self) -> List[Dict[str, Any]]:
        return list(self.summary.get("findings", []))

    def recording(self) -> Recording:
        """The trajectories of the first run."""
        for name in sorted(os.listdir(self.folder) if self.folder else []):
            if name.startswith("trajectory."):
                return Recording(os.path.join(self.folder, name))
        raise FileNotFoundError('nothing was recorded; run with record="sqlite" and a folder')

    def animation(self, **settings: Any) -> Any:
        """The recording as a page that plays in a notebook, see :func:`throng.animation`."""
        from .show import animation
        return animation(self.folder, **settings)

    def __repr__(self) -> str:
        return self.text or f"<throng.Results of {self.folder or 'runs without a folder'}>"


def run(scene: SceneLike, *, runs: int = 0, seed: int = 0, set: Optional[Mapping[str, Any]] = None,
        vary: Optional[Mapping[str, Any]] = None, until_ci: float = 0.0, step: float = 0.0, max_time: float = 0.0,
        out: Optional[Path] = None, force: bool = False, report: bool = True, record: str = "", fps: float = 0.0,
        jobs: int = 0, threads: int = 0, progress: Optional[bool] = None) -> Results:
    """Runs a scene over seeds and, with ``vary``, over every combination of values, as ``throng run`` and ``sweep`` do.

    ``throng.run("door.json", runs=20, vary={"groups.0.count": [100, 200]})``. ``out`` is the folder for tables, report
    and recording (``record="sqlite"``); None keeps nothing but the results in memory. Defaults are the scene's. A progress
    bar shows in terminals and notebooks. Results do not depend on jobs and threads.
    """
    with tempfile.TemporaryDirectory() as scratch:
        path = _scene_file(scene, scratch)
        vary_texts = [f"{name}={values if isinstance(values, str) else _listed(values)}".encode()
                      for name, values in (vary or {}).items()]
        folder = os.fsencode(out) if out is not None else os.fsencode(os.path.join(scratch, "sweep")) if vary else b"none"
        bar = Progress(progress)
        core = _core.Runs(os.fsencode(path), _overrides(set), vary_texts,
                          (seed, runs, until_ci, step, max_time, fps, force, not report, bool(vary), jobs, threads, 0.0,
                           folder, record.encode(), bar))
        try:
            core.execute()
        finally:
            bar.end()
        about = core.about()
        points = [{"values": dict(zip(about["paths"], values)), "first": first, "runs": count, "egress": egress}
                  for values, first, count, egress in core.points()]
        return Results(about["folder"] if out is not None else "", json.loads(core.json() or "{}"),
                       np.array(core.outcomes(), dtype=OUTCOME), points, core.text(0) or "")


def _listed(values: Any) -> str:
    return ",".join(value if isinstance(value, str) else json.dumps(value) for value in values)


def _scene_file(scene: SceneLike, scratch: str) -> str:
    """A file that says what the scene says, where its linked files are found."""
    if isinstance(scene, (str, os.PathLike)):
        return os.fspath(scene)
    chosen = scene if isinstance(scene, Scene) else Scene(scene)
    document = dict(chosen.document)
    if chosen.base is not None:
        document = _rebased(document, chosen.base)
    path = os.path.join(scratch, f"{chosen.name}.json" if chosen.name.isidentifier() else "scene.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(document, file)
    return path


def _rebased(value: Any, base: str) -> Any:
    """The document with the names of linked files made absolute."""
    if isinstance(value, dict):
        return {key: os.path.join(base, one) if key in ("file", "positions_file") and isinstance(one, str)
                else _rebased(one, base) for key, one in value.items()}
    return [_rebased(one, base) for one in value] if isinstance(value, list) else value


def open_results(folder: Path) -> Results:
    """A finished folder again: its summary, tables and recording."""
    path = os.fspath(folder)
    for name in ("summary.json", "sweep.json"):
        file = os.path.join(path, name)
        if os.path.exists(file):
            with open(file, encoding="utf-8") as text:
                return Results(path, json.load(text))
    raise FileNotFoundError(f"{path} is no folder of a run: it has neither summary.json nor sweep.json")
