// What stands still in the 3D view: ground, walls that sink where they hide people, solid blocks, stairs, marks on the ground.
// SPDX-License-Identifier: Apache-2.0
import * as THREE from "three";
import type { Level, Ring } from "./types";
import { insideRings } from "./types";

export const CUT = 1.0; // height of walls that would hide people from a camera above [m]
export const TALL = 2.7; // and of all others

// Shared by all walls of a view: where the eye is, and whether it walks among them (1) or looks from above (0).
export interface WallLook {
    eye: { value: THREE.Vector3 };
    among: { value: number };
}

// Rings of which inside is where an odd number surrounds: outer ones with their holes.
export function shapesOf(rings: Ring[]): THREE.Shape[] {
    const depth = rings.map(
        (ring, k) => rings.filter((other, j) => j !== k && insideRings([other], ring[0], ring[1])).length,
    );
    const points = (ring: Ring): THREE.Vector2[] => {
        const out: THREE.Vector2[] = [];
        for (let k = 0; k < ring.length; k += 2) out.push(new THREE.Vector2(ring[k], ring[k + 1]));
        return out;
    };
    return rings.flatMap((ring, k) => {
        if (depth[k] % 2 === 1 || ring.length < 6) return [];
        const shape = new THREE.Shape(points(ring));
        rings.forEach((hole, j) => {
            if (depth[j] === depth[k] + 1 && insideRings([ring], hole[0], hole[1]))
                shape.holes.push(new THREE.Path(points(hole)));
        });
        return [shape];
    });
}

// Slabs of stone two metres wide with their joints, a little uneven in colour; drawn, not loaded.
let slabs: THREE.CanvasTexture | null = null;
export function groundTexture(): THREE.CanvasTexture {
    if (slabs) return slabs;
    const size = 512,
        canvas = Object.assign(document.createElement("canvas"), { width: size, height: size }),
        context = canvas.getContext("2d") as CanvasRenderingContext2D,
        pixels = context.createImageData(size, size);
    let seed = 7;
    const random = (): number => (seed = (seed * 16807) % 2147483647) / 2147483647;
    const tone = Array.from({ length: 16 }, () => 236 + 12 * random());
    for (let y = 0; y < size; y++)
        for (let x = 0; x < size; x++) {
            const side = size / 4,
                edge = Math.min(x % side, side - 1 - (x % side), y % side, side - 1 - (y % side)),
                slab = tone[4 * Math.floor(y / side) + Math.floor(x / side)];
            const v = slab + 7 * (random() - 0.5) - (edge < 1 ? 26 : edge < 3 ? 8 : 0);
            pixels.data.set([v, v, v, 255], 4 * (y * size + x));
        }
    context.putImageData(pixels, 0, 0);
    slabs = new THREE.CanvasTexture(canvas);
    slabs.colorSpace = THREE.SRGBColorSpace;
    slabs.wrapS = slabs.wrapT = THREE.RepeatWrapping;
    slabs.repeat.set(1 / 8, 1 / 8); // shapes have metres as texture coordinates
    slabs.anisotropy = 4;
    return slabs;
}

// Of a wall segment: which side is ground (1 left, -1 right, 0 both or none), and is it of a block.
function sidesOf(level: Level): { side: number; block: boolean }[] {
    const key = (x0: number, y0: number, x1: number, y1: number): string =>
        [x0, y0, x1, y1].map((v) => v.toFixed(2)).join();
    const edges = new Set<string>();
    for (const shape of shapesOf(level.rings))
        for (const hole of shape.holes) {
            const points = hole.getPoints();
            points.forEach((p, k) => {
                const q = points[(k + 1) % points.length];
                edges.add(key(p.x, p.y, q.x, q.y));
                edges.add(key(q.x, q.y, p.x, p.y));
            });
        }
    return Array.from({ length: Math.floor(level.walls.length / 4) }, (_, k) => {
        const [x0, y0, x1, y1] = level.walls.slice(4 * k, 4 * k + 4),
            length = Math.hypot(x1 - x0, y1 - y0) || 1,
            nx = (-0.12 * (y1 - y0)) / length,
            ny = (0.12 * (x1 - x0)) / length,
            mx = (x0 + x1) / 2,
            my = (y0 + y1) / 2;
        const left = level.rings.length === 0 || insideRings(level.rings, mx + nx, my + ny),
            right = level.rings.length === 0 || insideRings(level.rings, mx - nx, my - ny);
        return { side: left === right ? 0 : left ? 1 : -1, block: edges.has(key(x0, y0, x1, y1)) };
    });
}

// A wall that has ground on both sides, or behind it as the camera sees it, ends at CUT.
const SINK = `
attribute vec2 middle;
attribute vec3 inward;
uniform vec3 eye;
uniform float among;
float top_of(float z) {
    if (z < 0.5) return z;
    float faces = dot(normalize(eye.xy - middle + vec2(0.0001)), inward.xy);
    float tall = max(among, inward.z > 0.5 ? 0.0 : smoothstep(-0.02, 0.12, faces));
    return mix(${CUT.toFixed(2)}, ${TALL.toFixed(2)}, tall);
}
`;
function sinking<T extends THREE.Material>(material: T, look: WallLook): T {
    material.onBeforeCompile = (shader) => {
        Object.assign(shader.uniforms, look);
        shader.vertexShader = shader.vertexShader
            .replace("#include <common>", `#include <common>\n${SINK}`)
            .replace("#include <begin_vertex>", "vec3 transformed = vec3(position.xy, top_of(position.z));");
    };
    return material;
}

// Thin blocks along the segments, one mesh, and the soft dark that they leave on the ground beside them.
export function wallMeshes(level: Level, colour: string, look: WallLook): THREE.Object3D[] {
    const data = { position: [] as number[], normal: [] as number[], middle: [] as number[], inward: [] as number[], index: [] as number[] }; // prettier-ignore
    const dim = { position: [] as number[], color: [] as number[], index: [] as number[] };
    const sides = sidesOf(level);
    for (let k = 0; k + 3 < level.walls.length; k += 4) {
        const segment = level.walls.slice(k, k + 4);
        if (!(Math.hypot(segment[2] - segment[0], segment[3] - segment[1]) > 0)) continue;
        addBlock(segment, sides[k / 4], data);
        for (const side of sides[k / 4].side === 0 ? [1, -1] : [sides[k / 4].side]) addDim(segment, side, dim);
    }
    const geometry = geometryOf(data.position, data.index);
    geometry.setAttribute("normal", new THREE.Float32BufferAttribute(data.normal, 3));
    geometry.setAttribute("middle", new THREE.Float32BufferAttribute(data.middle, 2));
    geometry.setAttribute("inward", new THREE.Float32BufferAttribute(data.inward, 3));
    const walls = new THREE.Mesh(geometry, sinking(new THREE.MeshLambertMaterial({ color: colour }), look));
    walls.customDepthMaterial = sinking(new THREE.MeshDepthMaterial({ depthPacking: THREE.RGBADepthPacking }), look);
    walls.castShadow = walls.receiveShadow = true;
    const shade = geometryOf(dim.position, dim.index);
    shade.setAttribute("color", new THREE.Float32BufferAttribute(dim.color, 4));
    const soft = new THREE.Mesh(
        shade,
        new THREE.MeshBasicMaterial({ vertexColors: true, transparent: true, depthWrite: false }),
    );
    soft.renderOrder = 1;
    return [walls, soft];
}

function geometryOf(position: number[], index: number[]): THREE.BufferGeometry {
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.Float32BufferAttribute(position, 3));
    geometry.setIndex(index);
    return geometry;
}

function addBlock(
    [x0, y0, x1, y1]: number[],
    { side, block }: { side: number; block: boolean },
    data: { position: number[]; normal: number[]; middle: number[]; inward: number[]; index: number[] },
): void {
    const half = 0.05,
        length = Math.hypot(x1 - x0, y1 - y0),
        ux = ((x1 - x0) / length) * half,
        uy = ((y1 - y0) / length) * half,
        nx = -uy,
        ny = ux;
    const ring = [
        [x0 - ux + nx, y0 - uy + ny],
        [x0 - ux - nx, y0 - uy - ny],
        [x1 + ux - nx, y1 + uy - ny],
        [x1 + ux + nx, y1 + uy + ny],
    ];
    const out = [
        [-ux, -uy],
        [-nx, -ny],
        [ux, uy],
        [nx, ny],
    ];
    const face = (corners: number[][], normal: number[]): void => {
        const start = data.position.length / 3;
        for (const corner of corners) {
            data.position.push(...corner);
            data.normal.push(...normal);
            data.middle.push((x0 + x1) / 2, (y0 + y1) / 2);
            data.inward.push((side * nx) / half, (side * ny) / half, side === 0 || block ? 1 : 0);
        }
        data.index.push(start, start + 1, start + 2, start, start + 2, start + 3);
    };
    ring.forEach((p, i) => {
        const q = ring[(i + 1) % 4];
        face(
            [
                [p[0], p[1], 0],
                [q[0], q[1], 0],
                [q[0], q[1], 1],
                [p[0], p[1], 1],
            ],
            [out[i][0] / half, out[i][1] / half, 0],
        );
    });
    face(
        ring.map(([x, y]) => [x, y, 1]),
        [0, 0, 1],
    );
}

// The light of the sky that a wall keeps from the ground beside it.
function addDim(
    [x0, y0, x1, y1]: number[],
    side: number,
    dim: { position: number[]; color: number[]; index: number[] },
): void {
    const wide = 0.7,
        length = Math.hypot(x1 - x0, y1 - y0),
        nx = (-side * wide * (y1 - y0)) / length,
        ny = (side * wide * (x1 - x0)) / length,
        start = dim.position.length / 3,
        rows = 3;
    for (let k = 0; k <= rows; k++) {
        const t = k / rows,
            dark = 0.34 * (1 - t) * (1 - t);
        for (const [x, y] of [
            [x0, y0],
            [x1, y1],
        ])
            dim.position.push(x + nx * t, y + ny * t, 0.018);
        dim.color.push(0, 0, 0, dark, 0, 0, 0, dark);
        if (k === 0) continue;
        const a = start + 2 * (k - 1);
        dim.index.push(a, a + 1, a + 3, a, a + 3, a + 2);
        dim.index.push(a, a + 3, a + 1, a, a + 2, a + 3); // from both sides
    }
}

// How far a flight goes back from its top line [m].
export function runOf(ring: Ring, top: ArrayLike<number>, up: [number, number]): number {
    let run = 0.5;
    for (let k = 0; k < ring.length; k += 2)
        run = Math.max(run, (top[0] - ring[k]) * up[0] + (top[1] - ring[k + 1]) * up[1]);
    return run;
}
