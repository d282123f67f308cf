import { EverturnError } from "../../../base/errors/everturn-error.ts";
import { suggestion } from "../../../base/validation/nearest.ts";
import type { Place } from "../../../base/validation/place.ts";
import { child, type Pointer, valueAt } from "../../../base/validation/pointer.ts";
import { type Problem, refusal } from "../../../base/validation/problem.ts";
import { placeOf, type SourceDocument } from "../../../base/validation/source-document.ts";
import { valueText } from "../../../base/validation/wording.ts";
import { isObject, type JsonObject } from "../../../contracts/json.ts";
import { merged } from "./merged.ts";

/** The maximum number of values that blocks may expand to. parse-yaml.ts limits aliases in the same way. */
const most = 200_000;

/**
 * Replaces each mapping that has `use: NAME` with the block of this name under the top-level `use`. The
 * mapping's own keys apply as a merge patch, and blocks may use other blocks. A `use` inside a `config`
 * belongs to the plugin. Values from a block keep their place in the file. Throws WRONG_CONFIGURATION with
 * each unknown name and each block that contains itself.
 */
export function fillBlocks(document: SourceDocument): SourceDocument {
  const blocks = valueAt(document.value, "/use");
  if (!isObject(document.value)) return document;
  const problems: Problem[] = [];
  const elsewhere = new Map<Pointer, Place>(document.elsewhere);

  function refused(pointer: Pointer, reason: string, hint: string): undefined {
    const place = placeOf(document, child(pointer, "use"), "value");
    problems.push({ place, error: new EverturnError("BLOCK_INVALID", { at: place.text, reason, hint }) });
  }

  /** Records the places of values that came from a block at `from` and are now at `to`. */
  function tellPlaces(value: unknown, from: Pointer, to: Pointer): void {
    const isOwn = document.offsets.has(to) || document.elsewhere?.has(to) === true;
    if (!isOwn) elsewhere.set(to, elsewhere.get(from) ?? placeOf(document, from, "key"));
    const entries = typeof value === "object" && value !== null ? Object.entries(value) : [];
    for (const [key, one] of entries) tellPlaces(one, child(from, key), child(to, key));
  }

  let values = 0;

  function filled(value: unknown, pointer: Pointer, within: readonly string[]): unknown {
    values += 1;
    if (values === most + 1)
      refused("", `its blocks stand for more than ${most} values`, "Write fewer of them into others.");
    if (values > most) return value;
    if (Array.isArray(value)) return value.map((one, index) => filled(one, child(pointer, index), within));
    if (!isObject(value)) return value;
    const { use, ...own } = value;
    const rest = Object.fromEntries(
      Object.entries(own).map(([key, one]) => [
        key,
        key === "config" ? one : filled(one, child(pointer, key), within),
      ]),
    );
    if (use === undefined) return rest;
    const block = blockNamed(use, pointer, within);
    if (block === undefined) return rest;
    const from = child("/use", String(use));
    const base = filled(block, from, [...within, String(use)]);
    tellPlaces(base, from, pointer);
    return merged(base, rest);
  }

  function blockNamed(use: unknown, pointer: Pointer, within: readonly string[]): JsonObject | undefined {
    const known = isObject(blocks) ? Object.keys(blocks) : [];
    if (typeof use !== "string")
      return refused(pointer, `it is ${valueText(use)}, not the name of a block`, "Name a block.");
    if (within.includes(use)) return refused(pointer, `“${use}” refers to itself`, "Remove one of them.");
    const block = isObject(blocks) ? blocks[use] : undefined;
    if (isObject(block)) return block;
    const hint =
      suggestion(use, known, "Blocks") || "The pipeline has no blocks: write them under `use:` at its top.";
    return refused(pointer, `there is no block “${use}”`, hint);
  }

  const { use: _, ...rest } = document.value;
  if (blocks !== undefined && !isObject(blocks))
    refused(
      "",
      `it is ${valueText(blocks)}, not a mapping of blocks`,
      "Write blocks by their names: { use: { name: { … } } }.",
    );
  const filledValue = filled(rest, "", []);
  if (problems.length > 0) throw refusal(document.file, problems);
  return { ...document, value: filledValue, elsewhere };
}
