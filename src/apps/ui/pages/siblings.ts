import { duration, grouped, number } from "../../../base/text/format.ts";
import { trajectoryId } from "../../../contracts/trajectory-id.ts";
import { type Html, html, nothing } from "../../../results/report/html.ts";
import { table } from "../../../results/report/table.ts";
import type { TrajectoryName } from "../../../run/store/keys.ts";
import type { Member } from "../ended-trajectories.ts";
import { trajectoryPath } from "../paths.ts";
import { link } from "../table.ts";

/** The trajectories before and after one in its stage, as links; at the ends of the stage there is only one. */
export function neighbors(run: string, stage: readonly TrajectoryName[], name: TrajectoryName): Html[] {
  const at = stage.findIndex((one) => one.task === name.task && one.sample === name.sample);
  const [before, after] = at === -1 ? [] : [stage[at - 1], stage[at + 1]];
  const to = (one: TrajectoryName, text: string) => link(trajectoryPath(trajectoryId({ ...one, run })), text);
  return [
    ...(before === undefined ? [] : [to(before, "← previous")]),
    ...(after === undefined ? [] : [to(after, "next →")]),
  ];
}

/** The trajectories of a group with their rewards; nothing for a group of one. */
export function siblings(run: string, group: readonly Member[], { sample: shown }: TrajectoryName): Html {
  if (group.length < 2) return nothing;
  const rows = group.map(({ name, ended }) => {
    const path = trajectoryPath(trajectoryId({ ...name, run }));
    const called = `sample ${name.sample}`;
    const first =
      name.sample === shown
        ? html`<a href="${path}" aria-current="page">${`${called}, this one`}</a>`
        : link(path, called);
    if (ended === undefined) return [first, "running", "–", "–", "–", "–", "–", "–"];
    const { outcome, reward, success, policyVersions, toolCalls, tokens, seconds } = ended;
    return [
      first,
      outcome,
      number(reward),
      success ? "yes" : "no",
      grouped(policyVersions.length),
      grouped(toolCalls),
      grouped(tokens.action),
      duration(seconds),
    ];
  });
  const titles = [
    "trajectory",
    "outcome",
    "reward",
    "solved",
    "turns",
    "tool calls",
    "action tokens",
    "time",
  ];
  return html`<h2>Group</h2>${table("The group", titles, rows)}`;
}
