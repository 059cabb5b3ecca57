"""An environment for learning: one person is steered through two streams of people to a door, by a rule that a learner would
replace. Any library that takes Gymnasium environments takes this one. SPDX-License-Identifier: Apache-2.0"""
import numpy as np
import throng

SQUARE = {
    "levels": [{"walkable": {"rect": [0, 0, 20, 12]}}],
    "exits": [{"id": "west", "line": [[0, 0], [0, 12]]}, {"id": "east", "line": [[20, 0], [20, 12]]}],
    "groups": [
        {"id": "learner", "count": 1, "area": {"rect": [9, 0.5, 11, 1.5]}, "to": "east", "filter": "action"},
        {"id": "to_east", "count": 25, "area": {"rect": [1, 2, 8, 11]}, "to": "east"},
        {"id": "to_west", "count": 25, "area": {"rect": [12, 2, 19, 11]}, "to": "west"},
    ],
    "run": {"step": 0.1},
}


def straight_on(observation):
    """Towards the goal at a walking speed, slower behind a person close in front."""
    goal = observation[:2]
    ahead = goal / max(np.linalg.norm(goal), 1e-6)
    others = observation[4:].reshape(-1, 5)
    places = others[others[:, 4] > 0, :2]
    blocked = np.any((places @ ahead > 0) & (np.linalg.norm(places, axis=1) < 0.8)) if len(places) else False
    return (0.4 if blocked else 1.3) * ahead


def main():
    env = throng.CrowdEnv(SQUARE, goal=(10, 11), group="learner", seconds=60)
    for seed in (1, 2, 3):
        observation, _ = env.reset(seed=seed)
        total, arrived, late = 0.0, False, False
        while not (arrived or late):
            observation, reward, arrived, late, _ = env.step(straight_on(observation))
            total += reward
        print(f"seed {seed}: {'arrived' if arrived else 'late'} after {env.world.time:.1f} s, return {total:.2f}")
        assert arrived, "the person did not get through"
    env.close()


if __name__ == "__main__":
    main()
