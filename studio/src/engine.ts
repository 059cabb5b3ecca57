// The engine in the page: throng.wasm (tools/wasm) with GEOS from geos-wasm, in a Worker or in Node. It takes and sends the
// messages of docs/studio-protocol.md (src/studio/worker.c). SPDX-License-Identifier: Apache-2.0
import initGeos from "geos-wasm";

type Call = (...values: number[]) => number;
interface Geos {
    [name: `_${string}`]: Call;
    HEAPU8: Uint8Array;
    UTF8ToString(at: number): string;
    getValue(at: number, kind: string): number;
    setValue(at: number, value: number, kind: string): void;
    addFunction?(call: (at: number) => void, kind: string): number;
}
interface Ours {
    memory: WebAssembly.Memory;
    __indirect_function_table: WebAssembly.Table;
    take: Call;
    give: Call;
    open: Call;
    receive: Call;
    turn: Call;
    _initialize(): void;
}
export interface Engine {
    receive(text: string): void;
    turn(): number; // seconds until there is more to do
}

// Functions that copy between the memories of GEOS and of the engine, which have one each. All others take numbers only.
function bridge(geos: Geos, ours: () => Ours): Record<string, Call> {
    const view = () => new DataView(ours().memory.buffer);
    const scratch = geos._malloc(64);
    const text = (at: number) => {
        const bytes = new Uint8Array(ours().memory.buffer);
        return new TextDecoder().decode(bytes.slice(at, bytes.indexOf(0, at)));
    };
    const withText = (f: Call, at: number, ...before: number[]) => {
        const bytes = new TextEncoder().encode(text(at) + "\0"),
            there = geos._malloc(bytes.length);
        geos.HEAPU8.set(bytes, there);
        const result = f(...before, there);
        geos._free(there);
        return result;
    };
    const toOurs = (at: number) => {
        if (!at) return 0;
        const bytes = new TextEncoder().encode(geos.UTF8ToString(at) + "\0"),
            here = ours().take(bytes.length);
        new Uint8Array(ours().memory.buffer).set(bytes, here);
        return here;
    };
    const withList = (f: Call, at: number, count: number, before: number[], after: number[]) => {
        const there = count ? geos._malloc(4 * count) : 0;
        for (let k = 0; k < count; k++) geos.setValue(there + 4 * k, view().getUint32(at + 4 * k, true), "i32");
        const result = f(...before, there, ...after);
        if (there) geos._free(there);
        return result;
    };
    const number = (name: string, to: number, ...values: number[]) => {
        const result = geos[`_${name}`](...values, scratch);
        view().setFloat64(to, geos.getValue(scratch, "double"), true);
        return result;
    };
    const said = (h: number, name: string, call: number, context: number) => {
        if (!call || !geos.addFunction) return 0;
        const f = ours().__indirect_function_table.get(call) as Call;
        return geos[`_${name}`](
            h,
            geos.addFunction((at: number) => f(toOurs(at), context), "vii"),
            0,
        );
    };
    const special: Record<string, Call> = {
        GEOSContext_setErrorMessageHandler_r: (h, f, c) => said(h, "GEOSContext_setErrorMessageHandler_r", f, c),
        GEOSContext_setNoticeMessageHandler_r: () => 0,
        GEOSWKTReader_read_r: (h, r, p) => withText(geos._GEOSWKTReader_read_r, p, h, r),
        GEOSGeoJSONReader_readGeometry_r: (h, r, p) => withText(geos._GEOSGeoJSONReader_readGeometry_r, p, h, r),
        GEOSGeomType_r: (h, g) => toOurs(geos._GEOSGeomType_r(h, g)),
        GEOSFree_r: () => 0, // a copy of ours, small
        GEOSCoordSeq_getSize_r: (h, s, p) => {
            const result = geos._GEOSCoordSeq_getSize_r(h, s, scratch);
            view().setUint32(p, geos.getValue(scratch, "i32"), true);
            return result;
        },
        GEOSCoordSeq_getXY_r: (h, s, i, x, y) => {
            const result = geos._GEOSCoordSeq_getXY_r(h, s, i, scratch, scratch + 8);
            view().setFloat64(x, geos.getValue(scratch, "double"), true);
            view().setFloat64(y, geos.getValue(scratch + 8, "double"), true);
            return result;
        },
        GEOSGeom_createCollection_r: (h, t, p, n) => withList(geos._GEOSGeom_createCollection_r, p, n, [h, t], [n]),
        GEOSGeom_createPolygon_r: (h, s, p, n) => withList(geos._GEOSGeom_createPolygon_r, p, n, [h, s], [n]),
        GEOSPolygonize_r: (h, p, n) => withList(geos._GEOSPolygonize_r, p, n, [h], [n]),
        GEOSisValidDetail_r: (h, g, f, reason, place) => {
            const result = geos._GEOSisValidDetail_r(h, g, f, scratch, scratch + 8),
                bad = result === 0;
            if (reason) view().setUint32(reason, bad ? toOurs(geos.getValue(scratch, "i32")) : 0, true);
            if (place) view().setUint32(place, bad ? geos.getValue(scratch + 8, "i32") : 0, true);
            return result;
        },
        GEOSDistance_r: (h, a, b, p) => number("GEOSDistance_r", p, h, a, b),
    };
    for (const name of ["GEOSArea_r", "GEOSGeomGetX_r", "GEOSGeomGetY_r"])
        special[name] = (h, g, p) => number(name, p, h, g);
    for (const end of ["XMin", "YMin", "XMax", "YMax"])
        special[`GEOSGeom_get${end}_r`] = (h, g, p) => number(`GEOSGeom_get${end}_r`, p, h, g);
    return special;
}

// Starts with a scene; `send` gets texts and frames. Fails with the message of the scene's fault.
export async function startEngine(
    wasm: BufferSource,
    scene: string,
    name: string,
    send: (message: string | ArrayBuffer) => void,
): Promise<Engine> {
    const geos = ((await initGeos()) as unknown as { Module: Geos }).Module;
    const module = await WebAssembly.compile(wasm);
    let exports: Ours;
    const memory = () => exports.memory;
    const special = bridge(geos, () => exports);
    const env: Record<string, Call> = {},
        wasi: Record<string, (...values: never[]) => number> = {};
    for (const { module: from, name: what } of WebAssembly.Module.imports(module)) {
        if (from === "env") {
            const call = special[what] ?? geos[`_${what}`];
            if (!call) throw new Error(`geos-wasm lacks ${what}`);
            env[what] = call;
        } else if (from === "wasi_snapshot_preview1") wasi[what] = () => 8; // no files
    }
    wasi.clock_time_get = (_clock: number, _precision: bigint, to: number) => {
        new DataView(memory().buffer).setBigUint64(to, BigInt(Math.round(performance.now() * 1e6)), true);
        return 0;
    };
    let last = ""; // text sent
    const throng = {
        send: (at: number, size: number, isText: number) => {
            const bytes = memory().buffer.slice(at, at + size);
            if (isText) last = new TextDecoder().decode(bytes);
            send(isText ? last : bytes);
        },
    };
    const instance = await WebAssembly.instantiate(module, { env, wasi_snapshot_preview1: wasi as never, throng });
    exports = instance.exports as unknown as Ours;
    exports._initialize();
    const put = (text: string): [number, number] => {
        const bytes = new TextEncoder().encode(text + "\0"),
            at = exports.take(bytes.length);
        new Uint8Array(memory().buffer).set(bytes, at);
        return [at, bytes.length - 1];
    };
    const [at, size] = put(scene),
        [called] = put(name);
    if (exports.open(at, size, called) !== 0) throw new Error(last);
    exports.give(at);
    return {
        receive: (text) => {
            const [place, length] = put(text);
            exports.receive(place, length);
            exports.give(place);
        },
        turn: () => exports.turn(),
    };
}
