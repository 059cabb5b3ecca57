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

// The three forms that a page can change; null for WKT and files, which only the program reads.
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

export function moveShape(shape: Shape, dx: number, dy: number): Shape | null {
    const s = known(shape);
    const move = ([x, y]: Point): Point => [round(x + dx), round(y + dy)];
    if (s?.points) return Array.isArray(shape) ? s.points.map(move) : { points: s.points.map(move) };
    if (s?.circle) return { circle: [...move([s.circle[0], s.circle[1]]), s.circle[2]] };
    return s?.rect ? { rect: [...move([s.rect[0], s.rect[1]]), ...move([s.rect[2], s.rect[3]])] } : null;
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
