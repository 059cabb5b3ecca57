// The page as one file: script and style are written into dist/index.html, so the program embeds one array and
// the page needs no network. `node build.mjs --tests` bundles the unit tests into build/test instead.
// SPDX-License-Identifier: Apache-2.0
import { build } from "esbuild";
import { mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const here = dirname(fileURLToPath(import.meta.url));
const at = (...parts) => join(here, ...parts);
const LIMIT = 1.5e6; // bytes

// The lists of a scene whose elements have a place, from the schema of scene files: the page makes its tools of them.
function sceneLists() {
    const schema = JSON.parse(readFileSync(at("..", "schema", "scene.schema.json"), "utf8"));
    const kind = (name, value) =>
        value.enum
            ? "choice"
            : name === "to"
              ? "goal"
              : value.type === "number"
                ? "number"
                : value.type === "string"
                  ? "text"
                  : "";
    return Object.entries(schema.properties).flatMap(([list, { items, description, $comment }]) => {
        const { area, line, ...others } = items?.properties ?? {};
        if ((!area && !line) || $comment) return []; // a model declares it: the server tells
        const options = Object.entries(others)
            .filter(([name, value]) => name !== "id" && name !== "level" && kind(name, value) && !value.$ref)
            .map(([name, value]) => ({
                name,
                kind: kind(name, value),
                doc: value.description,
                unit: /\[(.*?)\]/.exec(value.description)?.[1] ?? "",
                usual: /default:? ([\d.]*\d|[^.,;(]+)/i.exec(value.description)?.[1] ?? "",
                choices: value.enum ?? [],
                max: value.maximum ?? value.exclusiveMaximum ?? null,
            }));
        const place = area ? "area" : line.$ref ? "line" : "path"; // a line of two points, or of as many as one likes
        const item = list.replace(/(_area)?s$/, ""),
            key = area ? "area" : "line";
        return [
            {
                list,
                item,
                doc: description,
                place,
                key,
                model: "",
                stage: "",
                colour: "",
                leads: false,
                required: items.required ?? [],
                options,
            },
        ];
    });
}

// What can be said of each element, by list, for the panel of properties; "scene" and "run" are of the whole file.
function sceneFields() {
    const schema = JSON.parse(readFileSync(at("..", "schema", "scene.schema.json"), "utf8"));
    const shapes = ["shape", "shapes", "line", "point", "schedule"].map((name) => `#/$defs/${name}`);
    const kind = (list, name, value) => {
        if (value.enum) return "choice";
        if (value.$ref === "#/$defs/distribution") return "distribution";
        if (name === "level" || (list === "stairs" && name === "to")) return "level";
        if (name === "to") return "goal";
        if (name === "route") return "goals";
        if (name === "leader") return "group";
        if (value.type === "boolean") return "flag";
        if (value.type === "integer") return "integer";
        return { number: "number", string: "text" }[value.type] ?? "";
    };
    const field = (list, name, value, path = name) => ({
        name: path,
        kind: kind(list, name, value),
        doc: value.description ?? "",
        unit: /\[(.*?)\]/.exec(value.description)?.[1] ?? (/per second/.test(value.description) ? "1/s" : ""),
        usual: /default:? ([\d.]*\d|[^.,;(]+)/i.exec(value.description)?.[1] ?? "",
        choices: value.enum ?? [],
        min: value.minimum ?? value.exclusiveMinimum ?? null,
        max: value.maximum ?? value.exclusiveMaximum ?? null,
    });
    const fields = (list, properties) =>
        Object.entries(properties).flatMap(([name, value]) => {
            if (name.startsWith("$") || shapes.includes(value.$ref)) return [];
            const steady = name === "source" ? value.oneOf?.[0]?.properties : null; // a timetable is for the file
            if (steady) return Object.entries(steady).map(([key, one]) => field(list, key, one, `${name}.${key}`));
            return kind(list, name, value) ? [field(list, name, value)] : [];
        });
    // "Give exactly one of count, density, ... and source."
    const rivals = (text) => (/exactly one of ([^.]+)\./.exec(text)?.[1] ?? "").split(/, | and /).filter(Boolean);
    const of = (list, items) => ({
        fields: fields(list, items.properties),
        rivals: rivals(items.description),
        required: items.required ?? [],
    });
    const lists = { ...schema.properties, ...schema.properties.measure.properties };
    const out = {
        scene: { fields: fields("scene", schema.properties), rivals: [], required: [] },
        run: of("run", schema.properties.run),
    };
    for (const [list, { items }] of Object.entries(lists)) if (items?.properties) out[list] = of(list, items);
    return out;
}
const define = { SCENE_LISTS: JSON.stringify(sceneLists()), SCENE_FIELDS: JSON.stringify(sceneFields()) };

if (process.argv.includes("--tests")) {
    rmSync(at("build", "test"), { recursive: true, force: true });
    const entryPoints = readdirSync(at("test"))
        .filter((name) => name.endsWith(".test.ts"))
        .map((name) => at("test", name));
    await build({
        entryPoints,
        bundle: true,
        define,
        platform: "node",
        format: "esm",
        outdir: at("build", "test"),
        outExtension: { ".js": ".mjs" },
        logLevel: "warning",
    });
} else if (process.argv.includes("--engine")) {
    // The crowd in the browser: dist/engine.gz, which `throng export --app` puts into a page, build/headless.mjs for Node, and
    // dist/app.html, a page that starts with a template. build-wasm/throng.wasm is there (tools/wasm).
    const common = {
        bundle: true,
        minify: true,
        loader: { ".wasm": "binary" },
        define: { ...define, "import.meta.url": '"file:///"' },
        external: ["module", "node:*", "fs", "path", "url"],
        target: ["es2022", "firefox115", "chrome110"],
        legalComments: "none",
        logLevel: "error",
    };
    const worker = await build({ ...common, entryPoints: [at("src", "worker.ts")], write: false, format: "iife" });
    await build({
        ...common,
        define,
        platform: "node",
        entryPoints: [at("src", "headless.ts")],
        format: "esm",
        outfile: at("build", "headless.mjs"),
    });
    const packed = gzipSync(worker.outputFiles[0].contents, { level: 9 });
    mkdirSync(at("dist"), { recursive: true });
    writeFileSync(at("dist", "engine.gz"), packed);
    const scene = readFileSync(at("..", "scenes", "templates", "concourse.json"), "utf8");
    const element = (id, content) =>
        `<script id="${id}" type="application/octet-stream;base64">${content.toString("base64")}</script>\n`;
    const page = readFileSync(at("dist", "index.html"), "utf8"),
        end = page.lastIndexOf("</body>");
    writeFileSync(
        at("dist", "app.html"),
        page.slice(0, end) +
            element("throng-scene", gzipSync(Buffer.from(scene))) +
            element("throng-engine", packed) +
            page.slice(end),
    );
    console.log(`studio engine: ${(packed.length / 1000).toFixed(0)} kB gzipped`);
} else {
    const bundle = async (entry) => {
        const result = await build({
            entryPoints: [at("src", entry)],
            bundle: true,
            define,
            minify: true,
            write: false,
            format: "iife",
            target: ["es2022", "firefox115", "chrome110"],
            charset: "utf8",
            legalComments: "none",
            logLevel: "warning",
        });
        return result.outputFiles[0].text;
    };
    const script = await bundle("main.ts");
    const style = await bundle("style.css");
    // A closing tag inside a text of the script would end the element.
    const page = readFileSync(at("src", "index.html"), "utf8")
        .replace("/*STYLE*/", () => style.trim())
        .replace("/*SCRIPT*/", () => script.trim().replaceAll("</script", "<\\/script"));
    if (page.length > LIMIT) throw new Error(`the page has ${page.length} bytes, more than ${LIMIT}`);
    mkdirSync(at("dist"), { recursive: true });
    writeFileSync(at("dist", "index.html.new"), page);
    renameSync(at("dist", "index.html.new"), at("dist", "index.html"));
    console.log(`studio page: ${(page.length / 1000).toFixed(0)} kB`);
}
