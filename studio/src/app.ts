// The studio: joins the link to the crowd, the views, the panels and the tools. SPDX-License-Identifier: Apache-2.0
import { readAddress, writeAddress, type Shown } from "./address";
import { Controls } from "./controls";
import { decodeHello, decodeScene, type Json } from "./decode";
import { button, clear, grouped, h, words } from "./dom";
import { Editor, type EditorHost } from "./editor";
import { Files } from "./files";
import { Film } from "./film";
import { Keeper } from "./keep";
import { listen } from "./keys";
import type { Link, Listener, Reply } from "./link";
import { Looks, NATURAL } from "./looks";
import { ChartsPanel, ModelsPanel, PersonPanel, FindingsPanel } from "./panels";
import { PlanView } from "./plan";
import { Properties } from "./properties";
import { say } from "./say";
import type { Thing } from "./things";
import { Toolbar } from "./toolbar";
import { declareSections, LISTS } from "./tools";
import { offersOf } from "./offers";
import { Shots } from "./shots";
import { CAMERAS, View3d, type CameraMode, type LevelMode } from "./view3d";
import type { ChartRow, Finding, Inspection, People, Raster, Registry, Scene, State, Vectors } from "./types";
import { boxOf, boxOfRings } from "./types";

const OPENING = "stadium_exit.json"; // what the program shows where it is given no scene
const EDITING = ["save", "undo", "redo", "compare", "tab-models", "tab-selected"]; // buttons that a recording has no use for
const TABS: [string, string][] = [
    ["view", "View"],
    ["selected", "Selected"],
    ["models", "Models"],
    ["charts", "Charts"],
    ["findings", "Findings"],
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
    pending = 0; // requests without a reply so far
    shown: Shown = readAddress(location.hash);
    plans = [new PlanView(), new PlanView()];
    space: View3d | null = null;
    editor = new Editor(this);
    looks = new Looks(this);
    files = new Files(this);
    keeper = new Keeper(this);
    film = Film.of(this, location.hash);
    shots = new Shots(this);
    toolbar = new Toolbar(this);
    controls = new Controls(this);
    inspection: Inspection | null = null;
    following = false;
    undoTime = false; // undo goes back in time too
    private selectedKey = "";
    fitted = "";
    viewTimer = 0;
    addressTimer = 0;

    models = new ModelsPanel({
        send: (verb, args, say) => void this.ask(verb, args, say),
        showPlace: () => {},
        names: () => [],
    });
    charts = new ChartsPanel();
    lists: Finding[][] = [];
    findings = new FindingsPanel({
        send: () => {},
        showPlace: (finding) => this.showPlace(finding),
        names: () => [],
    });
    person = new PersonPanel(
        () => this.inspect(-1, 0),
        () => (this.following = !this.following),
        (field, value, group) => {
            const { person, world } = this.inspection ?? { person: 0, world: 0 },
                whom = group ? { group } : { person };
            void this.edit(
                { kind: "person", ...whom, world, field, value },
                group ? `All of ${group} changed` : "Person changed",
            );
        },
    );
    properties = new Properties(this);
    panels: Record<string, HTMLElement> = {
        view: this.looks.viewPanel,
        selected: this.properties.element,
        models: this.models.element,
        charts: this.charts.element,
        findings: this.findings.element,
        person: this.person.element,
    };
    side = h("aside", { "aria-label": "panels" });
    tabs = h("div", { className: "tabs", role: "tablist" });
    panes = this.plans.map((plan) => h("div", { className: "pane" }, plan.element));
    stage = h(
        "main",
        { className: "stage", "data-drop": say("Drop a scene, a drawing, a map, or a picture of a floor plan") },
        ...this.panes,
    );
    toasts = h("div", { className: "jam", "aria-live": "polite" });
    lost = h("div", { className: "lost", hidden: true });
    making = h("div", { className: "floating making", hidden: true, role: "status" });
    same = h("span", { className: "tag", hidden: true, id: "same" });

    constructor(root: HTMLElement) {
        this.theme(this.shown.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));
        this.build(root);
        this.controls.defineKeys();
        listen(this.controls.keys);
        this.plans.forEach((plan, world) => {
            this.editor.attach(plan, world);
            plan.surface.addEventListener("contextmenu", (event) => {
                event.preventDefault();
                const person = plan.personAt(event.offsetX, event.offsetY);
                if (person >= 0) this.inspect(person, world);
            });
            plan.onMoved = () => this.cameraMoved(world);
        });
        this.toolbar.setTool("select");
        this.setTab(this.shown.panel);
        if (innerWidth <= 720) this.side.classList.add("shut"); // leave a small window to the plan
        this.files.dropFiles();
    }

    // ---- the page
    build(root: HTMLElement): void {
        for (const [name, label] of TABS) {
            const panel = this.panels[name];
            this.tabs.append(
                button(label, `Panel: ${label}`, () => this.setTab(name), {
                    role: "tab",
                    id: `tab-${name}`,
                    "aria-controls": `panel-${name}`,
                }),
            );
            panel.id = `panel-${name}`;
            panel.tabIndex = 0;
            panel.setAttribute("role", "tabpanel");
            panel.setAttribute("aria-labelledby", `tab-${name}`);
        }
        // One stop for Tab; the arrows go from one to the next.
        this.tabs.addEventListener("keydown", (event) => {
            const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
            if (!by) return;
            event.stopPropagation();
            const names = TABS.map(([name]) => name).filter((name) => !document.getElementById(`tab-${name}`)?.hidden),
                next = names[(names.indexOf(this.shown.panel) + by + names.length) % names.length];
            this.setTab(next);
            document.getElementById(`tab-${next}`)?.focus();
        });
        this.side.append(this.tabs, ...Object.values(this.panels));
        this.panes[1].hidden = true;
        this.stage.append(
            this.same,
            this.looks.legend,
            this.toolbar.hint,
            this.toasts,
            this.making,
            this.shots.bar,
            this.keeper.offer,
            this.lost,
        );
        root.append(
            this.controls.header(),
            this.toolbar.tools,
            this.stage,
            this.side,
            this.controls.footer(),
            this.controls.help,
            this.files.start,
        );
    }

    // ---- requests

    // Without telling of what goes wrong.
    async quietly(verb: string, args: Json = {}): Promise<Reply> {
        return this.link ? this.link.request(verb, args) : { ok: false, error: "not connected" };
    }

    // The state after every request so far, and after a change that is being made.
    async settled(): Promise<State | null> {
        const reply = await this.quietly("state");
        if (reply.ok) this.stateCame(reply.state as State);
        return this.state;
    }

    async ask(verb: string, args: Json = {}, say?: string): Promise<Reply> {
        if (!this.link) return { ok: false, error: "not connected" };
        this.pending++;
        const reply = await this.link.request(verb, args);
        this.pending--;
        this.replies++;
        if (!reply.ok) {
            const known = reply.cure && !reply.error?.includes(reply.cure) ? `. ${reply.cure}` : "";
            this.note(`${reply.error ?? "the program refused"}${known}`, true);
        } else if (say) this.note(say);
        return reply;
    }

    async edit(args: Json, say: string): Promise<Reply> {
        const reply = await this.ask("edit", this.editor.world > 0 ? { world: this.editor.world, ...args } : args);
        if (reply.ok && say) {
            const lost = Number(reply.lost ?? 0);
            this.note(say + (lost > 0 ? `; ${grouped(lost)} people had no place any more` : ""));
        }
        return reply;
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
                this.found(Number(event.world ?? 0), event.findings as Finding[]);
                break;
            case "edited":
                this.keeper.edited(String(event.text));
                break;
            case "state":
                this.stateCame(event as unknown as State);
                break;
            case "chart":
                this.chartRows(Number(event.world ?? 0), event.rows as ChartRow[]);
                break;
            case "findings":
                this.found(Number(event.world ?? 0), event.list as Finding[]);
                break;
            case "person":
                this.personCame(event as unknown as Inspection);
                break;
            default:
                break;
        }
    }

    hello(registry: Registry): void {
        this.registry = registry;
        this.charts.references = registry.references;
        declareSections(registry.sections);
        this.toolbar.fill();
        this.controls.defineKeys();
        this.fitted = ""; // whatever comes is another scene
        this.findingsReset();
        document.body.classList.toggle("replay", registry.replay);
        this.toolbar.tools.hidden = registry.replay;
        for (const id of this.link?.offline ? [...EDITING, "new", "open"] : EDITING) {
            const item = document.getElementById(id);
            if (item) item.hidden = registry.replay;
        }
        this.controls.seed.parentElement?.toggleAttribute("hidden", registry.replay);
        this.toolbar.setTool("select");
        if (registry.replay && this.shown.panel === "models") this.setTab("view");
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

    scene_(scene: Scene): void {
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
            const file = scene.file.replace(/.*\//, "");
            this.controls.title.textContent = this.registry?.replay && file ? file : words(scene.name);
            this.controls.title.title = scene.description;
            document.title = `${scene.name} · throng studio`;
            this.controls.seed.value = String(scene.seed);
            this.space?.setScene(scene, !another);
            if (first && this.shown.at) plan.setCamera(...this.shown.at);
            if (first || another) this.sceneOpened(first);
            this.controls.levelMenus(scene);
            this.looks.buildView(scene);
            if (!this.registry?.replay && !this.files.underlay) this.toolbar.showTool();
        } else plan.setCamera(this.plans[0].centre[0], this.plans[0].centre[1], this.plans[0].scale);
        this.files.showUnderlays();
        this.editor.refresh(scene);
        if (world === this.editor.world && this.editor.chosen.length === 0) this.properties.show();
        if (this.registry) this.models.show(this.registry, this.scenes, this.comparing());
        if (this.shown.panel === "charts" && this.scenes[0]) this.charts.draw(this.scenes[0], this.comparing());
    }

    // Another scene may have other colours and layers.
    sceneOpened(first: boolean): void {
        const scene = this.scenes[0] as Scene;
        if (this.shown.colour !== NATURAL && !scene.colours.some((colour) => colour.name === this.shown.colour))
            this.shown.colour = scene.colours[0]?.name ?? "";
        if (this.shown.layer && !scene.layers.some((layer) => layer.name === this.shown.layer)) this.shown.layer = "";
        if (!first) {
            this.shown.level = 0;
            this.findingsReset();
            this.charts.reset(0);
        }
        if (first && scene.file === OPENING && !this.shown.at && !location.hash) this.beginNear(scene);
        void this.ask("colour", { by: this.looks.asked() });
        this.sendView();
        this.looks.sendLayers();
        if (this.shown.view === "3d") this.setView("3d");
    }

    // The first picture: near enough that people are people, where they are measured, with their density.
    private beginNear(scene: Scene): void {
        const near = scene.areas[0] ? boxOfRings(scene.areas[0].rings) : boxOf(scene);
        this.shown.layer = scene.layers.find((layer) => layer.name === "density")?.name ?? "";
        this.plans[0].fit([near[0] - 4, near[1] + 1, near[2] + 5, near[3] - 1]);
        this.looks.viewChanged();
    }

    stateCame(state: State): void {
        this.state = state;
        const world = state.worlds[0];
        if (!world) return;
        this.controls.update(state);
        void this.keeper.look(state.undo);
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
        this.showMaking(state);
        const scene = this.scenes[0];
        if (scene && this.shown.panel === "charts" && this.registry?.replay) this.charts.draw(scene, false);
        if (scene && this.shown.panel === "charts" && !this.registry?.replay) this.charts.count(scene, state.worlds);
    }

    // A change that takes its time; the crowd goes on meanwhile.
    showMaking(state: State): void {
        const rebuild = state.rebuild;
        this.making.hidden = !rebuild;
        if (!rebuild) return;
        if (this.making.childElementCount === 0)
            this.making.append(
                h("progress", { "aria-label": "the change is being made" }),
                h("span", {}),
                button("Give up", "Keep the scene as it is", () => void this.ask("cancel"), { id: "cancel-change" }),
            );
        (this.making.children[1] as HTMLElement).textContent =
            `${words(rebuild.text)}: ${rebuild.stage}, ${Math.round(rebuild.seconds)} s`;
    }

    comparing(): boolean {
        return this.state?.compare === true && this.scenes[1] !== null;
    }

    showCompare(state: State): void {
        const on = state.compare && state.worlds.length > 1;
        if (this.panes[1].hidden === on) {
            this.panes[1].hidden = !on;
            this.controls.compare.setAttribute("aria-pressed", String(on));
            if (on) this.plans[1].setCamera(this.plans[0].centre[0], this.plans[0].centre[1], this.plans[0].scale);
            if (this.registry) this.models.show(this.registry, this.scenes, on);
            if (!on) {
                this.editor.leaveWorld();
                this.scenes[1] = null;
                this.crowd[1] = null;
            }
            this.stage.classList.toggle("stacked", on && this.isWide());
            this.looks.viewChanged();
            setTimeout(() => {
                this.plans[0].fit();
                this.sendView();
            }, 50);
        }
        this.same.hidden = !on;
        if (!on) return;
        const [a, b] = state.worlds;
        const equal = a.hash && b.hash ? (a.hash === b.hash ? " · equal to the last bit" : " · differ") : "";
        this.same.textContent = say(
            `A: ${grouped(a.inside)} inside, ${grouped(a.left)} left   |   B: ${grouped(b.inside)} inside, ${grouped(b.left)} left${equal}`,
        );
    }

    // Is more to be seen of two plans on top of each other than side by side?
    private isWide(): boolean {
        const [x0, y0, x1, y1] = this.scenes[0] ? boxOf(this.scenes[0]) : [0, 0, 1, 1],
            { clientWidth, clientHeight } = this.stage;
        const scale = (wide: number, high: number): number =>
            Math.min((wide - 72) / Math.max(1, x1 - x0), (high - 96) / Math.max(1, y1 - y0));
        return scale(clientWidth, clientHeight / 2) > scale(clientWidth / 2, clientHeight);
    }

    chartRows(world: number, rows: ChartRow[]): void {
        this.charts.add(world, rows ?? []);
        const scene = this.scenes[0];
        if (scene && this.shown.panel === "charts") this.charts.draw(scene, this.comparing());
    }

    // Every list is complete, so that reloading the page loses nothing.
    found(world: number, list: Finding[]): void {
        const before = this.findings.count;
        this.lists[world] = list ?? [];
        this.showFindings();
        const tab = document.getElementById("tab-findings");
        if (tab)
            clear(
                tab,
                "Findings",
                this.findings.count > 0 ? h("span", { className: "count" }, String(this.findings.count)) : null,
            );
        const worst = this.lists.flat()[0];
        if (before === 0 && worst) this.note(worst.text, true);
    }

    private showFindings(): void {
        const scene = this.scenes[0],
            offers = scene && !this.registry?.replay ? offersOf(scene, LISTS) : [];
        this.findings.show(
            this.lists,
            offers.map(({ text, label, changes }) => ({
                text,
                label,
                take: () =>
                    void Promise.all(changes.map((change) => this.ask("model", { ...change }))).then((replies) => {
                        if (replies.every(({ ok }) => ok)) this.note(label);
                    }),
            })),
        );
    }

    findingsReset(): void {
        this.lists = [];
        this.found(0, []);
    }

    showPlace(finding: Finding): void {
        if (!finding.place) return;
        const [ox, oy] = this.scenes[0]?.origin ?? [0, 0];
        const [x, y] = [finding.place[0] - ox, finding.place[1] - oy];
        this.setView("plan");
        this.setLevel(Math.max(finding.level, 0));
        const plan = this.plans[0];
        plan.pin = { x, y, text: finding.text, until: performance.now() + 6000 };
        plan.setCamera(x, y, Math.max(plan.scale, 22));
    }

    personCame(inspection: Inspection): void {
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
        if (world === 0) this.looks.seen(scene, people);
        const chosen = this.inspection && (this.inspection.world ?? 0) === world ? this.inspection.person : 0;
        if (this.shown.view === "plan" || world === 1) {
            plan.discs.show(
                people,
                this.looks.shader(scene, people),
                scene.levels.length > 1 ? plan.level : -1,
                chosen,
                true,
            );
            plan.request();
        } else if (this.space) {
            const lookup = this.looks.lookup(scene),
                shade = this.looks.shader(scene, people);
            this.space.chosen = chosen;
            const natural = this.shown.colour === NATURAL;
            this.space.show(people, (k) => {
                if (natural) return null;
                const at = 4 * Math.round(shade(k) * 255);
                return [lookup[at] / 255, lookup[at + 1] / 255, lookup[at + 2] / 255];
            });
            this.film?.frame(people);
            this.shots.came();
        }
    }

    // ---- views
    cameraMoved(world: number): void {
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

    sendView(): void {
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

    keepAddress(): void {
        clearTimeout(this.addressTimer);
        this.addressTimer = window.setTimeout(() => {
            const plan = this.plans[0];
            this.shown.at = plan.whole || !plan.scene ? null : [plan.centre[0], plan.centre[1], plan.scale];
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
            this.space.path = this.shown.path;
        }
        const scene = this.scenes[0],
            three = this.shown.view === "3d";
        this.plans[0].element.hidden = three;
        this.space?.setActive(three);
        if (three && scene && this.space) {
            this.space.level = this.shown.level;
            this.space.setScene(scene, false);
            this.space.setDoors(this.plans[0].doorsOpen);
            this.space.setRaster(this.looks.rasters[0], this.plans[0].rasterImage);
            if (this.shown.camera !== "orbit") this.setCamera(this.shown.camera);
        }
        if (scene) this.controls.levelMenus(scene);
        if (three) this.toolbar.setTool("select");
        this.toolbar.showTool();
        this.shots.update();
        this.sendView();
        this.looks.viewChanged();
    }

    setCamera(mode: string): void {
        this.shown.camera = mode;
        this.controls.camera.value = mode;
        this.space?.setCamera(mode as CameraMode);
        if (mode === "path" && this.shown.path.length === 0)
            this.note("The path is empty: look from somewhere and set a key frame (F7), then again at another time.");
        if ((mode === "follow" || mode === "eyes") && !this.inspection) {
            this.note("Click a person to follow it.");
            const people = this.crowd[0];
            if (people && people.count > 0) this.inspect(Math.floor(people.count / 2), 0);
        }
        this.keepAddress();
    }

    nextCamera(): void {
        const next = CAMERAS.indexOf(this.shown.camera as CameraMode) + 1;
        if (this.shown.view === "3d") this.setCamera(CAMERAS[next % CAMERAS.length]);
    }

    setLevelMode(mode: string): void {
        this.shown.levels = mode;
        if (this.space && this.scenes[0]) {
            this.space.levelMode = mode as LevelMode;
            this.space.setScene(this.scenes[0], this.shown.camera !== "orbit");
        }
        this.keepAddress();
    }

    setLevel(level: number): void {
        const scene = this.scenes[0];
        if (!scene || level < 0 || level >= scene.levels.length || level === this.shown.level) return;
        this.looks.turnOff(this.shown.layer);
        this.looks.turnOff(this.shown.vectors);
        this.shown.level = level;
        this.controls.levels.value = String(level);
        for (const plan of this.plans) {
            plan.level = level;
            plan.redraw();
        }
        if (this.space) {
            this.space.level = level;
            if (this.shown.view === "3d") this.space.setScene(scene, true);
        }
        this.looks.sendLayers();
        this.looks.viewChanged();
    }

    fit(): void {
        this.plans[0].fit();
        if (this.shown.view === "3d") this.space?.fit();
    }

    theme(name: string): void {
        document.documentElement.dataset.theme = name;
    }

    toggleTheme(): void {
        this.shown.theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
        this.theme(this.shown.theme);
        this.space?.theme();
        for (const plan of this.plans) plan.redraw();
        this.looks.setService(this.shown.service); // heat maps have other colours on dark ground
        const scene = this.scenes[0];
        if (scene) this.charts.draw(scene, this.comparing());
    }

    toggleNames(): void {
        this.shown.names = !this.shown.names;
        for (const plan of this.plans) {
            plan.names = this.shown.names;
            plan.redraw();
        }
        this.looks.viewChanged();
    }

    togglePanels(): void {
        this.side.classList.toggle("shut");
        if (!this.side.classList.contains("shut")) this.setTab(this.shown.panel);
    }

    setTab(name: string): void {
        const tab = this.panels[name] ? name : "view";
        this.shown.panel = tab;
        for (const [key, panel] of Object.entries(this.panels)) panel.hidden = key !== tab;
        for (const item of this.tabs.children) {
            item.setAttribute("aria-selected", String(item.id === `tab-${tab}`));
            (item as HTMLElement).tabIndex = item.id === `tab-${tab}` ? 0 : -1;
        }
        const scene = this.scenes[0];
        if (scene && tab === "charts") this.charts.draw(scene, this.comparing());
        this.keepAddress();
    }

    // Moves the keyboard's cursor, else what is selected, else the view.
    arrow(dx: number, dy: number, far = false): void {
        if (this.editor.arrow(dx, dy, far)) return;
        this.plans[0].pan(-60 * dx, 60 * dy);
    }

    // ---- the run
    toggle(): void {
        const state = this.state;
        if (state?.playing) void this.ask("pause");
        else if (state?.worlds[0]?.done) void this.ask("restart").then(() => this.ask("play"));
        else void this.ask("play");
    }

    branch(): void {
        void this.ask("branch", {}, "The crowd goes on from here");
    }

    backToNow(): void {
        void this.ask("scrub", { time: null });
    }

    toggleCompare(): void {
        if (this.registry?.replay) return;
        const on = !(this.state?.compare ?? false);
        if (on && this.shown.view === "3d") this.setView("plan");
        if (on) this.setTab("models");
        void this.ask(
            "compare",
            { on },
            on ? "Two designs from the start: draw in A or B, or change their models" : "",
        );
    }

    history(verb: "undo" | "redo"): void {
        void this.ask(verb, { time: this.undoTime }).then((reply) => {
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

    // ---- for the tools and the link
    raster(raster: Raster): void {
        this.looks.raster(raster);
    }

    vectors(vectors: Vectors): void {
        this.looks.vectors(vectors);
    }

    option(name: string): string {
        return this.toolbar.option(name);
    }

    selected(things: Thing[]): void {
        const key = things.map((thing) => `${thing.what} ${thing.key}`).join();
        this.toolbar.selected(things);
        this.properties.show();
        if (key !== this.selectedKey && things.length > 0) this.setTab("selected");
        this.selectedKey = key;
    }

    underlayPoint(x: number, y: number): boolean {
        return this.files.underlayPoint(x, y);
    }

    plan(world: number): PlanView {
        return this.plans[world];
    }
    scene(): Scene | null {
        return this.scenes[this.editor.world] ?? this.scenes[0];
    }
    level(): number {
        return this.shown.level;
    }

    escape(): void {
        if (this.editor.escape()) return;
        if (this.editor.tool.name !== "select") this.toolbar.setTool("select");
        else if (this.editor.selection) this.editor.select(null);
        else if (this.inspection) this.inspect(-1, 0);
        this.files.underlay = null;
    }
}
