// The things of a scene that a pointer can select: every element of its lists that has a place on a level.
// SPDX-License-Identifier: Apache-2.0
import type { Json } from "./decode";
import { asList, isRing, round, shapeHandles, shapePoints, type Point, type Shape } from "./shapes";
import { LISTS } from "./tools";
import type { Line, Ring, Scene } from "./types";
import { distanceToLine, insideRings } from "./types";

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
    wall: "walls",
    obstacle: "obstacles",
    floor: "walkable",
};

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
            const points = shapePoints(shape);
            return {
                kind,
                id: "",
                what: WHAT[kind],
                key,
                level,
                index: key,
                line: null,
                rings: points ? [flat(points, scene.origin)] : [],
                shape,
                member: "area",
                open: kind === "wall",
            };
        }),
    );
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

// Onto the nearest end of a wall or onto a wall within `reach`; otherwise onto a raster of 10 cm.
export function snap(scene: Scene | null, level: number, x: number, y: number, reach: number): [number, number] {
    const walls = scene?.levels[level]?.walls ?? [];
    let best = reach,
        found: [number, number] | null = null;
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
    return found ?? [Math.round(x * 10) / 10, Math.round(y * 10) / 10];
}

export function lineJson(line: Line, origin: [number, number]): Point[] {
    return [
        [round(line[0] + origin[0]), round(line[1] + origin[1])],
        [round(line[2] + origin[0]), round(line[3] + origin[1])],
    ];
}
