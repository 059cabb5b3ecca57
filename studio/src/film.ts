// Pictures for a video: every frame that the program shows is drawn once, in 3D, and sent back. The program starts the page in
// a browser without a window, with film=WIDTHxHEIGHT in the address. SPDX-License-Identifier: Apache-2.0
import type { App } from "./app";
import { clock, grouped, h, unitText, words } from "./dom";
import { base64 } from "./files";
import type { People, Scene } from "./types";

export class Film {
    private canvas: HTMLCanvasElement;
    private sent = NaN; // time of the last picture [s]

    constructor(
        private app: App,
        width: number,
        height: number,
    ) {
        this.canvas = h("canvas", { width, height });
    }

    static of(app: App, hash: string): Film | null {
        const size = /[#&]film=(\d+)x(\d+)/.exec(hash);
        return size ? new Film(app, Number(size[1]), Number(size[2])) : null;
    }

    frame(people: People): void {
        const { space } = this.app,
            scene = this.app.scenes[0];
        const coloured = scene?.colours[people.colour]?.name === this.app.shown.colour;
        if (!space || !scene || !coloured || people.time === this.sent) return;
        const before = this.sent;
        this.sent = people.time;
        const { width, height } = this.canvas;
        const context = this.canvas.getContext("2d");
        if (Number.isNaN(before) && !this.app.shown.path.length) space.fit(width / height);
        context?.drawImage(space.still(width, height), 0, 0, width, height);
        if (context) this.caption(context, scene, people);
        this.canvas.toBlob(
            (blob) => {
                if (blob)
                    void base64(blob).then((data) => this.app.link?.request("picture", { time: people.time, data }));
            },
            "image/jpeg",
            0.9,
        );
    }

    private caption(context: CanvasRenderingContext2D, scene: Scene, people: People): void {
        const unit = this.canvas.width / 64,
            colour = this.app.looks.colour(scene);
        const write = (text: string, x: number, y: number, align: CanvasTextAlign = "left"): void => {
            context.textAlign = align;
            context.fillText(text, x, y);
        };
        context.fillStyle = "#1c2026";
        context.font = `600 ${unit}px system-ui, sans-serif`;
        write(words(scene.name), unit, 2 * unit);
        context.font = `${unit}px system-ui, sans-serif`;
        write(`${clock(people.time)}   ${grouped(people.total)} inside`, unit, 3.5 * unit);
        if (!colour || colour.kind !== "number") return;
        const wide = 14 * unit,
            left = this.canvas.width - wide - unit;
        const bar = context.createLinearGradient(left, 0, left + wide, 0);
        this.app.looks.stops(scene).forEach((stop, k, all) => bar.addColorStop(k / (all.length - 1), stop));
        const scale = unitText(colour.unit) ? ` [${unitText(colour.unit)}]` : "";
        write(words(colour.label) + scale, left, 2 * unit);
        write("0", left, 4.6 * unit);
        write(String(colour.max > colour.min ? colour.max : people.high), left + wide, 4.6 * unit, "right");
        context.fillStyle = bar;
        context.fillRect(left, 2.5 * unit, wide, unit);
    }
}
