// Tools that change the scene. A tool turns pointer strokes into requests; the server answers, keeps the history for undo
// and sends the changed scene, so the page itself never decides what the scene is. SPDX-License-Identifier: Apache-2.0
import type { PlanView, Sketch } from "./plan";
import type { Json } from "./decode";
import { moveShape, reshape, round, shapePoints, thinned, type Point, type Shape } from "./shapes";
import { handlesOf, isOn, lineJson, sameThing, snap, thingAt, type Thing } from "./things";
import { TOOLS, type SceneList, type Tool } from "./tools";
import type { Box, Line, Scene } from "./types";

const WHOLE = -1; // of a grab: no handle, all of it

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
    private path: Point[] = []; // of a stroke along the way
    private grab: { thing: Thing; handle: number } | null = null;
    private touches = new Map<number, [number, number]>();

    constructor(private host: EditorHost) {}

    choose(name: string): void {
        this.tool = TOOLS.find((tool) => tool.name === name) ?? TOOLS[0];
        this.cancel();
    }

    cancel(): void {
        this.start = null;
        this.grab = null;
        this.lastBrush = null;
        this.path = [];
        this.host.plan(0).sketch = null;
        this.host.plan(0).redraw();
    }

    select(thing: Thing | null): void {
        const origin = this.host.scene()?.origin ?? [0, 0];
        this.selection = thing;
        this.host.plan(0).chosen = thing
            ? {
                  outline: thing.line ? [[...thing.line]] : thing.rings,
                  closed: !thing.line && !thing.open,
                  handles: handlesOf(thing, origin),
              }
            : null;
        this.host.plan(0).redraw();
        this.host.selected(thing);
    }

    // After a change of the scene the selection stays, as long as the thing is there.
    refresh(scene: Scene): void {
        if (this.selection) this.select(sameThing(scene, this.selection));
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
            if (this.tool.name === "select" && world === 0 && event.button === 0)
                this.grab = this.grabAt(x, y, 9 / plan.scale);
            this.start = [x, y];
            if (!this.grab) plan.element.classList.add("panning");
            return;
        }
        this.start =
            this.tool.stroke === "brush" ? [x, y] : snap(this.host.scene(), this.host.level(), x, y, 10 / plan.scale);
        if (this.tool.stroke === "brush") this.brush(x, y);
        if (this.tool.stroke === "path") this.path = [[x, y]];
    }

    // The part of the selected thing under the pointer: the nearest handle, else all of it.
    private grabAt(x: number, y: number, reach: number): { thing: Thing; handle: number } | null {
        const thing = this.selection;
        if (!thing) return null;
        const handles = handlesOf(thing, this.host.scene()?.origin ?? [0, 0]);
        let handle = WHOLE,
            nearest = 1.3 * reach;
        for (let k = 0; 2 * k + 1 < handles.length; k++) {
            const d = Math.hypot(handles[2 * k] - x, handles[2 * k + 1] - y);
            if (d < nearest) {
                nearest = d;
                handle = k;
            }
        }
        return handle !== WHOLE || isOn(thing, x, y, reach) ? { thing, handle } : null;
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
        } else if (this.tool.stroke === "path" && this.start) {
            this.path.push([x, y]);
            plan.sketch = sketch({ points: this.path.flat() });
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
        const { line, shape } = this.dragged(x, y);
        const [ox, oy] = this.host.scene()?.origin ?? [0, 0];
        if (line) {
            plan.sketch = sketch({
                points: [...line],
                handles: [...line],
                text: `${Math.hypot(line[2] - line[0], line[3] - line[1]).toFixed(2)} m`,
            });
        } else {
            const points = (shapePoints(shape) ?? []).flatMap((p) => [p[0] - ox, p[1] - oy]);
            const along = (k: number): number[] => points.filter((_, i) => i % 2 === k);
            const span = (v: number[]): string => (Math.max(...v) - Math.min(...v)).toFixed(1);
            plan.sketch = sketch({
                points,
                closed: this.grab?.thing.open !== true,
                text: points.length > 0 ? `${span(along(0))} × ${span(along(1))} m` : "",
            });
        }
        plan.redraw();
    }

    // The dragged thing as it would be if released at (x, y): a line, or a shape as the scene file writes it.
    private dragged(x: number, y: number): { line: Line | null; shape: Shape | null } {
        const { thing, handle } = this.grab as { thing: Thing; handle: number };
        const [sx, sy] = this.start as [number, number];
        const scene = this.host.scene(),
            [ox, oy] = scene?.origin ?? [0, 0],
            reach = 10 / this.host.plan(0).scale;
        const at = (px: number, py: number): [number, number] => snap(scene, thing.level, px, py, reach);
        if (thing.line) {
            const [x0, y0, x1, y1] = thing.line;
            const line: Line =
                handle === 0
                    ? [...at(x0 + x - sx, y0 + y - sy), x1, y1]
                    : handle === 1
                      ? [x0, y0, ...at(x1 + x - sx, y1 + y - sy)]
                      : [x0 + x - sx, y0 + y - sy, x1 + x - sx, y1 + y - sy];
            return { line, shape: null };
        }
        if (handle === WHOLE) return { line: null, shape: moveShape(thing.shape, x - sx, y - sy) };
        const [hx, hy] = at(x, y);
        return { line: null, shape: reshape(thing.shape, handle, hx + ox, hy + oy) };
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
        } else if (start && this.tool.stroke === "path") {
            this.drawPath([...this.path, [x, y]]);
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
        const thing = thingAt(scene, level, x, y, reach);
        // The ground goes only when it was selected on purpose.
        if (thing && thing.kind !== "floor") this.remove(thing);
        else this.host.note("There is nothing here that can be deleted.");
    }

    remove(thing: Thing): void {
        this.host.edit(
            { kind: "remove", what: thing.what, key: thing.key, level: thing.level },
            `${thing.id || thing.kind} deleted`,
        );
        this.select(null);
    }

    private drop(x: number, y: number): void {
        const { thing, handle } = this.grab as { thing: Thing; handle: number };
        const { line, shape } = this.dragged(x, y);
        const name = thing.id || thing.kind;
        if (!line && !shape) {
            this.host.note(`${name} has a shape that only the scene file can change.`);
            return;
        }
        const origin = this.host.scene()?.origin ?? [0, 0];
        const value = line ? { line: lineJson(line, origin) } : thing.id ? { [thing.member]: shape } : shape;
        this.host.edit(
            { kind: "change", what: thing.what, key: thing.key, level: thing.level, value },
            `${name} ${handle === WHOLE ? "moved" : "resized"}`,
        );
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
                if (this.tool.list) this.addOf(this.tool, rect, line);
                break;
        }
    }

    // An element of a list of the schema, with the options that were given.
    private addOf(tool: Tool, rect: Shape, line: Point[]): void {
        const { list, place, key, options } = tool.list as SceneList;
        const scene = this.host.scene() as Scene,
            level = this.host.level();
        const value: Json = scene.levels.length > 1 ? { level: scene.levels[level].id } : {};
        value[key] = place === "area" ? rect : line;
        for (const { name, kind } of options) {
            const given = this.host.option(`${list}.${name}`);
            if (given !== "") value[name] = kind === "number" ? Number(given) : given;
        }
        this.host.edit({ kind: "add", what: list, level, value }, `${tool.label} added`);
    }

    // A stroke along the way, with as few points as keep its shape.
    private drawPath(path: Point[]): void {
        const [ox, oy] = this.host.scene()?.origin ?? [0, 0];
        const line = thinned(path, 0.1).map(([x, y]): Point => [round(x + ox), round(y + oy)]);
        if (line.length > 1) this.addOf(this.tool, null, line);
    }
}

function sketch(parts: Partial<Sketch>): Sketch {
    return { points: [], closed: false, radius: 0, text: "", handles: [], rect: null as Box | null, ...parts };
}
