import { stepOf } from "../../../contracts/stages.ts";
import { type Html, html, nothing } from "../../../results/report/html.ts";
import type { ShownIndex } from "../open-indexes.ts";
import { runPath } from "../paths.ts";
import type { ShownRun } from "../ui-context.ts";
import { rewardHistograms } from "./reward-plot.ts";

/** Where the histograms of rewards appear on a run's page as soon as the page has been shown. */
export function rewardsPlace({ id }: ShownRun): Html {
  return html`<div hx-get="${runPath(id, "parts", "rewards")}" hx-trigger="load" hx-swap="outerHTML"></div>`;
}

/** The histograms, or a note that asks again until the run's trajectories are read. */
export function rewardsPart({ id, plan }: ShownRun, { rows, isComplete }: ShownIndex): Html {
  if (!isComplete)
    return html`<p class="facts" hx-get="${runPath(id, "parts", "rewards")}" hx-trigger="every 1s" hx-swap="outerHTML">Reading the rewards …</p>`;
  const rewards = new Map<number, number[]>();
  for (const { stage, outcome, reward } of rows) {
    const step = stepOf(stage);
    if (step === undefined || outcome === "left-out") continue;
    const ofStep = rewards.get(step);
    if (ofStep === undefined) rewards.set(step, [reward]);
    else ofStep.push(reward);
  }
  if (rewards.size === 0) return nothing;
  return html`<h2>Rewards</h2><div class="grid">${rewardHistograms(rewards, plan.steps)}</div>`;
}
