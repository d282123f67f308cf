import { EverturnError } from "../../base/errors/everturn-error.ts";
import { suggestion } from "../../base/validation/nearest.ts";
import type { JsonObject, JsonValue } from "../../contracts/json.ts";
import { strftime } from "./strftime.ts";
import { templateVariables } from "./template-variables.ts";

/** What a chat template is told beside messages and tools, wherever it is rendered. */
export interface TemplateSettings {
  /** Its variables by name, such as { enable_thinking: false }: `chat_template_kwargs` of transformers. */
  variables?: JsonObject | undefined;
  /** The day, such as 2026-11-24, that it writes where it asks for the time. */
  date?: string | undefined;
}

/**
 * A chat template that has its settings in it, so that whoever renders it (a run, an export, transformers) says the same:
 * its variables are set at its start, and calls of strftime_now are what they give at noon (UTC) of the date. A template
 * that has them already stays as it is. Throws TEMPLATE_VARIABLE_UNKNOWN, TEMPLATE_WITHOUT_DATE.
 */
export function fixedTemplate(template: string, { variables = {}, date }: TemplateSettings): string {
  const names = Object.keys(variables);
  if (names.length === 0 && date === undefined) return template;
  const said = date === undefined ? "" : `{#- today is ${date} #}`;
  const set = names.map((name) => `{%- set ${name} = ${literal(variables[name] ?? null)} %}`);
  const opening = `${said}${set.join("")}\n`; // the line break goes with the block before it
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

/** A call of strftime_now, with the form as a text. */
const asked = /\bstrftime_now\(\s*(["'])((?:(?!\1)[^\\])*)\1\s*\)/g;

/** A value as Jinja writes it. */
function literal(value: JsonValue): string {
  if (value === null) return "none";
  if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`;
  if (typeof value !== "object") return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([key, one]) => `${JSON.stringify(key)}: ${literal(one)}`)
    .join(", ")}}`;
}
