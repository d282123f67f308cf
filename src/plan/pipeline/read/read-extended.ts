import { dirname, join } from "node:path";
import { EverturnError } from "../../../base/errors/everturn-error.ts";
import type { Place } from "../../../base/validation/place.ts";
import { type Pointer, valueAt } from "../../../base/validation/pointer.ts";
import { refusal } from "../../../base/validation/problem.ts";
import { placeOf, type SourceDocument } from "../../../base/validation/source-document.ts";
import { valueText } from "../../../base/validation/wording.ts";
import { isObject } from "../../../contracts/json.ts";
import { expandNames } from "./expand-names.ts";
import { fillBlocks } from "./fill-blocks.ts";
import { fillVariables } from "./fill-variables.ts";
import { merged } from "./merged.ts";
import { readPipeline } from "./read-pipeline.ts";

/**
 * Reads a pipeline with the variables of the environment and its blocks filled in, plugins' names expanded, and put over the one that it
 * `extends`, if it does: a file in the same folder, so that both mean the same paths. It goes over that one as a merge patch does
 * (RFC 7396): mappings are merged, all else is replaced, null takes away; a mapping that names another plugin is
 * replaced. Throws what `readPipeline` and `fillVariables` do, and WRONG_CONFIGURATION.
 */
export function readExtended(path: string): SourceDocument {
  return expandNames(fillBlocks(readChain(path, [])));
}

function readChain(path: string, below: readonly string[]): SourceDocument {
  const document = expandNames(fillVariables(readPipeline(path)));
  const named = valueAt(document.value, "/extends");
  if (named === undefined) return document;
  const refused = (reason: string) => {
    const place = placeOf(document, "/extends", "value");
    return refusal(document.file, [
      { place, error: new EverturnError("EXTENDS_INVALID", { at: place.text, reason }) },
    ]);
  };
  if (typeof named !== "string" || named === "") throw refused(`it is ${valueText(named)}, not a file name`);
  if (/[/\\]/.test(named)) throw refused(`“${named}” is not in the folder of this pipeline`);
  const base = join(dirname(path), named);
  if ([...below, path].includes(base)) throw refused(`“${named}” refers to itself`);
  return put(document, readChain(base, [...below, path]));
}

/** A pipeline over its base; what comes of the base keeps its place there. */
function put(document: SourceDocument, base: SourceDocument): SourceDocument {
  const all = merged(base.value, document.value);
  const value = isObject(all)
    ? Object.fromEntries(Object.entries(all).filter(([key]) => key !== "extends"))
    : all;
  const elsewhere = new Map<Pointer, Place>();
  for (const pointer of new Set([...base.offsets.keys(), ...(base.elsewhere?.keys() ?? [])])) {
    const isOwn = document.offsets.has(pointer) || valueAt(value, pointer) !== valueAt(base.value, pointer);
    if (!isOwn && valueAt(value, pointer) !== undefined)
      elsewhere.set(pointer, placeOf(base, pointer, "key"));
  }
  return { ...document, value, elsewhere };
}
