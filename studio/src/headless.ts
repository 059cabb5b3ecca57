// The engine under Node, for tools/compare-hashes: node headless.mjs run SCENE ... --max-time S prints the hash of the last state
// as `throng run --json` does. Scenes with linked files end with status 77. SPDX-License-Identifier: Apache-2.0
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { startEngine } from "./engine";
import wasm from "../../build-wasm/throng.wasm";

const [, , , scene, ...options] = process.argv;
const seconds = Number(options[options.indexOf("--max-time") + 1]);
const text = readFileSync(scene, "utf8");
if (/"(file|positions_file)"\s*:|"positions"\s*:\s*"/.test(text)) {
    console.error("the scene links files, which a page without a server cannot read");
    process.exit(77);
}
let answer: Record<string, unknown> | null = null,
    state: { worlds: { spawned: number; done: boolean }[] } | null = null;
const engine = await startEngine(wasm, text, basename(scene), (message) => {
    if (typeof message !== "string") return;
    const read = JSON.parse(message) as Record<string, unknown>;
    if (read.event === "state") state = read as unknown as typeof state;
    else if ("id" in read) answer = read;
});
function ask(verb: string, members: object = {}): Record<string, unknown> {
    answer = null;
    engine.receive(JSON.stringify({ id: 1, do: verb, ...members }));
    while (!answer) engine.turn();
    if (!answer["ok"]) throw new Error(String(answer["error"]));
    return answer;
}
const begun = performance.now();
let time = 0,
    steps = 0;
for (;;) {
    const now = ask("step");
    if (!(Number(now.time) > time)) break;
    time = Number(now.time);
    ++steps;
    if (time >= seconds - 1e-9) break;
}
const spent = (performance.now() - begun) / 1000;
const { hash } = ask("hash");
state = null;
while (!state) engine.turn();
const spawned = (state as unknown as { worlds: { spawned: number }[] }).worlds[0].spawned;
process.stdout.write(JSON.stringify({ runs: [{ hash, spawned, steps, steps_per_second: steps / spent }] }) + "\n");
