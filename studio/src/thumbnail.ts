// A small picture of a scene, drawn from its file: ground, solid things, people, exits. SPDX-License-Identifier: Apache-2.0
import { CATEGORIES, css } from "./colours";
import { cssColour } from "./dom";
import type { Json } from "./decode";
import { asList, isRing, shapeRings, type Point, type Shape } from "./shapes";
import { boxOfRings } from "./types";

type Rings = Point[][];

const isShape = (value: unknown): boolean => !Array.isArray(value) || isRing(value);
const ringsOf = (value: unknown): Rings => asList(value, isShape).flatMap((shape) => shapeRings(shape as Shape));
const elements = (value: unknown): Json[] => asList(value, (v) => !Array.isArray(v)) as Json[];
const linesOf = (value: unknown): Rings => {
    const list = Array.isArray(value) ? (value as unknown[]) : [];
    return (list.length > 0 && isRing(list) ? [list] : list) as Rings;
};

// The first level of a scene in the middle of the canvas. WKT has no rings here: the picture is then of the people.
export function drawThumbnail(canvas: HTMLCanvasElement, document: Json): void {
    const context = canvas.getContext("2d"),
        level = elements(document.levels)[0] ?? {},
        groups = elements(document.groups),
        exits = elements(document.exits),
        floor = ringsOf(level.walkable),
        walls = linesOf(level.walls);
    const everything = [floor, ...groups.map((group) => ringsOf(group.area)), walls].flat();
    if (!context || everything.length === 0) return;
    const [x0, y0, x1, y1] = boxOfRings(everything.map((ring) => ring.flat()));
    const scale = Math.min((canvas.width - 8) / (x1 - x0 || 1), (canvas.height - 8) / (y1 - y0 || 1));
    const trace = (rings: Rings, closed: boolean): void => {
        context.beginPath();
        for (const ring of rings) {
            ring.forEach(([x, y], k) => {
                const px = canvas.width / 2 + (x - (x0 + x1) / 2) * scale,
                    py = canvas.height / 2 - (y - (y0 + y1) / 2) * scale;
                if (k === 0) context.moveTo(px, py);
                else context.lineTo(px, py);
            });
            if (closed) context.closePath();
        }
    };
    context.fillStyle = cssColour("--floor");
    trace(floor, true);
    if (floor.length > 0) context.fill();
    else context.fillRect(0, 0, canvas.width, canvas.height);
    groups.forEach((group, k) => {
        context.fillStyle = css(CATEGORIES[k % CATEGORIES.length], 0.55);
        trace(ringsOf(group.area), true);
        context.fill();
    });
    context.fillStyle = cssColour("--solid");
    trace(ringsOf(level.obstacles), true);
    context.fill();
    context.strokeStyle = cssColour("--wall");
    context.lineWidth = 1.2;
    trace([...floor, ...ringsOf(level.obstacles)], true);
    context.stroke();
    trace(walls, false);
    context.stroke();
    context.strokeStyle = cssColour("--exit");
    context.lineWidth = 3;
    for (const exit of exits) {
        const area = ringsOf(exit.area);
        trace(area.length > 0 ? area : linesOf(exit.line), area.length > 0);
        context.stroke();
    }
}
