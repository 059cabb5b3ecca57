// Offers: a drawn thing is for a model that no group has yet; the change gives groups that model. SPDX-License-Identifier: Apache-2.0
import { words } from "./dom";
import type { SceneList } from "./tools";
import type { Scene, Stage } from "./types";

export interface Offer {
    text: string;
    label: string;
    changes: { group: string; stage: Stage; model: string | string[] }[]; // requests of kind `model`
}

const STAGE_WORDS: Record<string, string> = { behave: "behaviour", plan: "planner", filter: "filter", move: "model" };

export function offersOf(scene: Scene, lists: SceneList[]): Offer[] {
    return lists.flatMap(({ list, model, stage }): Offer[] => {
        const count = scene.sections[list]?.length ?? 0,
            at = stage as Stage;
        if (model === "" || count === 0 || scene.groups.length === 0) return [];
        if (scene.groups.some((group) => group.models[at]?.some((choice) => choice.model === model))) return [];
        return [
            {
                text: `${words(list)}: no person follows ${count === 1 ? "it" : "them"} yet.`,
                label: `Give all groups the ${STAGE_WORDS[stage] ?? "model"} ${words(model)}`,
                // A behaviour comes to those that a group has; a planner or filter takes the place of the one before.
                changes:
                    at === "behave"
                        ? scene.groups.map((group) => ({
                              group: group.id,
                              stage: at,
                              model: [...group.models.behave.map((choice) => choice.model), model],
                          }))
                        : [{ group: "*", stage: at, model }],
            },
        ];
    });
}
