// The panel of what is selected: its members by the schema of scenes, its place in numbers, and what can be done with it.
// With nothing selected: the scene, its levels, and what drawing keeps to. SPDX-License-Identifier: Apache-2.0
import type { App } from "./app";
import type { Json } from "./decode";
import { button, clear, h, redrawn, unitText, words } from "./dom";
import { changeOf, faultOf, fieldsOf, renamed, valueOf, type Field } from "./fields";
import { round, type Point, type Shape } from "./shapes";
import { documentOf, type Thing } from "./things";
import { nameOf } from "./toolbar";
import type { Scene } from "./types";

const DRAWS = ["uniform", "normal", "lognormal", "gamma", "weibull"];
const SIDES: [number, string, string][] = [
    [0, "⇤", "Align west edges"],
    [4, "⇹", "Align middles, west to east"],
    [2, "⇥", "Align east edges"],
    [3, "⤒", "Align north edges"],
    [5, "⇳", "Align middles, south to north"],
    [1, "⤓", "Align south edges"],
];

export class Properties {
    readonly element = h("div", { className: "panel" });
    private array = { count: "3", dx: "2", dy: "0" };

    constructor(private app: App) {}

    show(): void {
        const chosen = this.app.editor.chosen;
        redrawn(this.element, chosen.map(({ what, key }) => `${what} ${key}`).join(), () => {
            const scene = this.app.scene();
            if (!scene || this.app.registry?.replay) clear(this.element, h("p", {}, "A recording cannot be edited."));
            else if (!scene.document)
                clear(this.element, h("p", {}, "This scene is too large to be edited in a page."));
            else
                clear(
                    this.element,
                    this.app.comparing() ? h("p", {}, `Design ${"AB"[this.app.editor.world]}`) : null,
                    ...(chosen.length > 0 ? this.things(scene, chosen) : this.whole(scene)),
                );
        });
    }

    // ---- fields

    // `give` gets the new value, undefined where it was taken away.
    private field(field: Field, values: unknown[], give: (value: unknown) => void): HTMLElement {
        const same = values.every((value) => JSON.stringify(value) === JSON.stringify(values[0])),
            value = same ? values[0] : undefined,
            hint = same ? field.usual : "several",
            label = words(field.name.replace(/.*\./, "")),
            unit = unitText(field.unit),
            range = [field.min !== null ? `from ${field.min}` : "", field.max !== null ? `to ${field.max}` : ""];
        const title = [field.doc, range.some(Boolean) ? `Range ${range.join(" ").trim()} ${unit}` : ""]
            .filter(Boolean)
            .join("\n");
        const about = { title, "data-key": field.name, "aria-label": label };
        return h(
            "div",
            { className: "field" },
            h("label", { title }, unit ? `${label} [${unit}]` : label),
            this.control(field, value, hint, about, give),
        );
    }

    private control(
        field: Field,
        value: unknown,
        hint: string,
        about: Record<string, string>,
        give: (value: unknown) => void,
    ): HTMLElement {
        const scene = this.app.scene() as Scene,
            goals = scene.goals.filter((goal) => goal.kind !== "detour").map(({ id }) => id);
        switch (field.kind) {
            case "flag":
                return h("input", {
                    ...about,
                    type: "checkbox",
                    checked: value === true,
                    onchange: (event: Event) => give((event.target as HTMLInputElement).checked || undefined),
                });
            case "choice":
                return this.menu(about, value, hint, field.choices, give);
            case "goal":
                return this.menu(about, value, hint || "nearest exit", goals, give);
            case "level":
                return this.menu(about, value, hint, scene.levels.map(({ id }) => id), give); // prettier-ignore
            case "group":
                return this.menu(about, value, hint || "none", scene.groups.map(({ id }) => id), give); // prettier-ignore
            case "goals":
                return this.text(about, Array.isArray(value) ? value.map((leg) => [leg].flat().join("|")).join(", ") : "", "nearest exit", (text) =>
                    give(text === "" ? undefined : text.split(/\s*,\s*/).map((leg) => (leg.includes("|") ? leg.split("|") : leg)))); // prettier-ignore
            case "distribution":
                return this.distribution(about, value, hint, give);
            case "text":
                return this.text(about, typeof value === "string" ? value : "", hint, (text) =>
                    give(text === "" ? undefined : text),
                );
            default:
                return this.number(about, typeof value === "number" ? value : null, hint, give, field);
        }
    }

    private menu(
        about: Record<string, string>,
        value: unknown,
        hint: string,
        choices: string[],
        give: (value: unknown) => void,
    ): HTMLElement {
        const text = Array.isArray(value) ? value.join(" or ") : typeof value === "string" ? value : "",
            all = text !== "" && !choices.includes(text) ? [text, ...choices] : choices;
        const select: HTMLSelectElement = h(
            "select",
            { ...about, onchange: () => give(select.value === "" ? undefined : select.value) },
            h("option", { value: "" }, hint ? `(${hint.trim()})` : "–"),
            ...all.map((name) => h("option", { value: name }, words(name))),
        );
        select.value = text;
        return select;
    }

    private text(
        about: Record<string, string>,
        value: string,
        hint: string,
        give: (text: string) => void,
    ): HTMLInputElement {
        const input: HTMLInputElement = h("input", {
            ...about,
            type: "text",
            defaultValue: value,
            placeholder: hint.trim(),
            onchange: () => give(input.value.trim()),
        });
        return input;
    }

    private number(
        about: Record<string, string>,
        value: number | null,
        hint: string,
        give: (value: number | undefined) => void,
        field?: Field,
    ): HTMLInputElement {
        const input: HTMLInputElement = h("input", {
            ...about,
            type: "number",
            step: "any",
            defaultValue: value === null ? "" : String(Number(value.toPrecision(8))),
            placeholder: hint.trim(),
            onchange: () => {
                const fault = input.value !== "" && field ? faultOf(field, Number(input.value)) : "";
                input.setAttribute("aria-invalid", String(fault !== ""));
                if (fault) this.app.note(`${about["aria-label"]}: ${fault}`, true);
                else give(input.value === "" ? undefined : Number(input.value));
            },
        });
        return input;
    }

    // A number for all people, or what each draws from.
    private distribution(
        about: Record<string, string>,
        value: unknown,
        hint: string,
        give: (value: unknown) => void,
    ): HTMLElement {
        const drawn = value !== null && typeof value === "object" ? (value as Json) : null,
            kind = DRAWS.find((name) => drawn && name in drawn) ?? "",
            pair = (drawn?.[kind] as [number, number] | undefined) ?? null;
        const part = (k: 0 | 1): HTMLElement =>
            this.number({ ...about, "data-key": `${about["data-key"]}.${k}` }, pair?.[k] ?? null, "", (number) => {
                const next = [...(pair ?? [0, 0])];
                next[k] = number ?? 0;
                give({ ...drawn, [kind]: next });
            });
        const start = typeof value === "number" ? value : Number.parseFloat(hint) || 1;
        const select: HTMLSelectElement = h(
            "select",
            {
                ...about,
                "data-key": `${about["data-key"]}.kind`,
                onchange: () =>
                    give(
                        select.value === "" ? start : { [select.value]: firstOf(select.value, pair ?? [start, start]) },
                    ),
            },
            h("option", { value: "" }, "the same for all"),
            ...DRAWS.map((name) => h("option", { value: name }, name)),
        );
        select.value = kind;
        const numbers = kind
            ? [part(0), part(1)]
            : [this.number(about, typeof value === "number" ? value : null, hint, give)];
        return h("span", { className: "numbers" }, ...numbers, select);
    }

    // ---- what is selected

    private things(scene: Scene, things: Thing[]): HTMLElement[] {
        const one = things.length === 1 ? things[0] : null,
            list = things.every((thing) => thing.what === things[0].what) ? things[0].what : "";
        const elements = things.map((thing) => (thing.id ? ((documentOf(scene, thing) as Json | null) ?? {}) : {}));
        const out: HTMLElement[] = [h("h3", {}, one ? nameOf(one) : `${things.length} selected`)];
        if (list && things[0].id)
            for (const field of fieldsOf(list).fields) {
                if (field.name === "id" && !one) continue;
                out.push(
                    this.field(field, elements.map((element) => valueOf(element, field.name)), (value) =>
                        this.change(scene, things, elements, field.name, value),
                    ), // prettier-ignore
                );
            }
        if (one?.what === "groups")
            out.push(
                button("Models of this group", "How these people move and find their way", () => {
                    this.app.models.choose(one.id);
                    this.app.setTab("models");
                }),
            );
        if (one) out.push(...this.place(scene, one));
        out.push(...this.actions(things));
        return out;
    }

    private change(scene: Scene, things: Thing[], elements: Json[], name: string, value: unknown): void {
        const list = things[0].what;
        if (name === "id") {
            const before = things[0].id;
            if (typeof value !== "string" || value === before) return;
            const path = elementPath(scene, things[0]);
            const patch = [
                { op: "replace", path: `${path}/id`, value },
                ...renamed(scene.document as Json, list, before, value),
            ];
            void this.app.edit({ kind: "patch", patch }, `${before} is ${value} now`).then((reply) => {
                if (reply.ok) this.app.editor.selectNamed(list, value);
            });
            return;
        }
        const edits = things.map((thing, k) => ({
            kind: "change",
            what: thing.what,
            key: thing.key,
            level: thing.level,
            value: changeOf(list, elements[k], name, value),
        }));
        const say = `${words(name.replace(/.*\./, ""))} of ${things.length === 1 ? things[0].id : `${things.length} things`} changed`;
        void this.app.edit(edits.length === 1 ? edits[0] : { kind: "several", edits }, say);
    }

    // The corners in numbers, in the coordinates of the scene file.
    private place(scene: Scene, thing: Thing): HTMLElement[] {
        const [ox, oy] = scene.origin,
            shape: Shape = thing.line
                ? [
                      [thing.line[0] + ox, thing.line[1] + oy],
                      [thing.line[2] + ox, thing.line[3] + oy],
                  ]
                : thing.shape;
        const give = (next: Shape): void => {
            const value = thing.id ? { [thing.member]: next } : next;
            void this.app.edit(
                { kind: "change", what: thing.what, key: thing.key, level: thing.level, value },
                `${thing.id || thing.kind} moved`,
            );
        };
        const rows = coordinates(shape, give);
        if (!rows) return [h("p", {}, "Its shape is a text or a file: it can be moved and turned, not reshaped.")];
        return [
            h("h3", {}, "Place [m]"),
            ...rows.map(({ label, values, set }, row) =>
                h(
                    "div",
                    { className: "field place" },
                    h("label", {}, label),
                    h(
                        "span",
                        { className: "numbers" },
                        ...values.map((value, k) =>
                            this.number(
                                {
                                    "data-key": `place.${row}.${k}`,
                                    "aria-label": `${label} ${"xyr"[k] ?? ""}`,
                                    title: `${label}: ${["x, east", "y, north"][k] ?? "radius"} [m]`,
                                },
                                round(value),
                                "",
                                (number) => number !== undefined && set(k, number),
                            ),
                        ),
                    ),
                ),
            ),
        ];
    }

    private actions(things: Thing[]): HTMLElement[] {
        const editor = this.app.editor;
        const number = (key: keyof Properties["array"], label: string): HTMLElement =>
            h(
                "label",
                {},
                label,
                h("input", {
                    type: "number",
                    step: "any",
                    value: this.array[key],
                    title: label,
                    "data-key": `array.${key}`,
                    oninput: (event: Event) => (this.array[key] = (event.target as HTMLInputElement).value),
                }),
            );
        const along = (): void => {
            const count = Math.round(Number(this.array.count));
            if (count < 1 || count > 200) this.app.note("Give 1 to 200 copies", true);
            else editor.duplicate(count, Number(this.array.dx), Number(this.array.dy));
        };
        return [
            h("h3", {}, "Do"),
            h(
                "div",
                { className: "row" },
                button("Copy", "Copy (Ctrl+C)", () => editor.copy(), { id: "copy" }),
                button("Duplicate", "Duplicate (Ctrl+D)", () => editor.duplicate(), { id: "duplicate" }),
                button("↺ 90°", "Turn by 90° to the left", () => editor.turn(90), { id: "turn-left" }),
                button("↻ 90°", "Turn by 90° to the right", () => editor.turn(-90), { id: "turn-right" }),
            ),
            ...(things.length > 1
                ? [
                      h(
                          "div",
                          { className: "row" },
                          ...SIDES.map(([side, label, title]) =>
                              button(label, title, () => editor.align(side), { id: `align-${side}` }),
                          ),
                          ...(things.length > 2
                              ? [
                                    button("⋯", "Spread evenly, west to east", () => editor.spread(0), {
                                        id: "spread-x",
                                    }),
                                    button("⋮", "Spread evenly, south to north", () => editor.spread(1), {
                                        id: "spread-y",
                                    }),
                                ]
                              : []),
                      ),
                  ]
                : []),
            h(
                "div",
                { className: "row array" },
                number("count", "copies"),
                number("dx", "each x"),
                number("dy", "y [m]"),
                button("Duplicate along", "So many copies, each so far from the one before", along, {
                    id: "duplicate-along",
                }),
            ),
        ];
    }

    // ---- the scene

    private whole(scene: Scene): HTMLElement[] {
        const document = scene.document as Json,
            run = (document.run as Json | undefined) ?? {},
            editor = this.app.editor;
        const patch = (path: string, had: boolean, value: unknown, say: string): void => {
            if (value === undefined && !had) return;
            const op = value === undefined ? { op: "remove", path } : { op: "add", path, value };
            void this.app.edit({ kind: "patch", patch: [op] }, say);
        };
        const box = (key: "walls" | "angles" | "guides", label: string): HTMLElement =>
            h(
                "label",
                { className: "field" },
                h("input", {
                    type: "checkbox",
                    checked: editor.snapping[key],
                    "data-key": `snap.${key}`,
                    onchange: (event: Event) => {
                        editor.snapping[key] = (event.target as HTMLInputElement).checked;
                    },
                }),
                ` ${label}`,
            );
        const grid: HTMLSelectElement = h(
            "select",
            {
                title: "Spacing of the grid that drawn points keep to",
                "data-key": "snap.grid",
                onchange: () => (editor.snapping.grid = Number(grid.value)),
            },
            ...[0, 0.01, 0.05, 0.1, 0.25, 0.5, 1].map((v) => h("option", { value: String(v) }, v ? `${v} m` : "none")),
        );
        grid.value = String(editor.snapping.grid);
        return [
            h("p", {}, "Click a thing to see and change what it is; Shift selects several."),
            h("h3", {}, "Drawing keeps to"),
            box("walls", "walls and their ends"),
            box("angles", "multiples of 15°"),
            box("guides", "lines with other corners"),
            h("div", { className: "field" }, h("label", {}, "Grid"), grid),
            h(
                "label",
                { className: "field", title: "Else the crowd stays where it is and only the change is undone" },
                h("input", {
                    type: "checkbox",
                    checked: this.app.undoTime,
                    "data-key": "undo-time",
                    onchange: (event: Event) => (this.app.undoTime = (event.target as HTMLInputElement).checked),
                }),
                " Undo goes back in time too",
            ),
            h("h3", {}, "Scene"),
            ...fieldsOf("scene").fields.map((field) =>
                this.field(field, [document[field.name]], (value) =>
                    patch(`/${field.name}`, field.name in document, value, `${words(field.name)} changed`),
                ),
            ),
            h("h3", {}, "Run"),
            ...fieldsOf("run")
                .fields.filter(({ name }) => name !== "seed" && name !== "runs")
                .map((field) =>
                    this.field({ ...field, name: `run.${field.name}` }, [run[field.name]], (value) =>
                        document.run
                            ? patch(`/run/${field.name}`, field.name in run, value, `${words(field.name)} changed`)
                            : patch("/run", false, { [field.name]: value }, `${words(field.name)} changed`),
                    ),
                ),
            ...this.levels(scene),
        ];
    }

    private levels(scene: Scene): HTMLElement[] {
        const list = (scene.document?.levels as Json[] | undefined) ?? [];
        const add = (): void => {
            const top = Math.max(0, ...scene.levels.map(({ z }) => z)),
                base = scene.levels[this.app.shown.level],
                [ox, oy] = scene.origin,
                [x0, y0, x1, y1] = base?.box ?? [0, 0, 20, 15];
            const rect = [x0 + ox, y0 + oy, x1 + ox, y1 + oy].map(round);
            // Things that left their level out are on the first one.
            const patch: Json[] = [];
            const first = scene.levels[0]?.id;
            if (scene.levels.length === 1)
                for (const path of unplaced(scene.document as Json))
                    patch.push({ op: "add", path: `${path}/level`, value: first });
            patch.push({ op: "add", path: "/levels/-", value: { z: top + 4, walkable: [{ rect }] } });
            void this.app.edit({ kind: "patch", patch }, "Level added above");
        };
        return [
            h("h3", {}, "Levels"),
            ...list.flatMap((level, k) => [
                h("b", {}, String(level.id ?? `level ${k + 1}`)),
                ...fieldsOf("levels").fields.map((field) =>
                    this.field({ ...field, name: `levels.${k}.${field.name}` }, [level[field.name]], (value) => {
                        if (field.name === "id") this.renameLevel(scene, k, value);
                        else
                            void this.app.edit(
                                { kind: "change", what: "levels", key: k, value: { [field.name]: value ?? null } },
                                `${words(field.name)} of ${String(level.id)} changed`,
                            );
                    }),
                ),
            ]),
            button("Add a level", "A floor above all others, as large as the one that is shown", add, {
                id: "add-level",
            }),
        ];
    }

    private renameLevel(scene: Scene, k: number, value: unknown): void {
        const before = scene.levels[k]?.id;
        if (typeof value !== "string" || !before || value === before) return;
        const patch = [
            { op: "replace", path: `/levels/${k}/id`, value },
            ...renamed(scene.document as Json, "levels", before, value),
        ];
        void this.app.edit({ kind: "patch", patch }, `${before} is ${value} now`);
    }
}

// Two numbers to begin a distribution with.
function firstOf(kind: string, [a, b]: [number, number]): [number, number] {
    if (kind === "uniform") return a < b ? [a, b] : [round(0.8 * a), round(1.2 * a)];
    return kind === "normal" ? [a, round(0.2 * a)] : [1, 1];
}

function elementPath(scene: Scene, thing: Thing): string {
    const measure = thing.what === "lines" || thing.what === "areas" ? "/measure" : "",
        parent = (measure ? scene.document?.measure : scene.document) as Json,
        list = parent[thing.what] as Json[];
    return `${measure}/${thing.what}/${list.findIndex((element) => element.id === thing.id)}`;
}

// Paths of the elements that leave their level out.
function unplaced(document: Json): string[] {
    const measure = (document.measure as Json | undefined) ?? {};
    const of = (parent: Json, path: string): string[] =>
        Object.entries(parent).flatMap(([list, items]) =>
            Array.isArray(items) && list !== "levels"
                ? items.flatMap((item: Json, k) =>
                      item && typeof item === "object" && item.level === undefined ? [`${path}/${list}/${k}`] : [],
                  )
                : [],
        );
    return [...of(document, ""), ...of(measure, "/measure")];
}

interface Row {
    label: string;
    values: number[];
    set: (k: number, value: number) => void;
}

function coordinates(shape: Shape, give: (next: Shape) => void): Row[] | null {
    const bare = Array.isArray(shape) ? (shape as Point[]) : null,
        s = (bare ? { points: bare } : shape) as { points?: Point[]; rect?: number[]; circle?: number[] } | null;
    const put = (values: number[], at: number, key: string) => (k: number, value: number) => {
        const next = [...values];
        next[at + k] = value;
        give({ [key]: next });
    };
    if (s?.rect)
        return [
            { label: "From", values: s.rect.slice(0, 2), set: put(s.rect, 0, "rect") },
            { label: "To", values: s.rect.slice(2), set: put(s.rect, 2, "rect") },
        ];
    if (s?.circle) return [{ label: "Middle, radius", values: s.circle, set: put(s.circle, 0, "circle") }];
    if (!s?.points || s.points.length > 60) return null;
    return s.points.map((p, row) => ({
        label: `${row + 1}`,
        values: p,
        set: (k, value) => {
            const points = (s.points as Point[]).map((q, j) =>
                j === row ? q.map((v, i) => (i === k ? value : v)) : q,
            );
            give(bare ? points : { points });
        },
    }));
}
