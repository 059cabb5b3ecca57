// Starts the page: a recording inside the page is played, a crowd inside it runs in a Worker, otherwise the server that sent
// the page is asked.
// SPDX-License-Identifier: Apache-2.0
import { App } from "./app";
import { LiveLink, WorkerSocket } from "./link";
import { OfflineLink, parseMessages, unpack } from "./offline";

async function start(): Promise<void> {
    const root = document.getElementById("app");
    if (!root) return;
    const app = new App(root);
    Object.assign(window, { studio: app }); // for tests and for the curious
    const recording = document.getElementById("throng-recording")?.textContent;
    if (recording) {
        try {
            const link = new OfflineLink(parseMessages(await unpack(recording)), app);
            app.link = link;
            link.start();
        } catch (error) {
            app.status("lost", `The recording in this file cannot be read: ${String(error)}`);
        }
        return;
    }
    const engine = document.getElementById("throng-engine")?.textContent,
        scene = document.getElementById("throng-scene")?.textContent;
    if (engine && scene) {
        const read = async (packed: string) => new TextDecoder().decode(await unpack(packed));
        const script = new Blob([await read(engine)], { type: "text/javascript" }),
            text = await read(scene);
        app.link = new LiveLink(app, () => new WorkerSocket(new Worker(URL.createObjectURL(script)), text, app));
        return;
    }
    const token = new URLSearchParams(location.search).get("token") ?? "";
    if (!location.host) {
        app.status(
            "lost",
            "This file has no recording in it. Start `throng studio` and open the address that it prints.",
        );
        return;
    }
    const address = `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/ws?token=${token}`;
    app.link = new LiveLink(app, () => new WebSocket(address, "throng-1"));
}

// A recording stands after this script.
if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", () => void start());
else void start();
