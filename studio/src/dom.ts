// Elements without markup in texts, and number formats. SPDX-License-Identifier: Apache-2.0

type Child = Node | string | null | undefined | false;
type Props = Record<string, unknown>;

// h("button", {title: "Play", onclick: f}, "Play"): properties are set as properties, "on..." as listeners, names with
// a dash as attributes.
export function h<K extends keyof HTMLElementTagNameMap>(
    tag: K,
    props: Props = {},
    ...children: Child[]
): HTMLElementTagNameMap[K] {
    const element = document.createElement(tag);
    for (const [key, value] of Object.entries(props)) {
        if (value === undefined || value === null) continue;
        if (key.startsWith("on")) element.addEventListener(key.slice(2), value as EventListener);
        else if (key.includes("-") || key === "for" || key === "role") element.setAttribute(key, String(value));
        else if (key === "style") element.setAttribute("style", String(value));
        else (element as unknown as Props)[key] = value;
    }
    for (const child of children) if (child) element.append(child);
    return element;
}

export function button(label: string, title: string, onclick: () => void, props: Props = {}): HTMLButtonElement {
    return h("button", { type: "button", title, "aria-label": title, onclick, ...props }, label);
}

export function clear(element: Element, ...children: Child[]): void {
    element.replaceChildren(...children.filter((child): child is Node | string => Boolean(child)));
}

// 1234567 -> "1 234 567", with thin spaces that do not break.
export function grouped(value: number): string {
    return Math.round(value)
        .toString()
        .replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f");
}

// A value for reading: three digits, no exponent in the usual range.
export function short(value: number): string {
    if (!Number.isFinite(value)) return "–";
    const size = Math.abs(value);
    if (size === 0) return "0";
    if (size >= 10000 || size < 0.001) return value.toExponential(1);
    if (size >= 100) return value.toFixed(0);
    return Number(value.toPrecision(3)).toString();
}

export function clock(seconds: number): string {
    if (!Number.isFinite(seconds)) return "–";
    const whole = Math.floor(seconds / 60);
    const rest = seconds - 60 * whole;
    return `${whole}:${rest < 10 ? "0" : ""}${rest.toFixed(1)}`;
}

export function words(name: string): string {
    const text = name.replaceAll("_", " ");
    return text.charAt(0).toUpperCase() + text.slice(1);
}

// Written by exponents: "1/m2" -> "1/m²".
export function unitText(unit: string | undefined): string {
    if (!unit || unit === "-" || unit === "1") return "";
    return unit.replace(/\^?2(?!\d)/g, "²").replace(/\^?3(?!\d)/g, "³");
}

export function withUnit(value: string, unit: string | undefined): string {
    const text = unitText(unit);
    return text ? `${value}\u202f${text}` : value;
}

export function dark(): boolean {
    return document.documentElement.dataset.theme === "dark";
}

export function cssColour(name: string): string {
    if (name.startsWith("#")) return name;
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
