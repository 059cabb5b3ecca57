// The way to a crowd: a live server behind a WebSocket, or a recording inside the page (offline.ts). Both answer requests
// and bring events and frames. SPDX-License-Identifier: Apache-2.0
import { decodePeople, decodeRaster, decodeVectors, frameFault, type Json } from "./decode";
import { KIND_MAP, KIND_PEOPLE, KIND_VECTORS, readHead } from "./layout";
import type { People, Raster, Vectors } from "./types";

export interface Reply extends Json {
    ok: boolean;
    error?: string;
    cure?: string;
}
export interface Listener {
    event(event: Json): void;
    people(people: People): void;
    raster(raster: Raster): void;
    vectors(vectors: Vectors): void;
    status(status: "open" | "lost", text: string): void;
}
export interface Link {
    readonly offline: boolean;
    request(verb: string, args?: Json): Promise<Reply>;
}

export function deliver(data: ArrayBuffer, listener: Listener): void {
    const fault = frameFault(data);
    if (fault) {
        listener.status("lost", fault);
        return;
    }
    const kind = readHead(new DataView(data), 0).kind;
    if (kind === KIND_PEOPLE) listener.people(decodePeople(data));
    else if (kind === KIND_MAP) listener.raster(decodeRaster(data));
    else if (kind === KIND_VECTORS) listener.vectors(decodeVectors(data));
}

type SocketLike = Pick<WebSocket, "send" | "close" | "readyState" | "binaryType"> & {
    onopen: ((event: Event) => void) | null;
    onclose: ((event: CloseEvent) => void) | null;
    onmessage: ((event: MessageEvent) => void) | null;
};

// A Worker that speaks as the server does (worker.ts).
export class WorkerSocket implements SocketLike {
    readyState: WebSocket["readyState"] = 0;
    binaryType: BinaryType = "arraybuffer";
    onopen: ((event: Event) => void) | null = null;
    onclose: ((event: CloseEvent) => void) | null = null;
    onmessage: ((event: MessageEvent) => void) | null = null;

    constructor(
        private worker: Worker,
        scene: string,
        listener: Listener,
    ) {
        worker.onmessage = (event: MessageEvent<string | ArrayBuffer | { open?: boolean; fault?: string }>) => {
            const data = event.data;
            if (typeof data === "string" || data instanceof ArrayBuffer) {
                this.onmessage?.(event as MessageEvent);
                return;
            }
            if (data.fault) {
                listener.status("lost", data.fault);
                return;
            }
            this.readyState = 1;
            this.onopen?.(new Event("open"));
        };
        worker.onerror = (event) => listener.status("lost", `The crowd in this page has stopped: ${event.message}`);
        worker.postMessage({ scene, name: "scene.json" });
    }

    send(text: string | ArrayBufferLike | Blob | ArrayBufferView): void {
        this.worker.postMessage(text);
    }

    close(): void {
        this.worker.terminate();
    }
}

export class LiveLink implements Link {
    readonly offline = false;
    private socket: SocketLike;
    private next = 1;
    private waiting = new Map<number, (reply: Reply) => void>();
    private tries = 0;

    constructor(
        private listener: Listener,
        private open: () => SocketLike,
    ) {
        this.socket = this.connect();
    }

    private connect(): SocketLike {
        const socket = this.open();
        socket.binaryType = "arraybuffer";
        socket.onopen = () => {
            this.tries = 0;
            this.listener.status("open", "");
        };
        socket.onmessage = (message) => {
            if (typeof message.data === "string") this.text(message.data);
            else deliver(message.data as ArrayBuffer, this.listener);
        };
        socket.onclose = () => {
            for (const answer of this.waiting.values()) answer({ ok: false, error: "the connection was lost" });
            this.waiting.clear();
            this.listener.status(
                "lost",
                "The program has ended or cannot be reached. Start `throng studio` again and open the " +
                    "address that it prints.",
            );
            if (this.tries++ < 60)
                setTimeout(() => {
                    this.socket = this.connect();
                }, 1000);
        };
        return socket;
    }

    private text(data: string): void {
        const message = JSON.parse(data) as Json;
        if (typeof message.event === "string") {
            this.listener.event(message);
            return;
        }
        const answer = this.waiting.get(message.id as number);
        this.waiting.delete(message.id as number);
        answer?.(message as Reply);
    }

    request(verb: string, args: Json = {}): Promise<Reply> {
        if (this.socket.readyState !== 1) return Promise.resolve({ ok: false, error: "not connected" });
        const id = this.next++;
        return new Promise((resolve) => {
            this.waiting.set(id, resolve);
            this.socket.send(JSON.stringify({ id, do: verb, ...args }));
        });
    }
}
