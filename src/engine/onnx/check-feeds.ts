import { passError } from "./pass-error.ts";

/** Throws ONNX_RUN_FAILED if an input was not fed, or if a fed name is not an input. */
export function checkFeeds(feeds: Readonly<Record<string, unknown>>, inputNames: readonly string[]): void {
  const missing = inputNames.filter((name) => feeds[name] === undefined);
  if (missing.length > 0) throw passError(`the input ${missing.join(", ")} was not fed`);
  const unknown = Object.keys(feeds).filter((name) => !inputNames.includes(name));
  if (unknown.length > 0) throw passError(`the model has no input ${unknown.join(", ")}`);
}
