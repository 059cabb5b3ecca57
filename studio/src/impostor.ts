// People far away as pictures of one body, taken once from all sides: two triangles each. A picture with white and one with
// black clothes tell which part of a pixel is cloth, so that every person keeps its colour. SPDX-License-Identifier: Apache-2.0
import * as THREE from "three";
import { ANKLE, SIDE, ease, footAhead } from "./gait";
import { PERSON, addInstances, walkerGeometry, walkerMaterial } from "./walker";

const SIDES = 8, // directions around
    PHASES = 4, // of a pair of steps
    HEIGHTS = [0.25, 0.95], // angles of the camera above the ground [rad]
    WIDE = 1.4, // of a picture [m]
    HIGH = 2.2,
    FLOOR = 0.25, // of the height of a picture below the feet
    PIXELS = 48;

// The pose of a person far away: both feet by the phase alone, forwards.
export function farPose(phase: number, step: number, feet: Float32Array, lift: Float32Array, at: number): void {
    [0, 1].forEach((k) => {
        const p = phase + 0.5 * k - Math.floor(phase + 0.5 * k);
        feet[at + 2 * k] = 0.8 * footAhead(p, step);
        feet[at + 2 * k + 1] = k === 0 ? SIDE : -SIDE;
        lift[at + k] = ANKLE + (p < 0.5 ? 0 : 0.14 * step * Math.sin(2 * Math.PI * (p - 0.5)));
        lift[at + 2 + k] = p < 0.5 ? 0.8 * ease((p - 0.25) * 4) * Math.min(1, step) : 0;
    });
}

function pictures(renderer: THREE.WebGLRenderer): THREE.Texture {
    const columns = SIDES * 2, // white, then black clothes
        rows = PHASES * HEIGHTS.length;
    const target = new THREE.WebGLRenderTarget(columns * PIXELS, rows * PIXELS * 1.5, {
        type: THREE.HalfFloatType,
        generateMipmaps: true,
        minFilter: THREE.LinearMipmapLinearFilter,
    });
    const space = new THREE.Scene(),
        sun = new THREE.DirectionalLight(0xfff4e6, 1.9),
        geometry = walkerGeometry("plain"),
        count = SIDES * PHASES;
    addInstances(geometry, count);
    geometry.instanceCount = count;
    const arrays = Object.fromEntries(
        PERSON.map((name) => [name, (geometry.getAttribute(name) as THREE.InstancedBufferAttribute).array]),
    ) as Record<(typeof PERSON)[number], Float32Array>;
    const mesh = new THREE.Mesh(geometry, walkerMaterial() as THREE.Material);
    mesh.frustumCulled = false;
    space.add(mesh, sun, sun.target, new THREE.HemisphereLight(0xf2f6ff, 0xb8b2a6, 1.9));
    const before = renderer.getRenderTarget(),
        clear = renderer.getClearAlpha();
    renderer.setClearAlpha(0);
    renderer.setRenderTarget(target);
    renderer.clear();
    HEIGHTS.forEach((angle, h) => {
        const up = new THREE.Vector3(-Math.sin(angle), 0, Math.cos(angle)),
            back = new THREE.Vector3(Math.cos(angle), 0, Math.sin(angle)),
            camera = new THREE.OrthographicCamera(0, SIDES * WIDE, PHASES * HIGH, 0, 0.1, 100);
        camera.position.copy(back).multiplyScalar(50);
        camera.up.copy(up);
        camera.lookAt(0, 0, 0);
        sun.position.set(3, -2, 5);
        [255, 0].forEach((cloth, side) => {
            for (let k = 0; k < count; k++) {
                const column = k % SIDES,
                    row = Math.floor(k / SIDES),
                    rise = (row + FLOOR) * HIGH;
                arrays.place.set(
                    [up.x * rise, (column + 0.5) * WIDE, up.z * rise, (2 * Math.PI * column) / SIDES],
                    4 * k,
                );
                farPose(row / PHASES, 0.65, arrays.feet, arrays.lift, 4 * k);
                arrays.pose.set([0.05, 0, 0, 0], 4 * k);
                arrays.look.set([0.37, 1, 1, 0], 4 * k);
                arrays.cloth.set([cloth / 255, cloth / 255, cloth / 255, 0], 4 * k);
            }
            for (const name of PERSON) (geometry.getAttribute(name) as THREE.BufferAttribute).needsUpdate = true;
            const wide = SIDES * PIXELS,
                high = PHASES * PIXELS * 1.5;
            target.viewport.set(side * wide, h * high, wide, high);
            target.scissor.copy(target.viewport);
            target.scissorTest = true;
            renderer.setRenderTarget(target);
            const auto = renderer.autoClear;
            renderer.autoClear = false;
            renderer.render(space, camera);
            renderer.autoClear = auto;
        });
    });
    renderer.setRenderTarget(before);
    renderer.setClearAlpha(clear);
    geometry.dispose();
    return target.texture;
}

const ROW = 1024;

// Two triangles per person that read its `texels` of four numbers from a texture: without instances, which software draws one
// by one.
export class Quads {
    readonly mesh: THREE.Mesh;
    data = new Float32Array(0);
    private texture: THREE.DataTexture | null = null;
    private room = 0;

    constructor(
        private texels: number,
        private material: THREE.ShaderMaterial,
    ) {
        material.uniforms.people = { value: null };
        material.vertexShader = `
            uniform highp sampler2D people;
            vec4 row(int k) {
                int i = (gl_VertexID / 6) * ${texels} + k;
                return texelFetch(people, ivec2(i % ${ROW}, i / ${ROW}), 0);
            }
            vec2 corner() {
                int k = gl_VertexID % 6;
                return vec2(k == 1 || k == 2 || k == 4 ? 1.0 : 0.0, k == 2 || k == 4 || k == 5 ? 1.0 : 0.0);
            }
            ${material.vertexShader}`;
        this.mesh = new THREE.Mesh(new THREE.BufferGeometry(), material);
        this.mesh.frustumCulled = false;
    }

    // Before `data` is filled for so many people.
    reserve(count: number): void {
        if (count <= this.room) return;
        const rows = Math.ceil((1.5 * count * this.texels) / ROW);
        this.room = Math.floor((rows * ROW) / this.texels);
        this.data = new Float32Array(4 * rows * ROW);
        this.texture?.dispose();
        this.texture = new THREE.DataTexture(this.data, ROW, rows, THREE.RGBAFormat, THREE.FloatType);
        this.material.uniforms.people.value = this.texture;
        this.mesh.geometry.dispose();
        this.mesh.geometry = new THREE.BufferGeometry();
        this.mesh.geometry.setAttribute("position", new THREE.BufferAttribute(new Uint8Array(6 * this.room), 1));
        this.mesh.geometry.boundingSphere = new THREE.Sphere(); // there are no places to measure
    }

    show(count: number): void {
        this.mesh.visible = count > 0;
        this.mesh.geometry.setDrawRange(0, 6 * count);
        if (this.texture) this.texture.needsUpdate = true;
    }
}

// Of each person: place and heading; size, girth, phase of its walk, seed; colour of its clothes.
export function impostors(renderer: THREE.WebGLRenderer): Quads {
    const material = new THREE.ShaderMaterial({
        uniforms: THREE.UniformsUtils.merge([THREE.UniformsLib.fog, { map: { value: null }, light: { value: 1 } }]),
        fog: true,
        vertexShader: `
            varying vec2 vAt;
            varying vec3 vCloth;
            varying float vTone;
            #include <fog_pars_vertex>
            void main() {
                vec4 place = row(0), look = row(1);
                vec2 at = corner();
                vec3 eye = cameraPosition - place.xyz;
                float around = atan(eye.y, eye.x), above = atan(eye.z, length(eye.xy));
                float column = floor(mod((place.w - around) / 6.28318 * ${SIDES}.0 + 0.5, ${SIDES}.0));
                float line = floor(fract(look.z) * ${PHASES}.0) + (above > ${((HEIGHTS[0] + HEIGHTS[1]) / 2).toFixed(3)} ? ${PHASES}.0 : 0.0);
                vAt = vec2((column + at.x) / ${2 * SIDES}.0, (line + at.y) / ${PHASES * HEIGHTS.length}.0);
                vec3 right = vec3(viewMatrix[0][0], viewMatrix[1][0], viewMatrix[2][0]);
                vec3 up = vec3(viewMatrix[0][1], viewMatrix[1][1], viewMatrix[2][1]);
                vec3 p = place.xyz + (right * ((at.x - 0.5) * ${WIDE.toFixed(2)} * look.y)
                    + up * ((at.y - ${FLOOR.toFixed(2)}) * ${HIGH.toFixed(2)})) * look.x;
                vec3 worn = row(2).xyz;
                vCloth = mix(worn / 12.92, pow((worn + 0.055) / 1.055, vec3(2.4)), step(0.04045, worn));
                vTone = 0.7 + 0.9 * fract(look.w * 33.1);
                vec4 mvPosition = viewMatrix * vec4(p, 1.0);
                gl_Position = projectionMatrix * mvPosition;
                #include <fog_vertex>
            }`,
        fragmentShader: `
            uniform sampler2D map;
            uniform float light;
            varying vec2 vAt;
            varying vec3 vCloth;
            varying float vTone;
            #include <fog_pars_fragment>
            void main() {
                vec4 white = texture2D(map, vAt);
                if (white.a < 0.45) discard;
                vec4 black = texture2D(map, vAt + vec2(0.5, 0.0));
                vec3 rest = black.rgb / max(black.a, 0.01), cloth = max(vec3(0.0), white.rgb / white.a - rest);
                gl_FragColor = vec4((rest * vTone + cloth * vCloth) * light, 1.0);
                #include <colorspace_fragment>
                #include <fog_fragment>
            }`,
    });
    material.uniforms.map.value = pictures(renderer);
    return new Quads(3, material);
}

// Dark, soft discs on the ground: the light of the sky that people keep from it. Of each person place and radius.
export function softShadows(): Quads {
    const material = new THREE.ShaderMaterial({
        transparent: true,
        depthWrite: false,
        vertexShader: `
            varying vec2 vAt;
            void main() {
                vec4 place = row(0);
                vAt = 2.0 * corner() - 1.0;
                gl_Position = projectionMatrix * viewMatrix * vec4(place.xy + vAt * place.w, place.z, 1.0);
            }`,
        fragmentShader: `
            varying vec2 vAt;
            void main() {
                float near = max(0.0, 1.0 - length(vAt));
                gl_FragColor = vec4(0.0, 0.0, 0.0, 0.42 * near * near * (3.0 - 2.0 * near));
            }`,
    });
    const quads = new Quads(1, material);
    quads.mesh.renderOrder = 1;
    return quads;
}
