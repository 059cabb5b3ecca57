// The tools at the left, and the line that says what the chosen tool does and takes its options.
// SPDX-License-Identifier: Apache-2.0
import type { App } from "./app";
import { button, clear, h, redrawn, unitText, words } from "./dom";
import { say } from "./say";
import type { Thing } from "./things";
import { TOOLS } from "./tools";

export class Toolbar {
    options: Record<string, string> = {
        radius: "1.5",
        count: "50",
        rate: "2",
        "zones.speed": "0.5",
        to: "",
        group: "",
        shape: "",
        upper: "",
    };
    hint = h("div", { className: "floating hint" });
    tools = h("nav", { className: "tools", "aria-label": "tools" });

    constructor(private app: App) {
        this.fill();
    }

    // Again whenever the tools change.
    fill(): void {
        clear(
            this.tools,
            ...TOOLS.flatMap((tool) => {
                const heading: Record<string, string> = {
                    wall: "Plan",
                    group: "People",
                    zone: "Places",
                    line: "Measure",
                    erase: "Delete",
                };
                const item = button(
                    "",
                    tool.key ? `${tool.title} (${tool.key.toUpperCase()})` : tool.title,
                    () => this.setTool(tool.name),
                    {
                        id: `tool-${tool.name}`,
                        "aria-pressed": "false",
                    },
                );
                item.append(
                    h("span", {}, tool.label),
                    h("kbd", {}, tool.key === "Delete" ? "Del" : tool.key.toUpperCase()),
                );
                return heading[tool.name] ? [h("h2", {}, heading[tool.name]), item] : [item];
            }),
        );
    }

    option(name: string): string {
        if (name === "group" && !this.options.group) return this.app.scene()?.groups[0]?.id ?? "";
        return this.options[name] ?? "";
    }

    setTool(name: string): void {
        if (this.app.registry?.replay) {
            this.app.editor.choose("select");
            clear(this.hint, "A recording: play it, go back and forth, colour it, click a person.");
            return;
        }
        if (this.app.shown.view === "3d" && name !== "select") {
            this.app.note("Plans are drawn in the plan (V).");
            return;
        }
        this.app.editor.choose(name);
        for (const item of this.tools.querySelectorAll("button"))
            item.setAttribute("aria-pressed", String(item.id === `tool-${name}`));
        this.showTool();
    }

    // Shows the hint of the chosen tool, and its options with the groups and goals of the scene.
    showTool(): void {
        const tool = this.app.editor.tool,
            name = tool.name,
            scene = this.app.scene();
        const field = (key: string, label: string, type: string, step: string, doc = label, usual = ""): HTMLElement =>
            h(
                "label",
                { title: doc },
                label,
                h("input", {
                    type,
                    min: "0",
                    step,
                    id: `option-${key.replace(/.*\./, "")}`,
                    defaultValue: this.options[key] ?? "",
                    placeholder: usual,
                    title: doc,
                    onchange: (event: Event) => {
                        this.options[key] = (event.target as HTMLInputElement).value;
                    },
                }),
            );
        const number = (key: string, label: string, step: string): HTMLElement => field(key, label, "number", step);
        const choice = (key: string, label: string, items: [string, string][], doc = label): HTMLElement => {
            const select = h(
                "select",
                {
                    title: doc,
                    "aria-label": label,
                    id: `option-${key.replace(/.*\./, "")}`,
                    onchange: () => {
                        this.options[key] = select.value;
                    },
                },
                ...items.map(([value, text]) => h("option", { value }, text)),
            );
            select.value = this.option(key);
            return h("label", {}, label, select);
        };
        const parts: HTMLElement[] = [];
        if (name === "group" || name === "people") parts.push(number("count", "people", "1"));
        if (name === "source") parts.push(number("rate", "people per s", "0.1"));
        if (name === "people" || name === "clear") parts.push(number("radius", "radius [m]", "0.5"));
        if (name === "people" && scene)
            parts.push(
                choice(
                    "group",
                    "of group",
                    scene.groups.map((group) => [group.id, group.id]),
                ),
            );
        if ((name === "group" || name === "source") && scene) {
            parts.push(
                choice("to", "going to", [
                    ["", "the nearest exit"],
                    ...scene.goals.map((goal): [string, string] => [goal.id, goal.id]),
                ]),
            );
        }
        const goals = (scene?.goals ?? []).map((goal): [string, string] => [goal.id, goal.id]);
        for (const option of tool.list?.options ?? []) {
            const key = `${tool.list?.list}.${option.name}`,
                label = words(option.name) + (unitText(option.unit) ? ` [${unitText(option.unit)}]` : "");
            if (option.kind === "goal") parts.push(choice(key, label, [["", "all people"], ...goals], option.doc));
            else if (option.kind === "choice")
                parts.push(
                    choice(
                        key,
                        label,
                        option.choices.map((name): [string, string] => [
                            name === option.usual ? "" : name,
                            words(name),
                        ]),
                        option.doc,
                    ),
                );
            else parts.push(field(key, label, option.kind, "any", option.doc, option.usual));
        }
        if (name === "stairs" && scene) {
            const upper = scene.levels.map((level): [string, string] => [level.id, level.id]);
            parts.push(
                choice(
                    "upper",
                    "to level",
                    upper.filter((_, k) => k !== this.app.shown.level),
                ),
            );
        }
        if (tool.stroke === "rect" && name !== "stairs")
            parts.unshift(
                choice("shape", "as", [
                    ["", "rectangle"],
                    ["circle", "circle"],
                    ["corners", "polygon, corner by corner"],
                ]),
            );
        if (name === "wall")
            parts.unshift(
                choice("shape", "as", [
                    ["", "a line"],
                    ["corners", "a polyline, corner by corner"],
                ]),
            );
        if (["line", "rect", "path"].includes(tool.stroke)) parts.push(this.numbers());
        redrawn(this.hint, name, () => clear(this.hint, h("span", {}, tool.hint), ...parts));
        const three = this.app.shown.view === "3d";
        this.hint.hidden = three;
        for (const item of this.tools.querySelectorAll("button")) {
            item.disabled = three && item.id !== "tool-select"; // plans are drawn in the plan
            item.title = item.dataset.title ??= item.title;
            if (item.disabled) item.title = say(`${item.title}: in the plan`);
        }
    }

    // Coordinates typed instead of drawn.
    private numbers(): HTMLElement {
        const doc = "Draw by numbers: x y, x y in metres of the scene file, then Enter";
        const input: HTMLInputElement = h("input", {
            type: "text",
            id: "option-points",
            placeholder: "x y, x y",
            title: doc,
            onkeydown: (event: Event) => {
                if ((event as KeyboardEvent).key !== "Enter") return;
                if (this.app.editor.typed(input.value)) input.value = "";
                else this.app.note("Give at least two points as x y, x y", true);
            },
        });
        return h("label", { title: doc }, "or by numbers", input);
    }

    selected(things: Thing[]): void {
        const thing = things[0];
        if (!thing) {
            this.showTool();
            return;
        }
        const one = things.length === 1,
            door = one && thing.kind === "door";
        clear(
            this.hint,
            h("b", {}, one ? nameOf(thing) : `${things.length} things`),
            door
                ? button("Open or shut", "Open or shut the door", () => {
                      const open = this.app.plans[this.app.editor.world].doorsOpen[thing.index] ?? true;
                      void this.app.edit(
                          { kind: "door", door: thing.id, open: !open },
                          `${thing.id} ${open ? "shut" : "opened"}`,
                      );
                  })
                : null,
            h("span", {}, one ? (thing.line ? "Drag it or its ends." : "Drag it, or a handle.") : "Drag them."),
            button("Delete", "Delete it (Del)", () => this.app.editor.remove(this.app.editor.chosen)),
        );
    }

    deleteKey(): void {
        if (this.app.editor.selection) this.app.editor.remove(this.app.editor.chosen);
        else this.setTool("erase");
    }
}

export function nameOf(thing: Thing): string {
    return `${TOOLS.find((tool) => tool.name === thing.kind)?.label ?? words(thing.kind)} ${thing.id}`.trim();
}
