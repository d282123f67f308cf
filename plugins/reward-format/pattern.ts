import { RE2JS } from "re2js";

/**
 * Whether a text contains a match of a regular expression. RE2 takes time in proportion to the text for any
 * expression, so a policy can't write text that keeps it busy. Throws TypeError if the pattern is invalid.
 */
export function patternForm(pattern: string): (text: string) => boolean {
  const expression = compiled(pattern);
  if (typeof expression === "string") throw new TypeError(`the pattern ${expression}`);
  return (text) => expression.matcher(text).find();
}

/** Describes the problem of a pattern. Undefined if it is valid. */
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
