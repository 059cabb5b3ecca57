// Scenes, recordings and pictures that come in, scenes that go out, templates. SPDX-License-Identifier: Apache-2.0
import type { App } from "./app";
import type { Json } from "./decode";
import { button, clear, h, words } from "./dom";
import { Drawing, isDrawing } from "./drawing";
import type { Reply } from "./link";
import type { Underlay } from "./plan";
import { drawThumbnail } from "./thumbnail";
import type { Template } from "./types";

export class Files {
    underlay: (Underlay & { scaling: [number, number][] }) | null = null;
    file = h("input", {
        type: "file",
        hidden: true,
        accept: ".json,.wkt,.geojson,.png,.jpg,.jpeg,.webp,.svg,.sqlite,.h5,.hdf5,.txt,.gz,.dxf,.ifc,.osm,.pbf,.gpkg,.shp,.shx,.dbf,.prj,.kml,.gml,.fgb,.scenario,.csv",
        multiple: true,
        id: "file",
        onchange: () => {
            void this.openFiles([...(this.file.files ?? [])]);
            this.file.value = "";
        },
    });
    start = h("dialog", { id: "templates" });
    drawing: Drawing;
    private asked: Promise<Map<string, Json>> | null = null;

    constructor(private app: App) {
        this.drawing = new Drawing(app);
    }

    dropFiles(): void {
        this.app.stage.addEventListener("dragover", (event) => {
            event.preventDefault();
            this.app.stage.classList.add("dropping");
        });
        this.app.stage.addEventListener("dragleave", () => this.app.stage.classList.remove("dropping"));
        this.app.stage.addEventListener("drop", (event) => {
            event.preventDefault();
            this.app.stage.classList.remove("dropping");
            void this.openFiles([...(event.dataTransfer?.files ?? [])]);
        });
    }

    // A drawing takes the files beside it along.
    async openFiles(files: File[]): Promise<void> {
        for (const file of files) {
            if (!isDrawing(file.name, await file.slice(0, 1 << 20).text())) continue;
            await this.drawing.open(files, file, (one) => this.send(one, one.name, { keep: true }));
            return;
        }
        for (const file of files) void this.openFile(file);
    }

    private async openFile(file: File): Promise<void> {
        if (file.type.startsWith("image/") || /\.(png|jpe?g|webp|svg)$/i.test(file.name)) {
            await this.openPicture(file);
            return;
        }
        const packed = /\.gz$/i.test(file.name);
        const content: Blob = packed
            ? await new Response(file.stream().pipeThrough(new DecompressionStream("gzip"))).blob()
            : file;
        if (!isScene(await content.slice(0, 400).text())) {
            if (!(await this.app.keeper.mayDiscard())) return;
            await this.send(content, file.name, {}, `${file.name} opened`);
            return;
        }
        if (file.size > 7.5e6) {
            this.app.note(
                `${file.name} has ${(file.size / 1e6).toFixed(1)} MB, more than can be sent. Start \`throng studio ${file.name}\` instead`,
                true,
            );
            return;
        }
        if (!(await this.app.keeper.mayDiscard())) return;
        await this.app.ask("open", { name: file.name, text: await content.text() }, `${file.name} opened`);
    }

    // Sends in parts, each as large as a message may be.
    private async send(content: Blob, name: string, how: Json, done = ""): Promise<boolean> {
        const part = 3 << 20;
        if (content.size > part) this.app.note(`Sending ${name}, ${(content.size / 1e6).toFixed(0)} MB`);
        for (let at = 0; at === 0 || at < content.size; at += part) {
            const last = at + part >= content.size;
            const data = await base64(content.slice(at, at + part));
            const reply = await this.app.ask("upload", { name, at, data, last, ...how }, last ? done : "");
            if (!reply.ok) return false;
        }
        return true;
    }

    async openPicture(file: File): Promise<void> {
        const image = new Image();
        image.src = URL.createObjectURL(file);
        try {
            await image.decode();
        } catch {
            this.app.note(`${file.name} is not a picture that this browser can show`, true);
            return;
        }
        const [x, y, right] = this.app.plans[0].visible();
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
        this.app.plans[0].underlay = this.underlay;
        this.app.toolbar.setTool("select");
        this.app.plans[0].redraw();
        clear(
            this.app.toolbar.hint,
            h("b", {}, "Scale of the picture:"),
            h("span", {}, "click two points whose distance you know."),
            button("Remove picture", "Take the picture away", () => {
                this.app.plans[0].underlay = null;
                this.underlay = null;
                this.app.plans[0].redraw();
                this.app.toolbar.setTool("select");
            }),
        );
    }

    // Two clicks and a length give the scale; the first point stays where it is.
    underlayPoint(x: number, y: number): boolean {
        const underlay = this.underlay;
        if (!underlay) return false;
        underlay.scaling.push([x, y]);
        if (underlay.scaling.length < 2) {
            this.app.note("And the second point.");
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
            this.app.plans[0].underlay = underlay;
            this.underlay = null;
            this.app.plans[0].fit([
                underlay.x,
                underlay.y,
                underlay.x + underlay.width * underlay.scale,
                underlay.y + underlay.height * underlay.scale,
            ]);
            this.app.toolbar.setTool("wall");
            this.app.note("Trace the walls over the picture.");
        };
        clear(
            this.app.toolbar.hint,
            h("label", {}, "These points are apart by [m]", length),
            button("Set scale", "Use this distance", apply, { id: "picture-scale" }),
        );
        length.focus();
        return true;
    }

    async save(): Promise<Reply> {
        const reply = await this.app.ask("save", { world: this.app.editor.world });
        if (!reply.ok) return reply;
        const address = URL.createObjectURL(new Blob([String(reply.text)], { type: "application/json" }));
        const anchor = h("a", { href: address, download: String(reply.name ?? "scene.json") });
        anchor.click();
        setTimeout(() => URL.revokeObjectURL(address), 10000);
        this.app.keeper.forget();
        this.app.note(`Saved as ${anchor.download}`);
        return reply;
    }

    // Another scene in the place of this one; "": an empty room.
    private async begin(template: string): Promise<void> {
        if (!(await this.app.keeper.mayDiscard())) return;
        const reply = await (template ? this.app.ask("template", { name: template }) : this.app.ask("new", {}));
        if (reply.ok && !template) this.app.toolbar.setTool("group");
    }

    showTemplates(): void {
        const shut = (): void => this.start.close(),
            templates = this.app.registry?.templates ?? [];
        const card = ({ name, title, description }: Template): HTMLElement => {
            const item = button(
                "",
                description || title,
                () => {
                    shut();
                    void this.begin(name);
                },
                { "data-template": name },
            );
            const picture = h("canvas", { width: 192, height: 108, "aria-hidden": "true" });
            item.append(picture, h("b", {}, words(title)), h("small", {}, description));
            void this.documents().then((documents) => {
                const document = documents.get(name);
                if (document) drawThumbnail(picture, document);
                else picture.remove();
            });
            return item;
        };
        const empty = { name: "", title: "Empty room", description: "20 × 15 m with one exit; add people and walls." };
        const of = (folders: string[]): Template[] =>
            templates.filter(({ name }) => folders.includes(name.replace(/\/.*/, "")) && name.includes("/"));
        const papers = PAPERS.map(({ folders, title }) => ({ title, cards: of(folders) })).filter(
                ({ cards }) => cards.length > 0,
            ),
            real = of(["experiments"]);
        clear(
            this.start,
            h("h2", {}, "New scene"),
            h("p", {}, "Start from a template, or from an empty room."),
            h(
                "div",
                { className: "cards" },
                ...[empty, ...templates.filter(({ name }) => !name.includes("/"))].map(card),
            ),
            papers.length > 0 ? h("h2", {}, "Scenes of papers") : null,
            ...papers.flatMap(({ title, cards }) => [
                h("h3", {}, title),
                h("div", { className: "cards" }, ...cards.map(card)),
            ]),
            real.length > 0 ? h("h2", {}, "Real places and experiments") : null,
            real.length > 0 ? h("div", { className: "cards" }, ...real.map(card)) : null,
            button("Cancel", "Back (Esc)", shut),
        );
        if (!this.start.open) this.start.showModal();
        this.start.scrollTop = 0;
    }

    // The scenes of the templates, asked for once.
    private documents(): Promise<Map<string, Json>> {
        this.asked ??= this.app.quietly("templates").then((reply) => {
            const list = Array.isArray(reply.templates) ? (reply.templates as Json[]) : [];
            return new Map(list.map(({ name, document }) => [String(name), document as Json]));
        });
        return this.asked;
    }
}

// The folders of scenes and their papers.
const PAPERS = [
    { folders: ["uic"], title: "Narain, Golas, Curtis, Lin 2009: aggregate dynamics" },
    { folders: ["keep_side"], title: "Best, Narang, Curtis, Manocha 2014: DenseSense" },
    { folders: ["pbd"], title: "Weiss, Litteneker, Jiang, Terzopoulos 2017: position-based dynamics" },
    { folders: ["hidac"], title: "Pelechano, Allbeck, Badler 2007: HiDAC" },
    { folders: ["continuum", "undecided", "thesis"], title: "Cheng 2013: user guidance and uncertainty" },
];

// The first characters of a scene (JSON, maybe with comments), GeoJSON or WKT; everything else is taken for a
// recording.
export function isScene(text: string): boolean {
    return /^\uFEFF?\s*(\{|\/\/|\/\*|(MULTI)?POLYGON|GEOMETRYCOLLECTION)/i.test(text);
}

export function base64(blob: Blob): Promise<string> {
    return new Promise((resolve, reject) => {
        const reader = new FileReader();
        reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,?/, ""));
        reader.onerror = () => reject(new Error("the file cannot be read"));
        reader.readAsDataURL(blob);
    });
}
