import { isExact } from "./exact-json.ts";

/** What ES2026 adds and TypeScript's libraries lack. */
declare global {
  interface JSON {
    rawJSON(text: string): object;
  }
}

/**
 * The value of a JSON text to be written as JSON again: a number that a double would change stands as an object that `JSON.stringify` writes with the
 * digits it had. All others are numbers. Throws SyntaxError if the text is not JSON.
 */
export function parseKeepingDigits(text: string): ReturnType<typeof JSON.parse> {
  return JSON.parse(text, (_, value: unknown, context?: { source?: string }) =>
    typeof value === "number" && context?.source !== undefined && !isExact(context.source)
      ? JSON.rawJSON(context.source)
      : value,
  );
}
