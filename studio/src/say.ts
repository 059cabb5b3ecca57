// Texts in the language of the page: English is written where a text is used, other languages are a table each.
// SPDX-License-Identifier: Apache-2.0
import { GERMAN } from "./german";

export const LANGUAGES: Record<string, { name: string; table: Record<string, string> }> = {
    en: { name: "English", table: {} },
    de: { name: "Deutsch", table: GERMAN },
};
const PLACE = "throng.language";

// As chosen before, else as the browser's.
function preferred(): string {
    if (typeof document === "undefined") return "en";
    try {
        const kept = localStorage.getItem(PLACE);
        if (kept && LANGUAGES[kept]) return kept;
    } catch {
        // a page from a file may have no storage
    }
    const wanted = navigator.language.slice(0, 2);
    return LANGUAGES[wanted] ? wanted : "en";
}

export const language = preferred();
if (typeof document !== "undefined") document.documentElement.lang = language;

export function chooseLanguage(name: string): void {
    try {
        localStorage.setItem(PLACE, name);
    } catch {
        return;
    }
    location.reload();
}

interface Pattern {
    expression: RegExp;
    to: string;
    fixed: number; // letters outside holes
}

function patternsOf(table: Record<string, string>): Pattern[] {
    const safe = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    return Object.entries(table)
        .filter(([from]) => from.includes("{}"))
        .map(([from, to]) => ({
            expression: new RegExp(`^${from.split("{}").map(safe).join("([^]*?)")}$`),
            to,
            fixed: from.length,
        }))
        .sort((a, b) => b.fixed - a.fixed);
}

// A translator with a table: a whole text, or one with holes, whose contents are translated too. What has no translation
// stays as it is.
export function translator(table: Record<string, string>): (text: string) => string {
    const patterns = patternsOf(table),
        known = new Map<string, string>();
    const translate = (text: string): string => {
        const whole = Object.hasOwn(table, text) ? table[text] : undefined;
        if (whole !== undefined || !/[A-Za-z]{2}/.test(text) || text.length > 600) return whole ?? text;
        const before = known.get(text);
        if (before !== undefined) return before;
        let out = text;
        for (const { expression, to } of patterns) {
            const found = expression.exec(text);
            if (!found) continue;
            let k = 0;
            out = to.replace(/\{\}/g, () => translate(found[++k] ?? ""));
            break;
        }
        if (known.size > 4000) known.clear();
        known.set(text, out);
        return out;
    };
    return translate;
}

const { table } = LANGUAGES[language];
export const say: (text: string) => string = language === "en" ? (text) => text : translator(table);
