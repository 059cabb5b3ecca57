"""Many small worlds at once, and environments for learning. SPDX-License-Identifier: Apache-2.0"""
from __future__ import annotations

from typing import Any, Dict, Optional, Sequence, Tuple

import numpy as np

from . import _core
from ._arrays import Array, address
from .scene import SceneLike, scene_of
from .world import FIELDS, World

OBSERVED = ("position_x", "position_y", "velocity_x", "velocity_y", "radius", "goal_x", "goal_y")


class VectorWorld:
    """``count`` worlds of one scene, stepped side by side on all cores.

    ``observations`` (count, slots, fields) and ``present`` (count, slots) are filled after every step, ``actions``
    (count, slots, 2) is read before it; all are the same arrays all the time and nothing is copied. The slot of an agent
    is its id less one. An action is a velocity [m/s] for people whose group has the filter "action" (a preferred velocity;
    the group's move model avoids others) or the move model "action" (a velocity); NaN leaves the person alone.
    ``done`` (count) and ``time`` (count) belong to the worlds. World k has the seed ``seed + k``.
    """

    def __init__(self, scene: SceneLike, count: int, *, slots: int = 0, fields: Sequence[str] = OBSERVED, seed: int = 1,
                 threads: int = 0, step: float = 0.0, max_agents: int = 0) -> None:
        self.scene = scene_of(scene)
        people = sum(group["count"] for group in self.scene.view["groups"])
        self.count, self.slots, self.fields = int(count), int(slots or people), tuple(fields)
        if self.count < 1 or self.slots < 1:
            raise ValueError(f"{count} worlds with {self.slots} slots; give at least one of each")
        seeds = np.arange(seed, seed + self.count, dtype=np.uint64)
        self._core = _core.Vector(self.scene.core, self.count, self.slots, threads, step, max_agents, address(seeds))
        self.observations: Array = np.zeros((self.count, self.slots, len(self.fields)), dtype=np.float32)
        self.present: Array = np.zeros((self.count, self.slots), dtype=bool)
        self.actions: Array = np.full((self.count, self.slots, 2), np.nan, dtype=np.float32)
        self.done: Array = np.zeros(self.count, dtype=bool)
        self.time: Array = np.zeros(self.count)
        own = [(name, FIELDS.get(name, "f4") == "f4") for name in self.fields]
        self.acts = self._core.bind(own, address(self.observations), address(self.present), address(self.actions),
                                    address(self.done), address(self.time))
        self._core.step(0)
        # C writes into these arrays: they stay what they are.
        self._held = (self.observations, self.present, self.actions, self.done, self.time)

    def step(self, steps: int = 1) -> Array:
        """Goes on in every world; returns ``observations``."""
        if steps < 0:
            raise ValueError(f"{steps} steps")
        self._core.step(steps)
        return self._held[0]

    def reset(self, mask: Any = True, seeds: Any = None) -> Array:
        """Puts the masked worlds back to their start, or makes them anew with the seeds (count). Returns
        ``observations``."""
        chosen = np.ascontiguousarray(np.broadcast_to(np.asarray(mask, dtype=bool), (self.count,)))
        given = None if seeds is None else np.ascontiguousarray(
            np.broadcast_to(np.asarray(seeds, dtype=np.uint64), (self.count,)))
        self._core.reset(address(chosen), address(given) if given is not None else 0)
        return self._held[0]

    def hashes(self) -> Array:
        """:meth:`World.hash` of every world."""
        result = np.empty(self.count, dtype=np.uint64)
        self._core.hashes(address(result))
        return result


class Box:
    """The shape of gymnasium.spaces.Box, where gymnasium is not installed."""

    def __init__(self, low: Any, high: Any, shape: Tuple[int, ...], dtype: Any = np.float32) -> None:
        self.low, self.high = np.full(shape, low, dtype), np.full(shape, high, dtype)
        self.shape, self.dtype = shape, dtype

    def sample(self) -> Array:
        return np.random.uniform(np.maximum(self.low, -1e3), np.minimum(self.high, 1e3)).astype(self.dtype)

    def contains(self, x: Any) -> bool:
        return np.shape(x) == self.shape and bool(np.all(x >= self.low) and np.all(x <= self.high))


def _box(low: float, high: float, shape: Tuple[int, ...]) -> Any:
    try:
        from gymnasium.spaces import Box as GymnasiumBox
        return GymnasiumBox(low, high, shape, np.float32)
    except ImportError:
        return Box(low, high, shape)


class CrowdEnv:
    """One person steered through the crowd, in the shape of a Gymnasium environment.

    The person is the first of ``group``, whose filter or move model is "action". An action is a velocity [m/s].
    Observed are the way to the goal, the own velocity, and of the ``neighbours`` nearest others place, velocity and
    radius relative to the person (zeros where there are fewer). The reward is the way gained towards ``goal`` [m] less
    ``cost`` per second and per contact; the episode ends at the goal (within 0.5 m) or when the person has left, and is
    cut short after ``seconds``.
    """

    metadata: Dict[str, Any] = {"render_modes": ["rgb_png"]}
    render_mode = "rgb_png"

    def __init__(self, scene: SceneLike, goal: Sequence[float], *, group: Any = 0, neighbours: int = 8,
                 range: float = 5.0, seconds: float = 60.0, cost: float = 0.1, max_speed: float = 2.0) -> None:
        self.scene = scene_of(scene)
        self.goal = np.asarray(goal, dtype=np.float32)
        self.group = self.scene.index("groups", group)
        about = self.scene.view["groups"][self.group]
        if "action" not in (about["filter"], about["move"]):
            raise ValueError(f'the group {about["id"]!r} has neither the filter nor the move model "action"')
        self.neighbours, self.range, self.seconds, self.cost = neighbours, range, seconds, cost
        self.action_space = _box(-max_speed, max_speed, (2,))
        self.observation_space = _box(-np.inf, np.inf, (4 + 5 * neighbours,))
        self.world: Optional[World] = None
        self._stage = "filter" if about["filter"] == "action" else "move"
        self._seed = 0
        self._me = 0

    def reset(self, *, seed: Optional[int] = None, options: Optional[Dict[str, Any]] = None) -> Tuple[Array, Dict[str, Any]]:
        self._seed = int(seed) if seed else self._seed + 1
        self.world = World(self.scene, seed=self._seed, threads=1)
        self._me = int(self.world.id[self.world["group"] == self.group][0])
        return self._observe(), {"id": self._me}

    def _place(self) -> int:
        assert self.world is not None, "call reset first"
        place = int(np.searchsorted(self.world.id, self._me))
        return place if place < len(self.world) and self.world.id[place] == self._me else -1

    def _observe(self) -> Array:
        result = np.zeros(self.observation_space.shape, dtype=np.float32)
        place = self._place()
        if place < 0 or self.world is None:
            return result
        position, velocity, radius = self.world.position, self.world.velocity, self.world["radius"]
        near = self.world.nearest(self.neighbours, self.range)[0][place]
        result[:4] = [*(self.goal - position[place]), *velocity[place]]
        others = result[4:].reshape(self.neighbours, 5)
        for row, k in enumerate(near[near >= 0]):
            others[row] = [*(position[k] - position[place]), *(velocity[k] - velocity[place]), radius[k]]
        return result

    def step(self, action: Any) -> Tuple[Array, float, bool, bool, Dict[str, Any]]:
        before, place = self._distance(), self._place()
        world = self.world
        assert world is not None, "call reset first"
        for name, value in (("x", action[0]), ("y", action[1]), ("given", 1)):
            values = world[f"{self._stage}/action.{name}"]
            values[place] = value
            world[f"{self._stage}/action.{name}"] = values
        world.step()
        observation = self._observe()
        after, gone = self._distance(), self._place() < 0
        contacts = int(np.sum((observation[8::5] > 0) & (np.hypot(observation[4::5], observation[5::5]) < observation[8::5] * 2)))
        reward = before - after - self.cost * (world.step_length + contacts)
        return observation, float(reward), gone or after < 0.5, world.time >= self.seconds, {"contacts": contacts}

    def _distance(self) -> float:
        place = self._place()
        return float(np.linalg.norm(self.goal - self.world.position[place])) if self.world and place >= 0 else 0.0

    def render(self) -> bytes:
        assert self.world is not None, "call reset first"
        return self.world.picture(width=800)

    def close(self) -> None:
        self.world = None
