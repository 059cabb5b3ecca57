#!/usr/bin/env python3
"""Draws a venue of two storeys as a DXF in millimetres, as a drawing office would send it: python3 examples/venue.py venue.dxf
Or says of an imported scene who its people are: python3 examples/venue.py --people imported.json venue.json
Hall with seats and two doors to a foyer with two exits, one exit beside the stage, two stairs to the balcony with seats.
SPDX-License-Identifier: Apache-2.0"""
import json
import sys

# Hall, balcony, wheelchairs: the outlines on the layer PEOPLE in the order of the drawing.
PEOPLE = [
    {"id": "hall", "count": 240, "profiles": {"adult": 0.8, "stick": 0.1, "child": 0.1},
     "premovement": {"lognormal": [3, 0.5], "max": 90}},
    {"id": "balcony", "count": 120, "profiles": {"adult": 0.9, "stick": 0.1}, "premovement": {"lognormal": [3, 0.5], "max": 90}},
    {"id": "wheelchairs", "count": 6, "profiles": {"wheelchair": 1}, "avoid": ["stairs1", "stairs2"]},
]
if sys.argv[1] == "--people":
    scene = json.load(open(sys.argv[2]))
    for group, who in zip(scene["groups"], PEOPLE, strict=True):
        group.update(who)
    json.dump(scene, open(sys.argv[3], "w"), indent=2)
    sys.exit()

lines = []  # layer, points [m], closed


def line(layer, *points, closed=False):
    lines.append((layer, points, closed))


def rectangle(layer, x0, y0, x1, y1):
    line(layer, (x0, y0), (x1, y0), (x1, y1), (x0, y1), closed=True)


def wall_with_openings(layer, a, b, openings):
    """A straight wall from a to b along an axis; openings as (from, to, layer) along it."""
    along = 0 if a[1] == b[1] else 1
    at = a

    def point(value):
        return (value, a[1]) if along == 0 else (a[0], value)

    for begin, end, part in sorted(openings):
        line(layer, at, point(begin))
        if part:
            line(part, point(begin), point(end))
        at = point(end)
    line(layer, at, b)


GROUND, UPPER = "WALL@ground", "WALL@upper"
EXIT, DOOR = "EXIT@ground", "DOOR@ground"

# Ground: hall (y 0 to 17) and foyer (17 to 21).
wall_with_openings(GROUND, (0, 0), (30, 0), [])
wall_with_openings(GROUND, (30, 0), (30, 21), [(1, 3, EXIT), (18, 20, EXIT)])
wall_with_openings(GROUND, (0, 0), (0, 21), [(18, 20, EXIT)])
wall_with_openings(GROUND, (0, 17), (30, 17), [(4, 6, DOOR), (24, 26, DOOR)])
wall_with_openings(GROUND, (0, 21), (30, 21), [(2, 4.4, None), (25.6, 28, None)])
for row in range(9):
    rectangle("OBSTACLE@ground", 3, 5 + row, 14, 5.4 + row)
    rectangle("OBSTACLE@ground", 16, 5 + row, 27, 5.4 + row)

# Two stairs of 2.4 m from the foyer up to the balcony.
for x in (2, 25.6):
    for side in (x, x + 2.4):
        line(GROUND, (side, 21), (side, 27))
    rectangle("STAIR@ground@upper", x, 21, x + 2.4, 27)
    line("STAIRS_TOP@ground@upper", (x, 27), (x + 2.4, 27))

# The floors, as outlines: the stairs belong to the ground floor up to their upper edge.
line("GROUND@ground", (0, 0), (30, 0), (30, 21), (28, 21), (28, 27), (25.6, 27), (25.6, 21), (4.4, 21), (4.4, 27), (2, 27),
     (2, 21), (0, 21), closed=True)
rectangle("GROUND@upper", 0, 27, 30, 37)

# Upper: balcony.
wall_with_openings(UPPER, (0, 27), (30, 27), [(2, 4.4, None), (25.6, 28, None)])
line(UPPER, (0, 27), (0, 37), (30, 37), (30, 27))
for row in range(5):
    rectangle("OBSTACLE@upper", 5, 30 + row, 25, 30.4 + row)

# Where people sit.
rectangle("PEOPLE@ground", 3, 4.5, 27, 14.5)
rectangle("PEOPLE@upper", 5, 29.5, 25, 36)
rectangle("PEOPLE@ground", 3, 2.8, 27, 4)  # before the first row: wheelchairs

with open(sys.argv[1], "w") as file:
    put = lambda *pairs: file.write("".join(f"{code}\n{value}\n" for code, value in pairs))
    put((0, "SECTION"), (2, "HEADER"), (9, "$INSUNITS"), (70, 4), (0, "ENDSEC"))
    put((0, "SECTION"), (2, "ENTITIES"))
    for layer, points, closed in lines:
        put((0, "LWPOLYLINE"), (8, layer), (90, len(points)), (70, int(closed)))
        for x, y in points:
            put((10, f"{1000 * x:.1f}"), (20, f"{1000 * y:.1f}"))
    put((0, "ENDSEC"), (0, "EOF"))
