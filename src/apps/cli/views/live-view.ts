import { linesView } from "./lines-view.ts";
import type { RunView, ViewStream } from "./run-view.ts";
import { screenView } from "./screen-view.ts";

/**
 * A view on `stream`; by default standard output, or standard error where `json` keeps standard output for the
 * command's one line of JSON.
 */
export function createView(options: { json?: boolean; stream?: ViewStream } = {}): RunView {
  const stream = options.stream ?? (options.json === true ? process.stderr : process.stdout);
  return stream.isTTY === true && process.env.TERM !== "dumb" ? screenView(stream) : linesView(stream);
}
