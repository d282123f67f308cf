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
 * Reads a pipeline, fills in environment variables and blocks, expands plugin names, and applies it to the
 * pipeline that it `extends`, if any. That must be a file in the same folder, so that paths mean the same in
 * both. The pipeline applies as a JSON merge patch (RFC 7396), except that a mapping that names a different
 * plugin replaces the other one. Throws the errors of `readPipeline` and `fillVariables`, and
 * WRONG_CONFIGURATION.
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

/** Applies a pipeline to its base. Values from the base keep their place in its file. */
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
