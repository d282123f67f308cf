import type { FormatName } from "../../contracts/format-name.ts";
import type { ParsedAction } from "../../contracts/parsed-action.ts";
import type { ModelFormat, ParseOptions } from "./action-format.ts";
import { formats } from "./formats.ts";

const byName: ReadonlyMap<string, ModelFormat> = new Map(formats.map((format) => [format.name, format]));

/** The format with a given name. */
export function formatNamed(name: FormatName): ModelFormat {
  const format = byName.get(name);
  if (format === undefined) throw new Error(`There is no action format ${name}.`);
  return format;
}

/**
 * The thought, answer and calls in an action's text, as a run with this `format` reads them (default: hermes). See
 * docs/formats.md.
 */
export function parseAction(
  text: string,
  { format = "hermes", ...options }: ParseOptions & { format?: FormatName } = {},
): ParsedAction {
  return formatNamed(format).parse(text, options);
}
