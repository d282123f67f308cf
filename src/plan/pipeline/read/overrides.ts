import { EverturnError } from "../../../base/errors/everturn-error.ts";
import { parseYaml } from "../../../base/validation/parse-yaml.ts";
import type { Place } from "../../../base/validation/place.ts";
import { child, type Pointer } from "../../../base/validation/pointer.ts";
import type { SourceDocument } from "../../../base/validation/source-document.ts";

/**
 * Applies `path.to.key=value` overrides with YAML values (`tools.0.timeout=5s`) to a document. null removes a
 * key. Messages about an overridden value give the override as its place. Throws OVERRIDE_INVALID.
 */
export function applyOverrides(document: SourceDocument, overrides: readonly string[]): SourceDocument {
  const value: unknown = structuredClone(document.value);
  const elsewhere = new Map<Pointer, Place>(document.elsewhere);
  const offsets = new Map(document.offsets);
  for (const override of overrides) {
    const [, path = "", text = ""] = /^([^=\s]+)=(.*)$/s.exec(override) ?? [];
    if (path === "") throw invalid(override, "has no key and value");
    const { documents, problems } = parseYaml(text, "override");
    if (problems.length > 0) throw invalid(override, "has a value that isn't valid YAML");
    const keys = path.split(".");
    set(value, keys, documents[0]?.value ?? null, override);
    const place = { file: document.file, line: 0, column: 0, text: `override ${override}` };
    const at = keys.reduce(child, "");
    for (const old of elsewhere.keys()) if (old.startsWith(`${at}/`)) elsewhere.delete(old);
    elsewhere.set(at, place);
    for (const old of offsets.keys()) if (old === at || old.startsWith(`${at}/`)) offsets.delete(old);
  }
  return { ...document, value, offsets, elsewhere };
}

function set(root: unknown, keys: readonly string[], value: unknown, override: string): void {
  let node = root;
  for (const [index, key] of keys.entries()) {
    if (typeof node !== "object" || node === null)
      throw invalid(override, `goes through “${keys[index - 1]}”, which contains no keys`);
    if (Array.isArray(node) && !(Number(key) < node.length))
      throw invalid(override, `names item ${key} of a list of ${node.length}`);
    if (index === keys.length - 1 && value === null && !Array.isArray(node))
      Reflect.deleteProperty(node, key);
    else if (index === keys.length - 1) Reflect.set(node, key, value);
    else if (Reflect.get(node, key) === undefined) {
      if (value === null) return; // there is nothing to remove
      Reflect.set(node, key, {});
    }
    node = Reflect.get(node, key);
  }
}

function invalid(override: string, reason: string): EverturnError {
  return new EverturnError("OVERRIDE_INVALID", { override, reason });
}
