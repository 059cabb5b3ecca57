// Colour maps and legends. All are readable for colour-blind people; test/page.test.ts simulates three kinds of them.
// SPDX-License-Identifier: Apache-2.0

export type Rgb = [number, number, number];

const hex = (text: string): Rgb => [0, 2, 4].map((k) => parseInt(text.slice(k, k + 2), 16)) as Rgb;
const anchors = (text: string): Rgb[] => text.split(" ").map(hex);

// Samples of the published tables, linear in between.
export const MAPS: Record<string, Rgb[]> = {
    viridis: anchors("440154 482878 3e4989 31688e 26828e 1f9e89 35b779 6ece58 b5de2b fde725"),
    inferno: anchors("000004 1b0c41 4a0c6b 781c6d a52c60 cf4446 ed6925 fb9b06 f7d13d fcffa4"),
    // ColorBrewer's YlOrRd (Harrower and Brewer 2003): darker is more, on light ground.
    heat: anchors("ffffcc ffeda0 fed976 feb24c fd8d3c fc4e2a e31a1c bd0026 800026"),
    // Blue is slower than wished, amber as fast as wished: two hues that every eye tells apart.
    contrast: anchors("2c4f9e 5a7fc0 9db4d6 e8e2cf f0c56b e39a2d c46a00"),
};

// Okabe and Ito (2008) without black and yellow; after them those that stay farthest apart, and from light and dark
// floor, for all eyes. The eighth is for what has no value.
export const CATEGORIES: Rgb[] = [
    "0072b2",
    "e69f00",
    "009e73",
    "cc79a7",
    "56b4e9",
    "d55e00",
    "a54bff",
    "6c6c6c",
    "782d00",
    "3cff69",
    "1e0ff0",
    "5a0f69",
].map(hex);

export function sample(map: Rgb[], t: number): Rgb {
    const x = Math.min(1, Math.max(0, Number.isFinite(t) ? t : 0)) * (map.length - 1);
    const k = Math.min(map.length - 2, Math.floor(x));
    const f = x - k;
    return [0, 1, 2].map((c) => Math.round(map[k][c] * (1 - f) + map[k + 1][c] * f)) as Rgb;
}

// 256 colours, RGBA.
export function table(map: Rgb[]): Uint8Array<ArrayBuffer> {
    const out = new Uint8Array(256 * 4);
    for (let k = 0; k < 256; k++) out.set([...sample(map, k / 255), 255], 4 * k);
    return out;
}

export function categoryTable(colours: Rgb[] = CATEGORIES): Uint8Array<ArrayBuffer> {
    const out = new Uint8Array(256 * 4);
    for (let k = 0; k < 256; k++) out.set([...colours[k % colours.length], 255], 4 * k);
    return out;
}

export function css(colour: Rgb, alpha = 1): string {
    return alpha === 1 ? `rgb(${colour.join(" ")})` : `rgb(${colour.join(" ")} / ${alpha})`;
}

export function gradient(map: Rgb[]): string {
    return `linear-gradient(to right, ${map.map((colour) => css(colour)).join(", ")})`;
}

// Round numbers for axes and legends: 4 to 6 ticks in low .. high.
export function ticks(low: number, high: number, most = 6): number[] {
    if (!(high > low)) return [low];
    const raw = (high - low) / Math.max(1, most - 1);
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = ([1, 2, 5, 10].find((m) => m * power >= raw * 0.999) ?? 10) * power;
    const out: number[] = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++)
        out.push(Number((k * step).toPrecision(12)));
    return out;
}

// The next number of 1, 2, 5 times a power of ten: the end of a scale that has none of its own.
export function roundUp(value: number): number {
    if (!(value > 0) || !Number.isFinite(value)) return 1;
    const power = 10 ** Math.floor(Math.log10(value));
    return ([1, 2, 5, 10].find((m) => m * power >= value * 0.999) ?? 10) * power;
}
