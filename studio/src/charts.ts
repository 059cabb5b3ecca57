// Charts that grow with the run, on plain canvases: axes with units, a legend, the value under the pointer.
// SPDX-License-Identifier: Apache-2.0
import { say } from "./say";
import { cssColour, h, short, unitText } from "./dom";
import { CATEGORIES, css, ticks, type Rgb } from "./colours";

export interface Series {
    name: string;
    x: number[];
    y: number[];
    dash?: boolean;
    points?: boolean;
    colour?: number; // of the list of colours; otherwise its place among the series
}
export interface ChartSpec {
    title: string;
    xLabel: string;
    yLabel: string;
    series: Series[];
    yMin?: number;
    yMax?: number;
    xMax?: number;
    limit?: { y: number; label: string };
}

// Keeps at most `most` points of a growing series: every second one goes when it is full. The last is always kept.
export function thin(series: { x: number[]; y: number[] }, most = 1200): void {
    if (series.x.length <= most) return;
    const keep = (_: number, k: number): boolean => k % 2 === 0 || k === series.x.length - 1;
    const x = series.x.filter(keep),
        y = series.y.filter(keep);
    series.x.splice(0, series.x.length, ...x);
    series.y.splice(0, series.y.length, ...y);
}

const colourOf = (series: Series, k: number): Rgb => CATEGORIES[(series.colour ?? k) % CATEGORIES.length];

const LEFT = 46,
    RIGHT = 10,
    TOP = 24,
    BOTTOM = 34;

export class Chart {
    readonly element: HTMLElement;
    private canvas = h("canvas", {});
    private legend = h("div", { className: "chart-legend" });
    private spec: ChartSpec | null = null;
    private pointer: number | null = null;
    private shown = "";

    constructor(private height = 168) {
        this.canvas.style.height = `${height}px`;
        this.element = h("figure", { className: "chart" }, this.canvas, this.legend);
        this.canvas.addEventListener("pointermove", (event) => {
            this.pointer = event.offsetX;
            this.draw();
        });
        this.canvas.addEventListener("pointerleave", () => {
            this.pointer = null;
            this.draw();
        });
        new ResizeObserver(() => this.draw()).observe(this.element);
    }

    show(spec: ChartSpec): void {
        this.spec = spec;
        this.canvas.title = say(spec.title);
        const names = spec.series.map((series) => series.name).join("\n");
        if (names !== this.shown) {
            this.shown = names;
            this.legend.replaceChildren(
                ...spec.series.map((series, k) =>
                    h(
                        "span",
                        {},
                        h("i", {
                            className: series.dash ? "dash" : "",
                            style: `--mark:${css(colourOf(series, k))}`,
                        }),
                        series.name,
                    ),
                ),
            );
        }
        this.draw();
    }

    private draw(): void {
        const spec = this.spec,
            width = this.element.clientWidth;
        const context = this.canvas.getContext("2d");
        if (!spec || !context || width === 0) return;
        const ratio = devicePixelRatio || 1;
        this.canvas.width = Math.round(width * ratio);
        this.canvas.height = Math.round(this.height * ratio);
        context.setTransform(ratio, 0, 0, ratio, 0, 0);
        context.clearRect(0, 0, width, this.height);
        let xMin = Infinity,
            xMax = spec.xMax ?? -Infinity,
            yMax = spec.yMax ?? -Infinity,
            yMin = spec.yMin ?? 0;
        for (const series of spec.series) {
            for (let k = 0; k < series.x.length; k++) {
                xMin = Math.min(xMin, series.x[k]);
                xMax = Math.max(xMax, series.x[k]);
                if (spec.yMax === undefined) yMax = Math.max(yMax, series.y[k]);
                if (spec.yMin === undefined) yMin = Math.min(yMin, series.y[k]);
            }
        }
        if (spec.limit) yMax = Math.max(yMax, 1.1 * spec.limit.y);
        xMin = Math.min(0, xMin);
        if (!Number.isFinite(xMin)) xMin = 0;
        if (!(xMax > xMin)) xMax = xMin + 1;
        if (!(yMax > yMin)) yMax = yMin + 1;
        else if (spec.yMax === undefined) yMax += 0.06 * (yMax - yMin);
        const px = (x: number): number => LEFT + ((x - xMin) / (xMax - xMin)) * (width - LEFT - RIGHT);
        const py = (y: number): number =>
            this.height - BOTTOM - ((y - yMin) / (yMax - yMin)) * (this.height - TOP - BOTTOM);
        this.drawAxes(context, spec, width, xMin, xMax, yMin, yMax, px, py);
        context.save();
        context.beginPath();
        context.rect(LEFT, TOP - 4, width - LEFT - RIGHT + 2, this.height - TOP - BOTTOM + 6);
        context.clip();
        spec.series.forEach((series, n) => this.drawSeries(context, series, css(colourOf(series, n)), px, py));
        context.restore();
        if (this.pointer !== null) this.drawPointer(context, spec, width, px);
    }

    private drawAxes(
        context: CanvasRenderingContext2D,
        spec: ChartSpec,
        width: number,
        xMin: number,
        xMax: number,
        yMin: number,
        yMax: number,
        px: (x: number) => number,
        py: (y: number) => number,
    ): void {
        const text = cssColour("--text"),
            faint = cssColour("--line");
        context.font = "600 12px system-ui, sans-serif";
        context.fillStyle = text;
        context.textAlign = "left";
        context.textBaseline = "top";
        context.fillText(say(spec.title), 4, 3);
        context.font = "10.5px system-ui, sans-serif";
        context.fillStyle = cssColour("--muted");
        context.strokeStyle = faint;
        context.lineWidth = 1;
        context.textAlign = "right";
        context.textBaseline = "middle";
        for (const y of ticks(yMin, yMax, 5)) {
            context.beginPath();
            context.moveTo(LEFT, py(y));
            context.lineTo(width - RIGHT, py(y));
            context.stroke();
            context.fillText(short(y), LEFT - 5, py(y));
        }
        context.textAlign = "center";
        context.textBaseline = "top";
        for (const x of ticks(xMin, xMax, 6)) context.fillText(short(x), px(x), this.height - BOTTOM + 4);
        context.fillText(say(spec.xLabel), (LEFT + width - RIGHT) / 2, this.height - 14);
        context.textAlign = "right";
        context.fillText(say(spec.yLabel), width - RIGHT, 5);
        if (spec.limit) {
            context.strokeStyle = cssColour("--door-shut");
            context.setLineDash([6, 3]);
            context.beginPath();
            context.moveTo(LEFT, py(spec.limit.y));
            context.lineTo(width - RIGHT, py(spec.limit.y));
            context.stroke();
            context.setLineDash([]);
            context.textBaseline = "bottom";
            context.fillText(spec.limit.label, width - RIGHT, py(spec.limit.y) - 1);
        }
    }

    private drawSeries(
        context: CanvasRenderingContext2D,
        series: Series,
        colour: string,
        px: (x: number) => number,
        py: (y: number) => number,
    ): void {
        context.strokeStyle = colour;
        context.fillStyle = colour;
        context.lineWidth = 1.8;
        context.setLineDash(series.dash ? [5, 4] : []);
        if (series.points) {
            context.globalAlpha = 0.5;
            for (let k = 0; k < series.x.length; k++)
                context.fillRect(px(series.x[k]) - 1.5, py(series.y[k]) - 1.5, 3, 3);
            context.globalAlpha = 1;
            return;
        }
        context.beginPath();
        for (let k = 0; k < series.x.length; k++) {
            if (k === 0) context.moveTo(px(series.x[k]), py(series.y[k]));
            else context.lineTo(px(series.x[k]), py(series.y[k]));
        }
        context.stroke();
        context.setLineDash([]);
    }

    private drawPointer(
        context: CanvasRenderingContext2D,
        spec: ChartSpec,
        width: number,
        px: (x: number) => number,
    ): void {
        const at = this.pointer ?? 0;
        if (at < LEFT || at > width - RIGHT) return;
        const lines: string[] = [];
        for (const series of spec.series) {
            if (series.points || series.x.length === 0) continue;
            let k = 0;
            while (k + 1 < series.x.length && px(series.x[k + 1]) <= at) k++;
            lines.push(`${series.name}: ${short(series.y[k])} ${unitText(/\[(.*)\]/.exec(spec.yLabel)?.[1])}`);
        }
        context.strokeStyle = cssColour("--muted");
        context.lineWidth = 1;
        context.beginPath();
        context.moveTo(at, TOP);
        context.lineTo(at, this.height - BOTTOM);
        context.stroke();
        context.font = "11px system-ui, sans-serif";
        const wide = Math.max(0, ...lines.map((line) => context.measureText(line).width)) + 10;
        const x = at + wide + 8 > width ? at - wide - 6 : at + 6;
        context.fillStyle = cssColour("--panel");
        context.fillRect(x, TOP, wide, 15 * lines.length + 4);
        context.strokeRect(x, TOP, wide, 15 * lines.length + 4);
        context.fillStyle = cssColour("--text");
        context.textAlign = "left";
        context.textBaseline = "top";
        lines.forEach((line, k) => context.fillText(line, x + 5, TOP + 3 + 15 * k));
    }
}
