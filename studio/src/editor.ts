// Tools that change the scene. A tool turns pointer strokes into requests; the server answers, keeps the history for undo
// and sends the changed scene, so the page itself never decides what the scene is. SPDX-License-Identifier: Apache-2.0
import { TURN_ABOVE, type PlanView, type Sketch } from "./plan";
import type { Json } from "./decode";
import type { Reply } from "./link";
import { moveShape, reshape, round, shapePoints, thinned, turned, type Move, type Point, type Shape } from "./shapes";
import {
    SNAPPING,
    boxOfThings,
    documentOf,
    handlesOf,
    isOn,
    lineJson,
    moveEdit,
    movedElement,
    sameThing,
    snapTo,
    solidsOf,
    thingAt,
    thingsOf,
    type Snapping,
    type Thing,
} from "./things";
import { TOOLS, type SceneList, type Tool } from "./tools";
import type { Box, Line, Ring, Scene } from "./types";

const WHOLE = -1; // of a grab: no handle, all of it
const TURN = -2; // the handle above, that turns

export interface EditorHost {
    plan(world: number): PlanView;
    scene(): Scene | null;
    level(): number;
    option(name: string): string;
    edit(args: Json, say: string): Promise<Reply>;
    inspect(index: number, world: number): void;
    selected(things: Thing[]): void;
    note(text: string): void;
    underlayPoint(x: number, y: number): boolean;
}

interface Copied {
    what: string;
    value: unknown; // of a thing with an id without it
}

// Ways to draw an area or a wall: by a stroke, around a middle, or corner by corner.
type Way = "stroke" | "circle" | "corners";

export class Editor {
    tool: Tool = TOOLS[0];
    world = 0; // of a comparison, in which one draws and selects
    chosen: Thing[] = [];
    snapping: Snapping = { ...SNAPPING, angles: true, guides: true };
    private start: Point | null = null;
    private pixel: Point | null = null;
    private lastBrush: Point | null = null;
    private path: Point[] = []; // of a stroke along the way
    private corners: Point[] = []; // of a shape drawn corner by corner
    private cursor: Point | null = null; // that the arrow keys move
    private grab: { things: Thing[]; handle: number } | null = null;
    private band = false; // a frame is drawn around what to select
    private free = false; // Alt: nothing snaps
    private here: Point | null = null; // of the pointer
    private copied: Copied[] = [];
    private touches = new Map<number, Point>();

    constructor(private host: EditorHost) {}

    // The only thing that is selected, or the last of several.
    get selection(): Thing | null {
        return this.chosen[this.chosen.length - 1] ?? null;
    }

    choose(name: string): void {
        this.tool = TOOLS.find((tool) => tool.name === name) ?? TOOLS[0];
        this.cancel();
        if (this.tool.name !== "select" && this.chosen.length > 0) this.selectAll([]);
    }

    cancel(): void {
        this.start = null;
        this.grab = null;
        this.band = false;
        this.lastBrush = null;
        this.path = [];
        this.corners = [];
        this.cursor = null;
        this.host.plan(this.world).sketch = null;
        this.host.plan(this.world).redraw();
    }

    // True where there was something to give up.
    escape(): boolean {
        const busy = this.corners.length > 0 || this.cursor !== null || this.start !== null;
        if (busy) this.cancel();
        return busy;
    }

    select(thing: Thing | null): void {
        this.selectAll(thing ? [thing] : []);
    }

    selectAll(things: Thing[]): void {
        const origin = this.host.scene()?.origin ?? [0, 0],
            one = things.length === 1 ? things[0] : null;
        this.chosen = things;
        this.host.plan(this.world).chosen =
            things.length > 0
                ? {
                      outlines: things.map((thing) => ({
                          rings: thing.line ? [[...thing.line]] : thing.rings,
                          closed: !thing.line && !thing.open,
                      })),
                      handles: one ? handlesOf(one, origin) : [],
                      turn: this.turnHandle(things),
                  }
                : null;
        this.host.plan(this.world).redraw();
        this.host.selected(things);
    }

    // The comparison ends.
    leaveWorld(): void {
        this.enterWorld(0);
    }

    // Draws and selects in the other world from now on.
    private enterWorld(world: number): void {
        if (world === this.world) return;
        this.cancel();
        if (this.chosen.length > 0) this.selectAll([]);
        this.world = world;
        this.host.selected([]);
    }

    // After a change of the scene what is there of the selection stays.
    refresh(scene: Scene): void {
        if (scene.world === this.world && this.chosen.length > 0)
            this.selectAll(this.chosen.flatMap((thing) => sameThing(scene, thing) ?? []));
    }

    attach(plan: PlanView, world: number): void {
        const surface = plan.surface;
        surface.addEventListener("pointerdown", (event) => {
            surface.setPointerCapture(event.pointerId);
            surface.focus();
            this.enterWorld(world);
            this.touches.set(event.pointerId, [event.offsetX, event.offsetY]);
            if (this.touches.size === 1) this.down(plan, event);
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

    private way(): Way {
        const shape = this.tool.stroke === "rect" || this.tool.name === "wall" ? this.host.option("shape") : "";
        return shape === "corners" ? "corners" : shape === "circle" && this.tool.name !== "wall" ? "circle" : "stroke";
    }

    private snapped(x: number, y: number, start: Point | null = null): { at: Point; guides: Line[] } {
        if (this.free) return { at: [round(x), round(y)], guides: [] };
        const reach = 10 / this.host.plan(this.world).scale;
        return snapTo(this.host.scene(), this.host.level(), [x, y], reach, this.snapping, start);
    }

    private down(plan: PlanView, event: PointerEvent): void {
        this.pixel = [event.offsetX, event.offsetY];
        this.free = event.altKey;
        const [x, y] = plan.toScene(event.offsetX, event.offsetY);
        const pans = event.button === 1 || event.button === 2;
        if (pans || event.shiftKey || this.tool.stroke === "click") {
            const selects = this.tool.name === "select" && event.button === 0;
            this.band = selects && (event.shiftKey || event.ctrlKey);
            if (selects && !this.band) this.grab = this.grabAt(x, y, 9 / plan.scale);
            this.start = [x, y];
            if (!this.grab && !this.band) plan.element.classList.add("panning");
            return;
        }
        if (this.way() === "corners") return;
        this.start = this.tool.stroke === "brush" ? [x, y] : this.snapped(x, y).at;
        if (this.tool.stroke === "brush") this.brush(x, y);
        if (this.tool.stroke === "path") this.path = [[x, y]];
    }

    // Above what is selected; null: it cannot be turned.
    private turnHandle(things: Thing[]): Point | null {
        if (things.length === 0 || things.every((thing) => thing.kind === "floor")) return null;
        const [x0, , x1, y1] = boxOfThings(things);
        return Number.isFinite(x0) ? [(x0 + x1) / 2, y1] : null;
    }

    // The part of what is selected under the pointer: the nearest handle, else all of it.
    private grabAt(x: number, y: number, reach: number): { things: Thing[]; handle: number } | null {
        const things = this.chosen,
            one = things.length === 1 ? things[0] : null,
            turn = this.turnHandle(things);
        if (things.length === 0) return null;
        if (turn && Math.hypot(turn[0] - x, turn[1] + TURN_ABOVE / this.host.plan(this.world).scale - y) < reach)
            return { things, handle: TURN };
        const handles = one ? handlesOf(one, this.host.scene()?.origin ?? [0, 0]) : [];
        let handle = WHOLE,
            nearest = 1.3 * reach;
        for (let k = 0; 2 * k + 1 < handles.length; k++) {
            const d = Math.hypot(handles[2 * k] - x, handles[2 * k + 1] - y);
            if (d < nearest) {
                nearest = d;
                handle = k;
            }
        }
        return handle !== WHOLE || things.some((thing) => isOn(thing, x, y, reach)) ? { things, handle } : null;
    }

    private move(plan: PlanView, world: number, event: PointerEvent): void {
        const [x, y] = plan.toScene(event.offsetX, event.offsetY);
        if (world !== this.world && (this.chosen.length > 0 || this.start || this.corners.length > 0)) return;
        this.enterWorld(world);
        const drawing = this.tool.stroke !== "click";
        this.free = event.altKey;
        this.here = [x, y];
        plan.element.classList.toggle("drawing", drawing);
        if (plan.element.classList.contains("panning") && this.pixel) {
            plan.pan(event.offsetX - this.pixel[0], event.offsetY - this.pixel[1]);
            this.pixel = [event.offsetX, event.offsetY];
            return;
        }
        if (this.band && this.start) {
            plan.sketch = sketch({ rect: [...this.start, x, y] });
            plan.redraw();
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
            this.sketchTo(x, y);
        }
        plan.redraw();
    }

    // Previews the drawing as if it ended at (x, y).
    private sketchTo(x: number, y: number): void {
        const last = this.corners[this.corners.length - 1] ?? null,
            lines = this.tool.stroke === "line" || this.way() === "corners",
            { at, guides } = this.snapped(x, y, lines ? (last ?? this.start) : null),
            from = last ?? this.start,
            plan = this.host.plan(this.world);
        if (this.way() === "corners" && last)
            plan.sketch = sketch({
                points: [...this.corners.flat(), ...at],
                handles: this.corners.flat(),
                text: lengthText(last, at),
                guides,
            });
        else if (from) plan.sketch = { ...this.sketchStroke(from, at), guides };
        else plan.sketch = sketch({ points: at, handles: at, text: placeText(at), guides });
    }

    private sketchStroke(from: Point, at: Point): Sketch {
        const [x0, y0] = from,
            [x, y] = at;
        if (this.tool.stroke === "line")
            return sketch({ points: [x0, y0, x, y], handles: [x0, y0, x, y], text: lengthText(from, at) });
        if (this.way() === "circle") {
            const radius = Math.hypot(x - x0, y - y0);
            return sketch({ points: [x0, y0], handles: [x0, y0], radius, text: `r ${radius.toFixed(2)} m` });
        }
        return sketch({
            rect: [x0, y0, x, y],
            text: `${Math.abs(x - x0).toFixed(1)} × ${Math.abs(y - y0).toFixed(1)} m`,
        });
    }

    private sketchGrab(plan: PlanView, x: number, y: number): void {
        const grab = this.grab as { things: Thing[]; handle: number };
        const [ox, oy] = this.host.scene()?.origin ?? [0, 0];
        if (grab.handle === WHOLE || grab.handle === TURN) {
            const move = this.wholeMove(x, y),
                rings = grab.things.flatMap((thing) => (thing.line ? [[...thing.line]] : thing.rings)),
                moved = rings.map((ring) => mapRing(ring, ([px, py]) => shift(move([px + ox, py + oy]), -ox, -oy)));
            plan.sketch = sketch({ rings: moved, closed: !grab.things[0].open, text: this.moveText(x, y) });
            plan.redraw();
            return;
        }
        const { line, shape, guides } = this.dragged(x, y);
        if (line) {
            plan.sketch = sketch({
                points: [...line],
                handles: [...line],
                text: lengthText([line[0], line[1]], [line[2], line[3]]),
                guides,
            });
        } else {
            const points = (shapePoints(shape) ?? []).flatMap((p) => [p[0] - ox, p[1] - oy]);
            const along = (k: number): number[] => points.filter((_, i) => i % 2 === k);
            const span = (v: number[]): string => (Math.max(...v) - Math.min(...v)).toFixed(1);
            plan.sketch = sketch({
                points,
                closed: grab.things[0].open !== true,
                text: points.length > 0 ? `${span(along(0))} × ${span(along(1))} m` : "",
                guides,
            });
        }
        plan.redraw();
    }

    private turnOf(x: number, y: number): number {
        const things = this.grab?.things ?? [],
            [x0, y0, x1, y1] = boxOfThings(things),
            degrees = (Math.atan2(y - (y0 + y1) / 2, x - (x0 + x1) / 2) * 180) / Math.PI - 90;
        return this.free ? Math.round(degrees) : 15 * Math.round(degrees / 15);
    }

    // The shift of the grabbed things, in whole steps of the grid.
    private shiftOf(x: number, y: number): Point {
        const [sx, sy] = this.start as Point,
            grid = this.free ? 0.001 : this.snapping.grid || 0.001;
        return [round(Math.round((x - sx) / grid) * grid), round(Math.round((y - sy) / grid) * grid)];
    }

    private moveText(x: number, y: number): string {
        if (this.grab?.handle === TURN) return `${this.turnOf(x, y)}°`;
        const [dx, dy] = this.shiftOf(x, y);
        return `${dx.toFixed(2)}, ${dy.toFixed(2)} m`;
    }

    // In the file's coordinates.
    private wholeMove(x: number, y: number): Move {
        if (this.grab?.handle === TURN) return this.turning(this.grab.things, this.turnOf(x, y));
        const [dx, dy] = this.shiftOf(x, y);
        return (p) => shift(p, dx, dy);
    }

    private turning(things: Thing[], degrees: number): Move {
        const [ox, oy] = this.host.scene()?.origin ?? [0, 0],
            [x0, y0, x1, y1] = boxOfThings(things);
        return turned([(x0 + x1) / 2 + ox, (y0 + y1) / 2 + oy], degrees);
    }

    // A thing whose handle is dragged as it would be if released at (x, y): a line, or a shape as the scene file writes it.
    private dragged(x: number, y: number): { line: Line | null; shape: Shape | null; guides: Line[] } {
        const { things, handle } = this.grab as { things: Thing[]; handle: number };
        const thing = things[0],
            [sx, sy] = this.start as Point,
            [ox, oy] = this.host.scene()?.origin ?? [0, 0];
        if (thing.line) {
            const [x0, y0, x1, y1] = thing.line,
                { at, guides } =
                    handle === 0
                        ? this.snapped(x0 + x - sx, y0 + y - sy, [x1, y1])
                        : this.snapped(x1 + x - sx, y1 + y - sy, [x0, y0]);
            return { line: handle === 0 ? [...at, x1, y1] : [x0, y0, ...at], shape: null, guides };
        }
        const { at, guides } = this.snapped(x, y);
        return { line: null, shape: reshape(thing.shape, handle, at[0] + ox, at[1] + oy), guides };
    }

    private up(plan: PlanView, world: number, event: PointerEvent): void {
        const [x, y] = plan.toScene(event.offsetX, event.offsetY);
        const start = this.start;
        plan.element.classList.remove("panning");
        const travelled = start ? Math.hypot(x - start[0], y - start[1]) * plan.scale : 0;
        if (this.band && start) this.bandUp(start, [x, y], travelled, 9 / plan.scale);
        else if (this.grab && travelled > 4) this.drop(x, y);
        else if (this.tool.stroke === "click" || event.button === 2) {
            const stay =
                this.pixel &&
                Math.hypot(event.offsetX - this.pixel[0], event.offsetY - this.pixel[1]) < 4 &&
                travelled < 5;
            if (stay && event.button === 0) this.click(plan, world, event.offsetX, event.offsetY, x, y);
        } else if (this.way() === "corners" && !event.shiftKey) {
            this.corner(this.snapped(x, y, this.corners[this.corners.length - 1] ?? null).at);
            return; // goes on
        } else if (start && this.tool.stroke === "path") {
            this.drawPath([...this.path, [x, y]]);
        } else if (start && this.tool.stroke !== "brush") {
            const { at } = this.snapped(x, y, this.tool.stroke === "line" ? start : null);
            if (Math.hypot(at[0] - start[0], at[1] - start[1]) >= 0.1) this.draw(start, at);
        }
        this.cancel();
    }

    private bandUp(start: Point, end: Point, travelled: number, reach: number): void {
        const scene = this.host.scene();
        if (!scene) return;
        const level = this.host.level();
        if (travelled < 5) {
            const thing = thingAt(scene, level, end[0], end[1], reach);
            if (!thing) return;
            const rest = this.chosen.filter((one) => one.what !== thing.what || one.key !== thing.key);
            this.selectAll(rest.length < this.chosen.length ? rest : [...rest, thing]);
            return;
        }
        const x = [start[0], end[0]].sort((a, b) => a - b),
            y = [start[1], end[1]].sort((a, b) => a - b);
        const within = (thing: Thing): boolean => {
            const [x0, y0, x1, y1] = boxOfThings([thing]);
            return x0 >= x[0] && x1 <= x[1] && y0 >= y[0] && y1 <= y[1];
        };
        this.selectAll([...thingsOf(scene, level), ...solidsOf(scene, level)].filter(within));
    }

    private click(plan: PlanView, world: number, px: number, py: number, x: number, y: number): void {
        const scene = this.host.scene(),
            level = this.host.level(),
            reach = 9 / plan.scale;
        if (!scene) return;
        if (this.host.underlayPoint(x, y)) return;
        if (this.tool.name === "erase") {
            this.erase(scene, level, x, y, reach);
            return;
        }
        const near = thingAt(scene, level, x, y, reach, ["door"]);
        if (near) {
            const open = plan.doorsOpen[near.index] ?? true;
            void this.host.edit({ kind: "door", door: near.id, open: !open }, `${near.id} ${open ? "shut" : "opened"}`);
            this.select(near);
            return;
        }
        const person = plan.personAt(px, py);
        if (person >= 0) {
            this.host.inspect(person, world);
            return;
        }
        this.select(thingAt(scene, level, x, y, reach));
    }

    private erase(scene: Scene, level: number, x: number, y: number, reach: number): void {
        const thing = thingAt(scene, level, x, y, reach);
        // The ground goes only when it was selected on purpose.
        if (thing && thing.kind !== "floor") this.remove([thing]);
        else this.host.note("There is nothing here that can be deleted.");
    }

    // ---- what is selected

    // Several edits that are done and undone as one.
    private async several(edits: (Json | null)[], say: string): Promise<Reply | null> {
        const whole = edits.filter((edit) => edit !== null);
        if (whole.length < edits.length) this.host.note("Some have a shape that only the scene file can change.");
        if (whole.length === 0) return null;
        return this.host.edit(whole.length === 1 ? whole[0] : { kind: "several", edits: whole }, say);
    }

    private nameOf(things: Thing[]): string {
        return things.length === 1 ? things[0].id || things[0].kind : `${things.length} things`;
    }

    remove(things: Thing[]): void {
        // From the end of each list: the keys of those without an id are their places.
        const order = [...things].sort((a, b) => b.index - a.index);
        void this.several(
            order.map((thing) => ({ kind: "remove", what: thing.what, key: thing.key, level: thing.level })),
            `${this.nameOf(things)} deleted`,
        );
        this.select(null);
    }

    private transform(move: (thing: Thing) => Move, say: string): void {
        const scene = this.host.scene(),
            things = this.chosen;
        if (!scene || things.length === 0) return;
        void this.several(
            things.map((thing) => moveEdit(scene, thing, move(thing))),
            `${this.nameOf(things)} ${say}`,
        );
    }

    turn(degrees: number): void {
        const by = this.turning(this.chosen, degrees);
        this.transform(() => by, `turned by ${degrees}°`);
    }

    nudge(dx: number, dy: number): void {
        this.transform(() => (p) => shift(p, dx, dy), "moved");
    }

    // Onto the edge or middle of what is selected: of the box, 0 west, 1 south, 2 east, 3 north; 4 and 5 the middles.
    align(side: number): void {
        const whole = boxOfThings(this.chosen),
            at = (box: Box): number => (side < 4 ? box[side] : (box[side - 4] + box[side - 2]) / 2);
        const by = (thing: Thing): Move => {
            const d = at(whole) - at(boxOfThings([thing]));
            return (p) => (side % 2 === 0 ? shift(p, d, 0) : shift(p, 0, d));
        };
        this.transform(by, "aligned");
    }

    // With equal gaps between the middles of the outer two.
    spread(axis: 0 | 1): void {
        const middle = (thing: Thing): number => {
            const box = boxOfThings([thing]);
            return (box[axis] + box[axis + 2]) / 2;
        };
        const order = [...this.chosen].sort((a, b) => middle(a) - middle(b)),
            first = middle(order[0]),
            gap = (middle(order[order.length - 1]) - first) / Math.max(1, order.length - 1);
        const by = (thing: Thing): Move => {
            const d = first + gap * order.indexOf(thing) - middle(thing);
            return (p) => (axis === 0 ? shift(p, d, 0) : shift(p, 0, d));
        };
        this.transform(by, "spread");
    }

    // As elements of the file, without their ids.
    private taken(): Copied[] {
        const scene = this.host.scene();
        return this.chosen.flatMap((thing) => {
            const element = scene ? documentOf(scene, thing) : null;
            if (element === null) return [];
            const value = structuredClone(element) as Json;
            if (thing.id) delete value.id;
            return [{ what: thing.what, value }];
        });
    }

    copy(): void {
        const taken = this.taken();
        if (taken.length === 0) this.host.note("Select what to copy first.");
        else {
            this.copied = taken;
            this.host.note(`${this.nameOf(this.chosen)} copied`);
        }
    }

    // Around the pointer, or a metre beside the original.
    paste(): void {
        if (this.copied.length === 0) {
            this.host.note("Nothing was copied.");
            return;
        }
        const [ox, oy] = this.host.scene()?.origin ?? [0, 0];
        const box = boxOfCopied(this.copied),
            here = this.here,
            grid = this.snapping.grid || 0.001;
        const by = (k: 0 | 1): number =>
            here && box
                ? round(Math.round((here[k] + (k ? oy : ox) - (box[k] + box[k + 2]) / 2) / grid) * grid)
                : k === 0
                  ? 1
                  : -1;
        void this.add(this.copied, [[by(0), by(1)]], "pasted");
    }

    // `count` copies, each so far from the one before.
    duplicate(count = 1, dx = 1, dy = -1): void {
        const taken = this.taken();
        if (taken.length === 0) return;
        const shifts = Array.from({ length: count }, (_, k): Point => [(k + 1) * dx, (k + 1) * dy]);
        void this.add(taken, shifts, count === 1 ? "duplicated" : `duplicated ${count} times`);
    }

    private async add(copied: Copied[], shifts: Point[], say: string): Promise<void> {
        const level = this.host.level(),
            scene = this.host.scene();
        if (!scene) return;
        const edits = shifts.flatMap(([dx, dy]) =>
            copied.map(({ what, value }): Json | null => {
                const move: Move = (p) => shift(p, dx, dy),
                    solid = ["walls", "obstacles", "walkable"].includes(what);
                const moved = solid ? moveShape(value, dx, dy) : movedElement(value as Json, move);
                if (moved === null) return null;
                const element = solid ? moved : { ...(value as Json), ...(moved as Json) };
                if (!solid && scene.levels.length > 1) (element as Json).level = scene.levels[level].id;
                return { kind: "add", what, level, value: element };
            }),
        );
        const reply = await this.several(edits, `${copied.length === 1 ? copied[0].what : copied.length} ${say}`);
        if (reply?.ok) this.selectMade((reply.made_all as Json[] | undefined) ?? [reply]);
    }

    selectNamed(what: string, id: string): void {
        this.selectMade([{ what, made: id }]);
    }

    // New elements, by what the server says of them.
    private selectMade(made: Json[]): void {
        const scene = this.host.scene();
        if (!scene || this.tool.name !== "select") return;
        const here = [...thingsOf(scene, this.host.level()), ...solidsOf(scene, this.host.level())];
        this.selectAll(
            made.flatMap(({ what, made: id, index }) =>
                here.filter((thing) => thing.what === what && thing.key === (id ?? index)),
            ),
        );
    }

    private drop(x: number, y: number): void {
        const { things, handle } = this.grab as { things: Thing[]; handle: number };
        if (handle === TURN) {
            this.turn(this.turnOf(x, y));
            return;
        }
        if (handle === WHOLE) {
            const by = this.wholeMove(x, y);
            this.transform(() => by, "moved");
            return;
        }
        const thing = things[0],
            { line, shape } = this.dragged(x, y),
            name = thing.id || thing.kind;
        if (!line && !shape) {
            this.host.note(`${name} has a shape that only the scene file can change.`);
            return;
        }
        const origin = this.host.scene()?.origin ?? [0, 0];
        const value = line ? { line: lineJson(line, origin) } : thing.id ? { [thing.member]: shape } : shape;
        void this.host.edit(
            { kind: "change", what: thing.what, key: thing.key, level: thing.level, value },
            `${name} resized`,
        );
    }

    // ---- the keyboard: a cursor that the arrows move

    // True where the arrow was meant for it.
    arrow(dx: number, dy: number, far: boolean): boolean {
        const grid = (this.snapping.grid || 0.1) * (far ? 10 : 1);
        if (this.cursor) {
            this.cursor = [round(this.cursor[0] + dx * grid), round(this.cursor[1] + dy * grid)];
            this.sketchTo(...this.cursor);
            this.host.plan(this.world).redraw();
            return true;
        }
        if (this.chosen.length === 0) return false;
        this.nudge(round(dx * grid), round(dy * grid));
        return true;
    }

    // Sets a point where the keyboard's cursor is; the first time brings the cursor.
    enter(): void {
        if (this.tool.stroke === "click") return;
        const plan = this.host.plan(this.world);
        if (!this.cursor) {
            const grid = this.snapping.grid || 0.1;
            this.cursor = plan.centre.map((v) => round(Math.round(v / grid) * grid)) as Point;
            this.host.note("Arrows move the point, with Ctrl a step of ten; Enter sets it, Esc ends.");
        } else if (this.tool.stroke === "brush") {
            this.brush(...this.cursor);
            this.lastBrush = null;
        } else if (this.way() === "corners" || this.tool.stroke === "path") {
            const last = this.corners[this.corners.length - 1];
            if (last && last[0] === this.cursor[0] && last[1] === this.cursor[1]) this.finish();
            else this.corners.push([...this.cursor]);
        } else if (!this.start) {
            this.start = [...this.cursor];
        } else {
            const [start, end] = [this.start, this.cursor];
            this.start = null;
            if (Math.hypot(end[0] - start[0], end[1] - start[1]) >= 0.1) this.draw(start, end);
        }
        if (!this.cursor) return;
        this.sketchTo(...this.cursor);
        plan.redraw();
    }

    // Draws what is typed: "x y, x y, ..." in the file's coordinates. False: it cannot be read.
    typed(text: string): boolean {
        const [ox, oy] = this.host.scene()?.origin ?? [0, 0],
            points = text
                .split(/[;,\n]/)
                .map((pair) => pair.trim().split(/\s+/).map(Number))
                .filter((pair) => pair.length > 1 || pair[0] !== 0) as Point[];
        if (points.length < 2 || points.some((p) => p.length !== 2 || !p.every(Number.isFinite))) return false;
        const local = points.map((p) => shift(p, -ox, -oy));
        if (this.tool.stroke === "path") this.drawPath(local, 0);
        else if (local.length === 2) this.draw(local[0], local[1]);
        else this.drawCorners(local);
        return true;
    }

    // ---- drawing

    private radius(): number {
        return Math.max(0.3, Number(this.host.option("radius")) || 1.5);
    }

    private brush(x: number, y: number): void {
        const radius = this.radius();
        if (this.lastBrush && Math.hypot(x - this.lastBrush[0], y - this.lastBrush[1]) < radius) return;
        this.lastBrush = [x, y];
        const at = [round(x), round(y)],
            level = this.host.level();
        if (this.tool.name === "clear") void this.host.edit({ kind: "remove_people", at, radius, level }, "");
        else
            void this.host.edit(
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

    // One more corner; a click on the last or the first one ends.
    private corner(at: Point): void {
        const near = (p: Point | undefined): boolean =>
            p !== undefined && Math.hypot(p[0] - at[0], p[1] - at[1]) < 7 / this.host.plan(this.world).scale;
        const count = this.corners.length,
            shut = count > 2 && near(this.corners[0]);
        if (shut && this.tool.name === "wall") this.corners.push(this.corners[0]);
        if (shut || (count > 1 && near(this.corners[count - 1]))) this.finish();
        else if (!near(this.corners[count - 1])) this.corners.push(at);
    }

    private finish(): void {
        const corners = this.corners;
        this.cancel();
        if (this.tool.stroke === "path") this.drawPath(corners, 0);
        else if (this.tool.name === "wall" ? corners.length > 1 : corners.length > 2) this.drawCorners(corners);
    }

    private drawCorners(corners: Point[]): void {
        const [ox, oy] = this.host.scene()?.origin ?? [0, 0];
        const points = corners.map(([x, y]): Point => [round(x + ox), round(y + oy)]);
        this.place({ points }, points, corners);
    }

    private draw(from: Point, to: Point): void {
        const [ox, oy] = this.host.scene()?.origin ?? [0, 0],
            [x0, y0] = from,
            [x1, y1] = to,
            line = lineJson([x0, y0, x1, y1], [ox, oy]);
        const rect = [Math.min(x0, x1) + ox, Math.min(y0, y1) + oy, Math.max(x0, x1) + ox, Math.max(y0, y1) + oy];
        const circle = [x0 + ox, y0 + oy, Math.hypot(x1 - x0, y1 - y0)];
        this.place(this.way() === "circle" ? { circle: circle.map(round) } : { rect: rect.map(round) }, line, [
            from,
            to,
        ]);
    }

    // The element that the tool draws: of an area its shape, of a line its points; `points` in the scene's coordinates.
    private place(area: Shape, line: Point[], points: Point[]): void {
        const scene = this.host.scene();
        if (!scene) return;
        const level = this.host.level(),
            several = scene.levels.length > 1 ? { level: scene.levels[level]?.id } : {};
        const add = (what: string, value: unknown, say: string): void =>
            void this.host.edit({ kind: "add", what, level, value }, say);
        const count = Number(this.host.option("count")) || 50,
            to = this.host.option("to");
        const goal = to ? { to } : {};
        switch (this.tool.name) {
            case "wall":
                void this.host.edit(
                    { kind: "wall", level, line: points.map(([x, y]) => [round(x), round(y)]) },
                    "wall drawn",
                );
                break;
            case "obstacle":
                add("obstacles", area, "obstacle added");
                break;
            case "floor":
                add("walkable", area, "floor added");
                break;
            case "door":
                add("doors", { ...several, line }, "door placed");
                break;
            case "exit":
                add("exits", { ...several, line }, "exit placed");
                break;
            case "stairs":
                this.placeStairs(scene, level, points);
                break;
            case "group":
                add("groups", { ...several, area, count, ...goal }, `${count} people placed`);
                break;
            case "source":
                add(
                    "groups",
                    { ...several, area, source: { rate: Number(this.host.option("rate")) || 1 }, ...goal },
                    "source placed",
                );
                break;
            case "line":
                add("lines", { ...several, line }, "measuring line placed");
                break;
            case "area":
                add("areas", { ...several, area }, "measuring area placed");
                break;
            default:
                if (this.tool.list) this.addOf(this.tool, area, line);
                break;
        }
    }

    // A flight goes up along the longer side, the way it was drawn; its top is the far edge.
    private placeStairs(scene: Scene, level: number, [[x0, y0], [x1, y1]]: Point[]): void {
        const upper = scene.levels.find(({ id }) => id === this.host.option("upper")) ?? scene.levels[level + 1];
        if (!upper) {
            this.host.note("Stairs need a level to lead to: add one in the panel Selected.");
            return;
        }
        const [ox, oy] = scene.origin,
            rect = [Math.min(x0, x1) + ox, Math.min(y0, y1) + oy, Math.max(x0, x1) + ox, Math.max(y0, y1) + oy];
        const along = Math.abs(x1 - x0) > Math.abs(y1 - y0),
            top = along
                ? [
                      [x1 + ox, rect[1]],
                      [x1 + ox, rect[3]],
                  ]
                : [
                      [rect[0], y1 + oy],
                      [rect[2], y1 + oy],
                  ];
        const value = {
            level: scene.levels[level].id,
            to: upper.id,
            area: { rect: rect.map(round) },
            top: top.map((p) => p.map(round)),
        };
        void this.host.edit({ kind: "add", what: "stairs", level, value }, `stairs to ${upper.id} placed`);
    }

    // An element of a list of the schema, with the options that were given.
    private addOf(tool: Tool, area: Shape, line: Point[]): void {
        const { list, place, key, options } = tool.list as SceneList;
        const scene = this.host.scene() as Scene,
            level = this.host.level();
        const value: Json = scene.levels.length > 1 ? { level: scene.levels[level].id } : {};
        value[key] = place === "area" ? area : line;
        for (const { name, kind } of options) {
            const given = this.host.option(`${list}.${name}`);
            if (given !== "") value[name] = kind === "number" ? Number(given) : given;
        }
        void this.host.edit({ kind: "add", what: list, level, value }, `${tool.label} added`);
    }

    // A stroke along the way, with as few points as keep its shape.
    private drawPath(path: Point[], error = 0.1): void {
        const [ox, oy] = this.host.scene()?.origin ?? [0, 0];
        const line = thinned(path, error).map(([x, y]): Point => [round(x + ox), round(y + oy)]);
        if (line.length > 1) this.addOf(this.tool, null, line);
    }
}

const shift = ([x, y]: Point, dx: number, dy: number): Point => [x + dx, y + dy];
const placeText = ([x, y]: Point): string => `${x.toFixed(2)}, ${y.toFixed(2)}`;

function mapRing(ring: Ring, move: Move): Ring {
    const out: Ring = [];
    for (let k = 0; k + 1 < ring.length; k += 2) out.push(...move([ring[k], ring[k + 1]]));
    return out;
}

function lengthText(a: Point, b: Point): string {
    const degrees = Math.round((Math.atan2(b[1] - a[1], b[0] - a[0]) * 180) / Math.PI);
    return `${Math.hypot(b[0] - a[0], b[1] - a[1]).toFixed(2)} m · ${(degrees + 360) % 360}°`;
}

function boxOfCopied(copied: Copied[]): Box | null {
    const points = copied.flatMap(({ value }) => {
        const element = value as Json;
        return [value, element.area, element.line, element.top].flatMap((shape) => shapePoints(shape ?? null) ?? []);
    });
    if (points.length === 0) return null;
    const x = points.map((p) => p[0]),
        y = points.map((p) => p[1]);
    return [Math.min(...x), Math.min(...y), Math.max(...x), Math.max(...y)];
}

function sketch(parts: Partial<Sketch>): Sketch {
    return {
        points: [],
        rings: [],
        guides: [],
        closed: false,
        radius: 0,
        text: "",
        handles: [],
        rect: null as Box | null,
        ...parts,
    };
}
