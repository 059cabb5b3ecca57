// The things of a scene that a pointer can select: every element of its lists that has a place on a level.
// SPDX-License-Identifier: Apache-2.0
import type { Json } from "./decode";
import { asList, isRing, mapShape, round, shapeHandles, shapeRings, type Move, type Point, type Shape } from "./shapes";
import { LISTS } from "./tools";
import type { Box, Line, Ring, Scene } from "./types";
import { boxOfRings, distanceToLine, insideRings } from "./types";

export interface Thing {
    kind: string;
    id: string; // "" of walls, obstacles and floors
    what: string; // the list of the document
    key: string | number; // in that list
    level: number;
    index: number; // in the list of the scene
    line: Line | null;
    rings: Ring[]; // of a wall the polyline
    shape: Shape | null; // as the document has it; null: a line, or there is no document
    member: string; // of the element, that holds its place
    open: boolean; // a polyline
    width?: number; // of the ground that belongs to a line [m]
    leads?: boolean; // from its first point to its last
}

const WHAT: Record<string, string> = {
    door: "doors",
    exit: "exits",
    waypoint: "waypoints",
    waiting: "waiting_areas",
    zone: "zones",
    group: "groups",
    line: "lines",
    area: "areas",
    stairs: "stairs",
    wall: "walls",
    obstacle: "obstacles",
    floor: "walkable",
};

// As the document has it: of a thing without an id its shape.
export function documentOf(scene: Scene, thing: Thing): Json | Shape | null {
    return thing.id ? elementOf(scene, thing.what, thing.id, thing.index) : thing.shape;
}

function elementOf(scene: Scene, what: string, id: string, index: number): Json | null {
    const measure = (scene.document?.measure ?? {}) as Json;
    const where = what === "lines" || what === "areas" ? measure[what] : scene.document?.[what];
    const list = asList(where, (v) => !Array.isArray(v)) as Json[];
    return list.find((element) => element.id === id) ?? list[index] ?? null;
}

function flat(points: Point[], origin: [number, number]): Ring {
    return points.flatMap(([x, y]) => [x - origin[0], y - origin[1]]);
}

// Everything of a level that has an id.
export function thingsOf(scene: Scene, level: number): Thing[] {
    const out: Thing[] = [];
    const add = (kind: string, list: { id: string; level: number; line?: Line | null; rings?: Ring[] }[]): void => {
        list.forEach((thing, index) => {
            if (thing.level !== level) return;
            const what = WHAT[kind],
                line = thing.line ?? null;
            out.push({
                kind,
                id: thing.id,
                what,
                key: thing.id,
                level,
                index,
                line,
                rings: thing.rings ?? [],
                shape: line ? null : (elementOf(scene, what, thing.id, index)?.area ?? null),
                member: line ? "line" : "area",
                open: false,
            });
        });
    };
    add(
        "door",
        scene.doors.filter((door) => !door.exit),
    );
    for (const kind of ["exit", "waypoint", "waiting"])
        add(
            kind,
            scene.goals.filter((goal) => goal.kind === kind),
        );
    add("line", scene.lines);
    add("area", scene.areas);
    add(
        "zone",
        scene.zones.filter((zone) => !zone.stairs),
    );
    add(
        "stairs",
        scene.zones.filter((zone) => zone.stairs),
    );
    add("group", scene.groups);
    return [...out, ...othersOf(scene, level)];
}

// Elements of the sections that models declare.
export function othersOf(scene: Scene, level: number): Thing[] {
    return LISTS.filter(({ model }) => model !== "").flatMap(({ list, place, key, leads }) =>
        (scene.sections[list] ?? []).flatMap((item, index): Thing[] => {
            if (item.level !== level) return [];
            const shape = elementOf(scene, list, item.id, index)?.[key] ?? null;
            return [
                {
                    kind: list,
                    id: item.id,
                    what: list,
                    key: item.id,
                    level,
                    index,
                    line: null,
                    rings: item.rings,
                    shape,
                    member: key,
                    open: place !== "area",
                    width: item.width,
                    leads,
                },
            ];
        }),
    );
}

// Walls, obstacles and floors of the document, which have no ids.
export function solidsOf(scene: Scene, level: number): Thing[] {
    const l = (asList(scene.document?.levels, (v) => !Array.isArray(v)) as Json[])[level];
    if (!l) return [];
    return ["wall", "obstacle", "floor"].flatMap((kind) =>
        asList(l[WHAT[kind]], isRing).map((shape, key): Thing => {
            return {
                kind,
                id: "",
                what: WHAT[kind],
                key,
                level,
                index: key,
                line: null,
                rings: shapeRings(shape).map((ring) => flat(ring, scene.origin)),
                shape,
                member: "area",
                open: kind === "wall",
            };
        }),
    );
}

const PLACES = ["area", "line", "top", "corners", "positions", "in"];

// The element with all of its points moved, in the file's coordinates; null: its place is in a file of its own.
export function movedElement(element: Json, move: Move): Json | null {
    const out: Json = {};
    for (const key of PLACES) {
        if (element[key] === undefined) continue;
        const moved = mapShape(element[key], move);
        if (moved === null) return null;
        out[key] = moved;
    }
    return out;
}

// The edit that moves a thing; null: only the file can.
export function moveEdit(scene: Scene, thing: Thing, move: Move): Json | null {
    const element = documentOf(scene, thing);
    if (element === null) return null;
    const value = thing.id ? movedElement(element as Json, move) : mapShape(element, move);
    return value === null ? null : { kind: "change", what: thing.what, key: thing.key, level: thing.level, value };
}

// Around several things, in the scene's coordinates.
export function boxOfThings(things: Thing[]): Box {
    return boxOfRings(things.flatMap((thing) => (thing.line ? [[...thing.line]] : thing.rings)));
}

export function handlesOf(thing: Thing, origin: [number, number]): Ring {
    return thing.line ? [...thing.line] : flat(shapeHandles(thing.shape), origin);
}

function toOutline(ring: Ring, closed: boolean, x: number, y: number): number {
    let nearest = Infinity;
    for (let k = 0; k + 3 < ring.length; k += 2)
        nearest = Math.min(nearest, distanceToLine(ring.slice(k, k + 4), x, y));
    if (closed && ring.length >= 4)
        nearest = Math.min(nearest, distanceToLine([...ring.slice(-2), ring[0], ring[1]], x, y));
    return nearest;
}

// Lines, walls and the edges of floors are selected near them, areas and obstacles anywhere inside.
export function isOn(thing: Thing, x: number, y: number, reach: number): boolean {
    if (thing.line) return distanceToLine(thing.line, x, y) < reach;
    if (thing.open || thing.kind === "floor")
        return thing.rings.some((ring) => toOutline(ring, !thing.open, x, y) < reach);
    return insideRings(thing.rings, x, y);
}

function size(rings: Ring[]): number {
    let sum = 0;
    for (const ring of rings)
        for (let i = 0, j = ring.length - 2; i < ring.length; j = i, i += 2)
            sum += ring[j] * ring[i + 1] - ring[i] * ring[j + 1];
    return Math.abs(sum) / 2;
}

// The nearest line, else a wall, else the smallest area around the point, else the edge of a floor.
export function thingAt(
    scene: Scene,
    level: number,
    x: number,
    y: number,
    reach: number,
    kinds?: string[],
): Thing | null {
    const here = [...thingsOf(scene, level), ...solidsOf(scene, level)].filter(
        (thing) => (!kinds || kinds.includes(thing.kind)) && isOn(thing, x, y, reach),
    );
    const rank = (thing: Thing): number =>
        thing.line ? 0 : thing.kind === "wall" ? 1 : thing.kind === "floor" ? 3 : 2;
    const within = (thing: Thing): number => (thing.line ? distanceToLine(thing.line, x, y) : size(thing.rings));
    here.sort((a, b) => rank(a) - rank(b) || within(a) - within(b));
    return here[0] ?? null;
}

// The same thing in a scene that has changed.
export function sameThing(scene: Scene, thing: Thing): Thing | null {
    const list = thing.id ? thingsOf(scene, thing.level) : solidsOf(scene, thing.level);
    return list.find((other) => other.kind === thing.kind && other.key === thing.key) ?? null;
}

// The points and lines to which a drawn place snaps.
export interface Snapping {
    walls: boolean;
    angles: boolean; // of a line from its start: multiples of 15 degrees
    guides: boolean; // in line with a corner of another thing
    grid: number; // [m]; 0: none
}
export const SNAPPING: Snapping = { walls: true, angles: false, guides: false, grid: 0.1 };

// Onto the nearest end of a wall or onto a wall within `reach`.
function onWall(walls: number[], x: number, y: number, reach: number): Point | null {
    let best = reach,
        found: Point | null = null;
    for (let k = 0; k + 1 < walls.length; k += 2) {
        const d = Math.hypot(walls[k] - x, walls[k + 1] - y);
        if (d < best) {
            best = d;
            found = [walls[k], walls[k + 1]];
        }
    }
    if (found) return found;
    for (let k = 0; k + 3 < walls.length; k += 4) {
        const [x0, y0, x1, y1] = [walls[k], walls[k + 1], walls[k + 2], walls[k + 3]];
        const d = distanceToLine([x0, y0, x1, y1], x, y);
        if (d >= best) continue;
        const length = (x1 - x0) ** 2 + (y1 - y0) ** 2,
            t = ((x - x0) * (x1 - x0) + (y - y0) * (y1 - y0)) / length;
        const along = Math.round(t * Math.sqrt(length) * 10) / 10 / Math.sqrt(length);
        best = d;
        found = [x0 + along * (x1 - x0), y0 + along * (y1 - y0)];
    }
    return found;
}

// The direction from the start when it is near a multiple of 15 degrees, at a length on the grid.
function onAngle(start: Point, x: number, y: number, grid: number): Point | null {
    const part = Math.PI / 12,
        angle = Math.atan2(y - start[1], x - start[0]),
        wanted = Math.round(angle / part) * part;
    if (Math.abs(angle - wanted) > 0.035) return null;
    const far = Math.hypot(x - start[0], y - start[1]) * Math.cos(angle - wanted),
        length = grid > 0 ? Math.round(far / grid) * grid : far;
    return [start[0] + length * Math.cos(wanted), start[1] + length * Math.sin(wanted)];
}

// The coordinate of a corner that lies within reach; NaN: none.
function nearestOf(values: number[], at: number, reach: number): number {
    let best = reach,
        found = NaN;
    for (const value of values)
        if (Math.abs(value - at) < best) {
            best = Math.abs(value - at);
            found = value;
        }
    return found;
}

// Where a pointer at (x, y) draws, and the guides that led there.
export function snapTo(
    scene: Scene | null,
    level: number,
    [x, y]: Point,
    reach: number,
    snapping: Snapping,
    start: Point | null = null,
): { at: Point; guides: Line[] } {
    const wall = snapping.walls ? onWall(scene?.levels[level]?.walls ?? [], x, y, reach) : null;
    if (wall) return { at: wall, guides: [] };
    const turned = start && snapping.angles ? onAngle(start, x, y, snapping.grid) : null;
    if (turned) return { at: turned, guides: [] };
    const on = (v: number): number => (snapping.grid > 0 ? round(Math.round(v / snapping.grid) * snapping.grid) : v);
    const at: Point = [on(x), on(y)],
        guides: Line[] = [];
    if (scene && snapping.guides) {
        const corners = thingsOf(scene, level).flatMap((thing) => thing.line ?? thing.rings.flat());
        const gx = nearestOf(
                corners.filter((_, k) => k % 2 === 0),
                x,
                0.35 * reach,
            ),
            gy = nearestOf(
                corners.filter((_, k) => k % 2 === 1),
                y,
                0.35 * reach,
            );
        if (!Number.isNaN(gx)) at[0] = gx;
        if (!Number.isNaN(gy)) at[1] = gy;
        if (!Number.isNaN(gx)) guides.push([gx, at[1] - 1e4, gx, at[1] + 1e4]);
        if (!Number.isNaN(gy)) guides.push([at[0] - 1e4, gy, at[0] + 1e4, gy]);
    }
    return { at, guides };
}

// Without guides and angles.
export function snap(scene: Scene | null, level: number, x: number, y: number, reach: number): [number, number] {
    return snapTo(scene, level, [x, y], reach, SNAPPING).at;
}

export function lineJson(line: Line, origin: [number, number]): Point[] {
    return [
        [round(line[0] + origin[0]), round(line[1] + origin[1])],
        [round(line[2] + origin[0]), round(line[3] + origin[1])],
    ];
}
