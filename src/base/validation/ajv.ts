import { lstatSync, readdirSync, readlinkSync, statSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import type { Ajv, SchemaValidateFunction } from "ajv";
import { loadAjv } from "./load-ajv.ts";
import { nearest } from "./nearest.ts";
import { displayPath } from "./place.ts";

/** The folder that relative paths in the next checked value refer to. */
export interface PathBase {
  folder?: string | undefined;
}

/** The values of `"x-path"`. */
type PathKind = "file" | "folder" | "path" | "path or name" | "new";

/**
 * An ajv that reports every error, fills in defaults, and rejects schemas with unknown keywords. It does not check
 * the form of schemas, which is slow; `schemaProblems` checks schemas that others wrote. Where `base` has a folder,
 * `"x-path": "file" | "folder" | "path"` makes a path absolute and checks that it exists. `"path or name"` does so
 * if the text begins with ./, ../ or /. A "new" path need not exist. Without a folder, the keyword is only an
 * annotation.
 */
export function createAjv(base: PathBase = {}): Ajv {
  const ajv = new (loadAjv().Ajv)({
    allErrors: true,
    verbose: true,
    useDefaults: true,
    allowUnionTypes: true,
    validateSchema: false,
    strictSchema: true,
    strictTypes: false,
    strictTuples: false,
    strictRequired: false,
    addUsedSchema: false,
  });
  const schema = { enum: ["file", "folder", "path", "path or name", "new"] };
  const validate = pathValidator(base);
  return ajv.addKeyword({ keyword: "x-path", type: "string", modifying: true, metaSchema: schema, validate });
}

function pathValidator(base: PathBase): SchemaValidateFunction {
  const validate: SchemaValidateFunction = (kind: PathKind, path: string, _schema, context) => {
    if (base.folder === undefined) return true;
    if (kind === "path or name" && !/^\.{0,2}\//.test(path)) return true;
    const absolute = resolve(base.folder, path);
    const found = statSync(absolute, { throwIfNoEntry: false });
    if (found === undefined && kind === "new") {
      if (context !== undefined) context.parentData[context.parentDataProperty] = absolute;
      return true;
    }
    if (
      found !== undefined &&
      (kind === "file" ? found.isFile() : kind !== "folder" || found.isDirectory())
    ) {
      if (context !== undefined) context.parentData[context.parentDataProperty] = absolute;
      return true;
    }
    const exists = found !== undefined;
    validate.errors = [
      { keyword: "x-path", params: { kind, exists, hint: exists ? "" : missingHint(absolute) } },
    ];
    return false;
  };
  return validate;
}

function missingHint(absolute: string): string {
  const folder = dirname(absolute);
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) {
    return `There is no folder ${displayPath(folder)}.`;
  }
  const link = lstatSync(absolute, { throwIfNoEntry: false });
  if (link !== undefined) return `It is a link to ${readlinkSync(absolute)}, which leads nowhere.`;
  const match = nearest(basename(absolute), readdirSync(folder));
  return match === undefined ? `It was looked for in ${displayPath(folder)}.` : `Did you mean “${match}”?`;
}
