// The cost of the page itself: `studio/run-tests bench [CSV]`. There is no GPU on a test machine, so not frames per second but
// what a frame asks of one: draw calls, triangles, and the processor time of the page's own script. Also the bytes of the
// page and the time from the start of the program to the first picture of a crowd that has moved.
// SPDX-License-Identifier: Apache-2.0
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { Studio, launch, root, sceneFile, serve, stopAll } from "./support.mjs";

const PEOPLE = 10000;
const HALL = {
    name: "hall",
    levels: [{ walkable: { rect: [0, 0, 110, 70] } }],
    exits: [{ id: "out", line: [[110, 20], [110, 50]] }],
    groups: [{ id: "visitors", count: PEOPLE, area: { rect: [1, 1, 100, 69] }, to: "out" }],
}; // prettier-ignore
const rows = [];
const row = (what, value, unit) => {
    rows.push([what, value, unit]);
    console.log(`${what.padEnd(64)} ${String(value).padStart(10)} ${unit}`);
};
const median = (list) => list.sort((a, b) => a - b)[list.length >> 1];
const browser = await launch();

async function firstMove() {
    const begun = performance.now();
    const server = await serve("studio", "--no-browser");
    const page = await (await browser.newContext()).newPage();
    await page.goto(server.address);
    await page.waitForFunction(
        () => {
            const crowd = window.studio?.crowd?.[0];
            if (!crowd) return false;
            window.first ??= crowd.time;
            return crowd.time > window.first;
        },
        undefined,
        { polling: 20 },
    );
    const taken = (performance.now() - begun) / 1000;
    await page.context().close();
    server.stop();
    return taken;
}

// Runs the page's own part of a frame so often; what the renderer was asked for is of the last one.
async function inSpace(studio, camera) {
    await studio.page.selectOption("#camera", camera);
    return studio.page.evaluate(() => {
        const app = window.studio,
            space = app.space,
            people = app.crowd[0],
            times = { frame: [], draw: [] };
        for (let k = 0; k < 60; k++) {
            const t0 = performance.now();
            app.people(people); // a frame has come: colours, steps, headings
            space.slow = 16; // as on a machine that keeps up
            space.place(0.5); // between two frames: position and body of each person
            times.frame.push(performance.now() - t0);
        }
        const t0 = performance.now();
        space.renderer.render(space.space, space.camera);
        times.draw.push(performance.now() - t0);
        return { ...times, calls: space.renderer.info.render.calls, triangles: space.triangles() };
    });
}

try {
    const page = readFileSync(join(root, "studio", "dist", "index.html"));
    row("page", page.length, "bytes");
    row("page, as the server sends it (gzip)", gzipSync(page).length, "bytes");
    const first = [];
    for (let k = 0; k < 5; k++) first.push(await firstMove());
    row("first picture of a crowd that moves, median of 5", median(first).toFixed(2), "s");
    const server = await serve("studio", sceneFile("hall.json", HALL), "--no-browser", "--paused");
    const studio = await Studio.open(browser, server.address);
    await studio.wait((n) => window.studio.crowd[0].count === n, PEOPLE);
    const plan = await studio.page.evaluate(() => {
        const app = window.studio,
            times = [];
        for (let k = 0; k < 30; k++) {
            const t0 = performance.now();
            app.people(app.crowd[0]);
            app.plans[0].draw();
            times.push(performance.now() - t0);
        }
        return times;
    });
    row(`plan, ${PEOPLE} people: script of a frame`, median(plan).toFixed(2), "ms");
    await studio.page.click("#space");
    await studio.wait(() => window.studio.space !== null && window.studio.crowd[0].count > 0, undefined, 60000);
    for (const camera of ["orbit", "walk"]) {
        const cost = await inSpace(studio, camera);
        const name = `3D, ${PEOPLE} walkers, ${camera === "orbit" ? "from above" : "among them"}`;
        row(`${name}: script of a frame`, median(cost.frame).toFixed(2), "ms");
        row(`${name}: draw calls`, cost.calls, "1");
        row(`${name}: triangles`, cost.triangles, "1");
    }
    server.stop();
} finally {
    await browser.close();
    stopAll();
}
if (process.argv[2])
    writeFileSync(
        process.argv[2],
        ["what,value,unit", ...rows.map(([what, value, unit]) => `"${what}",${value},${unit}`), ""].join("\n"),
    );
