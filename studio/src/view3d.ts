// The same crowd in three dimensions: walls, doors and stairs with height, walking people, shadows; cameras that orbit, walk,
// follow a person, look with its eyes or go along a path; levels one, stacked or pulled apart. x is east, y north, z up [m].
// SPDX-License-Identifier: Apache-2.0
import * as THREE from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import { cssColour, dark, h } from "./dom";
import { colourOf, isArea } from "./tools";
import { Crowd3d, type Viewer } from "./crowd3d";
import { atTime, type Shot } from "./shots";
import { CUT, TALL, groundTexture, runOf, shapesOf, wallMeshes, type WallLook } from "./walls3d";
import type { Level, People, Raster, Ring, Scene } from "./types";
import { boxOf, distanceToLine, insideRings } from "./types";

export type LevelMode = "one" | "stacked" | "apart";
export const CAMERAS = ["orbit", "walk", "follow", "eyes", "path"] as const;
export type CameraMode = (typeof CAMERAS)[number];

const EYE = 1.62; // height of the eyes [m]

export class View3d {
    readonly element: HTMLElement;
    chosen = 0;
    levelMode: LevelMode = "stacked";
    cameraMode: CameraMode = "orbit";
    level = 0;
    onPick: (index: number) => void = () => {};
    private renderer: THREE.WebGLRenderer;
    private space = new THREE.Scene();
    private camera = new THREE.PerspectiveCamera(50, 1, 0.1, 4000);
    private orbit: OrbitControls;
    private sun = new THREE.DirectionalLight(0xfff4e6, 2.4);
    private sky = new THREE.HemisphereLight(0xf2f6ff, 0xb8b2a6, 1.9);
    private built = new THREE.Group();
    private levelGroups: THREE.Group[] = [];
    readonly crowd: Crowd3d;
    path: Shot[] = []; // of the camera
    private wallLook: WallLook = { eye: { value: new THREE.Vector3() }, among: { value: 0 } };
    private marker: THREE.Mesh;
    private doorMeshes: { leaf: THREE.Mesh; sill: THREE.Mesh }[] = [];
    private rasterMesh: THREE.Mesh | null = null;
    private scene: Scene | null = null;
    private active = false;
    private keys = new Set<string>();
    private look = { yaw: 0, pitch: -0.1 };
    private last = performance.now();
    private slow = 16;
    private filming = false;

    constructor() {
        this.renderer = new THREE.WebGLRenderer({ antialias: true, powerPreference: "high-performance" });
        this.renderer.shadowMap.enabled = true;
        this.renderer.shadowMap.type = THREE.PCFShadowMap;
        this.element = h("div", { className: "space", hidden: true }, this.renderer.domElement);
        this.renderer.domElement.tabIndex = 0;
        this.camera.up.set(0, 0, 1);
        this.orbit = new OrbitControls(this.camera, this.renderer.domElement);
        this.orbit.maxPolarAngle = Math.PI / 2 - 0.03;
        this.orbit.zoomToCursor = true;
        this.orbit.enableDamping = false;
        this.space.add(this.built, this.sky, this.sun, this.sun.target);
        this.sun.castShadow = true;
        this.sun.shadow.mapSize.set(2048, 2048);
        this.sun.shadow.bias = -0.0006;
        this.crowd = new Crowd3d(this.renderer);
        this.space.add(this.crowd.group);
        this.marker = new THREE.Mesh(
            new THREE.ConeGeometry(0.16, 0.34, 12).rotateX(-Math.PI / 2),
            new THREE.MeshBasicMaterial({ color: 0xd55e00 }),
        );
        this.marker.visible = false;
        this.space.add(this.marker);
        this.listen();
        new ResizeObserver(() => this.resize()).observe(this.element);
    }

    private listen(): void {
        const canvas = this.renderer.domElement;
        let down: { x: number; y: number } | null = null;
        canvas.addEventListener("pointerdown", (event) => {
            down = { x: event.clientX, y: event.clientY };
            canvas.focus();
        });
        canvas.addEventListener("pointermove", (event) => {
            if (this.cameraMode !== "walk" || event.buttons === 0) return;
            this.look.yaw -= event.movementX * 0.004;
            this.look.pitch = Math.min(1.2, Math.max(-1.2, this.look.pitch - event.movementY * 0.004));
        });
        canvas.addEventListener("pointerup", (event) => {
            if (down && Math.hypot(event.clientX - down.x, event.clientY - down.y) < 4)
                this.pick(event.offsetX, event.offsetY);
            down = null;
        });
        canvas.addEventListener("keydown", (event) => {
            if (this.cameraMode === "walk" && /^(Key[WASD]|Arrow)/.test(event.code)) {
                this.keys.add(event.code);
                event.preventDefault();
                event.stopPropagation();
            }
        });
        canvas.addEventListener("keyup", (event) => this.keys.delete(event.code));
        canvas.addEventListener("blur", () => this.keys.clear());
    }

    setActive(active: boolean): void {
        if (this.active === active) return;
        this.active = active;
        this.element.hidden = !active;
        if (active) {
            this.resize();
            this.theme();
            requestAnimationFrame(() => this.render());
        }
    }

    theme(): void {
        const night = dark();
        this.space.background = new THREE.Color(night ? 0x14171c : 0xdfe6ec);
        this.space.fog = new THREE.Fog(this.space.background, 250, 1500);
        this.sky.intensity = night ? 0.8 : 1.9;
        this.sun.intensity = night ? 1.1 : 1.9;
        if (this.scene) this.setScene(this.scene, true);
    }

    private resize(): void {
        const { clientWidth, clientHeight } = this.element;
        if (clientWidth === 0 || clientHeight === 0 || this.filming) return;
        this.renderer.setPixelRatio(Math.min(2, devicePixelRatio || 1));
        this.renderer.setSize(clientWidth, clientHeight);
        this.camera.aspect = clientWidth / clientHeight;
        this.camera.updateProjectionMatrix();
    }

    // ---- what stands still
    private height(index: number): number {
        const scene = this.scene;
        if (!scene || this.levelMode === "one") return 0;
        const z = scene.levels.map((level) => level.z);
        const flat = z.every((value) => value === z[0]);
        if (this.levelMode === "apart" || flat) return index * (flat && this.levelMode === "stacked" ? 4 : 12);
        return z[index] ?? 0;
    }

    setScene(scene: Scene, keepView: boolean): void {
        this.scene = scene;
        this.built.clear();
        this.levelGroups = [];
        this.doorMeshes = [];
        this.rasterMesh = null;
        const tall = this.isAmong() ? TALL : CUT;
        this.wallLook.among.value = this.isAmong() ? 1 : 0;
        scene.levels.forEach((level, k) => {
            const group = new THREE.Group();
            group.position.z = this.height(k);
            group.visible = this.levelMode !== "one" || k === this.level;
            this.addGround(group, level, tall, k);
            this.levelGroups.push(group);
            this.built.add(group);
        });
        for (const zone of scene.zones)
            if (!zone.stairs) this.addFlat(zone.level, zone.rings, cssColour("--zone"), 0.01, 0.7);
        for (const goal of scene.goals) {
            if (goal.kind === "detour") continue; // an element of a section
            const colour = cssColour(`--${goal.kind}`);
            if (goal.line) this.addStrip(goal.level, goal.line, colour, 0.5, 0.02, 0.03);
            else this.addFlat(goal.level, goal.rings, colour, 0.015, 0.35);
        }
        for (const [list, items] of Object.entries(scene.sections))
            for (const item of isArea(list) ? items : [])
                this.addFlat(item.level, item.rings, cssColour(colourOf(list)), 0.015, 0.35);
        for (const link of scene.links) this.addStairs(scene, link.id);
        scene.doors.forEach((door) => {
            const leaf = this.addStrip(
                door.level,
                door.line,
                cssColour("--door-shut"),
                0.12,
                0,
                Math.min(2.1, tall + 0.1),
            );
            const sill = this.addStrip(door.level, door.line, cssColour("--door-open"), 0.3, 0.01, 0.02);
            this.doorMeshes.push({ leaf, sill });
        });
        this.setDoors(scene.doors.map((door) => door.open));
        this.light();
        if (!keepView) this.fit();
    }

    setDoors(open: boolean[]): void {
        this.doorMeshes.forEach((door, k) => {
            door.leaf.visible = open[k] === false;
            door.sill.visible = open[k] !== false;
        });
    }

    // Shadows are fine where one looks, and end where they cannot be seen.
    private light(): void {
        const box = boxOf(this.scene as Scene),
            whole = Math.min(120, Math.hypot(box[2] - box[0], box[3] - box[1]) / 2 + 3),
            among = this.cameraMode !== "orbit" && this.cameraMode !== "path",
            at = among ? this.camera.position : this.orbit.target,
            far = among ? 30 : 0.75 * this.camera.position.distanceTo(this.orbit.target) + 4,
            reach = Math.min(whole, far),
            grid = reach / 64;
        const x = reach < whole ? Math.round(at.x / grid) * grid : (box[0] + box[2]) / 2,
            y = reach < whole ? Math.round(at.y / grid) * grid : (box[1] + box[3]) / 2;
        this.sun.target.position.set(x, y, 0);
        this.sun.position.set(x - 0.5 * reach, y - 0.7 * reach, 1.6 * reach + 10);
        const shadow = this.sun.shadow.camera;
        if (shadow.right === reach) return;
        shadow.left = shadow.bottom = -reach;
        shadow.right = shadow.top = reach;
        shadow.near = 1;
        shadow.far = 5 * reach + 60;
        shadow.updateProjectionMatrix();
    }

    private addGround(group: THREE.Group, level: Level, tall: number, index: number): void {
        const floor = new THREE.MeshLambertMaterial({
            color: cssColour("--floor3d"),
            map: groundTexture(),
            side: THREE.DoubleSide,
        });
        const faint = this.levelMode !== "one" && (this.scene?.levels.length ?? 1) > 1 && index > 0;
        if (faint) Object.assign(floor, { transparent: true, opacity: 0.55, depthWrite: false });
        const [x0, y0, x1, y1] = level.box,
            open = [x0 - 200, y0 - 200, x1 + 200, y0 - 200, x1 + 200, y1 + 200, x0 - 200, y1 + 200],
            shapes = shapesOf(level.rings.length > 0 ? level.rings : [open]);
        const mesh = new THREE.Mesh(new THREE.ShapeGeometry(shapes), floor);
        mesh.receiveShadow = true;
        group.add(mesh);
        const stone = new THREE.MeshLambertMaterial({ color: cssColour("--wall3d") });
        group.add(...wallMeshes(level, cssColour("--wall3d"), this.wallLook));
        // Columns and blocks are holes of the ground: closed on top.
        const holes = shapes.flatMap((shape) => shape.holes).map((path) => new THREE.Shape(path.getPoints()));
        if (holes.length > 0) {
            const top = new THREE.Mesh(new THREE.ShapeGeometry(holes).translate(0, 0, tall), stone);
            top.receiveShadow = true;
            group.add(top);
        }
    }

    private addFlat(level: number, rings: Ring[], colour: string, z: number, opacity: number): void {
        if (rings.length === 0) return;
        const mesh = new THREE.Mesh(
            new THREE.ShapeGeometry(shapesOf(rings)).translate(0, 0, z),
            new THREE.MeshLambertMaterial({
                color: colour,
                transparent: true,
                opacity,
                side: THREE.DoubleSide,
                depthWrite: false,
            }),
        );
        this.levelGroups[level]?.add(mesh);
    }

    private addStrip(
        level: number,
        line: ArrayLike<number>,
        colour: string,
        width: number,
        z: number,
        tall: number,
    ): THREE.Mesh {
        const dx = line[2] - line[0],
            dy = line[3] - line[1];
        const mesh = new THREE.Mesh(
            new THREE.BoxGeometry(Math.hypot(dx, dy), width, tall),
            new THREE.MeshLambertMaterial({ color: colour }),
        );
        mesh.position.set((line[0] + line[2]) / 2, (line[1] + line[3]) / 2, z + tall / 2);
        mesh.rotation.z = Math.atan2(dy, dx);
        mesh.castShadow = tall > 0.5;
        this.levelGroups[level]?.add(mesh);
        return mesh;
    }

    private addStairs(scene: Scene, id: string): void {
        const link = scene.links.find((l) => l.id === id),
            zone = scene.zones.find((z) => z.id === id && z.stairs);
        if (!link || !zone?.rings[0] || this.levelMode === "one") return;
        const rise = this.height(link.upper) - this.height(link.lower);
        const run = runOf(zone.rings[0], link.line, link.up);
        const count = Math.min(60, Math.max(3, Math.round(Math.abs(rise) / 0.18)));
        const material = new THREE.MeshLambertMaterial({ color: cssColour("--stairs3d") });
        for (let k = 0; k < count; k++) {
            const back = run * (1 - (k + 0.5) / count);
            const tread = this.addStrip(link.lower, link.line, "#999", run / count, (rise * k) / count, 0.12);
            tread.material = material;
            tread.position.x -= link.up[0] * back;
            tread.position.y -= link.up[1] * back;
            tread.receiveShadow = true;
        }
    }

    setRaster(raster: Raster | null, image: HTMLCanvasElement | null): void {
        if (this.rasterMesh) this.rasterMesh.removeFromParent();
        this.rasterMesh = null;
        if (!raster || !image) return;
        const texture = new THREE.CanvasTexture(image);
        texture.colorSpace = THREE.SRGBColorSpace;
        const wide = raster.nx * raster.cell,
            high = raster.ny * raster.cell;
        this.rasterMesh = new THREE.Mesh(
            new THREE.PlaneGeometry(wide, high),
            new THREE.MeshBasicMaterial({ map: texture, transparent: true, depthWrite: false }),
        );
        this.rasterMesh.position.set(raster.x + wide / 2, raster.y + high / 2, 0.02);
        this.levelGroups[raster.level]?.add(this.rasterMesh);
    }

    // ---- cameras
    // Of a picture of another shape than the window's: `aspect`, its width over its height.
    fit(aspect = this.camera.aspect): void {
        if (!this.scene) return;
        this.camera.aspect = aspect;
        this.camera.updateProjectionMatrix();
        const box = boxOf(this.scene),
            x = (box[0] + box[2]) / 2,
            y = (box[1] + box[3]) / 2,
            heights = this.scene.levels.map((_, k) => this.height(k)),
            low = Math.min(0, ...heights),
            high = Math.max(0, ...heights);
        // Looks from the south, far enough away that every corner of the scene is in the picture.
        const corner = new THREE.Vector3();
        const isSeen = (): boolean =>
            [box[0], box[2]].every((cx) =>
                [box[1], box[3]].every((cy) =>
                    [low, high + CUT].every((cz) => {
                        corner.set(cx, cy, cz).project(this.camera);
                        return Math.abs(corner.x) < 0.94 && Math.abs(corner.y) < 0.9 && corner.z < 1;
                    }),
                ),
            );
        const middle = (low + high) / 2;
        this.orbit.target.set(x, y, middle);
        for (let far = 8; far < 3500; far *= 1.05) {
            this.camera.position.set(x, y - 0.74 * far, middle + 0.67 * far);
            this.orbit.update();
            this.camera.updateMatrixWorld();
            if (isSeen()) break;
        }
    }

    setCamera(mode: CameraMode): void {
        this.cameraMode = mode;
        this.orbit.enabled = mode === "orbit" || mode === "follow";
        if (mode === "walk" && this.scene) {
            const target = this.orbit.target;
            const away = new THREE.Vector3().subVectors(target, this.camera.position),
                yaw = Math.atan2(away.y, away.x),
                place = standing(
                    this.scene.levels[this.level],
                    target.x - 6 * Math.cos(yaw),
                    target.y - 6 * Math.sin(yaw),
                ),
                [x, y] = this.crowdOf(this.level) ?? [target.x, target.y];
            this.look = { yaw: Math.atan2(y - place[1], x - place[0]), pitch: -0.08 };
            this.camera.position.set(place[0], place[1], EYE);
            this.renderer.domElement.focus();
        } else if (mode === "orbit") this.fit();
        if (this.scene) this.setScene(this.scene, true);
    }

    // The middle of the people of a level.
    private crowdOf(level: number): [number, number] | null {
        const { people } = this.crowd;
        let x = 0,
            y = 0,
            n = 0;
        for (let k = 0; people && k < people.count; k++) {
            if (people.level[k] !== level) continue;
            x += people.x[k];
            y += people.y[k];
            n++;
        }
        return n > 0 ? [x / n, y / n] : null;
    }

    private walk(seconds: number): void {
        const ahead =
            (this.keys.has("KeyW") || this.keys.has("ArrowUp") ? 1 : 0) -
            (this.keys.has("KeyS") || this.keys.has("ArrowDown") ? 1 : 0);
        const aside =
            (this.keys.has("KeyD") || this.keys.has("ArrowRight") ? 1 : 0) -
            (this.keys.has("KeyA") || this.keys.has("ArrowLeft") ? 1 : 0);
        const c = Math.cos(this.look.yaw),
            s = Math.sin(this.look.yaw),
            speed = 4 * seconds;
        this.camera.position.x += (c * ahead + s * aside) * speed;
        this.camera.position.y += (s * ahead - c * aside) * speed;
        this.camera.position.z = this.height(this.level) + EYE;
        this.camera.lookAt(
            this.camera.position.x + c * Math.cos(this.look.pitch),
            this.camera.position.y + s * Math.cos(this.look.pitch),
            this.camera.position.z + Math.sin(this.look.pitch),
        );
    }

    private follow(x: number, y: number, z: number, heading: number): void {
        const target = new THREE.Vector3(x, y, z + 1.3);
        const wish = new THREE.Vector3(x - 6 * Math.cos(heading), y - 6 * Math.sin(heading), z + 5.2);
        this.camera.position.lerp(wish, 0.04);
        this.orbit.target.lerp(target, 0.2);
        this.camera.lookAt(this.orbit.target);
    }

    private lookFrom(x: number, y: number, z: number, heading: number): void {
        this.camera.position.set(x + 0.08 * Math.cos(heading), y + 0.08 * Math.sin(heading), z);
        this.camera.lookAt(x + 4 * Math.cos(heading), y + 4 * Math.sin(heading), z - 0.35);
    }

    // ---- the path: where the camera is at which time of the run
    private along(time: number): void {
        const at = atTime(this.path, time);
        if (!at) return;
        this.camera.position.set(at[1], at[2], at[3]);
        this.orbit.target.set(at[4], at[5], at[6]);
        this.camera.lookAt(this.orbit.target);
    }

    // Where the camera is now.
    shot(): Shot {
        const { x, y, z } = this.camera.position,
            target = this.cameraMode === "orbit" ? this.orbit.target : this.camera.getWorldDirection(new THREE.Vector3()).multiplyScalar(5).add(this.camera.position); // prettier-ignore
        return [this.crowd.time(), x, y, z, target.x, target.y, target.z];
    }

    // Walls are whole where the camera is among the people.
    private isAmong(): boolean {
        return this.cameraMode === "walk" || this.cameraMode === "eyes";
    }

    // ---- people
    show(people: People, shade: (k: number) => [number, number, number] | null): void {
        this.crowd.show(people, shade);
    }

    private heightAt(level: number, x: number, y: number): number {
        const scene = this.scene as Scene;
        let z = this.height(level);
        if (this.levelMode === "one") return z;
        for (const link of scene.links) {
            if (link.lower !== level) continue;
            const zone = scene.zones.find((candidate) => candidate.id === link.id && candidate.stairs);
            // A person that has just come from above may still be a hand's breadth beyond the top.
            const onTop = distanceToLine(link.line, x, y) < 0.3;
            if (!zone?.rings[0] || (!onTop && !insideRings(zone.rings, x, y))) continue;
            const run = runOf(zone.rings[0], link.line, link.up);
            const back = (link.line[0] - x) * link.up[0] + (link.line[1] - y) * link.up[1];
            z += (this.height(link.upper) - this.height(link.lower)) * Math.min(1, Math.max(0, 1 - back / run));
        }
        return z;
    }

    // `fraction`: between the last two moments; without, as the clock says.
    private place(fraction?: number): void {
        if (!this.scene) return;
        this.marker.visible = false;
        this.wallLook.eye.value.copy(this.camera.position);
        const view: Viewer = {
            camera: this.camera,
            chosen: this.chosen,
            skipped: this.cameraMode === "eyes" ? this.chosen : 0,
            slow: this.slow / 16,
            shows: (level) => this.levelMode !== "one" || level === this.level,
            heightAt: (level, x, y) => this.heightAt(level, x, y),
            found: (x, y, z, heading, size) => {
                if (this.cameraMode === "eyes") this.lookFrom(x, y, z + EYE * size, heading);
                else {
                    this.marker.visible = !this.filming;
                    this.marker.position.set(x, y, z + 2.15 * size);
                    if (this.cameraMode === "follow") this.follow(x, y, z, heading);
                }
            },
        };
        this.crowd.place(view, fraction);
    }

    private render(): void {
        if (!this.active || this.filming) return;
        const now = performance.now(),
            seconds = Math.min(0.1, (now - this.last) / 1000);
        // Slow machines take the simpler bodies earlier.
        this.slow = Math.min(48, Math.max(16, 0.95 * this.slow + 0.05 * (now - this.last)));
        this.last = now;
        if (this.cameraMode === "walk") this.walk(seconds);
        if (this.cameraMode === "path") this.along(this.crowd.time());
        this.place();
        this.light();
        this.renderer.render(this.space, this.camera);
        requestAnimationFrame(() => this.render());
    }

    private pick(px: number, py: number): void {
        const { people } = this.crowd;
        if (!people) return;
        const { clientWidth, clientHeight } = this.element,
            point = new THREE.Vector3();
        let best = 26,
            found = -1;
        for (let k = 0; k < people.count; k++) {
            point
                .set(people.x[k], people.y[k], this.heightAt(people.level[k], people.x[k], people.y[k]) + 0.9)
                .project(this.camera);
            if (point.z > 1) continue;
            const d = Math.hypot(((point.x + 1) / 2) * clientWidth - px, ((1 - point.y) / 2) * clientHeight - py);
            if (d < best) {
                best = d;
                found = k;
            }
        }
        this.onPick(found);
    }

    triangles(): number {
        return this.renderer.info.render.triangles;
    }
    // One picture of the moment at `fraction` between the last two, for a film or a file: no time passes by the clock, each
    // person has the best body for the distance. `resume` goes back to the window.
    still(width: number, height: number, fraction = 1): HTMLCanvasElement {
        if (!this.filming) {
            this.filming = true;
            this.renderer.setPixelRatio(1);
            this.renderer.setSize(width, height, false);
            this.camera.aspect = width / height;
            this.camera.updateProjectionMatrix();
        }
        this.slow = 16;
        this.crowd.crowding = 1;
        if (this.cameraMode === "path") this.along(this.crowd.time(fraction));
        this.place(fraction);
        this.light();
        this.renderer.render(this.space, this.camera);
        return this.renderer.domElement;
    }

    resume(): void {
        this.filming = false;
        this.last = performance.now();
        this.resize();
        requestAnimationFrame(() => this.render());
    }
}

// The place nearest to (x, y) where a camera can stand half a metre from every wall.
function standing(level: Level | undefined, x: number, y: number): [number, number] {
    if (!level || level.rings.length === 0) return [x, y];
    let best: [number, number] = [x, y],
        nearest = Infinity;
    const step = Math.max(0.5, Math.hypot(level.box[2] - level.box[0], level.box[3] - level.box[1]) / 100);
    for (let px = level.box[0] + step / 2; px < level.box[2]; px += step)
        for (let py = level.box[1] + step / 2; py < level.box[3]; py += step) {
            const far = Math.hypot(px - x, py - y);
            if (far >= nearest || !insideRings(level.rings, px, py)) continue;
            let clear = true;
            for (let k = 0; clear && k + 3 < level.walls.length; k += 4)
                clear = distanceToLine(level.walls.slice(k, k + 4), px, py) > 0.5;
            if (!clear) continue;
            nearest = far;
            best = [px, py];
        }
    return best;
}
