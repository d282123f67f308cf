import { EverturnError } from "../../base/errors/everturn-error.ts";
import { suggestion } from "../../base/validation/nearest.ts";
import type { JsonObject, JsonValue } from "../../contracts/json.ts";
import { strftime } from "./strftime.ts";
import { templateVariables } from "./template-variables.ts";

/** Settings of a chat template, which it uses wherever it is rendered. */
export interface TemplateSettings {
  /** Its variables by name, such as { enable_thinking: false }. These are transformers' `chat_template_kwargs`. */
  variables?: JsonObject | undefined;
  /** The current date for the template, such as 2026-11-24. */
  date?: string | undefined;
}

/**
 * Writes settings into a chat template, so that a run, an export and transformers render the same text. Sets its
 * variables at the start, and replaces calls of strftime_now by their value at noon (UTC) of the date. Leaves a
 * template unchanged that already has the settings. Throws TEMPLATE_VARIABLE_UNKNOWN, TEMPLATE_WITHOUT_DATE.
 */
export function fixedTemplate(template: string, { variables = {}, date }: TemplateSettings): string {
  const names = Object.keys(variables);
  if (names.length === 0 && date === undefined) return template;
  const said = date === undefined ? "" : `{#- today is ${date} #}`;
  const set = names.map((name) => `{%- set ${name} = ${literal(variables[name] ?? null)} %}`);
  const opening = `${said}${set.join("")}\n`; // the line break belongs to the block before it
  if (template.startsWith(opening)) return template;
  const known = templateVariables(template);
  for (const variable of names) {
    if (known.includes(variable)) continue;
    const hint = known.length === 0 ? "It reads none." : suggestion(variable, known, "It reads");
    throw new EverturnError("TEMPLATE_VARIABLE_UNKNOWN", { variable, hint });
  }
  return opening + (date === undefined ? template : dated(template, date));
}

function dated(template: string, date: string): string {
  const noon = new Date(`${date}T12:00:00Z`);
  if (Number.isNaN(noon.getTime()) || !template.match(asked))
    throw new EverturnError("TEMPLATE_WITHOUT_DATE", { date });
  return template.replaceAll(asked, (_, quote: string, form: string) => quote + strftime(noon, form) + quote);
}

/** A call of strftime_now with a literal format. */
const asked = /\bstrftime_now\(\s*(["'])((?:(?!\1)[^\\])*)\1\s*\)/g;

/** Writes a value as a Jinja literal. */
function literal(value: JsonValue): string {
  if (value === null) return "none";
  if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`;
  if (typeof value !== "object") return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([key, one]) => `${JSON.stringify(key)}: ${literal(one)}`)
    .join(", ")}}`;
}
