// Scenes, recordings and pictures that come in, scenes that go out, templates. SPDX-License-Identifier: Apache-2.0
import type { App } from "./app";
import type { Json } from "./decode";
import { button, clear, h, words } from "./dom";
import { Drawing, isDrawing } from "./drawing";
import type { Reply } from "./link";
import type { Underlay } from "./plan";
import { drawThumbnail } from "./thumbnail";
import type { Template, UnderlayItem } from "./types";

type Placed = Underlay & { name: string; scaling: [number, number][] };

export class Files {
    underlay: Placed | null = null; // that is being placed
    private images = new Map<string, HTMLImageElement>(); // of underlays, by file
    private unsaved = new Map<string, Blob>(); // those that were dropped
    private askedFor = new Set<string>();
    file = h("input", {
        type: "file",
        hidden: true,
        accept: ".json,.wkt,.geojson,.png,.jpg,.jpeg,.webp,.svg,.pdf,.sqlite,.h5,.hdf5,.txt,.gz,.dxf,.ifc,.osm,.pbf,.gpkg,.shp,.shx,.dbf,.prj,.kml,.gml,.fgb,.scenario,.csv",
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
        if (file.type.startsWith("image/") || /\.(png|jpe?g|webp|svg|pdf)$/i.test(file.name)) {
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

    // A picture to trace, as PNG: of a PDF the program makes one.
    async openPicture(file: File): Promise<void> {
        let name = file.name,
            picture: Blob = file;
        if (/\.pdf$/i.test(file.name)) {
            if (!(await this.send(file, file.name, { keep: true }))) return;
            const reply = await this.app.ask("import", { name: file.name });
            if (!reply.ok) return;
            name = String(reply.name);
            picture = fromBase64(String(reply.picture));
        }
        let image = await decoded(picture);
        if (image && !/\.png$/i.test(name)) {
            picture = await asPng(image, /\.svg$/i.test(name) ? 3000 : 0);
            name = name.replace(/(\.[^.]*)?$/, ".png");
            image = await decoded(picture);
        }
        if (!image) {
            this.app.note(`${file.name} is not a picture that this browser can show`, true);
            return;
        }
        const missing = this.app.scenes[0]?.underlays.some((u) => u.file === name && !this.images.has(name));
        this.images.set(name, image);
        this.unsaved.set(name, picture);
        if (missing) this.showUnderlays();
        else this.placePicture(name, image);
    }

    private placePicture(name: string, image: HTMLImageElement): void {
        const [x, y, right] = this.app.plans[0].visible(),
            width = image.naturalWidth || 1000,
            height = image.naturalHeight || 1000;
        this.underlay = {
            name, image, width, height, x, y, scale: (right - x) / width, turn: 0, level: this.app.level(), scaling: [],
        }; // prettier-ignore
        this.app.plans[0].underlay = this.underlay;
        this.app.toolbar.setTool("select");
        this.app.plans[0].redraw();
        clear(
            this.app.toolbar.hint,
            h("b", {}, "Scale of the picture:"),
            h("span", {}, "click two points whose distance you know."),
            button("Remove picture", "Take the picture away", () => this.dropPicture(), { id: "picture-remove" }),
        );
    }

    dropPicture(): void {
        this.underlay = null;
        this.app.plans[0].underlay = null;
        this.app.plans[0].redraw();
        this.app.toolbar.setTool("select");
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
            void this.keepPicture(underlay);
        };
        clear(
            this.app.toolbar.hint,
            h("label", {}, "These points are apart by [m]", length),
            button("Set scale", "Use this distance", apply, { id: "picture-scale" }),
        );
        length.focus();
        return true;
    }

    // It becomes part of the scene.
    private async keepPicture(u: Placed): Promise<void> {
        const scene = this.app.scenes[0],
            [ox, oy] = scene?.origin ?? [0, 0];
        const value = {
            level: scene?.levels[u.level]?.id,
            file: u.name,
            at: [u.x + ox, u.y + oy],
            metres_per_pixel: u.scale,
        };
        const reply = await this.app.edit(
            { kind: "add", what: "underlays", value },
            "Trace the walls over the picture.",
        );
        if (!reply.ok) return;
        this.dropPicture();
        this.app.plans[0].fit([u.x, u.y, u.x + u.width * u.scale, u.y + u.height * u.scale]);
        this.app.toolbar.setTool("wall");
    }

    // The pictures of the scene, as far as they are here; others are asked for once.
    showUnderlays(): void {
        for (const [world, scene] of this.app.scenes.entries()) {
            if (!scene) continue;
            this.app.plans[world].underlays = scene.underlays.flatMap((u) => {
                const image = this.images.get(u.file);
                if (!image) void this.askPicture(`${scene.file} ${scene.name}`, u);
                const [x, y] = u.at;
                return image
                    ? [{ image, width: image.naturalWidth, height: image.naturalHeight, x, y, scale: u.scale, turn: u.turn, level: u.level }]
                    : []; // prettier-ignore
            });
            this.app.plans[world].redraw();
        }
    }

    private async askPicture(scene: string, { id, file }: UnderlayItem): Promise<void> {
        const key = `${scene} ${file}`;
        if (this.askedFor.has(key)) return;
        this.askedFor.add(key);
        const reply = await this.app.quietly("underlay", { key: id }),
            image = reply.ok ? await decoded(fromBase64(String(reply.data))) : null;
        if (!image) {
            this.app.note(`${file} is not beside the scene; drop it on the page`, true);
            return;
        }
        this.images.set(file, image);
        this.showUnderlays();
    }

    async save(): Promise<Reply> {
        const reply = await this.app.ask("save", { world: this.app.editor.world });
        if (!reply.ok) return reply;
        const name = String(reply.name ?? "scene.json");
        download(new Blob([String(reply.text)], { type: "application/json" }), name);
        for (const { file } of this.app.scenes[this.app.editor.world]?.underlays ?? []) {
            const picture = this.unsaved.get(file);
            if (picture) download(picture, file); // beside the scene
            this.unsaved.delete(file);
        }
        this.app.keeper.forget();
        this.app.note(`Saved as ${name}`);
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

function download(content: Blob, name: string): void {
    const address = URL.createObjectURL(content);
    h("a", { href: address, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 10000);
}

// null: no picture that the browser knows.
async function decoded(picture: Blob): Promise<HTMLImageElement | null> {
    const image = new Image();
    image.src = URL.createObjectURL(picture);
    try {
        await image.decode();
        return image;
    } catch {
        return null;
    }
}

// Drawn anew; `side`: the pixels of the longer side of what has lines instead of pixels.
async function asPng(image: HTMLImageElement, side: number): Promise<Blob> {
    const [w, height] = [image.naturalWidth || 1000, image.naturalHeight || 1000],
        grow = side > 0 ? side / Math.max(w, height) : 1,
        canvas = h("canvas", { width: Math.round(w * grow), height: Math.round(height * grow) });
    canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
    return new Promise((done) => canvas.toBlob((blob) => done(blob ?? new Blob()), "image/png"));
}

function fromBase64(text: string): Blob {
    return new Blob([Uint8Array.from(atob(text), (c) => c.charCodeAt(0))]);
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
