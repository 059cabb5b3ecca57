// The plan view: three canvases on top of each other. The lower one has ground, underlay and heat map, the middle one
// the crowd (WebGL), the upper one walls, names, drawings of an inspected person and what is being edited. The outer two
// are drawn again only when what they show changes. SPDX-License-Identifier: Apache-2.0
import { cssColour, dark, h, short } from "./dom";
import { Discs } from "./discs";
import { CATEGORIES, css, type Rgb } from "./colours";
import { othersOf } from "./things";
import { colourOf } from "./tools";
import type { Box, Inspection, Line, Mark, People, Raster, Ring, Scene, Vectors, Zone } from "./types";
import { boxOf, boxOfRings } from "./types";

export const TURN_ABOVE = 26; // CSS pixels from a selection to the handle that turns it

// A picture under the plan: its lower left corner, the metres of a pixel, the turn about that corner [degrees].
export interface Underlay {
    image: CanvasImageSource;
    width: number;
    height: number;
    x: number;
    y: number;
    scale: number;
    turn: number;
    level: number;
}
export interface Sketch {
    // what the tool in the hand draws
    points: number[];
    rings: Ring[]; // of what is moved
    guides: Line[]; // in line with what
    closed: boolean;
    radius: number;
    text: string;
    handles: number[];
    rect: Box | null;
}
// The selection.
export interface Chosen {
    outlines: { rings: Ring[]; closed: boolean }[];
    handles: number[];
    turn: [number, number] | null; // below the handle that turns it
}

export class PlanView {
    readonly element: HTMLElement;
    readonly discs: Discs;
    centre: [number, number] = [0, 0];
    scale = 10; // CSS pixels per metre
    level = 0;
    names = true;
    scene: Scene | null = null;
    doorsOpen: boolean[] = [];
    raster: Raster | null = null;
    rasterColour: ((value: number) => [number, number, number, number]) | null = null;
    vectors: Vectors | null = null;
    underlay: Underlay | null = null; // that is being placed
    underlays: Underlay[] = []; // of the scene
    sketch: Sketch | null = null;
    chosen: Chosen | null = null;
    inspection: Inspection | null = null;
    people: People | null = null;
    pin: { x: number; y: number; text: string; until: number } | null = null;
    onMoved: () => void = () => {};
    private low: HTMLCanvasElement;
    private mid: HTMLCanvasElement;
    private high: HTMLCanvasElement;
    rasterImage: HTMLCanvasElement | null = null;
    private dirty = true;
    private drawing = false;
    whole = true; // shows the whole scene, also after the window has changed

    constructor() {
        this.low = h("canvas", { className: "layer" });
        this.mid = h("canvas", { className: "layer" });
        this.high = h("canvas", { className: "layer top", tabIndex: 0, "aria-label": "plan of the scene" });
        this.element = h("div", { className: "plan" }, this.low, this.mid, this.high);
        this.discs = new Discs(this.mid);
        new ResizeObserver(() => this.resize()).observe(this.element);
        this.high.addEventListener(
            "wheel",
            (event) => {
                event.preventDefault();
                this.zoom(
                    Math.exp(-event.deltaY * (event.deltaMode === 1 ? 0.05 : 0.0015)),
                    event.offsetX,
                    event.offsetY,
                );
            },
            { passive: false },
        );
    }

    get surface(): HTMLCanvasElement {
        return this.high;
    }

    private resize(): void {
        const ratio = devicePixelRatio || 1;
        const { clientWidth, clientHeight } = this.element;
        for (const canvas of [this.low, this.mid, this.high]) {
            canvas.width = Math.max(1, Math.round(clientWidth * ratio));
            canvas.height = Math.max(1, Math.round(clientHeight * ratio));
        }
        if (this.whole) this.fit();
        this.redraw();
    }

    setScene(scene: Scene, keepView: boolean): void {
        this.scene = scene;
        this.doorsOpen = scene.doors.map((door) => door.open);
        this.level = Math.min(this.level, Math.max(0, scene.levels.length - 1));
        if (!keepView) this.fit();
        this.redraw();
    }

    fit(box?: Box): void {
        if (!this.scene) return;
        const b = box ?? boxOf(this.scene);
        const { clientWidth, clientHeight } = this.element;
        if (clientWidth === 0) return;
        // The hint lies over the top.
        this.scale = Math.min(
            (clientWidth - 72) / Math.max(1, b[2] - b[0]),
            (clientHeight - 96) / Math.max(1, b[3] - b[1]),
        );
        this.scale = Math.min(200, Math.max(0.02, this.scale));
        this.centre = [(b[0] + b[2]) / 2, (b[1] + b[3]) / 2 + 12 / this.scale];
        this.whole = !box;
        this.moved();
    }

    setCamera(x: number, y: number, scale: number): void {
        this.centre = [x, y];
        this.scale = scale;
        this.whole = false;
        this.moved();
    }

    zoom(factor: number, px?: number, py?: number): void {
        const { clientWidth, clientHeight } = this.element;
        const [ax, ay] = this.toScene(px ?? clientWidth / 2, py ?? clientHeight / 2);
        const scale = Math.min(400, Math.max(0.02, this.scale * factor));
        const f = this.scale / scale;
        this.centre = [ax + (this.centre[0] - ax) * f, ay + (this.centre[1] - ay) * f];
        this.scale = scale;
        this.whole = false;
        this.moved();
    }

    pan(dx: number, dy: number): void {
        // CSS pixels
        this.centre = [this.centre[0] - dx / this.scale, this.centre[1] + dy / this.scale];
        this.whole = false;
        this.moved();
    }

    private moved(): void {
        this.redraw();
        this.onMoved();
    }

    visible(): Box {
        const w = this.element.clientWidth / this.scale / 2,
            t = this.element.clientHeight / this.scale / 2;
        return [this.centre[0] - w, this.centre[1] - t, this.centre[0] + w, this.centre[1] + t];
    }

    toScene(px: number, py: number): [number, number] {
        const { clientWidth, clientHeight } = this.element;
        return [
            this.centre[0] + (px - clientWidth / 2) / this.scale,
            this.centre[1] - (py - clientHeight / 2) / this.scale,
        ];
    }

    toPixels(x: number, y: number): [number, number] {
        const { clientWidth, clientHeight } = this.element;
        return [
            clientWidth / 2 + (x - this.centre[0]) * this.scale,
            clientHeight / 2 - (y - this.centre[1]) * this.scale,
        ];
    }

    setRaster(raster: Raster | null, colour: ((value: number) => [number, number, number, number]) | null): void {
        this.raster = raster;
        this.rasterColour = colour;
        this.rasterImage = null;
        if (raster && colour) {
            const image = new ImageData(raster.nx, raster.ny);
            for (let j = 0; j < raster.ny; j++) {
                for (let i = 0; i < raster.nx; i++) {
                    image.data.set(colour(raster.values[j * raster.nx + i]), 4 * ((raster.ny - 1 - j) * raster.nx + i));
                }
            }
            this.rasterImage = h("canvas", { width: raster.nx, height: raster.ny });
            this.rasterImage.getContext("2d")?.putImageData(image, 0, 0);
        }
        this.redraw();
    }

    redraw(): void {
        this.dirty = true;
        this.request();
    }

    // A new frame of the crowd: only the middle canvas.
    request(): void {
        if (this.drawing) return;
        this.drawing = true;
        requestAnimationFrame(() => {
            this.drawing = false;
            this.draw();
            if (!this.discs.still() || (this.pin && performance.now() < this.pin.until)) this.request();
        });
    }

    // Draws the plan `width` pixels wide, without the selection and unfinished drawings.
    still(width: number): HTMLCanvasElement {
        const ratio = width / Math.max(1, this.element.clientWidth),
            height = Math.round(ratio * this.element.clientHeight),
            out = h("canvas", { width, height }),
            context = out.getContext("2d"),
            layers = [this.low, this.mid, this.high],
            kept = [this.chosen, this.sketch, this.pin] as const;
        for (const canvas of layers) Object.assign(canvas, { width, height });
        this.chosen = this.sketch = this.pin = null;
        this.dirty = true;
        this.draw(ratio);
        for (const canvas of layers) context?.drawImage(canvas, 0, 0);
        [this.chosen, this.sketch, this.pin] = kept;
        this.resize();
        return out;
    }

    private draw(ratio = devicePixelRatio || 1): void {
        if (this.pin) {
            if (performance.now() >= this.pin.until) this.pin = null;
            this.dirty = true;
        }
        this.discs.draw(this.centre[0], this.centre[1], this.scale, ratio, dark() ? [222, 228, 234] : [28, 32, 38]);
        if (!this.dirty && !this.inspection) return;
        this.dirty = false;
        const low = this.low.getContext("2d"),
            high = this.high.getContext("2d");
        if (!low || !high) return;
        for (const context of [low, high]) {
            context.setTransform(ratio, 0, 0, ratio, 0, 0);
            context.clearRect(0, 0, this.element.clientWidth, this.element.clientHeight);
            context.lineCap = "round";
            context.lineJoin = "round";
        }
        this.drawGround(low);
        this.drawWalls(high);
        this.drawVectors(high);
        this.drawThings(high);
        if (this.chosen) this.drawChosen(high, this.chosen);
        if (this.inspection) this.drawInspection(high, this.inspection);
        if (this.sketch) this.drawSketch(high, this.sketch);
        this.drawScaleBar(high);
        if (this.pin) this.drawPin(high, this.pin);
    }

    private trace(context: CanvasRenderingContext2D, rings: Ring[], closed = true): void {
        context.beginPath();
        for (const ring of rings) {
            for (let k = 0; k < ring.length; k += 2) {
                const [x, y] = this.toPixels(ring[k], ring[k + 1]);
                if (k === 0) context.moveTo(x, y);
                else context.lineTo(x, y);
            }
            if (closed) context.closePath();
        }
    }

    private drawChosen(context: CanvasRenderingContext2D, chosen: Chosen): void {
        context.strokeStyle = cssColour("--accent");
        for (const { rings, closed } of chosen.outlines) {
            this.trace(context, rings, closed);
            context.lineWidth = closed ? 3 : Math.max(5, Math.min(10, 0.3 * this.scale));
            context.stroke();
        }
        this.drawHandles(context, chosen.handles);
        if (!chosen.turn) return;
        const [x, y] = this.toPixels(...chosen.turn);
        context.lineWidth = 1.5;
        context.beginPath();
        context.moveTo(x, y);
        context.lineTo(x, y - TURN_ABOVE + 5);
        context.stroke();
        context.beginPath();
        context.arc(x, y - TURN_ABOVE, 5, 0, 2 * Math.PI);
        context.fillStyle = cssColour("--accent");
        context.fill();
    }

    private line(context: CanvasRenderingContext2D, line: ArrayLike<number>): void {
        context.beginPath();
        context.moveTo(...this.toPixels(line[0], line[1]));
        context.lineTo(...this.toPixels(line[2], line[3]));
        context.stroke();
    }

    private drawGround(context: CanvasRenderingContext2D): void {
        const scene = this.scene,
            level = scene?.levels[this.level];
        if (!scene || !level) return;
        context.fillStyle = cssColour(level.rings.length > 0 ? "--solid" : "--floor");
        context.fillRect(0, 0, this.element.clientWidth, this.element.clientHeight);
        // Where the other levels are, as their people are seen through the floor.
        context.strokeStyle = cssColour("--group");
        context.lineWidth = 1;
        for (const other of scene.levels) {
            if (other === level) continue;
            this.trace(context, other.rings);
            context.stroke();
        }
        this.trace(context, level.rings);
        context.fillStyle = cssColour("--floor");
        context.fill("evenodd");
        for (const u of this.underlay ? [...this.underlays, this.underlay] : this.underlays) {
            if (u.level !== this.level) continue;
            const size = u.scale * this.scale;
            context.save();
            context.translate(...this.toPixels(u.x, u.y));
            context.rotate((-u.turn * Math.PI) / 180);
            context.globalAlpha = 0.55;
            context.drawImage(u.image, 0, -u.height * size, u.width * size, u.height * size);
            context.restore();
        }
        for (const zone of scene.zones) {
            if (zone.level !== this.level) continue;
            this.trace(context, zone.rings);
            context.fillStyle = cssColour(zone.stairs ? "--stairs" : "--zone");
            if (zone.stairs || zone.up !== 1 || zone.down !== 1) context.fill("evenodd");
            if (zone.discomfort > 0) this.hatch(context, zone.rings);
        }
        for (const goal of scene.goals) {
            if (goal.level !== this.level || goal.line || goal.kind === "detour") continue;
            this.trace(context, goal.rings);
            context.globalAlpha = 0.3;
            context.fillStyle = cssColour(`--${goal.kind}`);
            context.fill("evenodd");
            context.globalAlpha = 1;
        }
        for (const other of othersOf(scene, this.level)) {
            if (other.open) continue;
            this.trace(context, other.rings);
            context.globalAlpha = 0.3;
            context.fillStyle = colourOf(other.what);
            context.fill("evenodd");
            context.globalAlpha = 1;
        }
        const r = this.raster;
        if (r && this.rasterImage && r.level === this.level) {
            const [x, y] = this.toPixels(r.x, r.y + r.ny * r.cell);
            context.save();
            if (level.rings.length > 0) {
                this.trace(context, level.rings);
                context.clip("evenodd");
            }
            context.imageSmoothingEnabled = true;
            context.drawImage(this.rasterImage, x, y, r.nx * r.cell * this.scale, r.ny * r.cell * this.scale);
            context.restore();
        }
    }

    // Slanted lines over the area that is the context's path.
    private hatch(context: CanvasRenderingContext2D, rings: Ring[]): void {
        const [x0, y0, x1, y1] = boxOfRings(rings),
            [left, top] = this.toPixels(x0, y1),
            [right, bottom] = this.toPixels(x1, y0),
            high = bottom - top;
        context.save();
        context.clip("evenodd");
        context.beginPath();
        for (let x = left - high; x < right; x += 9) {
            context.moveTo(x, bottom);
            context.lineTo(x + high, top);
        }
        context.globalAlpha = 0.55;
        context.strokeStyle = cssColour("--discomfort");
        context.lineWidth = 1.5;
        context.stroke();
        context.restore();
    }

    private drawWalls(context: CanvasRenderingContext2D): void {
        const level = this.scene?.levels[this.level];
        if (!level) return;
        context.strokeStyle = cssColour("--wall");
        context.lineWidth = Math.max(1.2, Math.min(4, 0.1 * this.scale));
        context.beginPath();
        for (let k = 0; k + 3 < level.walls.length; k += 4) {
            context.moveTo(...this.toPixels(level.walls[k], level.walls[k + 1]));
            context.lineTo(...this.toPixels(level.walls[k + 2], level.walls[k + 3]));
        }
        context.stroke();
    }

    private drawThings(context: CanvasRenderingContext2D): void {
        const scene = this.scene;
        if (!scene) return;
        const here = <T extends { level: number }>(list: T[]): T[] =>
            list.filter((thing) => thing.level === this.level);
        const wide = Math.max(2.5, Math.min(7, 0.2 * this.scale));
        for (const area of here(scene.areas)) this.outline(context, "area", area.id, area.rings, "--measure", [4, 4]);
        for (const group of here(scene.groups)) {
            this.outline(context, "group", group.id, group.rings, group.rate > 0 ? "--source" : "--group", [2, 5]);
        }
        for (const zone of here(scene.zones)) {
            const colour = zone.discomfort > 0 ? "--discomfort" : "--wall";
            const [x0, , x1] = boxOfRings(zone.rings),
                label = zoneLabel(zone),
                fits = (x1 - x0) * this.scale > 5 * label.length;
            this.outline(context, "zone", fits ? label : zone.id, zone.rings, colour, [1, 4]);
        }
        for (const line of here(scene.lines)) this.thing(context, line.id, line.line, "--measure", 2, [6, 4]);
        for (const goal of here(scene.goals)) {
            if (goal.kind === "detour") continue; // an element of a section
            const colour = `--${goal.kind}`;
            if (goal.line) this.thing(context, goal.id, goal.line, colour, wide, []);
            else this.outline(context, goal.kind, goal.id, goal.rings, colour, []);
        }
        scene.doors.forEach((door, k) => {
            if (door.level !== this.level) return;
            const open = this.doorsOpen[k] ?? door.open;
            this.thing(context, door.id, door.line, open ? "--door-open" : "--door-shut", wide, open ? [3, 5] : []);
        });
        for (const other of othersOf(scene, this.level)) {
            const colour = colourOf(other.what),
                ring = other.rings[0];
            if (other.open && other.width) this.band(context, other.rings, other.width, colour, other.leads ? "round" : "butt"); // prettier-ignore
            this.outline(context, other.kind, other.id, other.rings, colour, [], !other.open);
            if (other.leads && ring && ring.length >= 4) this.arrowHead(context, ring.slice(-4));
        }
        for (const link of scene.links) {
            if (link.lower === this.level || link.upper === this.level) {
                const other = scene.levels[link.lower === this.level ? link.upper : link.lower];
                this.thing(
                    context,
                    `${link.lower === this.level ? "up" : "down"} to ${other?.id ?? ""}`,
                    link.line,
                    "--link",
                    3,
                    [],
                );
            }
        }
    }

    private thing(
        context: CanvasRenderingContext2D,
        id: string,
        line: Line,
        colour: string,
        width: number,
        dash: number[],
    ): void {
        context.strokeStyle = cssColour(colour);
        context.lineWidth = width;
        context.setLineDash(dash);
        context.lineCap = dash.length > 0 ? "butt" : "round";
        this.line(context, line);
        context.lineCap = "round";
        context.setLineDash([]);
        this.label(context, id, (line[0] + line[2]) / 2, (line[1] + line[3]) / 2, colour);
    }

    private outline(
        context: CanvasRenderingContext2D,
        kind: string,
        id: string,
        rings: Ring[],
        colour: string,
        dash: number[],
        closed = true,
    ): void {
        if (rings.length === 0) return;
        this.trace(context, rings, closed);
        context.strokeStyle = cssColour(colour);
        context.lineWidth = closed ? 1.2 : 2.5;
        context.setLineDash(dash);
        context.stroke();
        context.setLineDash([]);
        if (kind === "group" || !rings[0]) return;
        let x = 0,
            y = -Infinity; // above the top edge, where it hides no person
        for (let k = 0; k < rings[0].length; k += 2) {
            x += (2 * rings[0][k]) / rings[0].length;
            y = Math.max(y, rings[0][k + 1]);
        }
        this.label(context, id, x, y, colour);
    }

    // The ground around a line that belongs to it.
    private band(
        context: CanvasRenderingContext2D,
        rings: Ring[],
        width: number,
        colour: string,
        cap: CanvasLineCap,
    ): void {
        this.trace(context, rings, false);
        context.save();
        context.globalAlpha = 0.16;
        context.strokeStyle = cssColour(colour);
        context.lineWidth = width * this.scale;
        context.lineJoin = "round";
        context.lineCap = cap;
        context.stroke();
        context.restore();
    }

    private label(context: CanvasRenderingContext2D, text: string, x: number, y: number, colour: string): void {
        if (!this.names || this.scale < 2.5) return;
        const [px, py] = this.toPixels(x, y);
        context.font = "600 11.5px system-ui, sans-serif";
        context.textAlign = "center";
        context.textBaseline = "middle";
        const width = context.measureText(text).width + 8;
        const edge = this.element.clientWidth - width / 2 - 2;
        if (px < -4 || px > edge + width / 2 + 6 || py < 0 || py > this.element.clientHeight) return;
        const at = Math.min(edge, Math.max(width / 2 + 2, px));
        context.globalAlpha = 0.82;
        context.fillStyle = cssColour("--floor");
        context.fillRect(at - width / 2, py - 19, width, 15);
        context.globalAlpha = 1;
        context.fillStyle = cssColour(colour);
        context.fillText(text, at, py - 11);
    }

    private drawVectors(context: CanvasRenderingContext2D): void {
        const v = this.vectors;
        if (!v || v.level !== this.level) return;
        const every = Math.max(1, Math.round(16 / (v.cell * this.scale)));
        context.strokeStyle = cssColour("--vector");
        context.fillStyle = context.strokeStyle;
        context.lineWidth = 1.1;
        context.beginPath();
        for (let j = Math.floor(every / 2); j < v.ny; j += every) {
            for (let i = Math.floor(every / 2); i < v.nx; i += every) {
                const dx = v.dx[j * v.nx + i],
                    dy = v.dy[j * v.nx + i],
                    size = Math.hypot(dx, dy);
                if (!(size > 1e-6)) continue;
                const [x, y] = this.toPixels(v.x + (i + 0.5) * v.cell, v.y + (j + 0.5) * v.cell);
                const reach = 0.42 * every * v.cell * this.scale * Math.min(1, size);
                const ux = (dx / size) * reach,
                    uy = (-dy / size) * reach;
                context.moveTo(x - ux, y - uy);
                context.lineTo(x + ux, y + uy);
                context.lineTo(x + ux * 0.3 - uy * 0.4, y + uy * 0.3 + ux * 0.4);
                context.moveTo(x + ux, y + uy);
                context.lineTo(x + ux * 0.3 + uy * 0.4, y + uy * 0.3 - ux * 0.4);
            }
        }
        context.stroke();
    }

    private drawInspection(context: CanvasRenderingContext2D, inspection: Inspection): void {
        if (inspection.level !== this.level) return;
        context.font = "11px system-ui, sans-serif";
        const colours = roleColours(inspection.drawing),
            now = this.placesNow(inspection);
        for (const mark of inspection.drawing) {
            const colour = colours.get(mark.role ?? "") ?? CATEGORIES[7];
            const p = pointsNow(mark, inspection, now.get(mark.of ?? 0));
            const [x, y] = this.toPixels(p[0], p[1]);
            context.strokeStyle = css(colour);
            context.fillStyle = css(colour, 0.16);
            context.lineWidth = 2;
            context.beginPath();
            if (mark.what === "disc" || mark.what === "ring") {
                context.arc(x, y, Math.max(2, (mark.radius ?? 0.2) * this.scale), 0, 2 * Math.PI);
                if (mark.what === "disc") context.fill();
                context.stroke();
            } else if (mark.what === "half_plane") this.drawHalfPlane(context, p);
            else if (mark.what === "line" || mark.what === "arrow") {
                for (let k = 0; k + 1 < p.length; k += 2) context.lineTo(...this.toPixels(p[k], p[k + 1]));
                context.stroke();
                if (mark.what === "arrow" && p.length >= 4) this.arrowHead(context, p.slice(-4));
            }
            if (mark.label) {
                context.fillStyle = css(colour);
                context.textAlign = "left";
                context.textBaseline = "bottom";
                context.fillText(mark.label, x + 6, y - 3);
            }
        }
    }

    // Where the people are that the marks move with. What drives a person is told less often than where people are.
    private placesNow(inspection: Inspection): Map<number, [number, number]> {
        const wanted = new Set(inspection.drawing.map((mark) => mark.of ?? 0)),
            found = new Map<number, [number, number]>(),
            people = this.people;
        for (let k = 0; people && k < people.count; k++) {
            if (wanted.has(people.id[k])) found.set(people.id[k], [people.x[k], people.y[k]]);
        }
        return found;
    }

    // The edge, and a shade on the side that is not allowed.
    private drawHalfPlane(context: CanvasRenderingContext2D, p: number[]): void {
        const reach = 1.4,
            [x, y, nx, ny] = p;
        const corner = (along: number, back: number): [number, number] =>
            this.toPixels(x - ny * along - nx * back, y + nx * along - ny * back);
        context.moveTo(...corner(-reach, 0));
        context.lineTo(...corner(reach, 0));
        context.stroke();
        context.lineTo(...corner(reach, 0.18));
        context.lineTo(...corner(-reach, 0.18));
        context.closePath();
        context.fill();
    }

    private arrowHead(context: CanvasRenderingContext2D, p: number[]): void {
        const [x0, y0] = this.toPixels(p[0], p[1]),
            [x1, y1] = this.toPixels(p[2], p[3]);
        const length = Math.hypot(x1 - x0, y1 - y0);
        if (length < 3) return;
        const ux = (x1 - x0) / length,
            uy = (y1 - y0) / length;
        context.beginPath();
        context.moveTo(x1, y1);
        context.lineTo(x1 - 8 * ux - 4 * uy, y1 - 8 * uy + 4 * ux);
        context.lineTo(x1 - 8 * ux + 4 * uy, y1 - 8 * uy - 4 * ux);
        context.closePath();
        context.fillStyle = context.strokeStyle;
        context.fill();
    }

    private drawHandles(context: CanvasRenderingContext2D, points: number[]): void {
        context.fillStyle = cssColour("--floor");
        context.strokeStyle = cssColour("--accent");
        context.lineWidth = 2;
        for (let k = 0; k + 1 < points.length; k += 2) {
            const [x, y] = this.toPixels(points[k], points[k + 1]);
            context.beginPath();
            context.arc(x, y, 5, 0, 2 * Math.PI);
            context.fill();
            context.stroke();
        }
    }

    private drawSketch(context: CanvasRenderingContext2D, sketch: Sketch): void {
        context.strokeStyle = cssColour("--accent");
        context.fillStyle = cssColour("--accent-soft");
        context.lineWidth = 2.5;
        const points = sketch.rect
            ? [
                  sketch.rect[0],
                  sketch.rect[1],
                  sketch.rect[2],
                  sketch.rect[1],
                  sketch.rect[2],
                  sketch.rect[3],
                  sketch.rect[0],
                  sketch.rect[3],
              ]
            : sketch.points;
        if (sketch.guides.length > 0) {
            context.save();
            context.lineWidth = 1;
            context.setLineDash([4, 4]);
            for (const guide of sketch.guides) this.line(context, guide);
            context.restore();
        }
        if (sketch.rings.length > 0) {
            this.trace(context, sketch.rings, sketch.closed);
            if (sketch.closed) context.fill("evenodd");
            context.stroke();
        }
        context.beginPath();
        for (let k = 0; k + 1 < points.length; k += 2) {
            const [x, y] = this.toPixels(points[k], points[k + 1]);
            if (sketch.radius > 0) {
                context.moveTo(x + sketch.radius * this.scale, y);
                context.arc(x, y, sketch.radius * this.scale, 0, 2 * Math.PI);
            } else if (k === 0) context.moveTo(x, y);
            else context.lineTo(x, y);
        }
        if (sketch.closed || sketch.rect) context.closePath();
        if (sketch.closed || sketch.rect || sketch.radius > 0) context.fill();
        context.stroke();
        this.drawHandles(context, sketch.handles);
        const last = points.length >= 2 ? points : (sketch.rings[0] ?? []);
        if (sketch.text && last.length >= 2) {
            const [x, y] = this.toPixels(last[last.length - 2], last[last.length - 1]);
            context.font = "600 12px system-ui, sans-serif";
            context.textAlign = "left";
            const width = context.measureText(sketch.text).width;
            context.fillStyle = cssColour("--accent");
            context.fillRect(x + 10, y - 24, width + 10, 18);
            context.fillStyle = "#fff";
            context.textBaseline = "middle";
            context.fillText(sketch.text, x + 15, y - 15);
        }
    }

    private drawScaleBar(context: CanvasRenderingContext2D): void {
        const most = 110 / this.scale;
        const power = 10 ** Math.floor(Math.log10(most));
        const length = ([5, 2, 1].find((m) => m * power <= most) ?? 1) * power;
        const x = 16,
            y = this.element.clientHeight - 16,
            width = length * this.scale;
        context.strokeStyle = cssColour("--text");
        context.fillStyle = context.strokeStyle;
        context.lineWidth = 1.5;
        context.beginPath();
        context.moveTo(x, y - 5);
        context.lineTo(x, y);
        context.lineTo(x + width, y);
        context.lineTo(x + width, y - 5);
        context.stroke();
        context.font = "11px system-ui, sans-serif";
        context.textAlign = "left";
        context.textBaseline = "bottom";
        context.fillText(`${short(length)} m`, x + 4, y - 3);
    }

    private drawPin(
        context: CanvasRenderingContext2D,
        pin: { x: number; y: number; text: string; until: number },
    ): void {
        const [x, y] = this.toPixels(pin.x, pin.y);
        const beat = (performance.now() / 900) % 1;
        context.strokeStyle = cssColour("--door-shut");
        context.lineWidth = 3;
        context.globalAlpha = 1 - beat;
        context.beginPath();
        context.arc(x, y, 10 + 40 * beat, 0, 2 * Math.PI);
        context.stroke();
        context.globalAlpha = 1;
    }

    // The person under the pointer: the nearest within a body's radius or eight pixels; -1: none.
    personAt(px: number, py: number): number {
        const people = this.people;
        if (!people) return -1;
        const [x, y] = this.toScene(px, py);
        let best = 8 / this.scale,
            found = -1;
        for (let k = 0; k < people.count; k++) {
            if (people.level[k] !== this.level) continue;
            const d = Math.hypot(people.x[k] - x, people.y[k] - y) - people.radius[k];
            if (d < best) {
                best = d;
                found = k;
            }
        }
        return found;
    }
}

// The name of a zone and its effects.
export function zoneLabel(zone: Zone): string {
    const facts: string[] = [];
    if (!zone.stairs && (zone.up !== 1 || zone.down !== 1)) facts.push(`speed × ${short(zone.up)}`);
    if (zone.discomfort > 0) facts.push(`discomfort ${short(zone.discomfort)}`);
    return facts.length > 0 ? `${zone.id}: ${facts.join(", ")}` : zone.id;
}

// Roles that every model has keep their colour; a model's own get one by name, and no two the same while there are enough.
const ROLES: Record<string, number> = { way: 4, goal: 2, neighbour: 7, preferred: 0, velocity: 5, person: 8 };
const OTHER_ROLES = [1, 3, 10, 11, 6, 9];
export function roleColours(drawing: Mark[]): Map<string, Rgb> {
    const colours = new Map<string, Rgb>(),
        taken = new Set<number>();
    for (const role of [...new Set(drawing.map((mark) => mark.role ?? ""))].sort()) {
        let k = 0;
        for (const c of role) k = (k * 31 + c.charCodeAt(0)) % 9973;
        k %= OTHER_ROLES.length;
        for (let tried = 0; taken.has(k) && tried < OTHER_ROLES.length; tried++) k = (k + 1) % OTHER_ROLES.length;
        if (ROLES[role] === undefined) taken.add(k);
        colours.set(role, CATEGORIES[ROLES[role] ?? OTHER_ROLES[k]]);
    }
    return colours;
}

// The points of a mark that moves with a person, who is `here` now. The second of a half-plane is a direction.
export function pointsNow(mark: Mark, inspection: Inspection, here: [number, number] | undefined): number[] {
    const then = mark.of === inspection.person ? inspection.place : mark.points[0];
    return mark.points.flatMap(([x, y], k) =>
        here && !(mark.what === "half_plane" && k === 1) ? [x + here[0] - then[0], y + here[1] - then[1]] : [x, y],
    );
}
