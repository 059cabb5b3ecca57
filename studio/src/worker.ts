// The Worker of a page without a server: steps the crowd in turns and passes messages on. SPDX-License-Identifier: Apache-2.0
import { startEngine, type Engine } from "./engine";
import wasm from "../../build-wasm/throng.wasm";

let engine: Engine | null = null,
    waiting: ReturnType<typeof setTimeout> | undefined;
const post = (message: unknown, moved: Transferable[] = []) =>
    (self as unknown as { postMessage(m: unknown, t: Transferable[]): void }).postMessage(message, moved);
const soon = new MessageChannel(); // a timer waits 4 ms at least
soon.port1.onmessage = () => turn();

function turn(): void {
    clearTimeout(waiting);
    if (!engine) return;
    const seconds = engine.turn();
    if (seconds > 0.001) waiting = setTimeout(turn, 1000 * seconds);
    else soon.port2.postMessage(0);
}

self.onmessage = async (event: MessageEvent) => {
    if (typeof event.data === "string") {
        engine?.receive(event.data);
        clearTimeout(waiting);
        waiting = setTimeout(turn, 0);
        return;
    }
    const { scene, name } = event.data as { scene: string; name: string };
    try {
        engine = await startEngine(wasm, scene, name, (m) => post(m, typeof m === "string" ? [] : [m]));
        post({ open: true });
        turn();
    } catch (error) {
        post({ fault: error instanceof Error ? error.message : String(error) });
    }
};
