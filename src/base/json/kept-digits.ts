import { isExact } from "./exact-json.ts";

/** Features of ES2026 that TypeScript's libraries lack. */
declare global {
  interface JSON {
    rawJSON(text: string): object;
  }
}

/**
 * Parses a JSON text that will be written as JSON again. A number that a double would change becomes an object that
 * `JSON.stringify` writes with the original digits. All others become numbers. Throws SyntaxError if the text is not
 * JSON.
 */
export function parseKeepingDigits(text: string): ReturnType<typeof JSON.parse> {
  return JSON.parse(text, (_, value: unknown, context?: { source?: string }) =>
    typeof value === "number" && context?.source !== undefined && !isExact(context.source)
      ? JSON.rawJSON(context.source)
      : value,
  );
}
