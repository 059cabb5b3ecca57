"""Calibration: parameters for which a scene comes near to what was measured. SPDX-License-Identifier: Apache-2.0"""
from __future__ import annotations

from typing import Any, Dict, List, Mapping, NamedTuple, Sequence, Tuple, Union

import numpy as np

from . import _core
from ._arrays import Array
from .scene import Scene, SceneLike, scene_of
from .world import World

Target = Union[str, Mapping[str, float]]


class Fit(NamedTuple):
    """The result of :func:`fit`."""

    parameters: Dict[str, float]  #: by path
    cost: float  #: half the sum of the squared residuals
    residuals: Array  #: simulated less measured, relative for figures and in m/s for experiments
    measured: Dict[str, Array]  #: of the best parameters, a value per seed
    evaluations: int
    scene: Scene  #: with the parameters found


def measure(scene: SceneLike, seed: int, *, seconds: float = 0.0, warm_up: float = 0.0) -> Dict[str, Any]:
    """One run: flows of lines [1/s] ("line.ID.flow"), and density [1/m2] and speed [m/s] of areas, means from ``warm_up``
    on ("area.ID.density", "area.ID.speed"); "area.ID.samples" has all pairs, once a second."""
    world = World(scene, seed=seed, threads=1)
    samples: Dict[str, List[Tuple[float, float]]] = {}
    limit = seconds or world.scene.view["run"]["duration"] or world.scene.view["run"]["max_time"]
    every = max(1, int(round(1.0 / world.step_length)))
    while world.time < limit - 1e-9 and not world.done:
        world.step(every)
        for area in world.counted("areas") if world.time >= warm_up else ():
            if area["count"] > 0:
                samples.setdefault(area["id"], []).append((area["density"], area["mean_speed"]))
    found: Dict[str, Any] = {}
    for line in world.counted("lines"):
        people, span = line["forward"] + line["backward"], line["last_time"] - line["first_time"]
        found[f"line.{line['id']}.flow"] = (people - 1) / span if people > 1 and span > 0 else 0.0
    for name, pairs in samples.items():
        values = np.array(pairs)
        found[f"area.{name}.density"], found[f"area.{name}.speed"] = values.mean(axis=0)
        found[f"area.{name}.samples"] = values
    return found


def _against_experiment(found: Mapping[str, Any], name: str) -> List[float]:
    """Per class of 0.5 people/m2: the mean simulated speed less the one measured at that density [m/s]."""
    told = _core.measured(name)
    if told is None:
        raise ValueError(f"there is no experiment {name!r}; there are uo180, uo180_runs, ug180, uni500, bi400, ao300")
    points = np.array(sorted(told[2]))
    samples = [value for key, value in found.items() if key.endswith(".samples")]
    if not samples:
        raise ValueError("the scene needs a measurement area that people walk through")
    density, speed = np.concatenate(samples).T
    result = []
    for low in np.arange(0.0, points[-1, 0] + 0.25, 0.5):
        inside = (density >= low) & (density < low + 0.5)
        if inside.any():
            wanted = np.interp(density[inside], points[:, 0], points[:, 1])
            result.append(float(np.sqrt(inside.mean())) * float(np.mean(speed[inside] - wanted)))
        else:
            result.append(0.0)
    return result


def _residuals(found: Mapping[str, Any], target: Target) -> List[float]:
    if isinstance(target, str):
        return _against_experiment(found, target)
    missing = [name for name in target if name not in found]
    if missing:
        raise ValueError(f"the scene does not measure {missing}; it measures {sorted(found)}")
    return [(found[name] - wanted) / (abs(wanted) or 1.0) for name, wanted in target.items()]


def fit(scene: SceneLike, parameters: Mapping[str, Tuple[float, float, float]], target: Target, *,
        seeds: Sequence[int] = (1, 2, 3), seconds: float = 0.0, warm_up: float = 0.0, evaluations: int = 20,
        difference: float = 0.1) -> Fit:
    """Least squares over seeds with scipy.

    ``parameters`` are path: (begin, least, most), such as ``{"groups.0.move.time_gap": (1.0, 0.5, 2.0)}``. ``target`` is
    a dictionary of what :func:`throng.fit.measure` returns (``{"line.door.flow": 1.9}``) or the name of an experiment
    (``"uo180"``): speeds over densities that were measured with people. Every evaluation runs the same seeds, so the
    noise is the same; derivatives are differences to both sides over the share ``difference`` of the range, because
    single people make the result rough at small scales. ``evaluations`` bounds the steps of the solver.
    """
    from scipy.optimize import least_squares
    base = scene_of(scene)
    paths = list(parameters)
    begin, least, most = (np.array([parameters[path][k] for path in paths]) for k in range(3))
    runs: List[Tuple[Array, List[Dict[str, Any]]]] = []

    def evaluate(shares: Array) -> Array:
        values = least + np.clip(shares, 0.0, 1.0) * (most - least)
        chosen = base.changed({path: float(value) for path, value in zip(paths, values)})
        found = [measure(chosen, seed, seconds=seconds, warm_up=warm_up) for seed in seeds]
        runs.append((values, found))
        return np.concatenate([_residuals(one, target) for one in found])

    def slopes(shares: Array) -> Array:
        columns = []
        for k in range(len(paths)):
            low, high = shares.copy(), shares.copy()
            low[k], high[k] = max(0.0, shares[k] - difference), min(1.0, shares[k] + difference)
            columns.append((evaluate(high) - evaluate(low)) / (high[k] - low[k]))
        return np.stack(columns, axis=1)

    least_squares(evaluate, (begin - least) / (most - least), jac=slopes, bounds=(0.0, 1.0), max_nfev=evaluations,
                  xtol=0.1 * difference, ftol=1e-3)
    costs = [0.5 * float(np.sum(np.concatenate([_residuals(one, target) for one in found]) ** 2)) for _, found in runs]
    best = int(np.argmin(costs))
    values, found = runs[best]
    chosen = {path: float(value) for path, value in zip(paths, values)}
    names = [name for name in found[0] if not name.endswith(".samples")]
    return Fit(chosen, costs[best], np.concatenate([_residuals(one, target) for one in found]),
               {name: np.array([one.get(name, np.nan) for one in found]) for name in names}, len(runs), base.changed(chosen))
