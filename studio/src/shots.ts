// Pictures and clips that leave the page, and paths of the camera. SPDX-License-Identifier: Apache-2.0
import type { App } from "./app";
import { button, h } from "./dom";
import { say } from "./say";
import { webm, type Packet } from "./webm";

// Time [s], where the camera is and where it looks [m].
export type Shot = [number, number, number, number, number, number, number];

// Between key frames: smooth through each of them (Catmull-Rom), still before the first and after the last.
export function atTime(path: Shot[], time: number): Shot | null {
    if (path.length === 0) return null;
    const next = path.findIndex((shot) => shot[0] > time);
    if (next === 0) return path[0];
    if (next < 0) return path[path.length - 1];
    const [a, b] = [path[next - 1], path[next]],
        before = path[next - 2] ?? a,
        after = path[next + 1] ?? b,
        u = (time - a[0]) / (b[0] - a[0]);
    return a.map((v, k) => {
        if (k === 0) return time;
        const out = ((b[k] - before[k]) / (b[0] - before[0] || 1)) * (b[0] - a[0]),
            into = ((after[k] - v) / (after[0] - a[0] || 1)) * (b[0] - a[0]);
        return (
            (2 * u ** 3 - 3 * u ** 2 + 1) * v +
            (u ** 3 - 2 * u ** 2 + u) * out +
            (3 * u ** 2 - 2 * u ** 3) * b[k] +
            (u ** 3 - u ** 2) * into
        );
    }) as Shot;
}

export function readPath(text: string): Shot[] {
    const path = text
        .split(";")
        .map((shot) => shot.split(",").map(Number))
        .filter((shot) => shot.length === 7 && shot.every(Number.isFinite)) as Shot[];
    return path.sort((a, b) => a[0] - b[0]);
}

export function writePath(path: Shot[]): string {
    return path.map((shot) => shot.map((v) => Number(v.toFixed(2))).join()).join(";");
}

const SECONDS = 10,
    FPS = 30;

export class Shots {
    bar = h("div", { className: "floating shots", hidden: true, role: "group", "aria-label": "Pictures and paths" });
    private count = h("small", {});
    private moment: (() => void) | null = null; // waits for the next one
    busy = false;

    constructor(private app: App) {
        this.bar.append(
            button("Picture", "A clean picture, 3840 pixels wide (F8)", () => void this.picture(), { id: "picture" }),
            button("Clip", "A clip of 10 seconds of the crowd (F9)", () => void this.clip(), { id: "clip" }),
            button("Key frame", "The camera will be here at this time of its path (F7)", () => this.keyFrame(), {
                id: "key-frame",
            }),
            button("Clear path", "Forget the path of the camera", () => this.clear(), { id: "clear-path" }),
            this.count,
        );
    }

    update(): void {
        const { shown } = this.app,
            n = shown.path.length;
        this.bar.hidden = shown.view !== "3d";
        this.count.textContent = say(n === 1 ? "1 key frame" : `${n} key frames`);
        (this.bar.children[3] as HTMLButtonElement).disabled = n === 0;
    }

    // Two pictures of the same time: the later one holds.
    keyFrame(): void {
        const { space, shown } = this.app;
        if (!space || shown.view !== "3d") return;
        const shot = space.shot();
        shown.path = [...shown.path.filter(([time]) => Math.abs(time - shot[0]) > 0.05), shot].sort(
            (a, b) => a[0] - b[0],
        );
        this.taken("Key frame set: choose the camera Path to go along it");
    }

    clear(): void {
        this.app.shown.path = [];
        if (this.app.shown.camera === "path") this.app.setCamera("orbit");
        this.taken("Path cleared");
    }

    private taken(text: string): void {
        const { space, shown } = this.app;
        if (space) space.path = shown.path;
        this.app.note(text);
        this.app.keepAddress();
        this.update();
    }

    private save(blob: Blob, name: string): void {
        const address = URL.createObjectURL(blob),
            scene = this.app.scenes[0]?.name.replace(/\W+/g, "_") ?? "crowd";
        h("a", { href: address, download: `${scene}.${name}` }).click();
        setTimeout(() => URL.revokeObjectURL(address), 10000);
    }

    // Of 3D or of the plan, without what floats over them.
    async picture(): Promise<void> {
        const { space, shown, plans } = this.app,
            three = shown.view === "3d" ? space : null;
        const canvas = h("canvas", {}),
            drawn = three ? three.still(3840, 2160) : plans[0].still(3840);
        canvas.width = drawn.width;
        canvas.height = drawn.height;
        canvas.getContext("2d")?.drawImage(drawn, 0, 0);
        three?.resume();
        const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done, "image/png"));
        if (!blob) return this.app.note("This browser cannot make so large a picture", true);
        this.save(blob, "png");
        this.app.note(`Picture of ${canvas.width} × ${canvas.height} pixels`);
    }

    // A moment came.
    came(): void {
        this.moment?.();
        this.moment = null;
    }

    // The crowd is stepped for the clip, so that it is even on every machine.
    async clip(width = 1920, height = 1080, seconds = SECONDS): Promise<void> {
        const { app } = this,
            { space } = app;
        if (app.shown.view !== "3d" || !space || this.busy) return;
        if (typeof VideoEncoder === "undefined")
            return app.note("This browser has no WebCodecs: use `throng export --video`", true);
        const codec = await supported(width, height);
        if (!codec) return app.note("This browser has no encoder for VP9 or VP8", true);
        this.busy = true;
        const packets: Packet[] = [],
            playing = app.state?.playing === true;
        let fault = "";
        const encoder = new VideoEncoder({
            output: (chunk) => {
                const data = new Uint8Array(chunk.byteLength);
                chunk.copyTo(data);
                packets.push({ time: Math.round(chunk.timestamp / 1000), key: chunk.type === "key", data });
            },
            error: (error) => (fault = error.message),
        });
        encoder.configure({ codec, width, height, bitrate: 8e6, framerate: FPS });
        if (playing) await app.ask("pause");
        const first = space.crowd.time(1),
            last = Math.round(seconds * FPS);
        for (let k = 0; k < last && !fault;) {
            const before = space.crowd.time(1),
                came = new Promise<void>((done) => (this.moment = done)),
                reply = await app.ask("step", { n: 1 });
            if (!reply.ok) fault = reply.error ?? "the crowd cannot be stepped";
            else if (Number(reply.time) <= before + 1e-6)
                break; // the end
            else await came;
            const from = space.crowd.time(0),
                to = space.crowd.time(1);
            for (; k < last && first + k / FPS <= to + 1e-9; k++) {
                const picture = space.still(width, height, Math.max(0, (first + k / FPS - from) / (to - from || 1))),
                    frame = new VideoFrame(picture, { timestamp: Math.round((1e6 * k) / FPS) });
                encoder.encode(frame, { keyFrame: k % (2 * FPS) === 0 });
                frame.close();
            }
            app.note(`Clip: ${Math.floor(k / FPS)} of ${seconds} s`);
        }
        await encoder.flush().catch((error: Error) => (fault = error.message));
        encoder.close();
        space.resume();
        this.busy = false;
        if (playing) await app.ask("play");
        if (fault) return app.note(`The clip failed: ${fault}`, true);
        this.save(new Blob([webm(packets, codec.startsWith("vp0") ? "V_VP9" : "V_VP8", width, height, FPS)], { type: "video/webm" }), "webm"); // prettier-ignore
        app.note(`Clip of ${(packets.length / FPS).toFixed(1)} s`);
    }
}

async function supported(width: number, height: number): Promise<string | null> {
    for (const codec of ["vp09.00.40.08", "vp8"]) {
        const answer = await VideoEncoder.isConfigSupported({ codec, width, height, bitrate: 8e6, framerate: FPS });
        if (answer.supported) return codec;
    }
    return null;
}
