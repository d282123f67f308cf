import { RE2JS } from "re2js";

/**
 * Whether a text contains what a regular expression says. RE2 takes time in proportion to the text, whatever the
 * expression: a policy can't write what keeps it busy. Throws a TypeError if it can't be read.
 */
export function patternForm(pattern: string): (text: string) => boolean {
  const expression = compiled(pattern);
  if (typeof expression === "string") throw new TypeError(`the pattern ${expression}`);
  return (text) => expression.matcher(text).find();
}

/** What is wrong with a pattern; undefined if nothing is. */
export function patternProblem(pattern: string): string | undefined {
  const expression = compiled(pattern);
  return typeof expression === "string" ? expression : undefined;
}

function compiled(pattern: string): RE2JS | string {
  try {
    return RE2JS.compile(pattern, RE2JS.DOTALL);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return `can't be read as RE2: ${reason}`;
  }
}
