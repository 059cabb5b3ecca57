// The bars above and below: files, views, the run, its numbers; the keyboard and the help that lists it.
// SPDX-License-Identifier: Apache-2.0
import type { App } from "./app";
import { button, clear, clock, grouped, h, short } from "./dom";
import { LANGUAGES, chooseLanguage, language, say } from "./say";
import { TOOLS } from "./tools";
import type { Key } from "./keys";
import type { Scene, State } from "./types";

const SPEEDS: [string, number][] = [
    ["¼×", 0.25],
    ["½×", 0.5],
    ["1×", 1],
    ["2×", 2],
    ["4×", 4],
    ["8×", 8],
    ["Max", 0],
];
export class Controls {
    keys: Key[] = [];
    scrubbing = false;
    title = h("span", { className: "name" });
    play = button("▶ Play", "Play or pause (Space)", () => this.app.toggle(), { className: "play", id: "play" });
    undo = button("↶", "Undo (Ctrl+Z)", () => this.app.history("undo"), { id: "undo" });
    redo = button("↷", "Redo (Ctrl+Y)", () => this.app.history("redo"), { id: "redo" });
    compare = button(
        "Compare",
        "The same scene and seed under two configurations, side by side (C)",
        () => this.app.toggleCompare(),
        { id: "compare", "aria-pressed": "false" },
    );
    planButton = button("Plan", "Plan view (V)", () => this.app.setView("plan"), { id: "plan" });
    spaceButton = button("3D", "Walking people in 3D (V)", () => this.app.setView("3d"), { id: "space" });
    camera = h(
        "select",
        {
            title: "Camera of the 3D view (K)",
            id: "camera",
            hidden: true,
            onchange: () => this.app.setCamera(this.camera.value),
        },
        h("option", { value: "orbit" }, "Orbit"),
        h("option", { value: "walk" }, "Walk (W A S D)"),
        h("option", { value: "follow" }, "Follow the chosen"),
        h("option", { value: "eyes" }, "With its eyes"),
        h("option", { value: "path" }, "Along the path"),
    );
    levels = h("select", {
        title: "Which level the plan shows (PageUp, PageDown)",
        id: "level",
        hidden: true,
        onchange: () => this.app.setLevel(Number(this.levels.value)),
    });
    levelMode = h(
        "select",
        {
            title: "Levels of the 3D view",
            id: "levels",
            hidden: true,
            onchange: () => this.app.setLevelMode(this.levelMode.value),
        },
        h("option", { value: "one" }, "One level"),
        h("option", { value: "stacked" }, "Stacked"),
        h("option", { value: "apart" }, "Pulled apart"),
    );
    speed = h(
        "select",
        {
            title: "How fast time passes ([ and ])",
            id: "speed",
            onchange: () => void this.app.ask("speed", { times: Number(this.speed.value) }),
        },
        ...SPEEDS.map(([label, times]) => h("option", { value: String(times), selected: times === 1 }, label)),
    );
    seed = h("input", {
        type: "number",
        min: "1",
        step: "1",
        className: "seed",
        id: "seed",
        title: "Seed of the random numbers: restarts with another crowd",
        onchange: () =>
            void this.app.ask(
                "seed",
                { seed: Math.max(1, Math.round(Number(this.seed.value) || 1)) },
                `Seed ${this.seed.value}`,
            ),
    });
    scrub = h("input", {
        type: "range",
        min: "0",
        max: "1",
        step: "any",
        value: "1",
        id: "scrub",
        title: "Back through the last minutes (comma and dot)",
        "aria-label": "time shown",
        oninput: () => this.scrubTo(Number(this.scrub.value)),
    });
    live = button("Now", "Back to the present (Home)", () => this.app.backToNow(), { id: "now", hidden: true });
    branch = button("Go on from here", "Go on from the moment that is shown; undo brings the present back", () => this.app.branch(), {
        id: "branch",
        hidden: true,
    }); // prettier-ignore
    meters = Object.fromEntries(
        ["time", "inside", "left", "rate", "real"].map((name) => [name, h("b", { id: `meter-${name}` }, "–")]),
    );
    help = h("dialog", { id: "help" });

    constructor(private app: App) {}

    header(): HTMLElement {
        return h(
            "header",
            {},
            h("h1", { className: "brand" }, "throng"),
            this.title,
            button("New…", "Empty scene or a template (N)", () => this.app.files.showTemplates(), { id: "new" }),
            button(
                "Open…",
                "A scene, a drawing (DXF, IFC), a map, a WKT or GeoJSON plan, a picture of a floor plan or a recording (or drop it on the page)",
                () => this.app.files.file.click(),
                { id: "open" },
            ),
            button(
                "Save",
                "Download the scene as edited: throng run accepts it (Ctrl+S)",
                () => void this.app.files.save(),
                {
                    id: "save",
                },
            ),
            h("span", { className: "joined" }, this.undo, this.redo),
            h("span", { className: "space-between" }),
            this.levels,
            this.levelMode,
            this.camera,
            h("span", { className: "joined" }, this.planButton, this.spaceButton),
            this.compare,
            button("Fit", "Show the whole scene (F)", () => this.app.fit(), { id: "fit" }),
            button("◐", "Light or dark (T)", () => this.app.toggleTheme(), { id: "theme" }),
            button("?", "Help and keys (?)", () => this.showHelp(), {
                id: "help-button",
                "aria-label": "? Help and keys",
            }),
            button("☰", "Show or hide the panels (P)", () => this.app.togglePanels(), { id: "panels" }),
            this.app.files.file,
        );
    }

    footer(): HTMLElement {
        const meter = (name: string, label: string, title: string): HTMLElement =>
            h("span", { className: "meter", title }, this.meters[name], h("small", {}, label));
        return h(
            "footer",
            {},
            this.play,
            button("Step", "One step (.)", () => void this.app.ask("step", { n: 1 }), { id: "step" }),
            button(
                "↺",
                "Restart from the beginning, as edited (R)",
                () => void this.app.ask("restart", {}, "Restarted"),
                {
                    id: "restart",
                },
            ),
            this.speed,
            h("label", {}, "Seed", this.seed),
            meter("time", "time [min:s]", "Simulated time"),
            h("span", { className: "scrub" }, this.scrub, this.live, this.branch),
            meter("inside", "inside", "People in the scene now"),
            meter("left", "left", "People that have left through an exit"),
            meter("rate", "steps/s", "Steps that are computed per second"),
            meter("real", "× real time", "Simulated seconds per second"),
        );
    }

    // Again whenever the tools change.
    defineKeys(): void {
        this.keys.length = 0;
        const add = (group: Key["group"], key: string, show: string, does: string, run: () => void): void => {
            this.keys.push({ group, key, show, does, run });
        };
        add("Run", " ", "Space", "play, pause", () => this.app.toggle());
        add("Run", ".", ".", "one step", () => void this.app.ask("step", { n: 1 }));
        add("Run", ",", ",", "one second back", () => this.back(1));
        add("Run", "r", "R", "restart", () => void this.app.ask("restart", {}, "Restarted"));
        add("Run", "[", "[", "slower", () => this.changeSpeed(-1));
        add("Run", "]", "]", "faster", () => this.changeSpeed(1));
        add("Run", "Home", "Home", "back to now", () => this.app.backToNow());
        add("Run", "c", "C", "compare two configurations", () => this.app.toggleCompare());
        add("Look", "v", "V", "plan or 3D", () => this.app.setView(this.app.shown.view === "3d" ? "plan" : "3d"));
        add("Look", "f", "F", "show the whole scene", () => this.app.fit());
        add("Look", "+", "+", "nearer", () => this.app.plans[0].zoom(1.25));
        add("Look", "-", "−", "farther", () => this.app.plans[0].zoom(0.8));
        for (const [key, dx, dy] of [
            ["ArrowLeft", -1, 0],
            ["ArrowRight", 1, 0],
            ["ArrowUp", 0, 1],
            ["ArrowDown", 0, -1],
        ] as const) {
            const first = key === "ArrowLeft";
            add("Look", key, first ? "← ↑ → ↓" : "", "look around; move what is selected", () =>
                this.app.arrow(dx, dy),
            );
            add("Edit", `ctrl+${key}`, first ? "Ctrl ← ↑ → ↓" : "", "move ten steps of the grid", () =>
                this.app.arrow(dx, dy, true),
            );
        }
        add("Look", "h", "H", "heat map of density", () => this.app.looks.toggleHeat());
        add("Look", "i", "I", "next colour", () => this.app.looks.nextColour());
        add("Look", "n", "N", "new scene, templates", () => this.app.files.showTemplates());
        add("Look", "y", "Y", "names on the plan", () => this.app.toggleNames());
        add("Look", "k", "K", "next camera", () => this.app.nextCamera());
        add("Look", "F7", "F7", "camera here now: a key frame of its path", () => this.app.shots.keyFrame());
        add("Look", "F8", "F8", "clean picture, 3840 pixels wide", () => void this.app.shots.picture());
        add("Look", "F9", "F9", "clip of 10 s (3D)", () => void this.app.shots.clip());
        add("Look", "t", "T", "light or dark", () => this.app.toggleTheme());
        add("Look", "p", "P", "panels", () => this.app.togglePanels());
        add("Look", "PageUp", "PgUp", "level up", () => this.app.setLevel(this.app.shown.level + 1));
        add("Look", "PageDown", "PgDn", "level down", () => this.app.setLevel(this.app.shown.level - 1));
        add("Look", "?", "?", "this help", () => this.showHelp());
        for (const tool of TOOLS.filter(({ key }) => key !== "")) {
            if (tool.key === "Delete")
                add("Edit", "Delete", "Del", "delete what is selected, or the delete tool", () =>
                    this.app.toolbar.deleteKey(),
                );
            else
                add(
                    "Edit",
                    tool.key,
                    tool.key.toUpperCase(),
                    tool.title.charAt(0).toLowerCase() + tool.title.slice(1),
                    () => this.app.toolbar.setTool(tool.name),
                );
        }
        add("Edit", "Escape", "Esc", "put the tool away, let go", () => this.app.escape());
        add("Edit", "Enter", "Enter", "draw by keys: a point that the arrows move", () => this.app.editor.enter());
        add("Edit", "ctrl+c", "Ctrl C", "copy", () => this.app.editor.copy());
        add("Edit", "ctrl+v", "Ctrl V", "paste", () => this.app.editor.paste());
        add("Edit", "ctrl+d", "Ctrl D", "duplicate", () => this.app.editor.duplicate());
        add("Edit", "q", "Q", "turn by 15° what is selected", () => this.app.editor.turn(15));
        add("Edit", "ctrl+z", "Ctrl Z", "undo", () => this.app.history("undo"));
        add("Edit", "ctrl+y", "Ctrl Y", "redo", () => this.app.history("redo"));
        add("Edit", "ctrl+s", "Ctrl S", "save the scene", () => void this.app.files.save());
    }

    keyNames(): string[] {
        return this.keys.map((key) => key.key);
    }

    levelMenus(scene: Scene): void {
        clear(
            this.levels,
            ...scene.levels.map((level, k) => h("option", { value: String(k) }, level.id || `Level ${k}`)),
        );
        this.levels.value = String(this.app.shown.level);
        const several = scene.levels.length > 1;
        this.levels.hidden = !several;
        this.levelMode.hidden = !several || this.app.shown.view !== "3d";
        this.levelMode.value = this.app.shown.levels;
        this.camera.hidden = this.app.shown.view !== "3d";
        this.camera.value = this.app.shown.camera;
        this.planButton.setAttribute("aria-pressed", String(this.app.shown.view === "plan"));
        this.spaceButton.setAttribute("aria-pressed", String(this.app.shown.view === "3d"));
    }

    changeSpeed(by: number): void {
        const k = SPEEDS.findIndex(([, times]) => times === (this.app.state?.speed ?? 1));
        const [label, times] = SPEEDS[Math.min(SPEEDS.length - 1, Math.max(0, (k < 0 ? 2 : k) + by))];
        void this.app.ask("speed", { times }, `Speed ${label}`);
        this.speed.value = String(times);
    }

    scrubTo(time: number): void {
        this.scrubbing = true;
        void this.app.ask("scrub", { time }).then(() => {
            this.scrubbing = false;
        });
    }

    back(seconds: number): void {
        const state = this.app.state;
        if (!state) return;
        const now = state.scrub ?? state.worlds[0].time;
        this.scrubTo(Math.max(state.history?.[0] ?? 0, now - seconds));
    }

    showHelp(): void {
        const section = (group: Key["group"]): HTMLElement[] => [
            h("h3", {}, group),
            h(
                "div",
                { className: "keys" },
                ...this.keys
                    .filter((key) => key.group === group && key.show)
                    .map((key) => h("div", {}, h("span", {}, key.does), h("kbd", {}, key.show))),
            ),
        ];
        clear(
            this.help,
            h("h2", {}, "How to use the studio"),
            h(
                "p",
                {},
                "Press Play. Draw a wall in the way (W), shut a door by a click, add people with the brush (B): the crowd answers at once. " +
                    "Wheel or pinch to zoom, drag to look around, Shift-drag with any tool. Click a person to see what drives it.",
            ),
            ...section("Run"),
            ...section("Look"),
            ...section("Edit"),
            h("label", { className: "row" }, "Language", this.languages()),
            h("p", {}, `throng ${this.app.registry?.version ?? ""}`),
            button("Close", "Close (Esc)", () => this.help.close()),
        );
        if (!this.help.open) this.help.showModal();
        this.help.scrollTop = 0; // the button at its end has the focus
    }

    private languages(): HTMLElement {
        const select = h(
            "select",
            { id: "language", title: "Language of the page", onchange: () => chooseLanguage(select.value) },
            ...Object.entries(LANGUAGES).map(([value, { name }]) => h("option", { value, lang: value }, name)),
        );
        select.value = language;
        return select;
    }

    update(state: State): void {
        const world = state.worlds[0];
        this.play.textContent = say(state.playing ? "❚❚ Pause" : world.done ? "↺ Again" : "▶ Play");
        this.undo.disabled = state.undo === 0;
        this.redo.disabled = state.redo === 0;
        const shownTime = state.scrub ?? world.time;
        this.meters.time.textContent = clock(shownTime);
        this.meters.inside.textContent = grouped(world.inside);
        this.meters.left.textContent = grouped(world.left);
        this.meters.rate.textContent =
            state.playing && state.steps_per_second > 0 ? short(state.steps_per_second) : "–";
        this.meters.real.textContent = state.playing ? short(state.real_time) : "–";
        if (document.activeElement !== this.speed) {
            const value = String(state.speed);
            // Another client may have chosen what is not in the list.
            if (![...this.speed.options].some((option) => option.value === value))
                this.speed.append(h("option", { value }, `${short(state.speed)}×`));
            this.speed.value = value;
        }
        const [from, to] = state.history ?? [0, world.time];
        this.scrub.min = String(from);
        this.scrub.max = String(Math.max(from + 0.01, this.app.registry?.replay ? (state.duration ?? to) : to));
        if (!this.scrubbing) this.scrub.value = String(shownTime);
        this.live.hidden = state.scrub === null || this.app.registry?.replay === true;
        this.branch.hidden = this.live.hidden || state.compare;
    }
}
