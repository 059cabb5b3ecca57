// Tools that change the scene. A tool turns pointer strokes into requests; the server answers, keeps the history for undo
// and sends the changed scene, so the page itself never decides what the scene is. SPDX-License-Identifier: Apache-2.0
import type { PlanView, Sketch } from "./plan";
import type { Json } from "./decode";
import type { Box, Line, Ring, Scene } from "./types";
import { distanceToLine, insideRings } from "./types";

export type ToolName =
    | "select"
    | "wall"
    | "obstacle"
    | "floor"
    | "zone"
    | "door"
    | "exit"
    | "group"
    | "source"
    | "line"
    | "area"
    | "people"
    | "clear"
    | "erase"
    | "measure";
export interface Tool {
    name: ToolName;
    label: string;
    key: string;
    title: string;
    stroke: "line" | "rect" | "brush" | "click";
    hint: string;
}

export const TOOLS: Tool[] = [
    {
        name: "select",
        label: "Select",
        key: "s",
        title: "Look around, open doors, inspect people, move things",
        stroke: "click",
        hint: "Drag to look around. Click a door to open or shut it, a person to see what drives it.",
    },
    {
        name: "wall",
        label: "Wall",
        key: "w",
        title: "Draw a wall",
        stroke: "line",
        hint: "Drag to draw a wall. It stands at the next step.",
    },
    {
        name: "obstacle",
        label: "Obstacle",
        key: "o",
        title: "Draw a solid block",
        stroke: "rect",
        hint: "Drag a rectangle: a solid block.",
    },
    {
        name: "floor",
        label: "Floor",
        key: "a",
        title: "Add ground to walk on",
        stroke: "rect",
        hint: "Drag a rectangle: more ground to walk on.",
    },
    {
        name: "door",
        label: "Door",
        key: "d",
        title: "Place a door",
        stroke: "line",
        hint: "Drag along a wall: a door that a click opens and shuts.",
    },
    {
        name: "exit",
        label: "Exit",
        key: "e",
        title: "Place an exit",
        stroke: "line",
        hint: "Drag along a wall: a gap where people leave.",
    },
    {
        name: "group",
        label: "Group",
        key: "g",
        title: "People who stand here at the start",
        stroke: "rect",
        hint: "Drag a rectangle: people start there.",
    },
    {
        name: "source",
        label: "Source",
        key: "u",
        title: "People who come in over time",
        stroke: "rect",
        hint: "Drag a rectangle: people keep coming in there.",
    },
    {
        name: "zone",
        label: "Zone",
        key: "z",
        title: "An area where people walk slower",
        stroke: "rect",
        hint: "Drag a rectangle: people walk slower there.",
    },
    {
        name: "line",
        label: "Line",
        key: "l",
        title: "Count who crosses a line",
        stroke: "line",
        hint: "Drag a line: who crosses it is counted.",
    },
    {
        name: "area",
        label: "Area",
        key: "m",
        title: "Measure density and speed",
        stroke: "rect",
        hint: "Drag a rectangle: density and speed are measured in it.",
    },
    {
        name: "people",
        label: "Add",
        key: "b",
        title: "Brush: add people",
        stroke: "brush",
        hint: "Paint people into the crowd.",
    },
    {
        name: "clear",
        label: "Remove",
        key: "x",
        title: "Brush: remove people",
        stroke: "brush",
        hint: "Paint people away.",
    },
    {
        name: "erase",
        label: "Delete",
        key: "Delete",
        title: "Delete a wall or thing by a click",
        stroke: "click",
        hint: "Click what shall go.",
    },
];

export interface Thing {
    kind: string;
    id: string;
    what: string;
    index: number;
    line: Line | null;
    rings: Ring[];
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
};

// Everything that can be selected on a level, small things first so that they win over the large ones around them.
export function thingsOf(scene: Scene, level: number): Thing[] {
    const out: Thing[] = [];
    const add = (kind: string, list: { id: string; level: number; line?: Line | null; rings?: Ring[] }[]): void => {
        list.forEach((thing, index) => {
            if (thing.level !== level) return;
            out.push({
                kind,
                id: thing.id,
                what: WHAT[kind],
                index,
                line: thing.line ?? null,
                rings: thing.rings ?? [],
            });
        });
    };
    add("door", scene.doors);
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
    return out;
}

export function thingAt(
    scene: Scene,
    level: number,
    x: number,
    y: number,
    reach: number,
    kinds?: string[],
): Thing | null {
    const things = thingsOf(scene, level).filter((thing) => !kinds || kinds.includes(thing.kind));
    let best: Thing | null = null,
        nearest = reach;
    for (const thing of things) {
        if (!thing.line) continue;
        const d = distanceToLine(thing.line, x, y);
        if (d < nearest) {
            nearest = d;
            best = thing;
        }
    }
    return best ?? things.find((thing) => !thing.line && insideRings(thing.rings, x, y)) ?? null;
}

type ShapeJson = unknown;
const asList = (value: unknown, isOne: (v: unknown) => boolean): unknown[] =>
    value === undefined || value === null ? [] : isOne(value) ? [value] : Array.isArray(value) ? value : [value];
const isPoint = (v: unknown): boolean => Array.isArray(v) && v.length === 2 && typeof v[0] === "number";
const isRing = (v: unknown): boolean => !Array.isArray(v) || (v.length > 0 && isPoint(v[0]));

// Corner points of a shape as a scene file writes it, relative to the origin; null where only the program can read it.
export function shapePoints(shape: ShapeJson, origin: [number, number]): Ring | null {
    const shift = (points: number[][]): Ring => points.flatMap((p) => [p[0] - origin[0], p[1] - origin[1]]);
    if (Array.isArray(shape)) return shape.every(isPoint) ? shift(shape as number[][]) : null;
    const s = shape as { rect?: number[]; circle?: number[]; points?: number[][] } | null;
    if (s?.points) return shift(s.points);
    if (s?.rect) {
        const [x0, y0, x1, y1] = s.rect;
        return shift([
            [x0, y0],
            [x1, y0],
            [x1, y1],
            [x0, y1],
        ]);
    }
    if (s?.circle) {
        const [x, y, r] = s.circle;
        return shift(
            Array.from({ length: 24 }, (_, k) => [
                x + r * Math.cos((k * Math.PI) / 12),
                y + r * Math.sin((k * Math.PI) / 12),
            ]),
        );
    }
    return null;
}

export function moveShape(shape: ShapeJson, dx: number, dy: number): ShapeJson {
    const move = (p: number[]): number[] => [p[0] + dx, p[1] + dy];
    if (Array.isArray(shape)) return shape.every(isPoint) ? (shape as number[][]).map(move) : null;
    const s = shape as { rect?: number[]; circle?: number[]; points?: number[][] } | null;
    if (s?.points) return { points: s.points.map(move) };
    if (s?.rect) return { rect: [...move(s.rect.slice(0, 2)), ...move(s.rect.slice(2, 4))] };
    if (s?.circle) return { circle: [...move(s.circle.slice(0, 2)), s.circle[2]] };
    return null;
}

// The wall or obstacle of the document under a point: list and index, as `remove` wants it.
export function solidAt(
    scene: Scene,
    level: number,
    x: number,
    y: number,
    reach: number,
): { what: string; key: number } | null {
    const levels = asList(scene.document?.levels, (v) => !Array.isArray(v)) as Json[];
    const l = levels[level];
    if (!l) return null;
    let best: { what: string; key: number } | null = null,
        nearest = reach;
    asList(l.walls, isRing).forEach((wall, key) => {
        const p = shapePoints(wall, scene.origin) ?? [];
        for (let k = 0; k + 3 < p.length; k += 2) {
            const d = distanceToLine(p.slice(k, k + 4), x, y);
            if (d < nearest) {
                nearest = d;
                best = { what: "walls", key };
            }
        }
    });
    if (best) return best;
    asList(l.obstacles, isRing).forEach((obstacle, key) => {
        const p = shapePoints(obstacle, scene.origin);
        if (p && insideRings([p], x, y)) best = { what: "obstacles", key };
    });
    return best;
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

const round = (v: number): number => Math.round(v * 1000) / 1000;

export interface EditorHost {
    plan(world: number): PlanView;
    scene(): Scene | null;
    level(): number;
    option(name: string): string;
    edit(args: Json, say: string): void;
    inspect(index: number, world: number): void;
    selected(thing: Thing | null): void;
    note(text: string): void;
    underlayPoint(x: number, y: number): boolean;
}

export class Editor {
    tool: Tool = TOOLS[0];
    selection: Thing | null = null;
    private start: [number, number] | null = null;
    private pixel: [number, number] | null = null;
    private lastBrush: [number, number] | null = null;
    private grab: { thing: Thing; end: number } | null = null;
    private touches = new Map<number, [number, number]>();

    constructor(private host: EditorHost) {}

    choose(name: ToolName): void {
        this.tool = TOOLS.find((tool) => tool.name === name) ?? TOOLS[0];
        this.cancel();
    }

    cancel(): void {
        this.start = null;
        this.grab = null;
        this.lastBrush = null;
        this.host.plan(0).sketch = null;
        this.host.plan(0).redraw();
    }

    select(thing: Thing | null): void {
        this.selection = thing;
        this.host.plan(0).chosenThing = thing ? { kind: thing.kind, id: thing.id } : null;
        this.host.plan(0).redraw();
        this.host.selected(thing);
    }

    attach(plan: PlanView, world: number): void {
        const surface = plan.surface;
        surface.addEventListener("pointerdown", (event) => {
            surface.setPointerCapture(event.pointerId);
            surface.focus();
            this.touches.set(event.pointerId, [event.offsetX, event.offsetY]);
            if (this.touches.size === 1) this.down(plan, world, event);
        });
        surface.addEventListener("pointermove", (event) => {
            if (this.touches.size === 2 && this.touches.has(event.pointerId)) this.pinch(plan, event);
            else this.move(plan, world, event);
            if (this.touches.has(event.pointerId)) this.touches.set(event.pointerId, [event.offsetX, event.offsetY]);
        });
        const up = (event: PointerEvent): void => {
            if (this.touches.size === 1) this.up(plan, world, event);
            this.touches.delete(event.pointerId);
        };
        surface.addEventListener("pointerup", up);
        surface.addEventListener("pointercancel", (event) => {
            this.touches.delete(event.pointerId);
            this.cancel();
        });
    }

    private pinch(plan: PlanView, event: PointerEvent): void {
        const before = [...this.touches.values()];
        const after = [...this.touches.entries()].map(([id, p]) =>
            id === event.pointerId ? [event.offsetX, event.offsetY] : p,
        );
        const span = (p: number[][]): number => Math.hypot(p[0][0] - p[1][0], p[0][1] - p[1][1]);
        const middle = (p: number[][]): number[] => [(p[0][0] + p[1][0]) / 2, (p[0][1] + p[1][1]) / 2];
        const [bx, by] = middle(before),
            [ax, ay] = middle(after);
        plan.pan(ax - bx, ay - by);
        plan.zoom(span(after) / Math.max(1, span(before)), ax, ay);
        this.cancel();
    }

    private down(plan: PlanView, world: number, event: PointerEvent): void {
        this.pixel = [event.offsetX, event.offsetY];
        const [x, y] = plan.toScene(event.offsetX, event.offsetY);
        if (event.button === 1 || event.button === 2 || event.shiftKey || this.tool.stroke === "click" || world === 1) {
            const reach = 9 / plan.scale,
                chosen = this.selection;
            if (this.tool.name === "select" && world === 0 && event.button === 0 && chosen && chosen.line) {
                const ends = [0, 1].map((k) =>
                    Math.hypot((chosen.line as Line)[2 * k] - x, (chosen.line as Line)[2 * k + 1] - y),
                );
                if (Math.min(...ends) < 1.3 * reach) this.grab = { thing: chosen, end: ends[0] < ends[1] ? 0 : 1 };
                else if (distanceToLine(chosen.line, x, y) < reach) this.grab = { thing: chosen, end: -1 };
            } else if (
                this.tool.name === "select" &&
                world === 0 &&
                event.button === 0 &&
                chosen &&
                insideRings(chosen.rings, x, y)
            ) {
                this.grab = { thing: chosen, end: -1 };
            }
            this.start = [x, y];
            if (!this.grab) plan.element.classList.add("panning");
            return;
        }
        this.start =
            this.tool.stroke === "brush" ? [x, y] : snap(this.host.scene(), this.host.level(), x, y, 10 / plan.scale);
        if (this.tool.stroke === "brush") this.brush(x, y);
    }

    private move(plan: PlanView, world: number, event: PointerEvent): void {
        const [x, y] = plan.toScene(event.offsetX, event.offsetY);
        const drawing = this.tool.stroke !== "click" && world === 0;
        plan.element.classList.toggle("drawing", drawing);
        if (plan.element.classList.contains("panning") && this.pixel) {
            plan.pan(event.offsetX - this.pixel[0], event.offsetY - this.pixel[1]);
            this.pixel = [event.offsetX, event.offsetY];
            return;
        }
        if (this.grab && this.start) {
            this.sketchGrab(plan, x, y);
            return;
        }
        if (!drawing) return;
        if (this.tool.stroke === "brush") {
            plan.sketch = sketch({ points: [x, y], radius: this.radius() });
            if (this.start) this.brush(x, y);
        } else {
            const [sx, sy] = snap(this.host.scene(), this.host.level(), x, y, 10 / plan.scale);
            plan.sketch = this.start ? this.sketchStroke(sx, sy) : sketch({ points: [sx, sy], handles: [sx, sy] });
        }
        plan.redraw();
    }

    private sketchStroke(x: number, y: number): Sketch {
        const [x0, y0] = this.start as [number, number];
        if (this.tool.stroke === "line") {
            return sketch({
                points: [x0, y0, x, y],
                handles: [x0, y0, x, y],
                text: `${Math.hypot(x - x0, y - y0).toFixed(2)} m`,
            });
        }
        return sketch({
            rect: [x0, y0, x, y],
            text: `${Math.abs(x - x0).toFixed(1)} × ${Math.abs(y - y0).toFixed(1)} m`,
        });
    }

    private sketchGrab(plan: PlanView, x: number, y: number): void {
        const { thing, end } = this.grab as { thing: Thing; end: number };
        const [sx, sy] = this.start as [number, number];
        if (thing.line) {
            const line = this.moved(thing.line, end, x - sx, y - sy);
            plan.sketch = sketch({
                points: [...line],
                handles: [...line],
                text: `${Math.hypot(line[2] - line[0], line[3] - line[1]).toFixed(2)} m`,
            });
        } else
            plan.sketch = sketch({
                points: (thing.rings[0] ?? []).map((v, k) => v + (k % 2 ? y - sy : x - sx)),
                closed: true,
            });
        plan.redraw();
    }

    private moved(line: Line, end: number, dx: number, dy: number): Line {
        const reach = 10 / this.host.plan(0).scale;
        const to = (k: number): [number, number] =>
            snap(this.host.scene(), this.host.level(), line[k] + dx, line[k + 1] + dy, reach);
        if (end === 0) return [...to(0), line[2], line[3]];
        if (end === 1) return [line[0], line[1], ...to(2)];
        return line.map((v, k) => v + (k % 2 ? dy : dx)) as Line;
    }

    private up(plan: PlanView, world: number, event: PointerEvent): void {
        const [x, y] = plan.toScene(event.offsetX, event.offsetY);
        const start = this.start;
        plan.element.classList.remove("panning");
        const travelled = start ? Math.hypot(x - start[0], y - start[1]) * plan.scale : 0;
        if (this.grab && travelled > 4) this.drop(x, y);
        else if (this.tool.stroke === "click" || world === 1 || event.button === 2) {
            const stay =
                this.pixel &&
                Math.hypot(event.offsetX - this.pixel[0], event.offsetY - this.pixel[1]) < 4 &&
                travelled < 5;
            if (stay && event.button === 0) this.click(plan, world, event.offsetX, event.offsetY, x, y);
        } else if (start && this.tool.stroke !== "brush") {
            const [sx, sy] = snap(this.host.scene(), this.host.level(), x, y, 10 / plan.scale);
            if (Math.hypot(sx - start[0], sy - start[1]) >= 0.1) this.draw(start[0], start[1], sx, sy);
        }
        this.cancel();
    }

    private click(plan: PlanView, world: number, px: number, py: number, x: number, y: number): void {
        const scene = this.host.scene(),
            level = this.host.level(),
            reach = 9 / plan.scale;
        if (!scene) return;
        if (this.host.underlayPoint(x, y)) return;
        if (this.tool.name === "erase" && world === 0) {
            this.erase(scene, level, x, y, reach);
            return;
        }
        const near = thingAt(scene, level, x, y, reach, ["door"]);
        if (near && world === 0) {
            const open = plan.doorsOpen[near.index] ?? true;
            this.host.edit({ kind: "door", door: near.id, open: !open }, `${near.id} ${open ? "shut" : "opened"}`);
            this.select(near);
            return;
        }
        const person = plan.personAt(px, py);
        if (person >= 0) {
            this.host.inspect(person, world);
            return;
        }
        this.select(world === 0 ? thingAt(scene, level, x, y, reach) : null);
    }

    private erase(scene: Scene, level: number, x: number, y: number, reach: number): void {
        const solid = solidAt(scene, level, x, y, reach);
        const thing = solid?.what === "walls" ? null : thingAt(scene, level, x, y, reach);
        if (thing) this.remove(thing);
        else if (solid)
            this.host.edit(
                { kind: "remove", what: solid.what, key: solid.key, level },
                `${solid.what.slice(0, -1)} deleted`,
            );
        else this.host.note("There is nothing here that can be deleted.");
    }

    remove(thing: Thing): void {
        this.host.edit({ kind: "remove", what: thing.what, key: thing.id }, `${thing.id} deleted`);
        this.select(null);
    }

    private element(thing: Thing): Json | null {
        const document = this.host.scene()?.document;
        if (!document) return null;
        const measure = (document.measure ?? {}) as Json;
        const where = thing.what === "lines" || thing.what === "areas" ? measure[thing.what] : document[thing.what];
        const list = asList(where, (v) => !Array.isArray(v)) as Json[];
        return list.find((element) => element.id === thing.id) ?? list[thing.index] ?? null;
    }

    private drop(x: number, y: number): void {
        const { thing, end } = this.grab as { thing: Thing; end: number };
        const [sx, sy] = this.start as [number, number];
        const origin = this.host.scene()?.origin ?? [0, 0];
        if (thing.line) {
            const line = this.moved(thing.line, end, x - sx, y - sy);
            this.host.edit(
                { kind: "change", what: thing.what, key: thing.id, value: { line: lineJson(line, origin) } },
                `${thing.id} moved`,
            );
            this.select({ ...thing, line });
            return;
        }
        const area = moveShape(this.element(thing)?.area, round(x - sx), round(y - sy));
        if (area)
            this.host.edit({ kind: "change", what: thing.what, key: thing.id, value: { area } }, `${thing.id} moved`);
        else this.host.note(`${thing.id} has a shape that only the scene file can change.`);
    }

    private radius(): number {
        return Math.max(0.3, Number(this.host.option("radius")) || 1.5);
    }

    private brush(x: number, y: number): void {
        const radius = this.radius();
        if (this.lastBrush && Math.hypot(x - this.lastBrush[0], y - this.lastBrush[1]) < radius) return;
        this.lastBrush = [x, y];
        const at = [round(x), round(y)],
            level = this.host.level();
        if (this.tool.name === "clear") this.host.edit({ kind: "remove_people", at, radius, level }, "");
        else
            this.host.edit(
                {
                    kind: "people",
                    group: this.host.option("group"),
                    at,
                    radius,
                    count: Number(this.host.option("count")) || 10,
                    level,
                },
                "",
            );
    }

    private draw(x0: number, y0: number, x1: number, y1: number): void {
        const scene = this.host.scene();
        if (!scene) return;
        const level = this.host.level(),
            origin = scene.origin,
            id = scene.levels[level]?.id;
        const several = scene.levels.length > 1 ? { level: id } : {};
        const line = lineJson([x0, y0, x1, y1], origin);
        const rect = {
            rect: [
                Math.min(x0, x1) + origin[0],
                Math.min(y0, y1) + origin[1],
                Math.max(x0, x1) + origin[0],
                Math.max(y0, y1) + origin[1],
            ].map(round),
        };
        const add = (what: string, value: unknown, say: string): void =>
            this.host.edit({ kind: "add", what, level, value }, say);
        const count = Number(this.host.option("count")) || 50,
            to = this.host.option("to");
        const goal = to ? { to } : {};
        switch (this.tool.name) {
            case "wall":
                this.host.edit(
                    {
                        kind: "wall",
                        level,
                        line: [
                            [round(x0), round(y0)],
                            [round(x1), round(y1)],
                        ],
                    },
                    "wall drawn",
                );
                break;
            case "obstacle":
                add("obstacles", rect, "obstacle added");
                break;
            case "floor":
                add("walkable", rect, "floor added");
                break;
            case "zone":
                add("zones", { ...several, area: rect, speed: Number(this.host.option("speed")) || 0.5 }, "zone added");
                break;
            case "door":
                add("doors", { ...several, line }, "door placed");
                break;
            case "exit":
                add("exits", { ...several, line }, "exit placed");
                break;
            case "group":
                add("groups", { ...several, area: rect, count, ...goal }, `${count} people placed`);
                break;
            case "source":
                add(
                    "groups",
                    { ...several, area: rect, source: { rate: Number(this.host.option("rate")) || 1 }, ...goal },
                    "source placed",
                );
                break;
            case "line":
                add("lines", { ...several, line }, "measuring line placed");
                break;
            case "area":
                add("areas", { ...several, area: rect }, "measuring area placed");
                break;
            default:
                break;
        }
    }
}

function lineJson(line: Line, origin: [number, number]): number[][] {
    return [
        [round(line[0] + origin[0]), round(line[1] + origin[1])],
        [round(line[2] + origin[0]), round(line[3] + origin[1])],
    ];
}

function sketch(parts: Partial<Sketch>): Sketch {
    return { points: [], closed: false, radius: 0, text: "", handles: [], rect: null as Box | null, ...parts };
}
