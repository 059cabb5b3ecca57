// The keyboard: one list that the handler and the help overlay share. SPDX-License-Identifier: Apache-2.0

export interface Key {
    key: string;
    show: string;
    does: string;
    group: "Run" | "Look" | "Edit";
    run: () => void;
}

// "ctrl+z", "shift+?" is plain "?": the character counts, not how it is typed.
export function keyName(event: { key: string; ctrlKey: boolean; metaKey: boolean }): string {
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    return event.ctrlKey || event.metaKey ? `ctrl+${key}` : key;
}

// The list may change later.
export function listen(keys: Key[]): void {
    document.addEventListener("keydown", (event) => {
        const target = event.target as HTMLElement;
        if (event.altKey || target.closest("input[type=number], input[type=text], textarea, dialog")) return;
        if (target.closest("select, input[type=range]") && event.key.startsWith("Arrow")) return;
        if (event.key === "Enter" && target.closest("button, summary, select, a, input")) return;
        const name = keyName(event),
            found = keys.find((key) => key.key === name);
        if (!found) return;
        if (event.key === " " && target.closest("button, summary, input")) target.blur();
        event.preventDefault();
        found.run();
    });
}
