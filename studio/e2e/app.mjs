// A page whose crowd runs in the browser, without a server, from file://: `studio/run-tests app`. The hash of the page is that of
// the program; edits, models, layers, charts and saving work; prints the steps a second of 5000 people. Needs `make wasm`.
// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { launch } from "./support.mjs";

const folder = mkdtempSync(join(tmpdir(), "throng-app-"));
const program = process.env.TH_PROGRAM;
const HALL = {
    name: "hall",
    levels: [{ id: "a", walkable: { rect: [0, 0, 110, 70] }, obstacles: [{ rect: [50, 30, 52, 40] }] }],
    exits: [{ id: "out", line: [[110, 20], [110, 50]] }],
    groups: [{ id: "visitors", count: 5000, area: { rect: [1, 1, 100, 69] }, to: "out" }],
}; // prettier-ignore
const scene = join(folder, "hall.json"),
    app = join(folder, "app.html");
writeFileSync(scene, JSON.stringify(HALL));
execFileSync(program, ["export", scene, "--app", app]);

const browser = await launch();
try {
    const page = await (await browser.newContext({ acceptDownloads: true })).newPage();
    const faults = [];
    page.on("pageerror", (error) => faults.push(String(error)));
    page.setDefaultTimeout(1000 * Number(process.env.TH_WAIT_SECONDS ?? 300));
    await page.goto(`file://${app}`);
    await page.waitForFunction(() => window.studio?.crowd?.[0]?.count > 0);
    const ask = (verb, members = {}) => page.evaluate(([v, m]) => window.studio.link.request(v, m), [verb, members]);

    // The program's hash after ten steps.
    await ask("pause");
    await ask("restart");
    await ask("pause");
    assert.strictEqual((await ask("step", { n: 10 })).step, 10);
    const native = JSON.parse(
        execFileSync(program, [
            "run",
            scene,
            "--out",
            "none",
            "--json",
            "--quiet",
            "--threads",
            "1",
            "--max-time",
            "1",
        ]),
    ).runs[0];
    assert.strictEqual((await ask("hash")).hash, native.hash);

    // As fast as possible for some seconds.
    const before = await ask("hash");
    const begun = Date.now();
    await ask("speed", { times: 0 });
    await ask("play");
    await new Promise((resolve) => setTimeout(resolve, 6000));
    await ask("pause");
    const after = await ask("hash");
    console.log(
        `app: ${((1000 * (after.step - before.step)) / (Date.now() - begun)).toFixed(1)} steps/s of 5000 people`,
    );
    assert.ok(after.step > before.step);

    // Edits, models, layers, charts.
    const wall = await ask("edit", { kind: "wall", level: 0, line: [[60, 10], [60, 20]] }); // prettier-ignore
    assert.strictEqual(wall.how, "live", wall.error);
    const room = await ask("edit", { kind: "add", what: "obstacles", level: 0, value: { rect: [70, 30, 72, 40] } });
    assert.strictEqual(room.how, "reload", room.error);
    assert.ok((await ask("undo")).ok);
    const model = await ask("model", { group: 0, stage: "move", model: "orca" });
    assert.ok(model.ok, model.error);
    assert.ok((await ask("layer", { name: "density", on: true, level: 0 })).ok);
    assert.ok((await ask("step", { n: 5 })).ok);
    assert.ok((await ask("charts")).worlds[0].rows.length > 0);
    const wrong = await ask("open", {
        name: "x.json",
        text: '{"levels": [{"walkable": {"wkt": "POLYGON ((0 0, 1"}}]}',
    });
    assert.ok(!wrong.ok && wrong.error.length > 10, wrong.error);

    // Saved by download, and good for the program.
    const saved = await ask("save");
    writeFileSync(join(folder, "saved.json"), saved.text);
    execFileSync(program, ["check", join(folder, "saved.json"), "--quiet"]);
    assert.match(readFileSync(join(folder, "saved.json"), "utf8"), /orca/);
    // The studio as a static site: it begins with a template and opens what it is given.
    const site = await browser.newPage();
    site.on("pageerror", (error) => faults.push(String(error)));
    site.setDefaultTimeout(1000 * Number(process.env.TH_WAIT_SECONDS ?? 300));
    await site.goto(`file://${join(process.cwd(), "dist/app.html")}`);
    await site.waitForFunction(() => window.studio?.crowd?.[0]?.count > 0);
    const opened = await site.evaluate(
        (text) => window.studio.link.request("open", { name: "own.json", text }),
        saved.text,
    );
    assert.ok(opened.ok, opened.error);
    assert.deepStrictEqual(faults, []);
    console.log("app: passed");
} finally {
    await browser.close();
}
