// The studio: joins the link to the crowd, the views, the panels and the tools. SPDX-License-Identifier: Apache-2.0
import { readAddress, writeAddress, type Shown } from "./address";
import { CATEGORIES, MAPS, categoryTable, css, gradient, sample, table, ticks, type Rgb } from "./colours";
import { decodeHello, decodeScene, type Json } from "./decode";
import { button, clear, clock, grouped, h, short, unitText, words } from "./dom";
import { Editor, TOOLS, type EditorHost, type Thing, type ToolName } from "./editor";
import { listen, type Key } from "./keys";
import type { Link, Listener, Reply } from "./link";
import { ChartsPanel, ModelsPanel, PersonPanel, WarningsPanel } from "./panels";
import { PlanView, type Underlay } from "./plan";
import { View3d, type CameraMode, type LevelMode } from "./view3d";
import type {
    ChartRow,
    ColourValue,
    Inspection,
    Layer,
    People,
    Raster,
    Registry,
    Scene,
    State,
    Vectors,
    Warning,
} from "./types";
import { boxOf } from "./types";

const SPEEDS: [string, number][] = [
    ["¼×", 0.25],
    ["½×", 0.5],
    ["1×", 1],
    ["2×", 2],
    ["4×", 4],
    ["8×", 8],
    ["Max", 0],
];
const TABS: [string, string][] = [
    ["view", "View"],
    ["models", "Models"],
    ["charts", "Charts"],
    ["warnings", "Warnings"],
    ["person", "Person"],
];

export class App implements Listener, EditorHost {
    link: Link | null = null;
    registry: Registry | null = null;
    scenes: (Scene | null)[] = [null, null];
    state: State | null = null;
    crowd: (People | null)[] = [null, null];
    frames = 0;
    replies = 0;
    shown: Shown = readAddress(location.hash);
    plans = [new PlanView(), new PlanView()];
    space: View3d | null = null;
    editor = new Editor(this);
    inspection: Inspection | null = null;
    private following = false;
    private vectorsOf = 0;
    private rasters: (Raster | null)[] = [null, null];
    private underlay: (Underlay & { scaling: [number, number][] }) | null = null;
    private options: Record<string, string> = {
        radius: "1.5",
        count: "50",
        rate: "2",
        speed: "0.5",
        to: "",
        group: "",
    };
    private fitted = "";
    private viewTimer = 0;
    private addressTimer = 0;
    private scrubbing = false;
    private keys: Key[] = [];

    private models = new ModelsPanel({
        send: (verb, args, say) => void this.ask(verb, args, say),
        showPlace: () => {},
        names: () => [],
    });
    private charts = new ChartsPanel();
    private warnings = new WarningsPanel({
        send: () => {},
        showPlace: (warning) => this.showPlace(warning),
        names: () => [],
    });
    private person = new PersonPanel(
        () => this.inspect(-1, 0),
        () => (this.following = !this.following),
    );
    private viewPanel = h("div", { className: "panel" });
    private panels: Record<string, HTMLElement> = {
        view: this.viewPanel,
        models: this.models.element,
        charts: this.charts.element,
        warnings: this.warnings.element,
        person: this.person.element,
    };
    private side = h("aside", { "aria-label": "panels" });
    private tabs = h("div", { className: "tabs", role: "tablist" });
    private panes = this.plans.map((plan) => h("div", { className: "pane" }, plan.element));
    private stage = h("main", { className: "stage" }, ...this.panes);
    private legend = h("div", { className: "floating legend" });
    private hint = h("div", { className: "floating hint" });
    private toasts = h("div", { className: "jam", "aria-live": "polite" });
    private tools = h("nav", { className: "tools", "aria-label": "tools" });
    private title = h("span", { className: "name" });
    private play = button("▶ Play", "Play or pause (Space)", () => this.toggle(), { className: "play", id: "play" });
    private undo = button("↶", "Undo (Ctrl+Z)", () => this.history("undo"), { id: "undo" });
    private redo = button("↷", "Redo (Ctrl+Y)", () => this.history("redo"), { id: "redo" });
    private compare = button(
        "Compare",
        "The same scene and seed under two configurations, side by side (C)",
        () => this.toggleCompare(),
        { id: "compare", "aria-pressed": "false" },
    );
    private planButton = button("Plan", "Plan view (V)", () => this.setView("plan"), { id: "plan" });
    private spaceButton = button("3D", "Walking people in 3D (V)", () => this.setView("3d"), { id: "space" });
    private camera = h(
        "select",
        { title: "Camera of the 3D view (K)", id: "camera", onchange: () => this.setCamera(this.camera.value) },
        h("option", { value: "orbit" }, "Orbit"),
        h("option", { value: "walk" }, "Walk (W A S D)"),
        h("option", { value: "follow" }, "Follow the chosen"),
    );
    private levels = h("select", {
        title: "Which level the plan shows (PageUp, PageDown)",
        id: "level",
        hidden: true,
        onchange: () => this.setLevel(Number(this.levels.value)),
    });
    private levelMode = h(
        "select",
        {
            title: "Levels of the 3D view",
            id: "levels",
            hidden: true,
            onchange: () => this.setLevelMode(this.levelMode.value),
        },
        h("option", { value: "one" }, "One level"),
        h("option", { value: "stacked" }, "Stacked"),
        h("option", { value: "apart" }, "Pulled apart"),
    );
    private speed = h(
        "select",
        {
            title: "How fast time passes ([ and ])",
            id: "speed",
            onchange: () => void this.ask("speed", { times: Number(this.speed.value) }),
        },
        ...SPEEDS.map(([label, times]) => h("option", { value: String(times) }, label)),
    );
    private seed = h("input", {
        type: "number",
        min: "1",
        step: "1",
        className: "seed",
        id: "seed",
        title: "Seed of the random numbers: restarts with another crowd",
        onchange: () =>
            void this.ask(
                "seed",
                { seed: Math.max(1, Math.round(Number(this.seed.value) || 1)) },
                `Seed ${this.seed.value}`,
            ),
    });
    private scrub = h("input", {
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
    private live = button("Now", "Back to the present (Home)", () => this.backToNow(), { id: "now", hidden: true });
    private meters = Object.fromEntries(
        ["time", "inside", "left", "rate", "real"].map((name) => [name, h("b", { id: `meter-${name}` }, "–")]),
    );
    private file = h("input", {
        type: "file",
        hidden: true,
        accept: ".json,.wkt,.geojson,.png,.jpg,.jpeg,.webp,.svg",
        id: "file",
        onchange: () => {
            for (const file of this.file.files ?? []) void this.openFile(file);
            this.file.value = "";
        },
    });
    private lost = h("div", { className: "lost", hidden: true });
    private help = h("dialog", { id: "help" });
    private start = h("dialog", { id: "templates" });
    private same = h("span", { className: "tag", hidden: true, id: "same" });

    constructor(root: HTMLElement) {
        this.theme(this.shown.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));
        this.build(root);
        this.defineKeys();
        listen(this.keys);
        this.plans.forEach((plan, world) => {
            this.editor.attach(plan, world);
            plan.surface.addEventListener("contextmenu", (event) => event.preventDefault());
            plan.onMoved = () => this.cameraMoved(world);
        });
        this.setTool("select");
        this.setTab(this.shown.panel);
        this.dropFiles();
    }

    // ---- the page
    private build(root: HTMLElement): void {
        const meter = (name: string, label: string, title: string): HTMLElement =>
            h("span", { className: "meter", title }, this.meters[name], h("small", {}, label));
        const header = h(
            "header",
            {},
            h("span", { className: "brand" }, "throng"),
            this.title,
            button("New…", "Empty scene or a template (N)", () => this.showTemplates(), { id: "new" }),
            button(
                "Open…",
                "A scene, a WKT or GeoJSON plan, or a picture of a floor plan (or drop it on the page)",
                () => this.file.click(),
                { id: "open" },
            ),
            button("Save", "Download the scene as edited: throng run accepts it (Ctrl+S)", () => void this.save(), {
                id: "save",
            }),
            h("span", { className: "joined" }, this.undo, this.redo),
            h("span", { className: "space-between" }),
            this.levels,
            this.levelMode,
            this.camera,
            h("span", { className: "joined" }, this.planButton, this.spaceButton),
            this.compare,
            button("Fit", "Show the whole scene (F)", () => this.fit(), { id: "fit" }),
            button("◐", "Light or dark (T)", () => this.toggleTheme(), { id: "theme" }),
            button("?", "Help and keys (?)", () => this.showHelp(), { id: "help-button" }),
            button("☰", "Show or hide the panels (P)", () => this.togglePanels(), { id: "panels" }),
            this.file,
        );
        const footer = h(
            "footer",
            {},
            this.play,
            button("Step", "One step (.)", () => void this.ask("step", { n: 1 }), { id: "step" }),
            button("↺", "Restart from the beginning, as edited (R)", () => void this.ask("restart", {}, "Restarted"), {
                id: "restart",
            }),
            this.speed,
            h("label", {}, "Seed", this.seed),
            meter("time", "time [min:s]", "Simulated time"),
            h("span", { className: "scrub" }, this.scrub, this.live),
            meter("inside", "inside", "People in the scene now"),
            meter("left", "left", "People who have left through an exit"),
            meter("rate", "steps/s", "Steps that are computed per second"),
            meter("real", "× real time", "Simulated seconds per second"),
        );
        this.tools.append(
            ...TOOLS.flatMap((tool) => {
                const heading: Partial<Record<ToolName, string>> = {
                    wall: "Plan",
                    group: "People",
                    line: "Measure",
                    erase: "Delete",
                };
                const item = button("", `${tool.title} (${tool.key.toUpperCase()})`, () => this.setTool(tool.name), {
                    id: `tool-${tool.name}`,
                    "aria-pressed": "false",
                });
                item.append(
                    h("span", {}, tool.label),
                    h("kbd", {}, tool.key === "Delete" ? "Del" : tool.key.toUpperCase()),
                );
                return heading[tool.name] ? [h("h3", {}, heading[tool.name]), item] : [item];
            }),
        );
        for (const [name, label] of TABS) {
            this.tabs.append(
                button(label, `Panel: ${label}`, () => this.setTab(name), { role: "tab", id: `tab-${name}` }),
            );
        }
        this.side.append(this.tabs, ...Object.values(this.panels));
        this.panes[1].hidden = true;
        this.panes[0].append(this.same);
        this.stage.append(this.legend, this.hint, this.toasts, this.lost);
        root.append(header, this.tools, this.stage, this.side, footer, this.help, this.start);
    }

    private defineKeys(): void {
        const add = (group: Key["group"], key: string, show: string, does: string, run: () => void): void => {
            this.keys.push({ group, key, show, does, run });
        };
        add("Run", " ", "Space", "play, pause", () => this.toggle());
        add("Run", ".", ".", "one step", () => void this.ask("step", { n: 1 }));
        add("Run", ",", ",", "one second back", () => this.back(1));
        add("Run", "r", "R", "restart", () => void this.ask("restart", {}, "Restarted"));
        add("Run", "[", "[", "slower", () => this.changeSpeed(-1));
        add("Run", "]", "]", "faster", () => this.changeSpeed(1));
        add("Run", "Home", "Home", "back to now", () => this.backToNow());
        add("Run", "c", "C", "compare two configurations", () => this.toggleCompare());
        add("Look", "v", "V", "plan or 3D", () => this.setView(this.shown.view === "3d" ? "plan" : "3d"));
        add("Look", "f", "F", "show the whole scene", () => this.fit());
        add("Look", "+", "+", "nearer", () => this.plans[0].zoom(1.25));
        add("Look", "-", "−", "farther", () => this.plans[0].zoom(0.8));
        for (const [key, dx, dy] of [
            ["ArrowLeft", 60, 0],
            ["ArrowRight", -60, 0],
            ["ArrowUp", 0, 60],
            ["ArrowDown", 0, -60],
        ] as const) {
            add("Look", key, key === "ArrowLeft" ? "← ↑ → ↓" : "", "look around", () => this.plans[0].pan(dx, dy));
        }
        add("Look", "h", "H", "heat map of density", () => this.toggleHeat());
        add("Look", "i", "I", "next colour", () => this.nextColour());
        add("Look", "n", "N", "new scene, templates", () => this.showTemplates());
        add("Look", "y", "Y", "names on the plan", () => this.toggleNames());
        add("Look", "k", "K", "next camera", () => this.nextCamera());
        add("Look", "t", "T", "light or dark", () => this.toggleTheme());
        add("Look", "p", "P", "panels", () => this.togglePanels());
        add("Look", "PageUp", "PgUp", "level up", () => this.setLevel(this.shown.level + 1));
        add("Look", "PageDown", "PgDn", "level down", () => this.setLevel(this.shown.level - 1));
        add("Look", "?", "?", "this help", () => this.showHelp());
        for (const tool of TOOLS) {
            if (tool.key === "Delete")
                add("Edit", "Delete", "Del", "delete what is selected, or the delete tool", () => this.deleteKey());
            else
                add(
                    "Edit",
                    tool.key,
                    tool.key.toUpperCase(),
                    tool.title.charAt(0).toLowerCase() + tool.title.slice(1),
                    () => this.setTool(tool.name),
                );
        }
        add("Edit", "Escape", "Esc", "put the tool away, let go", () => this.escape());
        add("Edit", "ctrl+z", "Ctrl Z", "undo", () => this.history("undo"));
        add("Edit", "ctrl+y", "Ctrl Y", "redo", () => this.history("redo"));
        add("Edit", "ctrl+s", "Ctrl S", "save the scene", () => void this.save());
    }

    keyNames(): string[] {
        return this.keys.map((key) => key.key);
    }

    // ---- requests
    async ask(verb: string, args: Json = {}, say?: string): Promise<Reply> {
        if (!this.link) return { ok: false, error: "not connected" };
        const reply = await this.link.request(verb, args);
        this.replies++;
        if (!reply.ok) this.note([reply.error, reply.cure].filter(Boolean).join(". "), true);
        else if (say) this.note(say);
        return reply;
    }

    edit(args: Json, say: string): void {
        void this.ask("edit", args).then((reply) => {
            if (!reply.ok || !say) return;
            const lost = Number(reply.lost ?? 0);
            this.note(say + (lost > 0 ? `; ${grouped(lost)} people had no place any more` : ""));
        });
    }

    note(text: string, bad = false): void {
        if (!text) return;
        const toast = h("div", { className: bad ? "toast bad" : "toast" }, text);
        this.toasts.append(toast);
        while (this.toasts.childElementCount > 3) this.toasts.firstElementChild?.remove();
        setTimeout(() => toast.remove(), bad ? 9000 : 2600);
    }

    // ---- Listener
    status(status: "open" | "lost", text: string): void {
        this.lost.hidden = status === "open";
        clear(this.lost, h("div", {}, h("h2", {}, "Not connected"), h("p", {}, text)));
    }

    event(event: Json): void {
        switch (event.event) {
            case "hello":
                this.hello(decodeHello(event));
                break;
            case "scene":
                this.scene_(decodeScene(event));
                break;
            case "state":
                this.stateCame(event as unknown as State);
                break;
            case "chart":
                this.chartRows(Number(event.world ?? 0), event.rows as ChartRow[]);
                break;
            case "warning":
                this.warned(event as unknown as Warning);
                break;
            case "person":
                this.personCame(event as unknown as Inspection);
                break;
            case "edited":
                if (/restart|open|seed/i.test(String(event.text))) this.warningsReset();
                break;
            default:
                break;
        }
    }

    private hello(registry: Registry): void {
        this.registry = registry;
        document.body.classList.toggle("replay", registry.replay);
        this.tools.hidden = registry.replay;
        for (const id of ["new", "save", "undo", "redo", "compare", "open"]) {
            const item = document.getElementById(id);
            if (item) item.hidden = registry.replay;
        }
        this.seed.parentElement?.toggleAttribute("hidden", registry.replay);
        void this.ask("charts").then((reply) => {
            const worlds = Array.isArray(reply.worlds) ? (reply.worlds as unknown[]) : [];
            worlds.forEach((chart, world) => {
                const rows = Array.isArray(chart)
                    ? (chart as ChartRow[])
                    : ((chart as { rows?: ChartRow[] }).rows ?? []);
                this.charts.reset(world);
                this.charts.add(world, rows);
            });
        });
    }

    private scene_(scene: Scene): void {
        const world = scene.world === 1 ? 1 : 0;
        const first = this.scenes[world] === null,
            name = `${scene.name} ${scene.origin.join()}`;
        const another = world === 0 && this.fitted !== name;
        this.scenes[world] = scene;
        const plan = this.plans[world];
        plan.level = Math.min(this.shown.level, scene.levels.length - 1);
        plan.setScene(scene, !another && !first);
        if (world === 0) {
            this.fitted = name;
            this.title.textContent = words(scene.name);
            this.title.title = scene.description;
            document.title = `${scene.name} · throng studio`;
            this.seed.value = String(scene.seed);
            this.space?.setScene(scene, !another);
            if (first && this.shown.at) plan.setCamera(...this.shown.at);
            if (first || another) this.sceneOpened(first);
            this.levelMenus(scene);
            this.buildView(scene);
            if (this.editor.selection && this.editor.tool.name === "select") this.editor.select(null);
            this.setTool(this.editor.tool.name);
        } else plan.setCamera(this.plans[0].centre[0], this.plans[0].centre[1], this.plans[0].scale);
        if (this.registry) this.models.show(this.registry, this.scenes, this.comparing());
    }

    // Colours and layers of another scene may be others.
    private sceneOpened(first: boolean): void {
        const scene = this.scenes[0] as Scene;
        if (!scene.colours.some((colour) => colour.name === this.shown.colour))
            this.shown.colour = scene.colours[0]?.name ?? "";
        if (this.shown.layer && !scene.layers.some((layer) => layer.name === this.shown.layer)) this.shown.layer = "";
        if (!first) {
            this.shown.level = 0;
            this.warningsReset();
            this.charts.reset(0);
        }
        void this.ask("colour", { by: this.shown.colour });
        this.sendView();
        this.sendLayers();
        if (this.shown.view === "3d") this.setView("3d");
    }

    private levelMenus(scene: Scene): void {
        clear(
            this.levels,
            ...scene.levels.map((level, k) => h("option", { value: String(k) }, level.id || `Level ${k}`)),
        );
        this.levels.value = String(this.shown.level);
        const several = scene.levels.length > 1;
        this.levels.hidden = !several;
        this.levelMode.hidden = !several || this.shown.view !== "3d";
        this.levelMode.value = this.shown.levels;
        this.camera.hidden = this.shown.view !== "3d";
        this.camera.value = this.shown.camera;
        this.planButton.setAttribute("aria-pressed", String(this.shown.view === "plan"));
        this.spaceButton.setAttribute("aria-pressed", String(this.shown.view === "3d"));
    }

    private stateCame(state: State): void {
        const before = this.state;
        this.state = state;
        const world = state.worlds[0];
        if (!world) return;
        if (before && world.time < before.worlds[0].time && state.scrub === null && !this.registry?.replay)
            this.warningsReset();
        this.play.textContent = state.playing ? "❚❚ Pause" : world.done ? "↺ Again" : "▶ Play";
        this.play.setAttribute("aria-label", state.playing ? "Pause" : "Play");
        this.undo.disabled = state.undo === 0;
        this.redo.disabled = state.redo === 0;
        const shownTime = state.scrub ?? world.time;
        this.meters.time.textContent = clock(shownTime);
        this.meters.inside.textContent = grouped(world.inside);
        this.meters.left.textContent = grouped(world.left);
        this.meters.rate.textContent =
            state.playing || state.steps_per_second > 0 ? short(state.steps_per_second) : "–";
        this.meters.real.textContent = state.playing ? short(state.real_time) : "–";
        if (document.activeElement !== this.speed) this.speed.value = String(state.speed);
        const [from, to] = state.history ?? [0, world.time];
        this.scrub.min = String(from);
        this.scrub.max = String(Math.max(from + 0.01, this.registry?.replay ? (state.duration ?? to) : to));
        if (!this.scrubbing) this.scrub.value = String(shownTime);
        this.live.hidden = state.scrub === null;
        this.charts.until = this.registry?.replay ? world.time : (state.scrub ?? Infinity);
        state.worlds.forEach((w, k) => {
            const plan = this.plans[k];
            if (w.doors_open && w.doors_open.some((open, d) => open !== plan.doorsOpen[d])) {
                plan.doorsOpen = w.doors_open;
                plan.redraw();
                if (k === 0) this.space?.setDoors(w.doors_open);
            }
        });
        this.showCompare(state);
        const scene = this.scenes[0];
        if (scene && this.shown.panel === "charts" && this.registry?.replay) this.charts.draw(scene, false);
    }

    private comparing(): boolean {
        return this.state?.compare === true && this.scenes[1] !== null;
    }

    private showCompare(state: State): void {
        const on = state.compare && state.worlds.length > 1;
        if (this.panes[1].hidden === on) {
            this.panes[1].hidden = !on;
            this.compare.setAttribute("aria-pressed", String(on));
            if (on) this.plans[1].setCamera(this.plans[0].centre[0], this.plans[0].centre[1], this.plans[0].scale);
            if (this.registry) this.models.show(this.registry, this.scenes, on);
            if (!on) {
                this.scenes[1] = null;
                this.crowd[1] = null;
            }
            setTimeout(() => {
                this.plans[0].fit();
                this.sendView();
            }, 50);
        }
        this.same.hidden = !on;
        if (!on) return;
        const [a, b] = state.worlds;
        const equal = a.hash && b.hash ? (a.hash === b.hash ? " · equal to the last bit" : " · differ") : "";
        this.same.textContent = `A: ${grouped(a.inside)} inside, ${grouped(a.left)} left   |   B: ${grouped(b.inside)} inside, ${grouped(b.left)} left${equal}`;
    }

    private chartRows(world: number, rows: ChartRow[]): void {
        this.charts.add(world, rows ?? []);
        const scene = this.scenes[0];
        if (scene && this.shown.panel === "charts") this.charts.draw(scene, this.comparing());
    }

    private warned(warning: Warning): void {
        this.warnings.add(warning);
        this.showWarningCount();
        if (this.warnings.count === 1) this.note(warning.text, true);
    }

    private warningsReset(): void {
        this.warnings.reset();
        this.showWarningCount();
    }

    private showWarningCount(): void {
        const tab = document.getElementById("tab-warnings");
        if (tab)
            clear(
                tab,
                "Warnings",
                this.warnings.count > 0 ? h("span", { className: "count" }, String(this.warnings.count)) : null,
            );
    }

    private showPlace(warning: Warning): void {
        if (!warning.place) return;
        const [x, y] = warning.place;
        this.setView("plan");
        this.setLevel(warning.level ?? 0);
        const plan = this.plans[0];
        plan.pin = { x, y, text: warning.text, until: performance.now() + 6000 };
        plan.setCamera(x, y, Math.max(plan.scale, 22));
    }

    private personCame(inspection: Inspection): void {
        if (this.inspection === null) return; // let go meanwhile
        this.inspection = inspection;
        this.person.show(inspection);
        const plan = this.plans[inspection.world ?? 0];
        plan.inspection = inspection.gone ? null : inspection;
        if (this.following && !inspection.gone && this.shown.view === "plan")
            plan.setCamera(inspection.place[0], inspection.place[1], plan.scale);
        if (this.following && inspection.level !== this.shown.level) this.setLevel(inspection.level);
        plan.redraw();
    }

    people(people: People): void {
        const world = people.world === 1 ? 1 : 0;
        this.crowd[world] = people;
        this.frames++;
        const scene = this.scenes[world],
            plan = this.plans[world];
        if (!scene) return;
        plan.people = people;
        const chosen = this.inspection && (this.inspection.world ?? 0) === world ? this.inspection.person : 0;
        if (this.shown.view === "plan") {
            plan.discs.show(
                people,
                this.shader(scene, people),
                scene.levels.length > 1 ? plan.level : -1,
                chosen,
                true,
            );
            plan.request();
        } else if (world === 0 && this.space) {
            const lookup = this.lookup(scene),
                shade = this.shader(scene, people);
            this.space.chosen = chosen;
            this.space.show(people, (k) => {
                const at = 4 * Math.round(shade(k) * 255);
                return [lookup[at] / 255, lookup[at + 1] / 255, lookup[at + 2] / 255];
            });
        }
    }

    raster(raster: Raster): void {
        const world = raster.world === 1 ? 1 : 0,
            scene = this.scenes[world];
        const layer = scene?.layers[raster.layer];
        if (!scene || !layer || layer.name !== this.shown.layer) return;
        this.rasters[world] = raster;
        this.plans[world].setRaster(raster, layerColour(layer));
        if (world === 0 && this.shown.view === "3d") this.space?.setRaster(raster, this.plans[0].rasterImage);
    }

    vectors(vectors: Vectors): void {
        const world = vectors.world === 1 ? 1 : 0;
        if (this.scenes[world]?.layers[vectors.layer]?.name !== this.shown.vectors) return;
        this.plans[world].vectors = vectors;
        this.plans[world].redraw();
    }

    // ---- colours
    private colour(scene: Scene): ColourValue | undefined {
        return scene.colours.find((colour) => colour.name === this.shown.colour);
    }

    private lookup(scene: Scene): Uint8Array<ArrayBuffer> {
        const colour = this.colour(scene);
        if (!colour || colour.kind === "category") return categoryTable();
        const out = table(mapOf(colour.name));
        out.set([150, 150, 150, 255], 4 * 255); // no value
        return out;
    }

    private shader(scene: Scene, people: People): (k: number) => number {
        const category = this.colour(scene)?.kind === "category";
        const n = CATEGORIES.length;
        // A frame of the colour before: shown grey rather than wrong.
        const stale = people.colour < scene.colours.length && scene.colours[people.colour]?.name !== this.shown.colour;
        if (category) return (k) => (stale || Number.isNaN(people.value[k]) ? 7 : people.value[k] % n) / 255;
        return (k) => (stale || Number.isNaN(people.value[k]) ? 1 : Math.min(254 / 255, people.value[k]));
    }

    private setColour(name: string): void {
        this.shown.colour = name;
        void this.ask("colour", { by: name });
        this.viewChanged();
    }

    private nextColour(): void {
        const colours = this.scenes[0]?.colours ?? [];
        const k = colours.findIndex((colour) => colour.name === this.shown.colour);
        if (colours.length > 0) this.setColour(colours[(k + 1) % colours.length].name);
    }

    private setLayer(name: string): void {
        this.turnOff(this.shown.layer);
        this.shown.layer = name;
        this.rasters = [null, null];
        for (const plan of this.plans) plan.setRaster(null, null);
        this.space?.setRaster(null, null);
        this.sendLayers();
        this.viewChanged();
    }

    private setVectors(name: string): void {
        this.turnOff(this.shown.vectors);
        this.shown.vectors = name;
        for (const plan of this.plans) {
            plan.vectors = null;
            plan.redraw();
        }
        this.sendLayers();
        this.viewChanged();
    }

    private turnOff(name: string): void {
        if (name) void this.ask("layer", { name, on: false, level: this.shown.level });
    }

    private sendLayers(): void {
        for (const name of [this.shown.layer, this.shown.vectors]) {
            if (name) void this.ask("layer", { name, on: true, level: this.shown.level, target: this.vectorsOf });
        }
    }

    private toggleHeat(): void {
        const density = this.scenes[0]?.layers.find((layer) => layer.kind === "map" && /density/.test(layer.name));
        if (density) this.setLayer(this.shown.layer === density.name ? "" : density.name);
    }

    private viewChanged(): void {
        const scene = this.scenes[0];
        if (!scene) return;
        const lookup = this.lookup(scene);
        for (const plan of this.plans) plan.discs.setColours(lookup);
        for (const people of this.crowd) if (people) this.people(people);
        this.buildView(scene);
        this.keepAddress();
    }

    private buildView(scene: Scene): void {
        const lookup = this.lookup(scene);
        for (const plan of this.plans) {
            plan.discs.setColours(lookup);
            plan.names = this.shown.names;
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
        const wantsTarget = scene.layers.some(
            (layer) => layer.ofTarget && (layer.name === this.shown.layer || layer.name === this.shown.vectors),
        );
        clear(
            this.viewPanel,
            h("h3", {}, "Colour people by"),
            pick(
                "colour",
                "Colour people by",
                this.shown.colour,
                (name) => this.setColour(name),
                scene.colours.map(label),
            ),
            h("h3", {}, "Heat map"),
            pick("layer", "Heat map", this.shown.layer, (name) => this.setLayer(name), [off, ...maps.map(label)]),
            fields.length > 0 ? h("h3", {}, "Arrows") : null,
            fields.length > 0
                ? pick("vectors", "Arrows", this.shown.vectors, (name) => this.setVectors(name), [
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
                        checked: this.shown.names,
                        onchange: () => this.toggleNames(),
                    }),
                    "Names",
                ),
            ),
        );
        this.buildLegend(scene);
    }

    private buildLegend(scene: Scene): void {
        const colour = this.colour(scene),
            layer = scene.layers.find((l) => l.name === this.shown.layer);
        const scale = (low: number, high: number): HTMLElement =>
            h("div", { className: "scale" }, ...ticks(low, high, 4).map((value) => h("span", {}, short(value))));
        const unit = (text: string): string => (unitText(text) ? ` [${unitText(text)}]` : "");
        const parts: HTMLElement[] = [];
        if (colour?.kind === "number") {
            parts.push(
                h(
                    "section",
                    { title: colour.doc },
                    h("h4", {}, `People: ${colour.label}${unit(colour.unit)}`),
                    h("div", { className: "bar", style: `background:${gradient(mapOf(colour.name))}` }),
                    scale(colour.min, colour.max),
                ),
            );
        } else if (colour) {
            parts.push(
                h(
                    "section",
                    { title: colour.doc },
                    h("h4", {}, `People: ${colour.label}`),
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
        if (layer && layer.bounds.length > 0) {
            const bounds = [layer.min, ...layer.bounds];
            const letters = layer.bounds.length === 5;
            parts.push(
                h(
                    "section",
                    { title: layer.doc },
                    h("h4", {}, `${layer.label}${unit(layer.unit)}${letters ? ", Fruin's levels" : ""}`),
                    h(
                        "ul",
                        {},
                        ...bounds.map((from, k) =>
                            h(
                                "li",
                                {},
                                h("i", { style: `background:${css(stepRgb(k, bounds.length))}` }),
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
                    h("h4", {}, `${layer.label}${unit(layer.unit)}`),
                    h("div", { className: "bar", style: `background:${gradient(MAPS.inferno)}` }),
                    scale(layer.min, layer.max),
                ),
            );
        }
        clear(this.legend, ...parts);
        this.legend.hidden = parts.length === 0;
    }

    // ---- views
    private cameraMoved(world: number): void {
        const plan = this.plans[world],
            other = this.plans[1 - world];
        if (
            this.comparing() &&
            (Math.abs(other.scale - plan.scale) > 1e-9 ||
                other.centre.some((v, k) => Math.abs(v - plan.centre[k]) > 1e-9))
        ) {
            other.setCamera(plan.centre[0], plan.centre[1], plan.scale);
        }
        if (world === 0) this.sendView();
        this.keepAddress();
    }

    private sendView(): void {
        clearTimeout(this.viewTimer);
        this.viewTimer = window.setTimeout(() => {
            const scene = this.scenes[0];
            if (!scene) return;
            const plan = this.plans[0],
                three = this.shown.view === "3d";
            const whole = boxOf(scene);
            const box = three ? [whole[0] - 5, whole[1] - 5, whole[2] + 5, whole[3] + 5] : plan.visible();
            const ratio = devicePixelRatio || 1,
                { clientWidth, clientHeight } = plan.element;
            const pixels = three
                ? [4096, 4096]
                : [Math.max(1, clientWidth * ratio), Math.max(1, clientHeight * ratio)].map(Math.round);
            void this.ask("view", { box, pixels, levels: null, fps: 30 });
        }, 60);
    }

    private keepAddress(): void {
        clearTimeout(this.addressTimer);
        this.addressTimer = window.setTimeout(() => {
            const plan = this.plans[0];
            this.shown.at = [plan.centre[0], plan.centre[1], plan.scale];
            history.replaceState(null, "", location.pathname + location.search + writeAddress(this.shown));
        }, 250);
    }

    setView(view: "plan" | "3d"): void {
        this.shown.view = view;
        if (view === "3d" && !this.space) {
            try {
                this.space = new View3d();
            } catch (error) {
                this.shown.view = "plan";
                this.note(`This browser has no WebGL, which the 3D view needs (${String(error)})`, true);
                return;
            }
            this.panes[0].append(this.space.element);
            this.space.onPick = (index) => {
                if (index >= 0) this.inspect(index, 0);
            };
            this.space.levelMode = this.shown.levels as LevelMode;
            this.space.cameraMode = this.shown.camera as CameraMode;
        }
        const scene = this.scenes[0],
            three = this.shown.view === "3d";
        this.plans[0].element.hidden = three;
        this.space?.setActive(three);
        if (three && scene && this.space) {
            this.space.level = this.shown.level;
            this.space.setScene(scene, false);
            this.space.setDoors(this.plans[0].doorsOpen);
            this.space.setRaster(this.rasters[0], this.plans[0].rasterImage);
            if (this.shown.camera === "walk") this.space.setCamera("walk");
        }
        if (scene) this.levelMenus(scene);
        this.hint.hidden = three;
        this.sendView();
        this.viewChanged();
    }

    private setCamera(mode: string): void {
        this.shown.camera = mode;
        this.camera.value = mode;
        this.space?.setCamera(mode as CameraMode);
        if (mode === "follow" && !this.inspection) {
            this.note("Click a person to follow it.");
            const people = this.crowd[0];
            if (people && people.count > 0) this.inspect(Math.floor(people.count / 2), 0);
        }
        this.keepAddress();
    }

    private nextCamera(): void {
        const modes = ["orbit", "walk", "follow"];
        if (this.shown.view === "3d") this.setCamera(modes[(modes.indexOf(this.shown.camera) + 1) % 3]);
    }

    private setLevelMode(mode: string): void {
        this.shown.levels = mode;
        if (this.space && this.scenes[0]) {
            this.space.levelMode = mode as LevelMode;
            this.space.setScene(this.scenes[0], true);
        }
        this.keepAddress();
    }

    setLevel(level: number): void {
        const scene = this.scenes[0];
        if (!scene || level < 0 || level >= scene.levels.length || level === this.shown.level) return;
        this.turnOff(this.shown.layer);
        this.turnOff(this.shown.vectors);
        this.shown.level = level;
        this.levels.value = String(level);
        for (const plan of this.plans) {
            plan.level = level;
            plan.redraw();
        }
        if (this.space) {
            this.space.level = level;
            if (this.shown.view === "3d") this.space.setScene(scene, true);
        }
        this.sendLayers();
        this.viewChanged();
    }

    private fit(): void {
        this.plans[0].fit();
        if (this.shown.view === "3d") this.space?.fit();
    }

    private theme(name: string): void {
        document.documentElement.dataset.theme = name;
    }

    private toggleTheme(): void {
        this.shown.theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
        this.theme(this.shown.theme);
        this.space?.theme();
        for (const plan of this.plans) plan.redraw();
        this.viewChanged();
        const scene = this.scenes[0];
        if (scene) this.charts.draw(scene, this.comparing());
    }

    private toggleNames(): void {
        this.shown.names = !this.shown.names;
        for (const plan of this.plans) {
            plan.names = this.shown.names;
            plan.redraw();
        }
        this.viewChanged();
    }

    private togglePanels(): void {
        this.side.classList.toggle("shut");
        if (!this.side.classList.contains("shut")) this.setTab(this.shown.panel);
    }

    private setTab(name: string): void {
        const tab = this.panels[name] ? name : "view";
        this.shown.panel = tab;
        for (const [key, panel] of Object.entries(this.panels)) panel.hidden = key !== tab;
        for (const item of this.tabs.children) item.setAttribute("aria-selected", String(item.id === `tab-${tab}`));
        const scene = this.scenes[0];
        if (scene && tab === "charts") this.charts.draw(scene, this.comparing());
        this.keepAddress();
    }

    // ---- the run
    private toggle(): void {
        const state = this.state;
        if (state?.playing) void this.ask("pause");
        else if (state?.worlds[0]?.done) void this.ask("restart").then(() => this.ask("play"));
        else void this.ask("play");
    }

    private changeSpeed(by: number): void {
        const k = SPEEDS.findIndex(([, times]) => times === (this.state?.speed ?? 1));
        const [label, times] = SPEEDS[Math.min(SPEEDS.length - 1, Math.max(0, (k < 0 ? 2 : k) + by))];
        void this.ask("speed", { times }, `Speed ${label}`);
        this.speed.value = String(times);
    }

    private scrubTo(time: number): void {
        this.scrubbing = true;
        void this.ask("scrub", { time }).then(() => {
            this.scrubbing = false;
        });
    }

    private back(seconds: number): void {
        const state = this.state;
        if (!state) return;
        const now = state.scrub ?? state.worlds[0].time;
        this.scrubTo(Math.max(state.history?.[0] ?? 0, now - seconds));
    }

    private backToNow(): void {
        void this.ask("scrub", { time: null });
    }

    private toggleCompare(): void {
        if (this.registry?.replay) return;
        const on = !(this.state?.compare ?? false);
        if (on && this.shown.view === "3d") this.setView("plan");
        if (on) this.setTab("models");
        void this.ask("compare", { on }, on ? "Two worlds from the start: change B in the panel Models" : "");
    }

    private history(verb: "undo" | "redo"): void {
        void this.ask(verb).then((reply) => {
            if (reply.ok) this.note(verb === "undo" ? "Undone" : "Done again");
        });
    }

    inspect(index: number, world: number): void {
        const people = this.crowd[world];
        if (index < 0 || !people || index >= people.count) {
            this.inspection = null;
            this.following = false;
            for (const plan of this.plans) {
                plan.inspection = null;
                plan.redraw();
            }
            this.person.show(null);
            void this.ask("person", { person: 0 });
            if (this.space) this.space.chosen = 0;
            return;
        }
        const id = people.id[index];
        this.inspection = {
            world,
            person: id,
            gone: false,
            level: people.level[index],
            place: [people.x[index], people.y[index]],
            facts: [],
            drawing: [],
        };
        this.person.show(this.inspection);
        this.setTab("person");
        void this.ask("person", { person: id, world });
    }

    // ---- tools
    plan(world: number): PlanView {
        return this.plans[world];
    }
    scene(): Scene | null {
        return this.scenes[0];
    }
    level(): number {
        return this.shown.level;
    }

    option(name: string): string {
        if (name === "group" && !this.options.group) return this.scenes[0]?.groups[0]?.id ?? "";
        return this.options[name] ?? "";
    }

    private setTool(name: ToolName): void {
        if (this.registry?.replay) return;
        this.editor.choose(name);
        for (const item of this.tools.querySelectorAll("button"))
            item.setAttribute("aria-pressed", String(item.id === `tool-${name}`));
        const tool = this.editor.tool,
            scene = this.scenes[0];
        const number = (key: string, label: string, step: string): HTMLElement =>
            h(
                "label",
                { title: label },
                label,
                h("input", {
                    type: "number",
                    min: "0",
                    step,
                    id: `option-${key}`,
                    value: this.options[key],
                    title: label,
                    onchange: (event: Event) => {
                        this.options[key] = (event.target as HTMLInputElement).value;
                    },
                }),
            );
        const choice = (key: string, label: string, items: [string, string][]): HTMLElement => {
            const select = h(
                "select",
                {
                    title: label,
                    id: `option-${key}`,
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
        if (name === "zone") parts.push(number("speed", "speed factor", "0.1"));
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
        clear(this.hint, h("span", {}, tool.hint), ...parts);
        this.hint.hidden = this.shown.view === "3d";
    }

    selected(thing: Thing | null): void {
        if (!thing) {
            this.setTool(this.editor.tool.name);
            return;
        }
        const door = thing.kind === "door";
        clear(
            this.hint,
            h("b", {}, `${words(thing.kind)} ${thing.id}`),
            door
                ? button("Open or shut", "Open or shut the door", () => {
                      const open = this.plans[0].doorsOpen[thing.index] ?? true;
                      this.edit(
                          { kind: "door", door: thing.id, open: !open },
                          `${thing.id} ${open ? "shut" : "opened"}`,
                      );
                  })
                : null,
            h("span", {}, thing.line ? "Drag it or its ends." : "Drag it."),
            button("Delete", "Delete it (Del)", () => this.editor.remove(thing)),
        );
    }

    private deleteKey(): void {
        if (this.editor.selection) this.editor.remove(this.editor.selection);
        else this.setTool("erase");
    }

    private escape(): void {
        if (this.editor.tool.name !== "select") this.setTool("select");
        else if (this.editor.selection) this.editor.select(null);
        else if (this.inspection) this.inspect(-1, 0);
        this.underlay = null;
    }

    // ---- files
    private dropFiles(): void {
        this.stage.addEventListener("dragover", (event) => {
            event.preventDefault();
            this.stage.classList.add("dropping");
        });
        this.stage.addEventListener("dragleave", () => this.stage.classList.remove("dropping"));
        this.stage.addEventListener("drop", (event) => {
            event.preventDefault();
            this.stage.classList.remove("dropping");
            for (const file of event.dataTransfer?.files ?? []) void this.openFile(file);
        });
    }

    async openFile(file: File): Promise<void> {
        if (file.type.startsWith("image/") || /\.(png|jpe?g|webp|svg)$/i.test(file.name)) {
            await this.openPicture(file);
            return;
        }
        if (/\.(sqlite|db|h5|hdf5|txt|csv)$/i.test(file.name)) {
            this.note(`${file.name} is a recording: start \`throng replay ${file.name}\` to see it here`, true);
            return;
        }
        if (file.size > 7.5e6) {
            this.note(
                `${file.name} has ${(file.size / 1e6).toFixed(1)} MB, more than can be sent. Start \`throng studio ${file.name}\` instead`,
                true,
            );
            return;
        }
        await this.ask("open", { name: file.name, text: await file.text() }, `${file.name} opened`);
    }

    private async openPicture(file: File): Promise<void> {
        const image = new Image();
        image.src = URL.createObjectURL(file);
        try {
            await image.decode();
        } catch {
            this.note(`${file.name} is not a picture that this browser can show`, true);
            return;
        }
        const [x, y, right] = this.plans[0].visible();
        this.underlay = {
            image,
            width: image.naturalWidth || 1000,
            height: image.naturalHeight || 1000,
            x,
            y,
            scale: 1,
            scaling: [],
        };
        this.underlay.scale = (right - x) / this.underlay.width;
        this.plans[0].underlay = this.underlay;
        this.setTool("select");
        this.plans[0].redraw();
        clear(
            this.hint,
            h("b", {}, "Scale of the picture:"),
            h("span", {}, "click two points whose distance you know."),
            button("Remove picture", "Take the picture away", () => {
                this.plans[0].underlay = null;
                this.underlay = null;
                this.plans[0].redraw();
                this.setTool("select");
            }),
        );
    }

    // Two clicks and a length give the scale; the first point stays where it is.
    underlayPoint(x: number, y: number): boolean {
        const underlay = this.underlay;
        if (!underlay) return false;
        underlay.scaling.push([x, y]);
        if (underlay.scaling.length < 2) {
            this.note("And the second point.");
            return true;
        }
        const [a, b] = underlay.scaling,
            drawn = Math.hypot(b[0] - a[0], b[1] - a[1]);
        const length = h("input", {
            type: "number",
            step: "any",
            min: "0.1",
            value: "10",
            id: "picture-length",
            title: "Distance of the two points in metres",
        });
        const apply = (): void => {
            const factor = Number(length.value) / drawn;
            if (!(factor > 0) || !Number.isFinite(factor)) return;
            underlay.x = a[0] + (underlay.x - a[0]) * factor;
            underlay.y = a[1] + (underlay.y - a[1]) * factor;
            underlay.scale *= factor;
            this.plans[0].underlay = underlay;
            this.underlay = null;
            this.plans[0].fit([
                underlay.x,
                underlay.y,
                underlay.x + underlay.width * underlay.scale,
                underlay.y + underlay.height * underlay.scale,
            ]);
            this.setTool("wall");
            this.note("Trace the walls over the picture.");
        };
        clear(
            this.hint,
            h("label", {}, "These points are apart by [m]", length),
            button("Set scale", "Use this distance", apply, { id: "picture-scale" }),
        );
        length.focus();
        return true;
    }

    async save(): Promise<Reply> {
        const reply = await this.ask("save");
        if (!reply.ok) return reply;
        const address = URL.createObjectURL(new Blob([String(reply.text)], { type: "application/json" }));
        const anchor = h("a", { href: address, download: String(reply.name ?? "scene.json") });
        anchor.click();
        setTimeout(() => URL.revokeObjectURL(address), 10000);
        this.note(`Saved as ${anchor.download}`);
        return reply;
    }

    private showTemplates(): void {
        const shut = (): void => this.start.close();
        clear(
            this.start,
            h("h2", {}, "New scene"),
            h("p", {}, "Start from a template, or from an empty room."),
            h(
                "div",
                { className: "cards" },
                ...[
                    { name: "", title: "Empty room", description: "20 × 15 m with one exit; add people and walls." },
                    ...(this.registry?.templates ?? []),
                ].map((template) => {
                    const card = button(
                        "",
                        template.description || template.title,
                        () => {
                            shut();
                            void (
                                template.name ? this.ask("template", { name: template.name }) : this.ask("new", {})
                            ).then((reply) => {
                                if (reply.ok && !template.name) this.setTool("group");
                            });
                        },
                        { "data-template": template.name },
                    );
                    card.append(h("b", {}, template.title), h("small", {}, template.description));
                    return card;
                }),
            ),
            button("Cancel", "Back (Esc)", shut),
        );
        if (!this.start.open) this.start.showModal();
    }

    private showHelp(): void {
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
            h("p", {}, `throng ${this.registry?.version ?? ""}`),
            button("Close", "Close (Esc)", () => this.help.close()),
        );
        if (!this.help.open) this.help.showModal();
    }
}

function mapOf(name: string): Rgb[] {
    if (/wish|desired|share/.test(name)) return MAPS.contrast;
    if (/density|pressure|force|exposure/.test(name)) return MAPS.inferno;
    return MAPS.viridis;
}

function stepRgb(k: number, count: number): Rgb {
    return sample(MAPS.inferno, 0.2 + (0.75 * k) / Math.max(1, count - 1));
}

// Heat map: nothing where nobody is, steps where the layer has levels of service.
export function layerColour(layer: Layer): (value: number) => [number, number, number, number] {
    const range = layer.max - layer.min || 1;
    return (value) => {
        if (Number.isNaN(value)) return [0, 0, 0, 0];
        const t = (value - layer.min) / range;
        if (layer.bounds.length > 0) {
            let k = 0;
            while (k < layer.bounds.length && value >= layer.bounds[k]) k++;
            return [...stepRgb(k, layer.bounds.length + 1), k === 0 ? Math.min(130, 4000 * t) : 190];
        }
        return [...sample(MAPS.inferno, 0.08 + 0.9 * t), Math.round(Math.min(200, 900 * Math.max(0, t)))];
    };
}
