import { grouped } from "../../../base/text/format.ts";
import { type Html, html, nothing } from "../../../results/report/html.ts";
import type { ShownIndex } from "../open-indexes.ts";
import { runPath } from "../paths.ts";

/** While a run's trajectories are read for the first time: how far that is. The page reloads itself at the end. */
export function indexNote(
  run: string,
  { isComplete, progress }: Pick<ShownIndex, "isComplete" | "progress">,
): Html {
  if (isComplete) return nothing;
  const steps = progress.of === 0 ? "" : `: ${grouped(progress.done)} of ${grouped(progress.of)} steps`;
  return html`<p class="notice" role="status" hx-get="${runPath(run, "parts", "index")}" hx-trigger="every 1s" hx-swap="outerHTML">${`Reading the run's trajectories${steps} …`}</p>`;
}
