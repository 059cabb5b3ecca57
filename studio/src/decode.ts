// From the wire to the page's own types: events as docs/studio-protocol.md lists them, frames as layout.ts has them.
// Everything that comes from outside is looked at once, here. SPDX-License-Identifier: Apache-2.0
import * as wire from "./layout";
import type { SceneList } from "./tools";
import type {
    Box,
    Choice,
    ColourValue,
    Goal,
    Layer,
    Line,
    Model,
    People,
    Raster,
    References,
    Registry,
    Ring,
    Scene,
    Stage,
    Vectors,
} from "./types";
import { STAGES } from "./types";

export type Json = Record<string, unknown>;

const record = (value: unknown): Json => (value !== null && typeof value === "object" ? (value as Json) : {});
const list = (value: unknown): Json[] => (Array.isArray(value) ? value.map(record) : []);
const num = (value: unknown, otherwise = 0): number =>
    typeof value === "number" && Number.isFinite(value) ? value : otherwise;
const text = (value: unknown): string => (typeof value === "string" ? value : "");
const numbers = (value: unknown): number[] => (Array.isArray(value) ? value.map((v) => num(v)) : []);

function flat(points: unknown): Ring {
    return Array.isArray(points) ? points.flatMap((p) => [num((p as number[])[0]), num((p as number[])[1])]) : [];
}
const rings = (value: unknown): Ring[] => (Array.isArray(value) ? value.map(flat) : []);
const line = (value: unknown): Line => {
    const p = flat(value);
    return [p[0] ?? 0, p[1] ?? 0, p[2] ?? 0, p[3] ?? 0];
};
const box = (value: unknown): Box => {
    const b = numbers(value);
    return b.length === 4 ? (b as Box) : [0, 0, -1, -1];
};

// A section without a place has no tool.
function decodeSections(value: unknown): SceneList[] {
    return list(value)
        .filter((s) => s.place === "area" || s.place === "path")
        .map((s) => ({
            list: text(s.list),
            item: text(s.item),
            doc: text(s.doc),
            place: s.place as SceneList["place"],
            key: text(s.key),
            model: text(s.model),
            stage: text(s.stage),
            colour: text(s.colour),
            leads: s.leads === true,
            required: Array.isArray(s.required) ? s.required.map(text) : [],
            options: list(s.options).map((o) => ({
                name: text(o.name),
                kind: text(o.kind) as SceneList["options"][number]["kind"],
                doc: text(o.doc),
                unit: text(o.unit),
                usual: text(o.usual),
                choices: Array.isArray(o.choices) ? o.choices.map(text) : [],
                max: typeof o.max === "number" ? o.max : null,
            })),
        }));
}

function decodeReferences(given: Json): References {
    const rows = Array.isArray(given.weidmann) ? (given.weidmann as unknown[]) : [];
    return {
        weidmann: rows.map((row) => (Array.isArray(row) ? [num(row[0]), num(row[1])] : [0, 0])),
        congestion: num(given.congestion, 4),
    };
}

export function decodeHello(event: Json): Registry {
    const models = list(event.models).map((m): Model => ({
        stage: text(m.stage) as Stage,
        name: text(m.name),
        doc: text(m.doc),
        source: text(m.source),
        isDefault: m.is_default === true,
        params: list(m.params).map((p) => ({
            name: text(p.name),
            unit: text(p.unit),
            min: num(p.min, -Infinity),
            max: num(p.max, Infinity),
            value: num(p.default),
            source: text(p.source),
            doc: text(p.doc),
        })),
        presets: list(m.presets).map((p) => ({
            name: text(p.name),
            doc: text(p.doc),
            values: record(p.params) as Record<string, number>,
        })),
    }));
    return {
        version: text(event.version),
        build: text(event.build),
        replay: event.replay === true,
        models,
        phases: Array.isArray(event.phases) ? event.phases.map(text) : [],
        templates: list(event.templates).map((t) => ({
            name: text(t.name),
            title: text(t.title) || text(t.name),
            description: text(t.description),
        })),
        sections: decodeSections(event.sections),
        references: decodeReferences(record(event.references)),
    };
}

function decodeColour(c: Json): ColourValue {
    return {
        name: text(c.name),
        label: text(c.label) || text(c.name),
        unit: text(c.unit),
        kind: c.kind === "category" ? "category" : "number",
        min: num(c.min),
        max: num(c.max, 1),
        names: Array.isArray(c.names) ? c.names.map(text) : [],
        doc: text(c.doc),
    };
}

function decodeLayer(l: Json): Layer {
    return {
        name: text(l.name),
        label: text(l.label) || text(l.name),
        unit: text(l.unit),
        kind: l.kind === "vectors" ? "vectors" : "map",
        min: num(l.min),
        max: num(l.max, 1),
        ofTarget: l.of_target === true,
        services: list(l.levels).map((s) => ({
            name: text(s.name),
            source: text(s.source),
            bounds: numbers(s.bounds),
        })),
        doc: text(l.doc),
    };
}

export function decodeScene(event: Json): Scene {
    const links = list(event.stairs).map((s) => {
        const [lower, upper] = numbers(s.levels),
            [ux, uy] = numbers(s.up);
        return {
            id: text(s.id),
            lower: lower ?? 0,
            upper: upper ?? 0,
            line: line(s.line),
            up: [ux ?? 0, uy ?? 0] as [number, number],
        };
    });
    const stairNames = new Set(links.map((link) => link.id));
    return {
        world: num(event.world),
        name: text(event.name),
        description: text(event.description),
        file: text(event.file),
        origin: [numbers(event.origin)[0] ?? 0, numbers(event.origin)[1] ?? 0],
        seed: num(event.seed, 1),
        step: num(event.step, 0.1),
        box: box(event.box),
        levels: list(event.levels).map((l, level) => ({
            id: text(l.id),
            z: num(l.z),
            rings: l.bounded === false ? [] : rings(l.rings),
            box: box(l.box),
            // Walls drawn into the running world stand beside those of the compiled plan.
            walls: [
                ...(Array.isArray(l.walls) ? (l.walls as unknown[]).flatMap(numbers) : []),
                ...list(event.live_walls).flatMap((wall) => (num(wall.level) === level ? line(wall.line) : [])),
            ],
        })),
        doors: list(event.doors).map((d) => ({
            id: text(d.id),
            level: num(d.level),
            line: line(d.line),
            open: d.open !== false,
            exit: d.exit === true,
        })),
        goals: list(event.goals).map((g) => ({
            id: text(g.id),
            level: num(g.level),
            kind: text(g.kind) as Goal["kind"],
            line: g.line ? line(g.line) : null,
            rings: rings(g.rings),
        })),
        sections: Object.fromEntries(
            Object.entries(record(event.sections)).map(([name, items]) => [
                name,
                list(items).map((i) => ({
                    id: text(i.id),
                    level: num(i.level),
                    width: num(i.width),
                    rings: rings(i.rings),
                })),
            ]),
        ),
        targets: list(event.targets).map((t) => ({ name: text(t.name), goals: numbers(t.goals) })),
        links,
        zones: list(event.zones).map((z) => ({
            id: text(z.id),
            level: num(z.level),
            rings: rings(z.rings),
            up: num(z.up, 1),
            down: num(z.down, 1),
            discomfort: num(z.discomfort),
            stairs: stairNames.has(text(z.id)),
        })),
        underlays: list(event.underlays).map((u) => ({
            id: text(u.id),
            level: num(u.level),
            file: text(u.file),
            at: [numbers(u.at)[0] ?? 0, numbers(u.at)[1] ?? 0] as [number, number],
            scale: num(u.metres_per_pixel, 1),
            turn: num(u.turn),
        })),
        groups: list(event.groups).map((g) => ({
            id: text(g.id),
            level: num(g.level),
            rings: rings(g.rings),
            count: num(g.count),
            rate: num(g.rate),
            route: numbers(g.route),
            models: Object.fromEntries(
                STAGES.map((stage) => {
                    const choices = Array.isArray(g[stage]) ? list(g[stage]) : [record(g[stage])];
                    return [
                        stage,
                        choices.map((choice) => ({
                            model: text(choice.model),
                            params: record(choice.params) as Record<string, number>,
                        })),
                    ];
                }),
            ) as Record<Stage, Choice[]>,
        })),
        lines: list(event.lines).map((l) => ({ id: text(l.id), level: num(l.level), line: line(l.line) })),
        areas: list(event.areas).map((a) => ({ id: text(a.id), level: num(a.level), rings: rings(a.rings) })),
        colours: list(event.colours).map(decodeColour),
        layers: list(event.layers).map(decodeLayer),
        document: event.document ? record(event.document) : null,
    };
}

// The fault of a message that cannot be read; null: there is none.
export function frameFault(data: ArrayBuffer): string | null {
    if (data.byteLength < wire.Head_SIZE + wire.PeopleHead_SIZE)
        return `a frame of ${data.byteLength} bytes is too short`;
    const head = wire.readHead(new DataView(data), 0);
    if (head.magic !== wire.MAGIC) return "not a frame of throng";
    if (head.version !== wire.VERSION)
        return `frames of version ${head.version}, this page reads ${wire.VERSION}; reload the page`;
    const each = head.kind === wire.KIND_PEOPLE ? wire.Person_SIZE : head.kind === wire.KIND_VECTORS ? 2 : 1;
    const second = head.kind === wire.KIND_PEOPLE ? wire.PeopleHead_SIZE : wire.MapHead_SIZE;
    if (data.byteLength < wire.Head_SIZE + second + each * head.count) return "a frame ends before its last record";
    return null;
}

export function decodePeople(data: ArrayBuffer): People {
    const view = new DataView(data);
    const head = wire.readHead(view, 0),
        second = wire.readPeopleHead(view, wire.Head_SIZE);
    const n = head.count,
        at = wire.Head_SIZE + wire.PeopleHead_SIZE,
        o = wire.Person_OFFSETS;
    const bytes = new Uint8Array(data);
    const people: People = {
        world: head.world,
        time: head.time,
        past: (head.flags & 1) !== 0,
        count: n,
        total: head.total,
        kept: second.kept,
        colour: head.item,
        low: second.valueMin,
        high: second.valueMax,
        x: new Float32Array(n),
        y: new Float32Array(n),
        heading: new Float32Array(n),
        speed: new Float32Array(n),
        value: new Float32Array(n),
        radius: new Float32Array(n),
        level: new Uint8Array(n),
        group: new Uint8Array(n),
        phase: new Uint8Array(n),
        id: new Uint32Array(n),
    };
    const category = second.valueMin === 0 && second.valueMax === 0;
    for (let k = 0, p = at; k < n; k++, p += wire.Person_SIZE) {
        people.id[k] = view.getUint32(p + o.id, true);
        people.x[k] = second.minX + second.stepX * view.getUint16(p + o.x, true);
        people.y[k] = second.minY + second.stepY * view.getUint16(p + o.y, true);
        people.heading[k] = (bytes[p + o.heading] * 2 * Math.PI) / 256;
        people.speed[k] = (bytes[p + o.speed] / 255) * second.speedMax;
        const value = bytes[p + o.value];
        people.value[k] = value === wire.NOTHING ? NaN : category ? value : value / 254;
        people.phase[k] = bytes[p + o.phase];
        people.level[k] = bytes[p + o.level];
        people.group[k] = bytes[p + o.group];
        people.radius[k] = bytes[p + o.radius] / 100;
    }
    return people;
}

export function decodeRaster(data: ArrayBuffer): Raster {
    const view = new DataView(data);
    const head = wire.readHead(view, 0),
        second = wire.readMapHead(view, wire.Head_SIZE);
    const cells = new Uint8Array(data, wire.Head_SIZE + wire.MapHead_SIZE, head.count);
    const values = new Float32Array(head.count);
    for (let k = 0; k < values.length; k++) {
        values[k] =
            cells[k] === wire.NOTHING ? NaN : second.valueMin + (cells[k] / 254) * (second.valueMax - second.valueMin);
    }
    return {
        world: head.world,
        layer: head.item,
        level: head.level,
        nx: second.nx,
        ny: second.ny,
        x: second.minX,
        y: second.minY,
        cell: second.cell,
        top: second.top,
        values,
    };
}

export function decodeVectors(data: ArrayBuffer): Vectors {
    const view = new DataView(data);
    const head = wire.readHead(view, 0),
        second = wire.readMapHead(view, wire.Head_SIZE);
    const cells = new Int8Array(data, wire.Head_SIZE + wire.MapHead_SIZE, 2 * head.count);
    const dx = new Float32Array(head.count),
        dy = new Float32Array(head.count);
    for (let k = 0; k < head.count; k++) {
        dx[k] = (cells[2 * k] / 127) * second.valueMax;
        dy[k] = (cells[2 * k + 1] / 127) * second.valueMax;
    }
    return {
        world: head.world,
        layer: head.item,
        level: head.level,
        nx: second.nx,
        ny: second.ny,
        x: second.minX,
        y: second.minY,
        cell: second.cell,
        dx,
        dy,
    };
}
