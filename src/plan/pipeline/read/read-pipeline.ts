import { readdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { EverturnError } from "../../../base/errors/everturn-error.ts";
import { suggestion } from "../../../base/validation/nearest.ts";
import { parseYaml } from "../../../base/validation/parse-yaml.ts";
import { displayPath, placeAt } from "../../../base/validation/place.ts";
import { type Problem, refusal } from "../../../base/validation/problem.ts";
import { readText } from "../../../base/validation/read-text.ts";
import { placeOf, type SourceDocument } from "../../../base/validation/source-document.ts";
import { valueText } from "../../../base/validation/wording.ts";

/**
 * Reads a pipeline as one YAML mapping that keeps its positions, without checking schemas. Throws
 * PIPELINE_NOT_FOUND, or WRONG_CONFIGURATION with the file's syntax errors.
 */
export function readPipeline(path: string): SourceDocument {
  const file = displayPath(path);
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) {
    throw new EverturnError("PIPELINE_NOT_FOUND", { file, hint: notFoundHint(path) });
  }
  const source = readText(path);
  const { documents, problems } = parseYaml(source, file);
  if (problems.length > 0) throw refusal(file, problems);
  const [document, second] = documents;
  const empty = placeAt(file, source, 0);
  if (document === undefined || document.value === null) {
    throw refusal(file, [{ place: empty, error: new EverturnError("PIPELINE_EMPTY", { at: empty.text }) }]);
  }
  const shape = shapeProblem(document, second);
  if (shape !== undefined) throw refusal(file, [shape]);
  return document;
}

function shapeProblem(document: SourceDocument, second: SourceDocument | undefined): Problem | undefined {
  const { value } = document;
  if (typeof value !== "object" || Array.isArray(value)) {
    const place = placeOf(document, "", "value");
    const params = { at: place.text, actual: valueText(value) };
    return { place, error: new EverturnError("PIPELINE_NOT_A_MAPPING", params) };
  }
  if (second === undefined) return undefined;
  const place = placeOf(second, "", "value");
  return { place, error: new EverturnError("PIPELINE_MANY_DOCUMENTS", { at: place.text }) };
}

function notFoundHint(path: string): string {
  const folder = dirname(path);
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) {
    return `The folder ${displayPath(folder)} doesn't exist.`;
  }
  const pipelines = readdirSync(folder).filter((name) => isPipeline(join(folder, name)));
  return suggestion(basename(path), pipelines, "Pipelines there") || "Give the path of a YAML file.";
}

/** Whether a file looks like a pipeline, a YAML file that names a policy. */
function isPipeline(path: string): boolean {
  if (!/\.ya?ml$/.test(path)) return false;
  try {
    return /^\s*"?policy"?\s*:/m.test(readFileSync(path, "utf8"));
  } catch {
    return false; // a folder, or another user's file
  }
}
