// A program, a browser and small helpers for the end-to-end tests. SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { chromium, firefox } from "playwright-core";

export const root = resolve(import.meta.dirname ?? new URL(".", import.meta.url).pathname, "../..");
export const program = process.env.TH_PROGRAM ?? join(root, "build", "throng");
export const output = process.env.TH_OUTPUT ?? join(root, "build", "studio-test");
mkdirSync(output, { recursive: true });
// [ms] How long anything is waited for. Only a hang takes so long; ctest says how long that is. No test waits for a
// time instead of for what it wants to see: machines are slow and busy.
export const WAIT = 1000 * Number(process.env.TH_WAIT_SECONDS ?? 450);
// [ms] The program's messages reach the page in portions, up to so far apart: finds tests that count on an event having
// come with a reply. TH_LAG=200 studio/run-tests page
const LAG = Number(process.env.TH_LAG ?? 0);

// A room of 20 x 10 m, a wall across with two doors, an exit on the far side: 60 people go from left to right.
export const ROOM = {
    name: "room",
    levels: [
        {
            id: "ground",
            walkable: { rect: [0, 0, 20, 10] },
            walls: [
                [
                    [10, 0],
                    [10, 2],
                ],
                [
                    [10, 4],
                    [10, 6],
                ],
                [
                    [10, 8],
                    [10, 10],
                ],
            ],
        },
    ],
    doors: [
        {
            id: "south",
            line: [
                [10, 2],
                [10, 4],
            ],
        },
        {
            id: "north",
            line: [
                [10, 6],
                [10, 8],
            ],
        },
    ],
    exits: [
        {
            id: "out",
            line: [
                [20, 3],
                [20, 7],
            ],
        },
    ],
    groups: [{ id: "visitors", count: 60, area: { rect: [1, 1, 8, 9] }, to: "out" }],
    measure: { areas: [{ id: "before", area: { rect: [7, 2, 10, 8] } }] },
};

// Tests that run at the same time have files of their own.
export function sceneFile(name, scene) {
    const path = join(output, `${process.env.TH_WORKER ?? 0}-${name}`);
    writeFileSync(path, JSON.stringify(scene));
    return path;
}

const started = [];
// Starts `throng ARGS`, answers the address that it prints.
export function serve(...args) {
    const child = spawn(program, args, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
    started.push(child);
    return new Promise((found, failed) => {
        let text = "";
        const read = (data) => {
            text += data;
            const address = /http:\/\/\S+token=[0-9a-f]+/.exec(text);
            if (address) found({ address: address[0], child, stop: () => child.kill("SIGTERM") });
        };
        child.stdout.on("data", read);
        child.stderr.on("data", read);
        child.on("error", failed);
        child.on("exit", (code) => failed(new Error(`throng ${args.join(" ")} ended with ${code}:\n${text}`)));
        setTimeout(() => failed(new Error(`throng ${args.join(" ")} printed no address:\n${text}`)), WAIT).unref();
    });
}

export function run(...args) {
    const done = spawnSync(program, args, { cwd: root, encoding: "utf8" });
    assert.equal(done.status, 0, `throng ${args.join(" ")}:\n${done.stdout}${done.stderr}`);
    return done.stdout;
}

// An exported file with the page of TH_PAGE around its recording.
export function repaged(file) {
    if (!process.env.TH_PAGE) return;
    const recording = /<script id="throng-recording"[^]*?<\/script>/.exec(readFileSync(file, "utf8"))[0];
    writeFileSync(
        file,
        readFileSync(process.env.TH_PAGE, "utf8").replace("</body>", () => `${recording}</body>`),
    );
}

// `whole`: the page is put together by the GPU in software too, which is quicker where 3D fills it.
export async function launch(whole = false) {
    return chromium.launch({
        executablePath: process.env.TH_BROWSER ?? "/usr/bin/chromium",
        headless: true,
        timeout: WAIT,
        args: [
            "--no-sandbox",
            // Without, only the canvases are drawn by it: clicks take a sixth of the time.
            ...(whole ? ["--use-gl=angle", "--use-angle=swiftshader", "--ignore-gpu-blocklist"] : ["--disable-gpu"]),
            "--enable-unsafe-swiftshader",
            // A page from TH_PAGE has no address in the browser's eyes.
            ...(process.env.TH_PAGE ? ["--disable-features=LocalNetworkAccessChecks"] : []),
        ],
    });
}

// A virtual screen; null where there is no Xvfb.
function hiddenScreen() {
    const child = spawn("Xvfb", ["-displayfd", "3", "-screen", "0", "1400x1000x24", "-nolisten", "tcp"], {
        stdio: ["ignore", "ignore", "ignore", "pipe"],
    });
    started.push(child);
    return new Promise((found) => {
        child.on("error", () => found(null));
        child.on("exit", () => found(null));
        child.stdio[3].once("data", (data) => found(`:${String(data).trim()}`));
    });
}

// As its maker ships it, driven through WebDriver BiDi; null where there is none that can be driven. It has WebGL only
// where it has a screen.
export async function launchFirefox() {
    const executablePath = ["firefox-esr", "firefox"].map((name) => `/usr/bin/${name}`).find(existsSync);
    try {
        if (!executablePath) return null;
        const display = await hiddenScreen(),
            env = display ? { ...process.env, DISPLAY: display } : process.env;
        return await firefox.launch({ channel: "moz-firefox", executablePath, headless: !display, env, timeout: WAIT });
    } catch (error) {
        console.log(`    ${executablePath} cannot be driven: ${error}`);
        return null;
    }
}

export function stopAll() {
    for (const child of started) child.kill("SIGKILL");
}

// The buttons of the pages of all tests, and those that were pressed, by id or by their text.
export const seen = [],
    pressed = [];
function watchButtons() {
    const name = (b) =>
        b.dataset.template !== undefined
            ? "a template"
            : b.closest(".findings")
              ? "a finding"
              : b.id || b.title || b.textContent;
    const lists = (window.buttons = { seen: new Set(), pressed: new Set() });
    const look = () => {
        for (const b of document.querySelectorAll("button")) lists.seen.add(name(b));
        for (const key of window.studio?.controls?.keyNames() ?? []) lists.seen.add(`key ${key}`);
    };
    addEventListener("DOMContentLoaded", () => {
        look();
        new MutationObserver(look).observe(document.body, { childList: true, subtree: true });
    });
    const note = (event) => {
        const b = event.target.closest?.("button");
        if (b) lists.pressed.add(name(b));
    };
    addEventListener("click", note, true);
    const noteKey = ({ key, ctrlKey }) =>
        lists.pressed.add(`key ${ctrlKey ? "ctrl+" : ""}${key.length === 1 ? key.toLowerCase() : key}`);
    addEventListener("keydown", noteKey, true);
}

// Messages in their order, in uneven portions at uneven times.
function delayed(page, server) {
    const waiting = [];
    const pass = () => {
        for (const message of waiting.splice(0, Math.ceil(Math.random() * waiting.length))) page.send(message);
        if (waiting.length > 0) setTimeout(pass, LAG * Math.random());
    };
    server.onMessage((message) => {
        if (waiting.push(message) === 1) setTimeout(pass, LAG * Math.random());
    });
}

// A page whose complaints count as failures of the test that caused them.
export class Studio {
    constructor(page) {
        this.page = page;
        this.complaints = [];
        page.on("console", (message) => {
            // The software renderer of the test machine says that it is slow.
            if (
                message.type() === "error" ||
                (message.type() === "warning" && !/GPU stall|GL Driver|performance/i.test(message.text()))
            ) {
                this.complaints.push(message.text());
            }
        });
        page.on("pageerror", (error) => this.complaints.push(String(error.stack ?? error)));
    }

    static async open(browser, address, size = { width: 1280, height: 800 }, locale = "en-US") {
        const context = await browser.newContext({
            viewport: size,
            acceptDownloads: true,
            colorScheme: "light",
            locale,
        });
        context.setDefaultTimeout(WAIT);
        const studio = new Studio(await context.newPage());
        await studio.page.addInitScript(watchButtons);
        if (LAG) await studio.page.routeWebSocket(/./, (page) => delayed(page, page.connectToServer()));
        // A page just built, shown by a program that has another inside.
        if (process.env.TH_PAGE) {
            const body = readFileSync(process.env.TH_PAGE, "utf8");
            await studio.page.route(/:\d+\/\?token=/, (route) => route.fulfill({ contentType: "text/html", body }));
        }
        await studio.page.goto(address);
        await studio.wait(
            () => window.studio.scenes[0] !== null && window.studio.state !== null && window.studio.frames > 0,
        );
        return studio;
    }

    wait(condition, argument) {
        return this.page.waitForFunction(condition, argument, { timeout: WAIT, polling: 50 });
    }

    // Until the page has drawn what it knows, for a picture of it.
    async drawn() {
        await this.page.evaluate(
            () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done()))),
        );
    }

    // Until the crowd is this many seconds further.
    async later(seconds) {
        const now = await this.page.evaluate(() => window.studio.crowd[0].time);
        await this.wait((time) => window.studio.crowd[0].time > time, now + seconds);
    }

    // A request that must succeed; verbs are those of docs/studio-protocol.md.
    async ask(verb, args = {}) {
        const reply = await this.page.evaluate(([v, a]) => window.studio.ask(v, a), [verb, args]);
        assert.ok(reply.ok, `${verb} ${JSON.stringify(args)}: ${reply.error} ${reply.cure ?? ""}`);
        return reply;
    }

    // A paused crowd at its start. The state that says so may come after the reply: without the wait, `stepped` could take the
    // state of the run before for its own.
    async restart() {
        await this.ask("restart");
        await this.wait(() => window.studio.state.worlds.every((world) => world.step === 0));
    }

    // As of now: after all edits so far, which may still be made. The events of the state lag behind.
    async state() {
        return this.page.evaluate(() => window.studio.settled());
    }

    // In the second plan of a comparison.
    async dragInB(x0, y0, x1, y1) {
        const at = (x, y) =>
            this.page.evaluate(
                ([sx, sy]) => {
                    const plan = window.studio.plans[1],
                        box = plan.element.getBoundingClientRect(),
                        [px, py] = plan.toPixels(sx, sy);
                    return [box.left + px, box.top + py];
                },
                [x, y],
            );
        await this.page.mouse.move(...(await at(x0, y0)));
        await this.page.mouse.down();
        await this.page.mouse.move(...(await at((x0 + x1) / 2, (y0 + y1) / 2)));
        await this.page.mouse.move(...(await at(x1, y1)));
        await this.page.mouse.up();
        await this.state();
    }

    // The state after at least this step, as the server says it.
    async stepped(n) {
        const reply = await this.ask("step", { n });
        await this.wait((step) => window.studio.state.worlds[0].step >= step, reply.step);
        await this.wait((time) => Math.abs(window.studio.crowd[0].time - time) < 1e-6, reply.time);
        return this.state();
    }

    people() {
        return this.page.evaluate(() => {
            const crowd = window.studio.crowd[0];
            return Object.fromEntries(Array.from(crowd.id, (id, k) => [id, [crowd.x[k], crowd.y[k]]]));
        });
    }

    // The pixel of the browser's window, for the mouse.
    async pixel(x, y) {
        return this.page.evaluate(
            ([sx, sy]) => {
                const plan = window.studio.plans[0],
                    box = plan.element.getBoundingClientRect(),
                    [px, py] = plan.toPixels(sx, sy);
                return [box.left + px, box.top + py];
            },
            [x, y],
        );
    }

    async click(x, y) {
        await this.page.mouse.click(...(await this.pixel(x, y)));
    }

    // A place in the box away from all people.
    free(x0, y0, x1, y1) {
        return this.page.evaluate((box) => {
            const plan = window.studio.plans[0];
            for (let x = box[0]; x < box[2]; x += 0.1)
                for (let y = box[1]; y < box[3]; y += 0.1) if (plan.personAt(...plan.toPixels(x, y)) < 0) return [x, y];
            throw new Error("people stand everywhere");
        }, [x0, y0, x1, y1]); // prettier-ignore
    }

    async drag(x0, y0, x1, y1) {
        const before = await this.page.evaluate(() => window.studio.replies);
        await this.page.mouse.move(...(await this.pixel(x0, y0)));
        await this.page.mouse.down();
        await this.page.mouse.move(...(await this.pixel((x0 + x1) / 2, (y0 + y1) / 2)));
        await this.page.mouse.move(...(await this.pixel(x1, y1)));
        await this.page.mouse.up();
        await this.wait((n) => window.studio.replies > n, before);
    }

    // A file let go over the plan, as from a desktop.
    async drop(name, content) {
        await this.page.evaluate(
            ([fileName, base64]) => {
                const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
                const dataTransfer = new DataTransfer();
                dataTransfer.items.add(new File([bytes], fileName));
                const target = document.querySelector("main.stage");
                for (const type of ["dragover", "drop"])
                    target.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }));
            },
            [name, Buffer.from(content).toString("base64")],
        );
    }

    async tool(name) {
        await this.page.click(`#tool-${name}`);
    }

    async shot(name) {
        await this.drawn();
        await this.page.screenshot({ path: join(output, `${name}.png`) });
    }

    quiet() {
        assert.deepEqual(this.complaints, [], "the browser's console complains");
    }

    // Before a page is left: its lists of buttons end with it.
    async noteButtons() {
        const lists = await this.page.evaluate(() => [[...window.buttons.seen], [...window.buttons.pressed]]);
        seen.push(...lists[0]);
        pressed.push(...lists[1]);
    }

    async close() {
        this.quiet();
        await this.noteButtons();
        await this.page.context().close();
    }
}
