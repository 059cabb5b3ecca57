// What the type checker and the formatter do not see: `any`, leftovers of debugging, text that becomes markup.
// SPDX-License-Identifier: Apache-2.0
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const rules = [
    [/\t/, "a tab; indent with four spaces"],
    [/\s+$/, "spaces at the end of the line"],
    [/:\s*any\b|<any>|\bas any\b/, "any; say what it is"],
    [/\bconsole\.log\b|\bdebugger\b/, "left over from debugging"],
    [/@ts-ignore|@ts-nocheck/, "the type checker was silenced"],
    [/\beval\(|\.innerHTML\s*[+]?=/, "text that becomes code or markup; use textContent or h()"],
    [/[^=!]==[^=]|!=[^=]/, "== or !=; use === or !=="],
];
const SHADERS = /(walker|impostor)\.ts$/; // compare as C does
const files = (folder) =>
    (existsSync(folder) ? readdirSync(folder) : []).flatMap((name) => {
        const path = join(folder, name);
        return statSync(path).isDirectory() ? files(path) : /\.(ts|css|html|mjs)$/.test(name) ? [path] : [];
    });
let found = 0;
for (const path of ["src", "test", "e2e"].flatMap((folder) => files(join(here, folder)))) {
    // Written by the C program, which has its own habits.
    if (path.endsWith("layout.ts")) continue;
    readFileSync(path, "utf8")
        .split("\n")
        .forEach((line, number) => {
            for (const [pattern, complaint] of rules) {
                const excused =
                    (path.includes("e2e") && complaint.startsWith("left over")) ||
                    (SHADERS.test(path) && complaint.startsWith("== or"));
                if (pattern.test(line) && !excused) {
                    console.error(`${relative(here, path)}:${number + 1}: ${complaint}`);
                    found++;
                }
            }
        });
}
if (found > 0) process.exit(1);
