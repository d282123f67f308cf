import { grouped } from "../../../base/text/format.ts";
import type { StepRecord } from "../../../contracts/generated/step-record.ts";
import { type Html, html, nothing } from "../html.ts";
import { table } from "../table.ts";

/** Why trajectories were left out in all steps, the most frequent reason first; empty if none was left out. */
export function leftOutTable(steps: readonly StepRecord[]): Html {
  const counts = new Map<string, number>();
  for (const { leftOutReasons = {} } of steps) {
    for (const [reason, count] of Object.entries(leftOutReasons)) {
      counts.set(reason, (counts.get(reason) ?? 0) + count);
    }
  }
  if (counts.size === 0) return nothing;
  const rows = [...counts].sort(([, a], [, b]) => b - a).map(([reason, count]) => [reason, grouped(count)]);
  return html`<h2>Why trajectories were left out</h2>${table("Reasons", ["reason", "trajectories"], rows)}`;
}
