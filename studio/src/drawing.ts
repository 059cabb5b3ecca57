// Drawings, maps and other simulators' scenes, which the program imports: sent to it, told what became of every layer, and
// imported again with other parts for them. SPDX-License-Identifier: Apache-2.0
import type { App } from "./app";
import type { Json } from "./decode";
import { button, clear, h } from "./dom";
import type { Reply } from "./link";

const DRAWING = /\.(dxf|ifc|ifc\.gz|osm|osm\.gz|pbf|gpkg|shp|kml|gml|fgb|scenario)$/i;
const UNITS = ["mm", "cm", "dm", "m", "km", "in", "ft", "yd"];

// By its name, or JSON of JuPedSim or Vadere; throng's own scenes have levels.
export function isDrawing(name: string, start: string): boolean {
    if (DRAWING.test(name)) return true;
    return /\.json$/i.test(name) && /"(walkable_area_wkt|wktFile|scenario)"\s*:/.test(start);
}

// "walls@upper" is a part and the levels it is on.
export function splitPart(text: string): [string, string] {
    const at = text.indexOf("@");
    return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

export class Drawing {
    dialog = h("dialog", { id: "drawing", "aria-label": "What became of the drawing" });
    private name = "";
    private occupants = "";
    private recipe: Json | null = null;
    private layers = new Map<string, { part: HTMLSelectElement; level: HTMLInputElement }>();
    private unit = h("select", { title: "The drawing's unit", id: "drawing-unit" });
    private close = this.number("Gaps up to this are closed [m]", "drawing-close", 0, 1);
    private turn = this.number("Turned counter-clockwise [degrees]", "drawing-turn", -360, 360);
    private people = this.number("People put on the ground", "drawing-people", 0, 1e6);

    constructor(private app: App) {}

    // The first drawing of the files; the others belong to it. `send` takes a file to the program.
    async open(files: File[], main: File, send: (file: File) => Promise<boolean>): Promise<void> {
        if (!(await this.app.keeper.mayDiscard())) return;
        for (const file of files) if (!(await send(file))) return;
        this.name = main.name;
        this.occupants = files.find((file) => /\.csv$/i.test(file.name))?.name ?? "";
        this.people.value = "0";
        await this.ask({});
    }

    private number(title: string, id: string, min: number, max: number): HTMLInputElement {
        return h("input", { type: "number", step: "any", min: String(min), max: String(max), value: "0", title, id });
    }

    private async ask(more: Json): Promise<void> {
        this.app.note(`Reading ${this.name}`);
        const occupants = this.occupants ? { occupants: this.occupants } : {};
        const reply = await this.app.ask("import", { name: this.name, ...occupants, ...more });
        if (reply.ok) this.show(reply);
    }

    private again(): void {
        const layers: Record<string, string> = {};
        for (const [name, { part, level }] of this.layers)
            layers[name] = level.value.trim() ? `${part.value}@${level.value.trim()}` : part.value;
        const unit = this.unit.value ? { unit: this.unit.value } : {};
        const recipe: Json = {
            ...this.recipe,
            ...unit,
            close: Number(this.close.value),
            turn: Number(this.turn.value),
            layers,
        };
        void this.ask({ import: recipe, people: Number(this.people.value) });
    }

    private row([name, as]: [string, unknown], parts: string[]): HTMLElement {
        const [part, level] = splitPart(String(as));
        const choice = h(
            "select",
            { title: `What the layer ${name} is`, "data-layer": name },
            ...parts.map((one) => h("option", { value: one }, one)),
        );
        choice.value = part;
        const at = h("input", {
            type: "text",
            value: level,
            title: `Level of the layer ${name}; of stairs both, LOWER@UPPER`,
        });
        this.layers.set(name, { part: choice, level: at });
        return h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, choice), h("td", {}, at));
    }

    // The parts of the layers, as far as the file has any.
    private mapping(recipe: Json, parts: string[]): HTMLElement[] {
        const unit = typeof recipe.unit === "string" ? recipe.unit : "";
        clear(this.unit, ...["", ...UNITS].map((one) => h("option", { value: one }, one || "–")));
        this.unit.value = unit;
        this.close.value = String(recipe.close ?? 0.05);
        this.turn.value = String(recipe.turn ?? 0);
        const label = (text: string, input: HTMLElement): HTMLElement => h("label", {}, text, input);
        return [
            h(
                "div",
                { className: "row" },
                label("Unit", this.unit),
                label("Close gaps [m]", this.close),
                label("Turn [°]", this.turn),
                label("People", this.people),
            ),
            h(
                "table",
                {},
                h("tr", {}, h("th", {}, "Layer"), h("th", {}, "Taken as"), h("th", {}, "On level")),
                ...Object.entries((recipe.layers as Json | undefined) ?? {}).map((one) => this.row(one, parts)),
            ),
        ];
    }

    private show(reply: Reply): void {
        const fault = typeof reply.fault === "string" ? reply.fault : "",
            told = String(reply.told ?? "");
        this.recipe = (reply.recipe as Json | undefined) ?? null;
        this.layers.clear();
        const parts = String(reply.parts ?? "").split(", ");
        const again = button("Import again", "Read the drawing with these parts", () => this.again(), {
            id: "drawing-again",
        });
        clear(
            this.dialog,
            h("h2", {}, this.name),
            h("p", { className: fault ? "fault" : "" }, fault || "The drawing is on show as a scene."),
            ...(this.recipe ? this.mapping(this.recipe, parts) : []),
            told ? h("pre", { tabIndex: 0, "aria-label": "What was found, closed, joined and left out" }, told) : null,
            h(
                "div",
                { className: "row" },
                this.recipe ? again : null,
                button("Done", "Go on with the scene as it is (Esc)", () => this.dialog.close(), {
                    id: "drawing-done",
                }),
            ),
        );
        this.dialog.dataset.opened = String(reply.opened === true);
        if (!this.dialog.isConnected) document.body.append(this.dialog);
        if (!this.dialog.open) this.dialog.showModal();
        this.dialog.scrollTop = 0;
    }
}
