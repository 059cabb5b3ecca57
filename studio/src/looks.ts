// Appearance of the crowd: colours of people, heat maps, arrows, and the legend.
// SPDX-License-Identifier: Apache-2.0
import type { App } from "./app";
import { CATEGORIES, MAPS, categoryTable, css, gradient, roundUp, sample, table, ticks, type Rgb } from "./colours";
import { button, clear, cssColour, dark, h, redrawn, short, unitText, words } from "./dom";
import { CLOTHES, clothesOf } from "./walker";
import type { ColourValue, Layer, People, Raster, Scene, Service, Vectors } from "./types";

export const NATURAL = "clothes"; // people as they are dressed, by their ids: no value of the crowd

export class Looks {
    vectorsOf = 0;
    rasters: (Raster | null)[] = [null, null];
    difference = false; // of a comparison: B shows how its heat map differs from A's
    private ends = { colour: 1, layer: 1 };
    viewPanel = h("div", { className: "panel" });
    legend = h("div", { className: "floating legend", hidden: true });

    constructor(private app: App) {}

    colour(scene: Scene): ColourValue | undefined {
        return scene.colours.find((colour) => colour.name === this.app.shown.colour);
    }

    // The colour that the server is asked for.
    asked(): string {
        return this.app.shown.colour === NATURAL ? (this.app.scenes[0]?.colours[0]?.name ?? "") : this.app.shown.colour;
    }

    lookup(scene: Scene): Uint8Array<ArrayBuffer> {
        if (this.app.shown.colour === NATURAL) return categoryTable(CLOTHES);
        const colour = this.colour(scene);
        if (!colour || colour.kind === "category") return categoryTable();
        const out = table(mapOf(colour.name));
        out.set([150, 150, 150, 255], 4 * 255); // no value
        return out;
    }

    // The stops of the bar that explains the colours of people.
    stops(scene: Scene): string[] {
        return mapOf(this.colour(scene)?.name ?? "").map((colour) => css(colour));
    }

    shader(scene: Scene, people: People): (k: number) => number {
        if (this.app.shown.colour === NATURAL) return (k) => clothesOf(people.id[k]) / 255;
        const category = this.colour(scene)?.kind === "category";
        const n = CATEGORIES.length;
        // A frame of the previous colour: shown grey rather than wrong.
        const stale =
            people.colour < scene.colours.length && scene.colours[people.colour]?.name !== this.app.shown.colour;
        if (category) return (k) => (stale || Number.isNaN(people.value[k]) ? 7 : people.value[k] % n) / 255;
        return (k) => (stale || Number.isNaN(people.value[k]) ? 1 : Math.min(254 / 255, people.value[k]));
    }

    raster(raster: Raster): void {
        const world = raster.world === 1 ? 1 : 0,
            scene = this.app.scenes[world];
        const layer = scene?.layers[raster.layer];
        if (!scene || !layer || layer.name !== this.app.shown.layer) return;
        this.rasters[world] = raster;
        if (layer.max <= layer.min) this.setEnds({ ...this.ends, layer: roundUp(raster.top) });
        this.showRaster(world, layer);
        if (world === 0 && this.difference) this.showRaster(1, layer);
        if (world === 0 && this.app.shown.view === "3d")
            this.app.space?.setRaster(raster, this.app.plans[0].rasterImage);
    }

    private showRaster(world: number, layer: Layer): void {
        const [a, b] = this.rasters,
            end = this.endOf(layer);
        const differs = this.difference && world === 1 && a && b && this.app.comparing() ? differenceOf(a, b) : null,
            raster = differs ?? this.rasters[world];
        this.app.plans[world].setRaster(
            raster,
            raster && (differs ? differenceColour(end) : layerColour(layer, end, this.service(layer))),
        );
    }

    // Scales without an end of their own end above the present values.
    private endOf(layer: Layer): number {
        return layer.max > layer.min ? layer.max : this.ends.layer;
    }

    private setEnds(ends: { colour: number; layer: number }): void {
        const scene = this.app.scenes[0];
        if (ends.colour === this.ends.colour && ends.layer === this.ends.layer) return;
        this.ends = ends;
        if (scene) this.buildLegend(scene);
    }

    // A frame of people says how far its values go.
    seen(scene: Scene, people: People): void {
        const colour = this.colour(scene);
        if (colour?.kind === "number" && colour.max <= colour.min) this.setEnds({ ...this.ends, colour: people.high });
    }

    private service(layer: Layer): Service | null {
        return layer.services.find((s) => s.name === this.app.shown.service) ?? layer.services[0] ?? null;
    }

    setService(name: string): void {
        this.app.shown.service = name;
        const layer = this.app.scenes[0]?.layers.find((l) => l.name === this.app.shown.layer);
        for (const world of [0, 1]) if (layer && this.rasters[world]) this.showRaster(world, layer);
        this.app.space?.setRaster(this.rasters[0], this.app.plans[0].rasterImage);
        this.viewChanged();
    }

    vectors(vectors: Vectors): void {
        const world = vectors.world === 1 ? 1 : 0;
        if (this.app.scenes[world]?.layers[vectors.layer]?.name !== this.app.shown.vectors) return;
        this.app.plans[world].vectors = vectors;
        this.app.plans[world].redraw();
    }

    setColour(name: string): void {
        this.app.shown.colour = name;
        void this.app.ask("colour", { by: this.asked() });
        this.viewChanged();
    }

    nextColour(): void {
        const colours = this.app.scenes[0]?.colours ?? [];
        const k = colours.findIndex((colour) => colour.name === this.app.shown.colour);
        if (colours.length > 0) this.setColour(colours[(k + 1) % colours.length].name);
    }

    setLayer(name: string): void {
        this.turnOff(this.app.shown.layer);
        this.app.shown.layer = name;
        this.rasters = [null, null];
        for (const plan of this.app.plans) plan.setRaster(null, null);
        this.app.space?.setRaster(null, null);
        this.sendLayers();
        this.viewChanged();
    }

    setVectors(name: string): void {
        this.turnOff(this.app.shown.vectors);
        this.app.shown.vectors = name;
        for (const plan of this.app.plans) {
            plan.vectors = null;
            plan.redraw();
        }
        this.sendLayers();
        this.viewChanged();
    }

    turnOff(name: string): void {
        if (name) void this.app.ask("layer", { name, on: false, level: this.app.shown.level });
    }

    sendLayers(): void {
        for (const name of [this.app.shown.layer, this.app.shown.vectors]) {
            if (name)
                void this.app.ask("layer", { name, on: true, level: this.app.shown.level, target: this.vectorsOf });
        }
    }

    toggleHeat(): void {
        const density = this.app.scenes[0]?.layers.find((layer) => layer.kind === "map" && /density/.test(layer.name));
        if (density) this.setLayer(this.app.shown.layer === density.name ? "" : density.name);
    }

    viewChanged(): void {
        const scene = this.app.scenes[0];
        if (!scene) return;
        const lookup = this.lookup(scene);
        for (const plan of this.app.plans) plan.discs.setColours(lookup);
        for (const people of this.app.crowd) if (people) this.app.people(people);
        this.buildView(scene);
        this.app.keepAddress();
    }

    buildView(scene: Scene): void {
        const lookup = this.lookup(scene);
        for (const plan of this.app.plans) {
            plan.discs.setColours(lookup);
            plan.names = this.app.shown.names;
        }
        const pick = (
            name: string,
            title: string,
            current: string,
            choose: (value: string) => void,
            items: { name: string; label: string; doc: string }[],
        ): HTMLElement =>
            h(
                "div",
                { className: "choices", role: "radiogroup", "aria-label": title },
                ...items.map((item) =>
                    h(
                        "label",
                        { title: item.doc },
                        h("input", {
                            type: "radio",
                            name,
                            checked: item.name === current,
                            value: item.name,
                            "data-key": `${name} ${item.name}`,
                            onchange: () => choose(item.name),
                        }),
                        item.label,
                    ),
                ),
            );
        const off = { name: "", label: "None", doc: "" };
        const label = (item: {
            name: string;
            label: string;
            unit: string;
            doc: string;
        }): { name: string; label: string; doc: string } => ({
            name: item.name,
            label: words(item.label) + (unitText(item.unit) ? ` [${unitText(item.unit)}]` : ""),
            doc: item.doc,
        });
        const maps = scene.layers.filter((layer) => layer.kind === "map"),
            fields = scene.layers.filter((layer) => layer.kind === "vectors");
        const target = h(
            "select",
            {
                title: "Where to: the goal whose field is shown",
                id: "target",
                onchange: () => {
                    this.vectorsOf = Number(target.value);
                    this.sendLayers();
                },
            },
            ...scene.targets.map((t, k) => h("option", { value: String(k) }, t.name || `Goal ${k}`)),
        );
        target.value = String(this.vectorsOf);
        const shownMap = maps.find((layer) => layer.name === this.app.shown.layer);
        const levels = h(
            "select",
            {
                title: "Whose levels of service the heat map has",
                id: "service",
                onchange: () => this.setService(levels.value),
            },
            ...(shownMap?.services ?? []).map((s) => h("option", { value: s.name, title: s.source }, s.source)),
        );
        levels.value = (shownMap && this.service(shownMap)?.name) ?? "";
        const wantsTarget = scene.layers.some(
            (layer) => layer.ofTarget && (layer.name === this.app.shown.layer || layer.name === this.app.shown.vectors),
        );
        const parts = [
            h("h3", {}, "Colour people by"),
            pick("colour", "Colour people by", this.app.shown.colour, (name) => this.setColour(name), [
                ...scene.colours.map(label),
                { name: NATURAL, label: "Clothes", doc: "As they are dressed, whatever they do" },
            ]),
            h("h3", {}, "Heat map"),
            pick("layer", "Heat map", this.app.shown.layer, (name) => this.setLayer(name), [off, ...maps.map(label)]),
            (shownMap?.services.length ?? 0) > 1
                ? h("div", { className: "field" }, h("label", {}, "Levels of service"), levels)
                : null,
            this.app.comparing() && shownMap
                ? h(
                      "label",
                      { className: "field", title: "B shows where its heat map is higher or lower than that of A" },
                      h("input", {
                          type: "checkbox",
                          id: "difference",
                          checked: this.difference,
                          onchange: (event: Event) => {
                              this.difference = (event.target as HTMLInputElement).checked;
                              this.setService(this.app.shown.service);
                          },
                      }),
                      " B shows the difference to A",
                  )
                : null,
            fields.length > 0 ? h("h3", {}, "Arrows") : null,
            fields.length > 0
                ? pick("vectors", "Arrows", this.app.shown.vectors, (name) => this.setVectors(name), [
                      off,
                      ...fields.map(label),
                  ])
                : null,
            wantsTarget && scene.targets.length > 1
                ? h("div", { className: "field" }, h("label", {}, "Towards"), target)
                : null,
            h("h3", {}, "Plan"),
            h(
                "div",
                { className: "choices" },
                h(
                    "label",
                    { title: "Names of doors, exits and lines (Y)" },
                    h("input", {
                        type: "checkbox",
                        id: "names",
                        checked: this.app.shown.names,
                        onchange: () => this.app.toggleNames(),
                    }),
                    "Names",
                ),
            ),
            ...scene.underlays.map(({ id, file }) =>
                h(
                    "div",
                    { className: "field" },
                    h("span", {}, file),
                    this.app.registry?.replay
                        ? null
                        : button(
                              "Remove",
                              "Take the picture away",
                              () =>
                                  void this.app.edit({ kind: "remove", what: "underlays", key: id }, "Picture removed"),
                              { "data-underlay": id },
                          ),
                ),
            ),
        ];
        redrawn(this.viewPanel, "", () => clear(this.viewPanel, ...parts));
        this.buildLegend(scene);
    }

    buildLegend(scene: Scene): void {
        const colour = this.colour(scene),
            layer = scene.layers.find((l) => l.name === this.app.shown.layer);
        const scale = (low: number, high: number): HTMLElement =>
            h(
                "div",
                { className: "scale" },
                ...ticks(low, high, 5).map((value) =>
                    h("span", { style: `left:${(100 * (value - low)) / (high - low || 1)}%` }, short(value)),
                ),
            );
        const unit = (text: string): string => (unitText(text) ? ` [${unitText(text)}]` : "");
        const parts: HTMLElement[] = [];
        if (colour?.kind === "number") {
            parts.push(
                h(
                    "section",
                    { title: colour.doc },
                    h("h3", {}, `People: ${colour.label}${unit(colour.unit)}`),
                    h("div", { className: "bar", style: `background:${gradient(mapOf(colour.name))}` }),
                    scale(colour.min, colour.max > colour.min ? colour.max : this.ends.colour),
                ),
            );
        } else if (colour) {
            parts.push(
                h(
                    "section",
                    { title: colour.doc },
                    h("h3", {}, `People: ${colour.label}`),
                    h(
                        "ul",
                        {},
                        ...colour.names
                            .slice(0, 24)
                            .map((name, k) =>
                                h(
                                    "li",
                                    { title: name },
                                    h("i", { style: `background:${css(CATEGORIES[k % CATEGORIES.length])}` }),
                                    words(name),
                                ),
                            ),
                    ),
                ),
            );
        }
        const service = layer ? this.service(layer) : null;
        if (layer && service) {
            const bounds = [layer.min, ...service.bounds];
            const letters = service.bounds.length === 5; // A to F
            parts.push(
                h(
                    "section",
                    { title: `${layer.doc}; levels: ${service.source}` },
                    h("h3", {}, `${words(layer.label)}${unit(layer.unit)}, ${service.source.split(/[ ,:]/)[0]}`),
                    h(
                        "ul",
                        {},
                        ...bounds.map((from, k) =>
                            h(
                                "li",
                                {},
                                h("i", { style: `background:${shade(k === 0 ? null : stepRgb(k, bounds.length))}` }),
                                `${letters ? `${"ABCDEF"[k]}: ` : ""}${k === 0 ? `< ${short(bounds[1])}` : `≥ ${short(from)}`}`,
                            ),
                        ),
                    ),
                ),
            );
        } else if (layer) {
            parts.push(
                h(
                    "section",
                    { title: layer.doc },
                    h("h3", {}, `${words(layer.label)}${unit(layer.unit)}`),
                    h("div", {
                        className: "bar",
                        style: `background:${gradient([0, 0.25, 0.5, 0.75, 1].map(heat))};opacity:${ALPHA / 255}`,
                    }),
                    scale(layer.min, this.endOf(layer)),
                ),
            );
        }
        if (layer && this.difference && this.app.comparing()) {
            const end = this.endOf(layer);
            parts.push(
                h(
                    "section",
                    { title: `${layer.doc}; B less A` },
                    h("h3", {}, `${words(layer.label)}, B less A${unit(layer.unit)}`),
                    h("div", { className: "bar", style: `background:${gradient(MAPS.contrast)}` }),
                    scale(-end, end),
                ),
            );
        }
        clear(this.legend, ...parts);
        this.legend.hidden = parts.length === 0;
    }
}

function mapOf(name: string): Rgb[] {
    if (/wish|desired|share/.test(name)) return MAPS.contrast;
    return onGround(/density|pressure|force|exposure/.test(name) ? MAPS.inferno : MAPS.viridis, dark());
}

// The part of a map from dark to light that is seen on the floor: people who stand must be.
export function onGround(map: Rgb[], night: boolean): Rgb[] {
    const [from, to] = night ? [0.4, 1] : [0, 0.93];
    return Array.from({ length: 9 }, (_, k) => sample(map, from + ((to - from) * k) / 8));
}

// Darker is more on light ground, lighter is more on dark ground, so that high values stand out on both.
function heat(t: number): Rgb {
    return dark() ? sample(MAPS.inferno, 0.2 + 0.76 * t) : sample(MAPS.heat, 0.15 + 0.85 * t);
}

const ALPHA = 150; // of heat maps: the ground and its lines stay visible

// As the map looks on the floor; null: free ground.
function shade(colour: Rgb | null): string {
    const [map, floor] = [colour ? css(colour, ALPHA / 255) : "transparent", cssColour("--floor")];
    return `linear-gradient(${map}, ${map}), ${floor};outline:1px solid var(--line)`;
}

function stepRgb(k: number, count: number): Rgb {
    return heat(k / Math.max(1, count - 1));
}

// Heat map: nothing on empty ground, steps where the layer has levels of service; the first step is free ground.
export function layerColour(
    layer: Layer,
    end: number,
    service: Service | null,
): (value: number) => [number, number, number, number] {
    const range = end - layer.min || 1;
    return (value) => {
        if (Number.isNaN(value)) return [0, 0, 0, 0];
        if (service) {
            const k = service.bounds.filter((bound) => value >= bound).length;
            return [...stepRgb(k, service.bounds.length + 1), k === 0 ? 0 : ALPHA];
        }
        const t = (value - layer.min) / range;
        return [...heat(Math.min(1, Math.max(0, t))), Math.round(Math.min(ALPHA, 900 * Math.max(0, t)))];
    };
}

// B less A, where both have a value, on the cells of B; null: not of the same layer and level.
export function differenceOf(a: Raster, b: Raster): Raster | null {
    if (a.layer !== b.layer || a.level !== b.level) return null;
    const values = b.values.map((value, k) => {
        const i = Math.floor((b.x - a.x + ((k % b.nx) + 0.5) * b.cell) / a.cell),
            j = Math.floor((b.y - a.y + (Math.floor(k / b.nx) + 0.5) * b.cell) / a.cell);
        return i >= 0 && j >= 0 && i < a.nx && j < a.ny ? value - a.values[j * a.nx + i] : NaN;
    });
    return { ...b, values, top: values.reduce((most, value) => Math.max(most, Math.abs(value) || 0), 0) };
}

// From much less over equal, which is clear, to much more.
export function differenceColour(end: number): (value: number) => [number, number, number, number] {
    return (value) => {
        if (Number.isNaN(value)) return [0, 0, 0, 0];
        const t = Math.min(1, Math.max(-1, value / (end || 1)));
        return [...sample(MAPS.contrast, 0.5 + 0.5 * t), Math.round(Math.min(1, 4 * Math.abs(t)) * 220)];
    };
}
