import pipelineSchema from "../../../../schemas/pipeline.schema.json" with { type: "json" };
import { child, type Pointer, valueAt } from "../../../base/validation/pointer.ts";
import { validatorOf } from "../../../base/validation/validator.ts";
import type { FunctionUse } from "../../../contracts/generated/pipeline.ts";
import type { PluginManifest } from "../../../contracts/generated/plugin.ts";
import type { JsonObject } from "../../../contracts/json.ts";
import { isObject } from "../../../contracts/json.ts";

/** A place for a plugin in a pipeline, and the pipeline's setting there. */
export interface Slot {
  readonly pointer: Pointer;
  readonly kind: PluginManifest["kind"];
  readonly reference: string;
  readonly config: JsonObject;
  /** The pipeline's name for a tool, and its settings for the tool's functions. */
  readonly name: string | undefined;
  readonly functions: FunctionUse[] | undefined;
}

const places: readonly [Pointer, Slot["kind"]][] = [
  ["/policy", "policy"],
  ["/environment", "environment"],
  ["/dataset/train", "dataset"],
  ["/dataset/validation", "dataset"],
  ["/loop", "loop"],
  ["/trainer", "trainer"],
  ["/trainer/loss", "loss"],
];

/** Every place for a plugin in a pipeline, with the plugin's kind, whatever value it has. */
export function placesOf(pipeline: unknown): readonly [Pointer, Slot["kind"]][] {
  const each = (pointers: Pointer[], kind: Slot["kind"]) =>
    pointers.map((pointer): [Pointer, Slot["kind"]] => [pointer, kind]);
  return [
    ...places,
    ...each(loopPlaces(pipeline), "loop"),
    ...each(rewardPlaces(pipeline), "reward"),
    ...each(itemsOf(valueAt(pipeline, "/tools"), "/tools"), "tool"),
    ...each(itemsOf(valueAt(pipeline, "/trackers"), "/trackers"), "tracker"),
  ];
}

/** The places of the loops that tasks name. */
export function loopPlaces(pipeline: unknown): Pointer[] {
  const loops = valueAt(pipeline, "/loops");
  return isObject(loops) ? Object.keys(loops).map((name) => child("/loops", name)) : [];
}

/** The places of a pipeline's rewards: one, or each of a list. */
export function rewardPlaces(pipeline: unknown): Pointer[] {
  const reward = valueAt(pipeline, "/reward");
  return Array.isArray(reward) ? itemsOf(reward, "/reward") : ["/reward"];
}

function itemsOf(list: unknown, pointer: Pointer): Pointer[] {
  return (Array.isArray(list) ? list : []).map((_, index) => child(pointer, index));
}

/**
 * The slots that are well-formed enough to check. The schema reports the others. An environment is checked where its
 * parts are.
 */
export function slotsOf(pipeline: unknown): Slot[] {
  return placesOf(pipeline).flatMap(([pointer, kind]) => {
    const reference = valueAt(pipeline, `${pointer}/plugin`);
    const config = valueAt(pipeline, `${pointer}/config`);
    if (kind === "environment" || typeof reference !== "string" || reference === "") return [];
    const name = valueAt(pipeline, `${pointer}/name`);
    return [
      {
        pointer,
        kind,
        reference,
        config: isObject(config) ? config : {},
        name: kind === "tool" && typeof name === "string" ? name : undefined,
        functions: kind === "tool" ? functionsAt(pipeline, pointer) : undefined,
      },
    ];
  });
}

/** A tool's settings for its functions, if they are well-formed. */
function functionsAt(pipeline: unknown, pointer: Pointer): FunctionUse[] | undefined {
  const uses = valueAt(pipeline, child(pointer, "functions"));
  return Array.isArray(uses) && uses.length > 0 && uses.every((use) => functionUse()(use)) ? uses : undefined;
}

const functionUse = validatorOf<FunctionUse>({
  ...pipelineSchema.definitions.FunctionUse,
  definitions: pipelineSchema.definitions,
});
