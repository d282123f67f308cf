import { linesView } from "./lines-view.ts";
import type { TimesOf } from "./run-clock.ts";
import type { RunView, ViewStream } from "./run-view.ts";
import { screenView } from "./screen-view.ts";

/**
 * A view on `stream`. By default that is standard output, or standard error if `json` reserves standard output for
 * the command's line of JSON. Estimates begin with the times that `timesOf` returns.
 */
export function createView(
  options: { json?: boolean; stream?: ViewStream; timesOf?: TimesOf } = {},
): RunView {
  const stream = options.stream ?? (options.json === true ? process.stderr : process.stdout);
  const isTerminal = stream.isTTY === true && process.env.TERM !== "dumb";
  return (isTerminal ? screenView : linesView)(stream, options.timesOf);
}
