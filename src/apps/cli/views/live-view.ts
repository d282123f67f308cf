import { linesView } from "./lines-view.ts";
import type { RunView, ViewStream } from "./run-view.ts";
import { screenView } from "./screen-view.ts";

/**
 * A view on `stream`. By default that is standard output, or standard error if `json` reserves standard output for
 * the command's line of JSON.
 */
export function createView(options: { json?: boolean; stream?: ViewStream } = {}): RunView {
  const stream = options.stream ?? (options.json === true ? process.stderr : process.stdout);
  return stream.isTTY === true && process.env.TERM !== "dumb" ? screenView(stream) : linesView(stream);
}
