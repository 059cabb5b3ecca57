"""Arrays on their way to C and back. SPDX-License-Identifier: Apache-2.0"""
from __future__ import annotations

from typing import Any, Tuple

import numpy as np

Array = Any  # numpy's own type is generic only from 1.20 on


def address(array: Array) -> int:
    """Of the first element; the caller keeps the array alive during the call."""
    return int(array.__array_interface__["data"][0])


def points_of(points: Any) -> Array:
    """Pairs of floats in one piece, shape (n, 2)."""
    array = np.ascontiguousarray(points, dtype=np.float32)
    if array.ndim == 1 and array.size == 2:
        array = array.reshape(1, 2)
    if array.ndim != 2 or array.shape[1] != 2:
        raise ValueError(f"points have the shape (n, 2), not {array.shape}")
    return array


class View:
    """Memory of an owner as an array: numpy keeps this object, and this object keeps the owner."""

    def __init__(self, owner: Any, where: int, shape: Tuple[int, ...], kind: str) -> None:
        self.owner = owner
        self.__array_interface__ = {"version": 3, "data": (where, True), "shape": shape, "typestr": "<" + kind}


def view(owner: Any, where: int, count: int, kind: str) -> Array:
    if count == 0:
        return np.empty(0, dtype=kind)
    return np.asarray(View(owner, where, (count,), kind))
