// Elements without markup in texts, which are in the language of the page; number formats. SPDX-License-Identifier: Apache-2.0
import { say } from "./say";

type Child = Node | string | null | undefined | false;
type Props = Record<string, unknown>;
const SAID = ["title", "aria-label", "placeholder"];

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
        const text = typeof value === "string" && SAID.includes(key) ? say(value) : value;
        if (key.startsWith("on")) element.addEventListener(key.slice(2), value as EventListener);
        else if (key.includes("-") || key === "for" || key === "role") element.setAttribute(key, String(text));
        else if (key === "style") element.setAttribute("style", String(value));
        else (element as unknown as Props)[key] = text;
    }
    if (tag === "select" && typeof props.title === "string" && !("aria-label" in props))
        element.setAttribute("aria-label", say(props.title.split("\n")[0]));
    for (const child of children) if (child) element.append(typeof child === "string" ? say(child) : child);
    return element;
}

export function button(label: string, title: string, onclick: () => void, props: Props = {}): HTMLButtonElement {
    // Read aloud is what is written on it; of a sign what its title says.
    const name = label !== "" && !/[\p{L}?]/u.test(label) ? { "aria-label": title } : {};
    return h("button", { type: "button", title, ...name, onclick, ...props }, label);
}

export function clear(element: Element, ...children: Child[]): void {
    const shown = children.filter((child): child is Node | string => Boolean(child));
    element.replaceChildren(...shown.map((child) => (typeof child === "string" ? say(child) : child)));
}

const isTyped = (control: Element): control is HTMLInputElement =>
    control instanceof HTMLInputElement && /^(text|number)$/.test(control.type);

// Draws what is inside `element` anew while it is being used: the control that has the focus keeps it, with the text typed so
// far, which it tells as ever when it is left or Enter is pressed. Controls are found again by data-key or id, within the same
// `about` only.
export function redrawn(element: HTMLElement, about: string, draw: () => void): void {
    const keyOf = (one: HTMLElement): string => one.dataset.key ?? one.id,
        active = document.activeElement,
        before = active instanceof HTMLElement && active !== element && element.contains(active) ? active : null,
        same = element.dataset.about === about;
    const busy =
        before instanceof HTMLInputElement &&
        ((before.type === "range" && before.matches(":active")) || // being dragged
            (isTyped(before) && before.validity.badInput)); // "1e", on the way to a number, cannot be read or written
    if (busy && same) {
        for (const event of ["change", "blur"])
            before.addEventListener(event, () => redrawn(element, about, draw), { once: true });
        return;
    }
    const typed = before && isTyped(before) && before.value !== before.defaultValue ? before : null,
        scrolled = element.scrollTop,
        silence = (event: Event): void => event.stopImmediatePropagation();
    // A control that is taken away is not left by its user.
    for (const event of ["change", "blur"]) before?.addEventListener(event, silence, { capture: true });
    element.dataset.about = about;
    draw();
    element.scrollTop = scrolled;
    const key = before && same ? keyOf(before) : "";
    const again = key
        ? [...element.querySelectorAll<HTMLElement>("[data-key], [id]")].find((one) => keyOf(one) === key)
        : undefined;
    if (!again) return;
    const [from, to] = before && isTyped(before) ? [before.selectionStart, before.selectionEnd] : [null, null];
    again.focus();
    if (!isTyped(again)) return;
    if (typed) keepTyping(again, typed);
    // Typing goes on where it was. Of a number no place is known: untouched, it is replaced by what is typed, as after Tab.
    if (from !== null) again.setSelectionRange(from, to);
    else if (!typed) again.select();
}

// A browser sees no change in a text that a script put there.
function keepTyping(input: HTMLInputElement, typed: HTMLInputElement): void {
    let told = false;
    const tell = (): void => {
        if (!told && input.value !== input.defaultValue) input.dispatchEvent(new Event("change"));
    };
    input.value = typed.value;
    input.addEventListener("change", () => (told = true));
    input.addEventListener("blur", tell, { once: true });
    input.addEventListener("keydown", (event) => event.key === "Enter" && tell());
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
