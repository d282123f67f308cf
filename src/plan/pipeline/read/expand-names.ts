import { child, type Pointer, parent, valueAt } from "../../../base/validation/pointer.ts";
import type { SourceDocument } from "../../../base/validation/source-document.ts";
import { placesOf } from "./slots.ts";

/**
 * Expands plugins given by name alone, from `reward: reward-x` to `{ plugin: reward-x }`, and functions of
 * tools to `{ function: x }`.
 */
export function expandNames(document: SourceDocument): SourceDocument {
  const value: unknown = structuredClone(document.value);
  const offsets = new Map(document.offsets);
  for (const [pointer] of placesOf(value)) {
    const plugin = valueAt(value, pointer);
    const holder = valueAt(value, parent(pointer));
    if (typeof plugin !== "string" || typeof holder !== "object" || holder === null) continue;
    Reflect.set(holder, pointer.slice(parent(pointer).length + 1), { plugin });
    const written = offsets.get(pointer);
    if (written !== undefined) offsets.set(child(pointer, "plugin"), { ...written, key: written.value });
  }
  for (const pointer of namedFunctions(value)) {
    const holder = valueAt(value, parent(pointer));
    if (!Array.isArray(holder)) continue;
    const index = Number(pointer.slice(parent(pointer).length + 1));
    holder[index] = { function: holder[index] };
    const written = offsets.get(pointer);
    if (written !== undefined) offsets.set(child(pointer, "function"), { ...written, key: written.value });
  }
  return { ...document, value, offsets };
}

/** The functions of tools that are given by name alone. */
function namedFunctions(pipeline: unknown): Pointer[] {
  return placesOf(pipeline).flatMap(([place, kind]) => {
    const functions = valueAt(pipeline, child(place, "functions"));
    if ((kind !== "tool" && kind !== "environment") || !Array.isArray(functions)) return [];
    return functions.flatMap((one, index) =>
      typeof one === "string" ? [child(child(place, "functions"), index)] : [],
    );
  });
}
