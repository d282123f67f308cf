import { EverturnError } from "../../../base/errors/everturn-error.ts";
import { parseYaml } from "../../../base/validation/parse-yaml.ts";
import { child, type Pointer } from "../../../base/validation/pointer.ts";
import { type Problem, refusal } from "../../../base/validation/problem.ts";
import { placeOf, type SourceDocument } from "../../../base/validation/source-document.ts";

/** `${NAME}`, `${NAME:-default}`, and `$${`, which stands for a plain `${`. */
const variable = /\$\$\{|\$\{([A-Z_][A-Z0-9_]*)(?::-([^}]*))?\}/g;

/**
 * Fills environment variables into the texts of a document, as Docker Compose does: `${NAME}`, or
 * `${NAME:-default}` for a variable that is unset or empty. An unquoted text that consists of one variable is
 * read as YAML, so that a number stays a number. Throws WRONG_CONFIGURATION with each variable that is unset
 * and has no default.
 */
export function fillVariables(
  document: SourceDocument,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): SourceDocument {
  const problems: Problem[] = [];

  function filled(value: unknown, pointer: Pointer): unknown {
    if (Array.isArray(value)) return value.map((item, index) => filled(item, child(pointer, index)));
    if (typeof value === "object" && value !== null)
      return Object.fromEntries(
        Object.entries(value).map(([key, item]) => [key, filled(item, child(pointer, key))]),
      );
    if (typeof value !== "string" || !value.includes("${")) return value;
    const text = value.replace(variable, (whole, name?: string, standard?: string) => {
      if (name === undefined) return "${";
      const found = environment[name] || standard;
      if (found !== undefined) return found;
      const place = placeOf(document, pointer, "value");
      problems.push({ place, error: new EverturnError("VARIABLE_UNSET", { at: place.text, name }) });
      return whole;
    });
    return isAlone(value) && !isQuoted(pointer) ? scalar(text) : text;
  }

  function isQuoted(pointer: Pointer): boolean {
    const at = document.offsets.get(pointer)?.value;
    return at !== undefined && /["']/.test(document.source[at] ?? "");
  }

  const filledValue = filled(document.value, "");
  if (problems.length > 0) throw refusal(document.file, problems);
  return { ...document, value: filledValue };
}

function isAlone(text: string): boolean {
  return /^\$\{[A-Z_][A-Z0-9_]*(:-[^}]*)?\}$/.test(text);
}

/** Returns the YAML value of a text that is a number, true or false. */
function scalar(text: string): unknown {
  const value = parseYaml(text, "variable").documents[0]?.value;
  return typeof value === "number" || typeof value === "boolean" ? value : text;
}
