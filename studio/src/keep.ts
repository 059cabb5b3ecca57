// Unsaved changes: kept in the browser's storage, offered after a crash, and asked about before they are thrown away. SPDX-License-Identifier: Apache-2.0
import type { App } from "./app";
import { button, clear, h } from "./dom";

const PLACE = "throng.kept"; // in the browser's storage
const WAIT = 1200; // after the last change [ms]
const NO_CHANGE = ["opened", "restarted", "comparing", "one world", "recording opened"]; // texts of `edited` events

interface Kept {
    name: string;
    text: string;
    at: number; // ms since 1970
}

export class Keeper {
    readonly offer = h("div", { className: "floating offer", hidden: true, role: "status" });
    private dialog = h("dialog", { id: "discard", "aria-label": "Changes that were not saved" });
    private unsaved = false;
    private offered = false;
    private timer = 0;

    constructor(private app: App) {}

    // An event `edited` of a world.
    edited(text: string): void {
        if (text === "opened") this.forget();
        if (NO_CHANGE.includes(text) || this.app.registry?.replay) return;
        this.unsaved = true;
        clearTimeout(this.timer);
        this.timer = window.setTimeout(() => void this.keep(), WAIT);
    }

    async keep(): Promise<void> {
        if (!this.unsaved || this.app.registry?.replay) return;
        const reply = await this.app.quietly("save");
        if (!reply.ok || !this.unsaved) return;
        const kept: Kept = { name: String(reply.name ?? "scene.json"), text: String(reply.text), at: Date.now() };
        try {
            localStorage.setItem(PLACE, JSON.stringify(kept));
        } catch {
            // A browser without storage, or a scene that is too large for it: Save is there.
        }
    }

    // Saved, or thrown away.
    forget(): void {
        this.unsaved = false;
        this.offer.hidden = true;
        clearTimeout(this.timer);
        try {
            localStorage.removeItem(PLACE);
        } catch {
            // see keep()
        }
    }

    private kept(): Kept | null {
        try {
            return JSON.parse(localStorage.getItem(PLACE) ?? "null") as Kept | null;
        } catch {
            return null;
        }
    }

    // Once, when the page has its first state: the program may still have the changes, or have ended without them.
    async look(undo: number): Promise<void> {
        if (this.offered || this.app.registry?.replay) return;
        this.offered = true;
        if (undo > 0) {
            this.unsaved = true;
            return;
        }
        const kept = this.kept();
        if (!kept) return;
        const reply = await this.app.quietly("save");
        if (reply.ok && reply.text === kept.text) this.forget();
        else this.show(kept);
    }

    private show(kept: Kept): void {
        const when = new Date(kept.at).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
        clear(
            this.offer,
            h("span", {}, `${kept.name} has changes of ${when} that were not saved.`),
            button(
                "Restore",
                "Open the scene as it was last changed",
                () => {
                    this.offer.hidden = true;
                    void this.app.ask("open", { name: kept.name, text: kept.text }, "Restored").then((reply) => {
                        this.unsaved = reply.ok;
                        if (reply.ok) void this.keep();
                        else this.offer.hidden = false;
                    });
                },
                { id: "restore" },
            ),
            button("Forget", "Throw these changes away", () => this.forget(), { id: "forget" }),
        );
        this.offer.hidden = false;
    }

    // True: go on, nothing that was drawn gets lost, or it may.
    async mayDiscard(): Promise<boolean> {
        if (!this.unsaved || this.app.registry?.replay) return true;
        return new Promise((resolve) => {
            const end = (go: boolean): void => {
                this.dialog.onclose = null;
                this.dialog.close();
                resolve(go);
            };
            clear(
                this.dialog,
                h("h2", {}, "Throw the changes away?"),
                h("p", {}, "This scene was changed and not saved."),
                h(
                    "div",
                    { className: "row" },
                    button(
                        "Save first",
                        "Download the scene, then go on",
                        () => void this.app.files.save().then((reply) => end(reply.ok)),
                        { id: "discard-save" },
                    ),
                    button("Throw away", "Go on without these changes", () => end(true), { id: "discard-go" }),
                    button("Stay here", "Keep this scene (Esc)", () => end(false), { id: "discard-stay" }),
                ),
            );
            this.dialog.onclose = () => end(false);
            if (!this.dialog.isConnected) document.body.append(this.dialog);
            this.dialog.showModal();
        });
    }
}
