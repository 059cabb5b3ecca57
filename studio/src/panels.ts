// The panels at the right: what is shown, models with their parameters, charts, findings, one person.
// SPDX-License-Identifier: Apache-2.0
import { button, clear, clock, grouped, h, redrawn, short, unitText, withUnit, words } from "./dom";
import { Chart, thin, type Series } from "./charts";
import { css } from "./colours";
import { roleColours } from "./plan";
import type {
    ChartRow,
    Choice,
    Fact,
    Finding,
    Inspection,
    Model,
    Param,
    References,
    Registry,
    Scene,
    Stage,
    WorldState,
} from "./types";
import { STAGES } from "./types";
import type { Json } from "./decode";

export interface PanelHost {
    send(verb: string, args: Json, say?: string): void;
    showPlace(finding: Finding): void;
    names(): string[];
}

const STAGE_TITLES: Record<Stage, string> = {
    move: "How people move",
    plan: "How they find their way",
    filter: "What changes their wish",
    behave: "How they behave",
};

// The range of a slider: the parameter's own, or around its default where that is open or far wider than useful.
export function sliderRange(param: Param): [number, number] {
    let low = param.min,
        high = param.max;
    const size = Math.abs(param.value) || 1;
    if (!Number.isFinite(low)) low = -4 * size;
    if (!Number.isFinite(high) || high > 50 * size + 10) high = Math.max(4 * size, low + size);
    if (Number.isFinite(param.min) && low < param.min) low = param.min;
    return [low, high];
}

export class ModelsPanel {
    readonly element = h("div", { className: "panel" });
    private world = 0;
    private group = "*";
    private open = new Set<string>(["move"]);
    private shown = "";
    private registry: Registry | null = null;
    private scenes: (Scene | null)[] = [];

    constructor(private host: PanelHost) {}

    // Called with every scene: sliders that are being dragged stay when nothing else changed.
    show(registry: Registry, scenes: (Scene | null)[], compare: boolean): void {
        this.registry = registry;
        this.scenes = scenes;
        if (!compare) this.world = 0;
        const scene = scenes[this.world];
        if (!scene) return;
        if (this.group !== "*" && !scene.groups.some((group) => group.id === this.group)) this.group = "*";
        const key = JSON.stringify([this.world, compare, this.group, scene.groups.map((g) => [g.id, g.models])]);
        if (key === this.shown) return;
        this.shown = key;
        this.build(registry, scene, compare);
    }

    choose(group: string): void {
        this.group = group;
        this.again();
    }

    private again(): void {
        this.shown = "";
        if (this.registry) this.show(this.registry, this.scenes, this.scenes[1] !== null);
    }

    private build(registry: Registry, scene: Scene, compare: boolean): void {
        redrawn(this.element, `${this.world} ${this.group}`, () => this.fill(registry, scene, compare));
    }

    private fill(registry: Registry, scene: Scene, compare: boolean): void {
        if (scene.groups.length === 0) {
            clear(this.element, h("p", {}, "A recording has no models: it is what happened."));
            return;
        }
        const which = compare
            ? h(
                  "div",
                  { className: "row" },
                  "Configuration",
                  h(
                      "span",
                      { className: "joined" },
                      ...["A", "B"].map((name, k) =>
                          button(
                              name,
                              `Change configuration ${name}`,
                              () => {
                                  this.world = k;
                                  this.again();
                              },
                              { "aria-pressed": String(this.world === k) },
                          ),
                      ),
                  ),
              )
            : null;
        const groups = h(
            "select",
            {
                title: "Whose models and parameters are shown and changed",
                "data-key": "group",
                onchange: (event: Event) => {
                    this.group = (event.target as HTMLSelectElement).value;
                    this.again();
                },
            },
            h("option", { value: "*" }, "All groups"),
            ...scene.groups.map((group) => h("option", { value: group.id }, `Group ${group.id}`)),
        );
        groups.value = this.group;
        clear(
            this.element,
            which,
            h("div", { className: "field" }, h("label", {}, "For"), groups),
            ...(["move", "plan", "filter", "behave"] as Stage[]).map((stage) => this.stage(registry, scene, stage)),
        );
    }

    private choices(scene: Scene, stage: Stage): Choice[][] {
        return scene.groups
            .filter((group) => this.group === "*" || group.id === this.group)
            .map((group) => group.models[stage]);
    }

    // Several behaviours work together as long as each decides something else.
    private behaviours(registry: Registry, scene: Scene): HTMLElement {
        const models = registry.models.filter((model) => model.stage === "behave");
        const lists = this.choices(scene, "behave");
        const key = (list: Choice[]): string => list.map((choice) => choice.model).join(", ");
        const mixed = new Set(lists.map(key)).size > 1;
        const chosen = mixed ? [] : (lists[0] ?? []);
        const has = (name: string): boolean => chosen.some((choice) => choice.model === name);
        const toggle = (name: string, on: boolean): void => {
            const names = chosen.map((choice) => choice.model).filter((other) => other !== name);
            if (on) names.push(name);
            this.host.send(
                "model",
                { group: this.group, stage: "behave", model: names.length ? names : ["route"], world: this.world },
                `${names.map(words).join(", ")} from now on`,
            );
        };
        const body = h(
            "details",
            { open: this.open.has("behave") },
            h("summary", {}, STAGE_TITLES.behave, " ", h("small", {}, mixed ? "several models" : words(key(chosen)))),
            ...models.map((model) =>
                h(
                    "label",
                    { className: "field", title: `${model.doc} ${model.source}` },
                    h("input", {
                        type: "checkbox",
                        checked: has(model.name),
                        "data-key": `behave-${model.name}`,
                        onchange: (event: Event) => toggle(model.name, (event.target as HTMLInputElement).checked),
                    }),
                    ` ${words(model.name)}`,
                ),
            ),
        );
        body.addEventListener("toggle", () => {
            if (body.open) this.open.add("behave");
            else this.open.delete("behave");
        });
        for (const choice of chosen) {
            const model = models.find((candidate) => candidate.name === choice.model);
            if (!model) continue;
            const same = lists.flatMap((list) => list.filter((one) => one.model === choice.model));
            this.parameters(body, model, same, "behave");
        }
        return body;
    }

    private stage(registry: Registry, scene: Scene, stage: Stage): HTMLElement {
        if (stage === "behave") return this.behaviours(registry, scene);
        const models = registry.models.filter((model) => model.stage === stage);
        const choices = this.choices(scene, stage).flat();
        const names = new Set(choices.map((choice) => choice.model));
        const mixed = names.size > 1;
        const model = models.find((candidate) => candidate.name === choices[0]?.model);
        const pick = h(
            "select",
            {
                title: model && !mixed ? `${model.doc} ${model.source}` : "Choose a model",
                "data-key": `model-${stage}`,
                onchange: (event: Event) => {
                    const name = (event.target as HTMLSelectElement).value;
                    this.host.send(
                        "model",
                        { group: this.group, stage, model: name, world: this.world },
                        `${words(name)} from now on`,
                    );
                },
            },
            mixed ? h("option", { value: "" }, "several: choose one for all") : null,
            ...models.map((m) =>
                h("option", { value: m.name, title: m.doc }, words(m.name) + (m.isDefault ? " (default)" : "")),
            ),
        );
        pick.value = mixed ? "" : (model?.name ?? "");
        const body = h(
            "details",
            { open: this.open.has(stage) },
            h(
                "summary",
                {},
                STAGE_TITLES[stage],
                " ",
                h("small", {}, mixed ? "several models" : words(model?.name ?? "")),
            ),
            h("div", { className: "field" }, pick),
        );
        body.addEventListener("toggle", () => {
            if (body.open) this.open.add(stage);
            else this.open.delete(stage);
        });
        if (model && !mixed) this.parameters(body, model, choices, stage);
        return body;
    }

    private parameters(body: HTMLElement, model: Model, choices: Choice[], stage: Stage): void {
        body.append(
            h("p", { title: model.source }, `${words(model.doc)}.`, model.source ? h("br", {}) : null, model.source),
        );
        if (model.presets.length > 0) {
            const presets = h(
                "select",
                {
                    title: "Values that were published together",
                    "data-key": `preset-${stage}`,
                    onchange: (event: Event) => {
                        const preset = (event.target as HTMLSelectElement).value;
                        if (preset)
                            this.host.send(
                                "model",
                                { group: this.group, stage, model: model.name, preset, world: this.world },
                                `Preset ${preset}`,
                            );
                    },
                },
                h("option", { value: "" }, "Presets…"),
                ...model.presets.map((preset) =>
                    h("option", { value: preset.name, title: preset.doc }, words(preset.name)),
                ),
            );
            body.append(h("div", { className: "field" }, presets));
        }
        for (const param of model.params) body.append(this.slider(param, choices, stage, model.name));
        if (model.params.length === 0) body.append(h("p", {}, "No parameters."));
    }

    private slider(param: Param, choices: Choice[], stage: Stage, model: string): HTMLElement {
        const value = choices[0]?.params[param.name] ?? param.value;
        const [low, high] = sliderRange(param);
        const range = `${Number.isFinite(param.min) ? short(param.min) : "−∞"} … ${Number.isFinite(param.max) ? short(param.max) : "∞"}`;
        const title = `${param.doc}\nRange ${withUnit(range, param.unit)}, default ${withUnit(short(param.value), param.unit)}\n${param.source}`;
        const apply = (wanted: number): void => {
            if (!Number.isFinite(wanted)) return;
            const v = Math.min(param.max, Math.max(param.min, wanted));
            number.value = String(Number(v.toPrecision(5)));
            slider.value = String(v);
            field.classList.toggle("changed", Math.abs(v - param.value) > 1e-6 * (1 + Math.abs(param.value)));
            this.host.send("set", { group: this.group, stage, model, name: param.name, value: v, world: this.world });
        };
        const slider = h("input", {
            type: "range",
            min: String(low),
            max: String(high),
            step: "any",
            title,
            "data-key": `${stage}.${model}.${param.name}`,
            "aria-label": words(param.name),
            oninput: () => apply(Number(Number(slider.value).toPrecision(4))),
        });
        slider.value = String(value);
        const number = h("input", {
            type: "number",
            step: "any",
            title,
            "data-key": `${stage}.${model}.${param.name}.number`,
            "aria-label": `${words(param.name)} as a number`,
            defaultValue: String(Number(value.toPrecision(5))),
            onchange: () => apply(Number(number.value)),
        });
        const label = h("label", { title, ondblclick: () => apply(param.value) }, words(param.name));
        const field = h(
            "div",
            { className: "field" },
            label,
            h("span", { className: "number" }, number, unitText(param.unit)),
            slider,
        );
        field.classList.toggle("changed", Math.abs(value - param.value) > 1e-6 * (1 + Math.abs(param.value)));
        return field;
    }
}

interface History {
    time: number[];
    inside: number[];
    left: number[];
    speed: number[];
    flows: number[][];
    areas: number[][];
    points: [number, number][];
}
const empty = (): History => ({ time: [], inside: [], left: [], speed: [], flows: [], areas: [], points: [] });
const POINTS = 3000;

export class ChartsPanel {
    readonly element = h("div", { className: "panel" });
    private histories: History[] = [empty(), empty()];
    private counts = new Chart();
    private flows = new Chart(190);
    private areas = new Chart();
    private diagram = new Chart(210);
    private table = h("table", { className: "counts" });
    private asked = 0;
    references: References = { weidmann: [], congestion: 4 };
    until = Infinity; // a scrubbed or replayed moment hides what comes later

    constructor() {
        this.element.append(
            this.counts.element,
            this.table,
            this.flows.element,
            this.areas.element,
            this.diagram.element,
            h(
                "p",
                {},
                "Flow is the mean of the last 5 s. The dashed curve is Weidmann (1993); a dot is one walking person.",
            ),
        );
    }

    reset(world: number): void {
        this.histories[world] = empty();
    }

    // Counts and present flows of exits, doors and lines, renewed with every state.
    count(scene: Scene, worlds: WorldState[]): void {
        const pair = ([there, back]: [number, number]): string =>
            back > 0 ? `${grouped(there)} + ${grouped(back)} back` : grouped(there);
        const rows = [
            ...scene.goals.flatMap((goal, k) =>
                goal.kind === "exit" ? [{ name: goal.id, kind: "exit", at: k, of: (w: WorldState) => grouped(w.exits[k] ?? 0) }] : [],
            ),
            ...scene.doors.map((door, k) => ({
                name: door.id,
                kind: "door",
                at: scene.goals.length + k,
                of: (w: WorldState) => pair(w.doors[k] ?? [0, 0]),
            })),
            ...scene.lines.map((line, k) => ({
                name: line.id,
                kind: "line",
                at: scene.goals.length + scene.doors.length + k,
                of: (w: WorldState) => pair(w.lines[k] ?? [0, 0]),
            })),
        ]; // prettier-ignore
        const flow = (world: number, at: number): string => {
            const flows = this.histories[world]?.flows;
            return short(Math.abs(flows?.[flows.length - 1]?.[at] ?? 0));
        };
        this.table.hidden = rows.length === 0;
        const tag = (text: string, w: number): string => (worlds.length > 1 ? `${text} ${"AB"[w]}` : text);
        clear(
            this.table,
            h("caption", {}, "Exits, doors and lines"),
            h(
                "tr",
                {},
                h("th", { scope: "col" }, "place"),
                ...worlds.flatMap((_, w) => [
                    h("th", { scope: "col" }, tag("people", w)),
                    h("th", { scope: "col" }, tag("now [1/s]", w)),
                ]),
            ),
            ...rows.map(({ name, kind, at, of }) =>
                h(
                    "tr",
                    {},
                    h("th", { scope: "row" }, kind === "exit" ? name : `${kind} ${name}`),
                    ...worlds.flatMap((state, w) => [h("td", {}, of(state)), h("td", {}, flow(w, at))]),
                ),
            ),
        );
    }

    add(world: number, rows: ChartRow[]): void {
        for (const row of rows) {
            let history = this.histories[world] ?? empty();
            const last = history.time[history.time.length - 1];
            if (last !== undefined && row[0] <= last) history = empty();
            this.histories[world] = history;
            history.time.push(row[0]);
            history.inside.push(row[1]);
            history.left.push(row[2]);
            history.speed.push(row[3]);
            history.flows.push([...(row[5] ?? []), ...(row[6] ?? []), ...(row[7] ?? [])]);
            history.areas.push((row[8] ?? []).map((area) => (Array.isArray(area) ? area[0] : Number(area))));
            history.points.push(...(row[9] ?? []));
            if (history.points.length > POINTS) history.points.splice(0, history.points.length - POINTS);
        }
    }

    rows(world: number): number {
        return this.histories[world]?.time.length ?? 0;
    }

    draw(scene: Scene, compare: boolean): void {
        if (this.asked) return;
        this.asked = requestAnimationFrame(() => {
            this.asked = 0;
            this.drawNow(scene, compare);
        });
    }

    private cut(history: History): number {
        let n = history.time.length;
        while (n > 1 && history.time[n - 1] > this.until + 1e-6) n--;
        return n;
    }

    // The second of two worlds is dashed, in the colour of the first.
    private series(world: number, colour: number, name: string, pick: (k: number) => number): Series {
        const history = this.histories[world],
            n = this.cut(history),
            out: Series = { name, x: history.time.slice(0, n), y: [], colour, dash: world === 1 };
        for (let k = 0; k < n; k++) out.y.push(pick(k) ?? 0);
        thin(out);
        return out;
    }

    private drawNow(scene: Scene, compare: boolean): void {
        const worlds = compare ? this.histories : [this.histories[0]];
        const tag = (name: string, world: number): string => (compare ? `${name} ${"AB"[world]}` : name);
        this.counts.show({
            title: "People",
            xLabel: "time [s]",
            yLabel: "[people]",
            series: worlds.flatMap((history, w) => [
                this.series(w, 0, tag("inside", w), (k) => history.inside[k]),
                this.series(w, 1, tag("left", w), (k) => history.left[k]),
            ]),
        });
        const names = [
            ...scene.goals.map((goal) => goal.id),
            ...scene.doors.map((door) => `door ${door.id}`),
            ...scene.lines.map((line) => `line ${line.id}`),
        ];
        const kept = names
            .map((name, k) => ({ name, k }))
            .filter(
                ({ k }) =>
                    (k >= scene.goals.length || scene.goals[k].kind === "exit") &&
                    worlds.some((history) => history.flows.some((row) => row[k])),
            );
        // Net, and positive the way most people go: users do not know which side of a door is its front.
        const way = (k: number): number =>
            worlds.some((history) => history.flows.reduce((sum, row) => sum + (row[k] ?? 0), 0) < 0) ? -1 : 1;
        this.flows.show({
            title: "Flow, the way most people go",
            xLabel: "time [s]",
            yLabel: "[1/s]",
            series: worlds.flatMap((history, w) =>
                kept.slice(0, compare ? 4 : 8).map(({ name, k }, colour) => {
                    const sign = way(k);
                    return this.series(w, colour, tag(name, w), (i) => sign * (history.flows[i][k] ?? 0));
                }),
            ),
        });
        this.areas.element.hidden = scene.areas.length === 0;
        this.areas.show({
            title: "Density of areas",
            xLabel: "time [s]",
            yLabel: "[1/m²]",
            limit: { y: this.references.congestion, label: `${this.references.congestion}: congestion, IMO` },
            series: worlds.flatMap((history, w) =>
                scene.areas
                    .slice(0, 6)
                    .map((area, k) => this.series(w, k, tag(area.id, w), (i) => history.areas[i][k])),
            ),
        });
        const curve: Series = {
            name: "Weidmann 1993",
            x: this.references.weidmann.map((point) => point[0]),
            y: this.references.weidmann.map((point) => point[1]),
            dash: true,
            colour: 5,
        };
        this.diagram.show({
            title: "Speed against density",
            xLabel: "density [1/m²]",
            yLabel: "speed [m/s]",
            yMin: 0,
            yMax: 2,
            xMax: 6,
            series: [
                ...worlds.map((history, w): Series => ({
                    name: tag("people", w),
                    x: history.points.map((p) => p[0]),
                    y: history.points.map((p) => p[1]),
                    points: true,
                })),
                curve,
            ],
        });
    }
}

export class FindingsPanel {
    readonly element = h("div", { className: "panel" });
    private list = h("div", { className: "findings" });
    count = 0;

    constructor(private host: PanelHost) {
        this.element.append(h("p", {}, "What throng finds, as in the report. Click to see the place."), this.list);
    }

    // The lists of both worlds, and what could be done about parts of the scene without effect.
    show(worlds: Finding[][], offers: { text: string; label: string; take: () => void }[] = []): void {
        this.count = worlds.reduce((sum, list) => sum + list.length, 0);
        this.list.replaceChildren();
        for (const { text, label, take } of offers)
            this.list.append(
                h("div", { className: "offered" }, h("span", {}, text), button(label, label, take, { id: "offer" })),
            );
        for (const finding of worlds.flat()) {
            const item = button("", finding.place ? "Show the place" : finding.text, () =>
                this.host.showPlace(finding),
            );
            item.classList.add(finding.severity);
            if (finding.from !== null) item.append(h("time", {}, clock(finding.from)));
            item.append(finding.text + (finding.cure ? " " + finding.cure : ""));
            this.list.append(item);
        }
    }
}

// "bits: 1 knows all, 4 trained" -> [[1, "knows all"], [4, "trained"]]: a field whose bits are words.
export function bitsOf(doc: string | undefined): [number, string][] {
    if (!doc?.startsWith("bits: ")) return [];
    return doc
        .slice(6)
        .split(", ")
        .map((word) => /^(\d+) (.+)$/.exec(word))
        .flatMap((found) => (found ? [[Number(found[1]), found[2]] as [number, string]] : []));
}

export class PersonPanel {
    readonly element = h("div", { className: "panel" });
    private group = ""; // of the person that is shown
    private isForGroup = false; // what is changed

    constructor(
        private leave: () => void,
        private follow: () => boolean,
        private give: (field: string, value: number, group: string) => void,
    ) {
        this.show(null);
    }

    show(inspection: Inspection | null): void {
        if (!inspection) {
            clear(
                this.element,
                h("p", {}, "Click a person in the plan or in 3D: you see what it wants and what drives it."),
            );
            return;
        }
        if (inspection.gone) {
            clear(
                this.element,
                h("h3", {}, `Person ${grouped(inspection.person)}`),
                h("p", {}, "has left."),
                button("Choose another person", "Back to the crowd", this.leave),
            );
            return;
        }
        this.group = String(inspection.facts.find((fact) => fact.name === "group")?.value ?? "");
        const roles = [...new Set(inspection.drawing.map((mark) => mark.role ?? "").filter(Boolean))],
            colours = roleColours(inspection.drawing);
        const existing = this.element.querySelector("dl");
        if (existing?.contains(document.activeElement) && this.element.dataset.person === String(inspection.person))
            return; // a value is being typed
        const facts = h(
            "dl",
            { className: "facts" },
            ...inspection.facts.flatMap((fact) => [
                h("dt", { title: fact.doc }, words(fact.name)),
                h("dd", {}, ...this.valueOf(fact)),
            ]),
        );
        const legend = h(
            "div",
            { className: "roles" },
            ...roles.map((role) => {
                const scale = inspection.drawing.find((mark) => mark.role === role && mark.scale)?.scale;
                return h(
                    "span",
                    {},
                    h("i", { style: `background:${css(colours.get(role) ?? [127, 127, 127])}` }),
                    words(role) + (scale ? ` (${scale})` : ""),
                );
            }),
        );
        if (existing && this.element.dataset.person === String(inspection.person)) {
            existing.replaceWith(facts);
            this.element.querySelector(".roles")?.replaceWith(legend);
            return;
        }
        this.element.dataset.person = String(inspection.person);
        const following = button(
            "Follow",
            "Keep this person in the middle",
            () => following.setAttribute("aria-pressed", String(this.follow())),
            { "aria-pressed": "false" },
        );
        const whom = h(
            "select",
            {
                id: "person-for",
                title: "Whom a value that is changed here is for",
                onchange: () => (this.isForGroup = whom.value === "group"),
            },
            h("option", { value: "person" }, "Change this person"),
            h("option", { value: "group" }, "Change all of its group"),
        );
        whom.value = this.isForGroup ? "group" : "person";
        clear(
            this.element,
            h("h3", {}, `Person ${grouped(inspection.person)}`),
            h("div", { className: "row" }, following, button("Let go", "Stop inspecting (Esc)", this.leave)),
            h("div", { className: "field" }, whom),
            facts,
            h("h3", {}, "Drawn in the plan"),
            legend,
        );
    }

    private change(field: string, value: number): void {
        this.give(field, value, this.isForGroup ? this.group : "");
    }

    // A text; what a model keeps of the person can be changed: a number, or a box per bit.
    private valueOf(fact: Fact): (Node | string)[] {
        const { field, value } = fact;
        if (typeof value !== "number") return [value];
        if (!field) return [withUnit(short(value), fact.unit)];
        const bits = bitsOf(fact.doc);
        const label = `${words(fact.name)} of this person`;
        if (bits.length > 0)
            return bits.map(([bit, word]) =>
                h(
                    "label",
                    { className: "bit" },
                    h("input", {
                        type: "checkbox",
                        checked: (value & bit) !== 0,
                        onchange: (event: Event) => {
                            const on = (event.target as HTMLInputElement).checked;
                            (event.target as HTMLInputElement).blur();
                            this.change(field, on ? value | bit : value & ~bit);
                        },
                    }),
                    word,
                ),
            );
        return [
            h("input", {
                type: "number",
                step: "any",
                value: short(value),
                "aria-label": label,
                onchange: (event: Event) => {
                    const input = event.target as HTMLInputElement;
                    input.blur();
                    if (input.value !== "" && Number.isFinite(Number(input.value)))
                        this.change(field, Number(input.value));
                },
            }),
            fact.unit ? ` ${fact.unit}` : "",
        ];
    }
}

export { STAGES };
