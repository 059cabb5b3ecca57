// A recording inside the page, as `throng export --html` writes it: the same messages, played by a clock of our own.
// SPDX-License-Identifier: Apache-2.0
import { decodePeople, decodeRaster, decodeScene, frameFault, type Json } from "./decode";
import type { Link, Listener, Reply } from "./link";
import { Head_SIZE, KIND_MAP, KIND_PEOPLE, readHead, readMapHead } from "./layout";
import type { ChartRow, ColourValue, People } from "./types";

export interface Recorded {
    hello: Json;
    scene: Json;
    charts: Json;
    frames: ArrayBuffer[];
    times: number[];
    maps: DensityMap[];
}

// The density of a level, as the program measured it; in the order of time.
export interface DensityMap {
    time: number;
    level: number;
    top: number; // highest density [1/m2]
    data: ArrayBuffer;
}

// u32 length, u8 type, three zero bytes, message; repeated.
export function parseMessages(data: Uint8Array): Recorded {
    const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
    const out: Recorded = { hello: {}, scene: {}, charts: {}, frames: [], times: [], maps: [] };
    let at = 0;
    while (at + 8 <= data.byteLength) {
        const length = view.getUint32(at, true),
            type = view.getUint8(at + 4);
        if (at + 8 + length > data.byteLength) break; // cut short: what is whole is shown
        const bytes = data.slice(at + 8, at + 8 + length);
        at += 8 + length;
        if (type === 1) {
            const message = JSON.parse(new TextDecoder().decode(bytes)) as Json;
            if (message.event === "hello") out.hello = message;
            else if (message.event === "scene") out.scene = message;
            else if (message.worlds) out.charts = message;
        } else if (type === 2 && !frameFault(bytes.buffer)) {
            const view = new DataView(bytes.buffer),
                head = readHead(view, 0);
            if (head.kind === KIND_MAP) {
                const top = readMapHead(view, Head_SIZE).top;
                out.maps.push({ time: head.time, level: head.level, top, data: bytes.buffer });
            }
            if (head.kind !== KIND_PEOPLE) continue;
            out.frames.push(bytes.buffer);
            out.times.push(head.time);
        }
    }
    return out;
}

export async function unpack(base64: string): Promise<Uint8Array> {
    const packed = Uint8Array.from(atob(base64.replace(/\s+/g, "")), (c) => c.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
}

// The last frame not later than `time`.
export function frameAt(times: number[], time: number): number {
    let low = 0,
        high = times.length - 1;
    while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (times[middle] <= time + 1e-9) low = middle;
        else high = middle - 1;
    }
    return low;
}

// The last map of a level not later than `time`; null: there is none.
export function mapAt(maps: DensityMap[], level: number, time: number): DensityMap | null {
    let found: DensityMap | null = null;
    for (const map of maps) {
        if (map.time > time + 1e-9) break;
        if (map.level === level) found = map;
    }
    return found;
}

export class OfflineLink implements Link {
    readonly offline = true;
    private time: number;
    private playing = true;
    private speed = 1;
    private shown = -1;
    private layerOn = false;
    private colours: ColourValue[] = [];
    private colour = "";
    private level = 0;
    private last = performance.now();

    constructor(
        private data: Recorded,
        private listener: Listener,
    ) {
        this.time = data.times[0] ?? 0;
    }

    start(): void {
        const { listener, data } = this;
        listener.status("open", "");
        listener.event({ ...data.hello, replay: true });
        // Only the layer whose maps are in the page.
        const layers = (data.scene.layers as Json[] | undefined)?.filter(
            (l) => l.name === "density" && data.maps.length,
        );
        this.colours = this.ownColours();
        this.colour = this.colours[0]?.name ?? "";
        listener.event({ ...data.scene, layers: layers ?? [], colours: this.colours, document: null });
        setInterval(() => this.tick(), 33);
        setInterval(() => this.state(), 200);
        this.state();
    }

    // The colours that every frame can answer, and the one with which the frames were written.
    private ownColours(): ColourValue[] {
        const all = decodeScene(this.data.scene).colours;
        const first = this.data.frames[0];
        const written = first ? readHead(new DataView(first), 0).item : -1;
        return all.filter((colour, k) => k === written || ["speed", "group", "state", "level"].includes(colour.name));
    }

    private coloured(people: People): People {
        const written = decodeScene(this.data.scene).colours[people.colour]?.name;
        const chosen = this.colours.find((colour) => colour.name === this.colour);
        people.colour = this.colours.findIndex((colour) => colour.name === this.colour);
        if (!chosen || chosen.name === written) return people;
        const of = { group: people.group, state: people.phase, level: people.level }[chosen.name];
        for (let k = 0; k < people.count; k++)
            people.value[k] = of ? of[k] : Math.min(1, people.speed[k] / (chosen.max || 1));
        return people;
    }

    private get end(): number {
        return this.data.times[this.data.times.length - 1] ?? 0;
    }

    private tick(): void {
        const now = performance.now();
        if (this.playing) {
            this.time = Math.min(this.end, this.time + ((now - this.last) / 1000) * (this.speed || 8));
            if (this.time >= this.end) this.playing = false;
        }
        this.last = now;
        this.show(false);
    }

    private show(again: boolean): void {
        if (this.data.frames.length === 0) return;
        const k = frameAt(this.data.times, this.time);
        if (k === this.shown && !again) return;
        this.shown = k;
        const people = this.coloured(decodePeople(this.data.frames[k]));
        this.listener.people(people);
        if (!this.layerOn) return;
        const map = mapAt(this.data.maps, this.level, this.time);
        if (map) this.listener.raster({ ...decodeRaster(map.data), layer: 0 });
    }

    // The highest density of all levels now.
    private highest(): number {
        const levels = new Set(this.data.maps.map((map) => map.level));
        return Math.max(0, ...[...levels].map((level) => mapAt(this.data.maps, level, this.time)?.top ?? 0));
    }

    private row(): ChartRow | null {
        const worlds = this.data.charts.worlds as { rows?: ChartRow[] }[] | ChartRow[][] | undefined;
        const first = worlds?.[0];
        const rows = Array.isArray(first) ? first : first?.rows;
        let found: ChartRow | null = null;
        for (const row of rows ?? []) if (row[0] <= this.time) found = row;
        return found;
    }

    private state(): void {
        const row = this.row(),
            people = this.data.frames[Math.max(0, this.shown)];
        const inside = people ? readHead(new DataView(people), 0).total : 0;
        this.listener.event({
            event: "state",
            playing: this.playing,
            speed: this.speed,
            steps_per_second: 0,
            real_time: this.playing ? this.speed : 0,
            clients: 1,
            undo: 0,
            redo: 0,
            compare: false,
            history: [this.data.times[0] ?? 0, this.end],
            scrub: null,
            duration: this.end,
            worlds: [
                {
                    time: this.time,
                    step: this.shown,
                    spawned: inside + (row?.[2] ?? 0),
                    inside,
                    left: row?.[2] ?? 0,
                    removed: 0,
                    waiting_to_enter: 0,
                    fallen: 0,
                    unreachable: 0,
                    done: this.time >= this.end,
                    exits: [],
                    doors: [],
                    doors_open: [],
                    lines: [],
                    areas: [],
                    density: this.highest(),
                },
            ],
        });
    }

    request(verb: string, args: Json = {}): Promise<Reply> {
        const ok: Reply = { ok: true };
        switch (verb) {
            case "play":
                if (this.time >= this.end) this.time = this.data.times[0] ?? 0;
                this.playing = true;
                break;
            case "pause":
                this.playing = false;
                break;
            case "step": {
                this.playing = false;
                const k = Math.min(this.data.times.length - 1, Math.max(0, this.shown + Number(args.n ?? 1)));
                this.time = this.data.times[k] ?? 0;
                break;
            }
            case "speed":
                this.speed = Number(args.times ?? 1);
                break;
            case "restart":
                this.time = this.data.times[0] ?? 0;
                break;
            case "scrub":
                this.playing = false;
                if (typeof args.time === "number") this.time = args.time;
                break;
            case "layer":
                this.layerOn = args.on === true;
                this.level = Number(args.level ?? 0);
                this.show(true);
                break;
            case "charts":
                return Promise.resolve({ ...this.data.charts, ok: true });
            case "colour":
                this.colour = String(args.by ?? "");
                this.show(true);
                break;
            case "view":
            case "person":
            case "scene":
                break;
            default:
                return Promise.resolve({
                    ok: false,
                    error: "this is a recording",
                    cure: "open the scene with `throng studio`",
                });
        }
        this.show(false);
        this.state();
        return Promise.resolve(ok);
    }
}
