// Shapes as a scene file writes them: their corner points, the handles that change them, moved and reshaped. Coordinates are
// those of the file. SPDX-License-Identifier: Apache-2.0
import { distanceToLine } from "./types";

export type Shape = unknown;
export type Point = [number, number];

const CORNERS = 24; // of a circle on the screen
const LEAST = 0.1; // side of a rectangle, radius of a circle [m]

const isPoint = (v: unknown): v is Point => Array.isArray(v) && v.length === 2 && typeof v[0] === "number";
export const isRing = (v: unknown): boolean => !Array.isArray(v) || (v.length > 0 && isPoint(v[0]));
// One or an array of them, as many keys of a scene take it.
export const asList = (value: unknown, isOne: (v: unknown) => boolean): unknown[] =>
    value === undefined || value === null ? [] : isOne(value) ? [value] : Array.isArray(value) ? value : [value];
export const round = (v: number): number => Math.round(v * 1000) / 1000;

interface Known {
    points?: Point[];
    rect?: [number, number, number, number];
    circle?: [number, number, number];
}

// The three forms whose handles a page moves; null for WKT and files.
function known(shape: Shape): Known | null {
    if (Array.isArray(shape)) return shape.length > 1 && shape.every(isPoint) ? { points: shape } : null;
    const s = shape as Known | null;
    if (s === null || typeof s !== "object") return null;
    if (s.points?.every(isPoint)) return { points: s.points };
    if (s.rect?.length === 4) return { rect: s.rect };
    return s.circle?.length === 3 ? { circle: s.circle } : null;
}

const cornersOf = ([x0, y0, x1, y1]: [number, number, number, number]): Point[] => [
    [x0, y0],
    [x1, y0],
    [x1, y1],
    [x0, y1],
];

function around([x, y, r]: [number, number, number], count: number): Point[] {
    return Array.from({ length: count }, (_, k) => {
        const angle = (2 * Math.PI * k) / count;
        return [x + r * Math.cos(angle), y + r * Math.sin(angle)];
    });
}

export function shapePoints(shape: Shape): Point[] | null {
    const s = known(shape);
    if (!s) return null;
    return s.points ?? (s.rect ? cornersOf(s.rect) : around(s.circle as [number, number, number], CORNERS));
}

// The handles of a shape: its corners; of a rectangle also the middles of its sides, of a circle four points around.
export function shapeHandles(shape: Shape): Point[] {
    const s = known(shape);
    if (s?.points) return s.points;
    if (s?.circle) return around(s.circle, 4);
    if (!s?.rect) return [];
    const corners = cornersOf(s.rect);
    return [
        ...corners,
        ...corners.map(([x, y], k): Point => {
            const [nx, ny] = corners[(k + 1) % 4];
            return [(x + nx) / 2, (y + ny) / 2];
        }),
    ];
}

// The rings of a shape as they are drawn: of a WKT text all of its brackets; none of files.
export function shapeRings(shape: Shape): Point[][] {
    const text = wktOf(shape);
    if (text === null) {
        const points = shapePoints(shape);
        return points ? [points] : [];
    }
    return [...text.matchAll(/\(([^()]+)\)/g)].map(([, ring]) =>
        ring.split(",").flatMap((pair): Point[] => {
            const [x, y] = pair.trim().split(/\s+/).map(Number);
            return Number.isFinite(x) && Number.isFinite(y) ? [[x, y]] : [];
        }),
    );
}

function wktOf(shape: Shape): string | null {
    if (typeof shape === "string") return shape;
    const wkt = (shape as { wkt?: unknown } | null)?.wkt;
    return typeof wkt === "string" ? wkt : null;
}

export type Move = (p: Point) => Point;

// The shape with every corner moved. A rectangle stays one while its sides stay along the axes. Null: only the file can.
export function mapShape(shape: Shape, move: Move): Shape | null {
    const to = (p: Point): Point => move(p).map(round) as Point;
    const text = wktOf(shape);
    if (text !== null) {
        const moved = text.replace(/(-?[\d.]+(?:e[-+]?\d+)?)\s+(-?[\d.]+(?:e[-+]?\d+)?)/gi, (_, x, y) =>
            to([Number(x), Number(y)]).join(" "),
        );
        return typeof shape === "string" ? moved : { wkt: moved };
    }
    const s = known(shape);
    if (s?.points) return Array.isArray(shape) ? s.points.map(to) : { points: s.points.map(to) };
    if (s?.circle) return { circle: [...to([s.circle[0], s.circle[1]]), s.circle[2]] };
    if (!s?.rect) return null;
    const corners = cornersOf(s.rect).map(to),
        x = corners.map((p) => p[0]),
        y = corners.map((p) => p[1]);
    const straight = corners.every((p, k) => {
        const q = corners[(k + 1) % 4];
        return Math.abs(p[0] - q[0]) < 2e-3 || Math.abs(p[1] - q[1]) < 2e-3;
    });
    return straight ? { rect: [Math.min(...x), Math.min(...y), Math.max(...x), Math.max(...y)] } : { points: corners };
}

export function turned([cx, cy]: Point, degrees: number): Move {
    const quarter = degrees % 90 === 0, // exact
        angle = (degrees * Math.PI) / 180,
        c = quarter ? Math.round(Math.cos(angle)) : Math.cos(angle),
        s = quarter ? Math.round(Math.sin(angle)) : Math.sin(angle);
    return ([x, y]) => [cx + c * (x - cx) - s * (y - cy), cy + s * (x - cx) + c * (y - cy)];
}

export function moveShape(shape: Shape, dx: number, dy: number): Shape | null {
    return mapShape(shape, ([x, y]) => [x + dx, y + dy]);
}

// The shape with one of its handles moved to (x, y).
export function reshape(shape: Shape, handle: number, x: number, y: number): Shape | null {
    const s = known(shape);
    if (s?.points) {
        const points = s.points.map((p, k): Point => (k === handle ? [round(x), round(y)] : p));
        return Array.isArray(shape) ? points : { points };
    }
    if (s?.circle) {
        const [cx, cy] = s.circle;
        return { circle: [cx, cy, round(Math.max(LEAST, Math.hypot(x - cx, y - cy)))] };
    }
    if (!s?.rect) return null;
    let [x0, y0, x1, y1] = s.rect;
    // Corners from the first counter-clockwise, then the sides that begin there.
    if ([0, 3, 7].includes(handle)) x0 = x;
    if ([1, 2, 5].includes(handle)) x1 = x;
    if ([0, 1, 4].includes(handle)) y0 = y;
    if ([2, 3, 6].includes(handle)) y1 = y;
    const side = (a: number, b: number): Point => [Math.min(a, b), Math.max(a, b, Math.min(a, b) + LEAST)];
    const [left, right] = side(x0, x1),
        [low, high] = side(y0, y1);
    return { rect: [left, low, right, high].map(round) };
}

// The polyline without the points that are nearer to it than `error` (Douglas and Peucker).
export function thinned(points: Point[], error: number): Point[] {
    if (points.length < 3) return points;
    const [first, last] = [points[0], points[points.length - 1]];
    let far = 0,
        worst = 0;
    points.forEach((p, k) => {
        const d = distanceToLine([...first, ...last], p[0], p[1]);
        if (d > worst) {
            worst = d;
            far = k;
        }
    });
    if (worst <= error) return [first, last];
    return [...thinned(points.slice(0, far + 1), error).slice(0, -1), ...thinned(points.slice(far), error)];
}
