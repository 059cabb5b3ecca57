// The crowd of the plan view: one instanced quad per person in WebGL 2, a body with shoulders and a nose that says where
// it looks; below three pixels a plain dot. Positions between two frames are mixed on the GPU.
// SPDX-License-Identifier: Apache-2.0
import type { People } from "./types";

const VERTEX = `#version 300 es
precision highp float;
layout(location = 0) in vec2 corner;
layout(location = 1) in vec4 place;   // x, y before and now [m]
layout(location = 2) in vec4 body;    // heading [rad], radius [m], colour 0..1, flags (1 faded, 2 chosen)
uniform vec2 centre, half_size;       // [m] [px]
uniform float scale, mixing, smallest; // [px/m], 0..1, [px]
uniform sampler2D colours;
out vec2 at;
out vec3 colour;
out float pixels, chosen, faded;
void main() {
    vec2 p = (mix(place.xy, place.zw, mixing) - centre) * scale;
    pixels = max(body.y * scale, smallest);
    float c = cos(body.x), s = sin(body.x);
    at = corner * 1.35;
    vec2 q = pixels * at;
    gl_Position = vec4((p + vec2(c * q.x - s * q.y, s * q.x + c * q.y)) / half_size, 0.0, 1.0);
    colour = texture(colours, vec2((body.z * 255.0 + 0.5) / 256.0, 0.5)).rgb;
    chosen = mod(floor(body.w / 2.0), 2.0);
    faded = mod(body.w, 2.0);
}`;
const FRAGMENT = `#version 300 es
precision highp float;
in vec2 at;
in vec3 colour;
in float pixels, chosen, faded;
uniform vec3 edge;
out vec4 result;
void main() {
    float soft = 1.0 / max(pixels, 1.0);
    float r = length(at);
    float disc = 1.0 - smoothstep(1.0 - soft, 1.0 + soft, r);
    vec3 tone = colour;
    if (pixels > 3.0) {
        tone = mix(tone, edge, 0.75 * smoothstep(0.84 - soft, 0.84 + soft, r));
        // Large enough: head and nose, to show where a person looks.
        float nose = smoothstep(soft, -soft, length((at - vec2(0.55, 0.0)) * vec2(1.0, 1.25)) - 0.24);
        tone = mix(tone, edge, 0.8 * nose);
    }
    float ring = chosen * (smoothstep(1.0, 1.0 + soft, r) - smoothstep(1.26, 1.26 + soft, r));
    float alpha = max(disc * (1.0 - 0.65 * faded), ring);
    tone = mix(tone, edge, ring);
    if (alpha < 0.01) discard;
    result = vec4(tone * alpha, alpha);
}`;

export class Discs {
    private gl: WebGL2RenderingContext | null;
    private flat: CanvasRenderingContext2D | null = null;
    private program: WebGLProgram | null = null;
    private uniforms = new Map<string, WebGLUniformLocation>();
    private places: WebGLBuffer | null = null;
    private bodies: WebGLBuffer | null = null;
    private texture: WebGLTexture | null = null;
    private lookup: Uint8Array<ArrayBuffer> = new Uint8Array(256 * 4);
    private count = 0;
    private place: Float32Array<ArrayBuffer> = new Float32Array(0);
    private body: Float32Array<ArrayBuffer> = new Float32Array(0);
    private before = new Map<number, number>();
    private beforeX: Float32Array = new Float32Array(0);
    private beforeY: Float32Array = new Float32Array(0);
    private arrived = 0;
    private interval = 100;

    constructor(private canvas: HTMLCanvasElement) {
        this.gl = canvas.getContext("webgl2", { alpha: true, antialias: false, premultipliedAlpha: true });
        if (this.gl) this.prepare(this.gl);
        else this.flat = canvas.getContext("2d"); // slower, but a browser without WebGL shows the crowd too
        canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
        canvas.addEventListener("webglcontextrestored", () => {
            if (this.gl) this.prepare(this.gl);
        });
    }

    private prepare(gl: WebGL2RenderingContext): void {
        const program = gl.createProgram();
        for (const [kind, source] of [
            [gl.VERTEX_SHADER, VERTEX],
            [gl.FRAGMENT_SHADER, FRAGMENT],
        ] as const) {
            const shader = gl.createShader(kind);
            if (!shader) continue;
            gl.shaderSource(shader, source);
            gl.compileShader(shader);
            gl.attachShader(program, shader);
        }
        gl.linkProgram(program);
        if (!gl.getProgramParameter(program, gl.LINK_STATUS)) {
            throw new Error(`the crowd's shader does not link: ${gl.getProgramInfoLog(program) ?? ""}`);
        }
        this.program = program;
        for (const name of ["centre", "half_size", "scale", "mixing", "smallest", "edge"]) {
            const place = gl.getUniformLocation(program, name);
            if (place) this.uniforms.set(name, place);
        }
        const quad = gl.createBuffer();
        gl.bindBuffer(gl.ARRAY_BUFFER, quad);
        gl.bufferData(gl.ARRAY_BUFFER, new Float32Array([-1, -1, 1, -1, -1, 1, 1, 1]), gl.STATIC_DRAW);
        gl.enableVertexAttribArray(0);
        gl.vertexAttribPointer(0, 2, gl.FLOAT, false, 0, 0);
        this.places = gl.createBuffer();
        this.bodies = gl.createBuffer();
        [this.places, this.bodies].forEach((buffer, k) => {
            gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
            gl.enableVertexAttribArray(k + 1);
            gl.vertexAttribPointer(k + 1, 4, gl.FLOAT, false, 0, 0);
            gl.vertexAttribDivisor(k + 1, 1);
        });
        this.texture = gl.createTexture();
        this.setColours(this.lookup);
    }

    setColours(lookup: Uint8Array<ArrayBuffer>): void {
        this.lookup = lookup;
        const gl = this.gl;
        if (!gl) return;
        gl.bindTexture(gl.TEXTURE_2D, this.texture);
        gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, 256, 1, 0, gl.RGBA, gl.UNSIGNED_BYTE, lookup);
        gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
        gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
    }

    // `shade` gives 0..1 of the colour table for a person, `level` shows one level and fades the others (-1: all).
    show(people: People, shade: (k: number) => number, level: number, chosen: number, smooth: boolean): void {
        const n = people.count;
        if (this.place.length < 4 * n) {
            this.place = new Float32Array(4 * Math.ceil(n * 1.25));
            this.body = new Float32Array(this.place.length);
        }
        const mixing = smooth && n <= 50000;
        for (let k = 0; k < n; k++) {
            const x = people.x[k],
                y = people.y[k];
            const last = mixing ? this.before.get(people.id[k]) : undefined;
            let bx = last === undefined ? x : this.beforeX[last],
                by = last === undefined ? y : this.beforeY[last];
            if (Math.abs(bx - x) + Math.abs(by - y) > 3) {
                bx = x;
                by = y;
            } // was put there, did not walk
            const at = 4 * k;
            this.place[at] = bx;
            this.place[at + 1] = by;
            this.place[at + 2] = x;
            this.place[at + 3] = y;
            const faded = level >= 0 && people.level[k] !== level ? 1 : 0;
            this.body[at] = people.heading[k];
            this.body[at + 1] = people.radius[k];
            this.body[at + 2] = shade(k);
            this.body[at + 3] = faded + (people.id[k] === chosen ? 2 : 0);
        }
        this.before.clear();
        if (mixing) for (let k = 0; k < n; k++) this.before.set(people.id[k], k);
        this.beforeX = people.x;
        this.beforeY = people.y;
        const now = performance.now();
        if (this.arrived > 0) this.interval = 0.8 * this.interval + 0.2 * Math.min(300, now - this.arrived);
        this.arrived = now;
        this.count = n;
        const gl = this.gl;
        if (!gl) return;
        gl.bindBuffer(gl.ARRAY_BUFFER, this.places);
        gl.bufferData(gl.ARRAY_BUFFER, this.place.subarray(0, 4 * n), gl.DYNAMIC_DRAW);
        gl.bindBuffer(gl.ARRAY_BUFFER, this.bodies);
        gl.bufferData(gl.ARRAY_BUFFER, this.body.subarray(0, 4 * n), gl.DYNAMIC_DRAW);
    }

    // The place at which a person of the last frame is drawn now.
    mixed(): number {
        return Math.min(1, (performance.now() - this.arrived) / Math.max(16, this.interval));
    }

    still(): boolean {
        return this.mixed() >= 1;
    }

    draw(cx: number, cy: number, scale: number, ratio: number, edge: [number, number, number]): void {
        const { width, height } = this.canvas;
        const gl = this.gl;
        if (!gl) {
            this.drawFlat(cx, cy, scale, ratio);
            return;
        }
        gl.viewport(0, 0, width, height);
        gl.clearColor(0, 0, 0, 0);
        gl.clear(gl.COLOR_BUFFER_BIT);
        if (this.count === 0 || !this.program) return;
        gl.useProgram(this.program);
        gl.enable(gl.BLEND);
        gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
        const at = (name: string): WebGLUniformLocation | null => this.uniforms.get(name) ?? null;
        gl.uniform2f(at("centre"), cx, cy);
        gl.uniform2f(at("half_size"), width / 2, height / 2);
        gl.uniform1f(at("scale"), scale * ratio);
        gl.uniform1f(at("mixing"), this.mixed());
        gl.uniform1f(at("smallest"), 1.2 * ratio);
        gl.uniform3f(at("edge"), edge[0] / 255, edge[1] / 255, edge[2] / 255);
        gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, this.count);
    }

    private drawFlat(cx: number, cy: number, scale: number, ratio: number): void {
        const flat = this.flat;
        if (!flat) return;
        const { width, height } = this.canvas;
        const mixing = this.mixed();
        flat.clearRect(0, 0, width, height);
        for (let k = 0; k < this.count; k++) {
            const p = this.place.subarray(4 * k, 4 * k + 4);
            const c = 4 * Math.round(this.body[4 * k + 2] * 255);
            flat.fillStyle = `rgb(${this.lookup[c]} ${this.lookup[c + 1]} ${this.lookup[c + 2]})`;
            flat.beginPath();
            flat.arc(
                width / 2 + (p[0] + (p[2] - p[0]) * mixing - cx) * scale * ratio,
                height / 2 - (p[1] + (p[3] - p[1]) * mixing - cy) * scale * ratio,
                Math.max(1.2, this.body[4 * k + 1] * scale) * ratio,
                0,
                2 * Math.PI,
            );
            flat.fill();
        }
    }
}
