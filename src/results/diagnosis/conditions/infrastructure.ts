import { duration, percent } from "../../../base/text/format.ts";
import type { StepRecord } from "../../../contracts/generated/step-record.ts";
import { type Condition, lastStep, lastSteps } from "../condition.ts";

const [mostLeftOut, mostPaused] = [0.2, 0.2];

/** Reasons that name time or crowding. */
const crowded =
  /time(d)?[ -]?(out|limit)|no answer within|deadline|heartbeat|overload|too many|\b(429|503|529)\b|ECONNREFUSED|busy/i;

function leftOutFor(record: StepRecord, isCrowded: boolean): number {
  const reasons = Object.entries(record.leftOutReasons ?? {}).filter(
    ([reason]) => crowded.test(reason) === isCrowded,
  );
  const count = reasons.reduce((sum, [, trajectories]) => sum + trajectories, 0);
  return count / Math.max(1, record.trajectories + record.leftOut);
}

function commonReason(record: StepRecord, isCrowded: boolean): string {
  const reasons = Object.entries(record.leftOutReasons ?? {})
    .filter(([reason]) => crowded.test(reason) === isCrowded)
    .toSorted(([, one], [, other]) => other - one);
  return (reasons[0]?.[0] ?? "").replace(/\.$/, "");
}

export const overload: Condition = {
  title: "The machine or a service is overloaded",
  when: `In a step, time-outs and refusals of busy services left out at least ${percent(mostLeftOut, 0)} of the trajectories.`,
  consequence: "Trajectories fail because they wait for each other, not because of the policy.",
  remedies: [
    "Lower `rollout.concurrency`, and the concurrency of the tool or host that is named.",
    "Raise the time limit that is named.",
    "Add workers: `npx everturn worker --run RUN --role tools`.",
  ],
  find: (evidence) => {
    const last = lastStep(evidence);
    if (leftOutFor(last, true) < mostLeftOut) return undefined;
    return `${percent(leftOutFor(last, true), 0)} of the trajectories were left out, most often because of: ${commonReason(last, true)}`;
  },
};

/** Shorter pauses do not matter. In s. */
const leastPause = 10;

export const pausedHosts: Condition = {
  title: "A tool or reward keeps failing",
  when: `In a step, the host of a tool or reward was paused for at least ${leastPause} seconds and ${percent(mostPaused, 0)} of the rollouts' time, because its calls kept failing; or it is paused now, for longer than 30 seconds.`,
  consequence:
    "Its calls wait until one succeeds, for up to `hosts.NAME.patience`, which is 15 minutes by default. Then trajectories are left out.",
  remedies: [
    "Fix the tool, the reward or the service that it calls. `hosts.jsonl` in the run's folder has the reasons.",
    "If a tool throws because of the model's input: return `{ text, error: true }` instead, so that the policy reads the error.",
    "If a service refuses many calls at once: lower `hosts.NAME.concurrency` or `hosts.NAME.rate`.",
  ],
  find: (evidence) => {
    const { hostPauses = {}, seconds } = lastStep(evidence);
    const [longest] = Object.entries(hostPauses).toSorted(([, one], [, other]) => other - one);
    if (longest === undefined) return undefined;
    const [host, paused] = longest;
    if (paused < leastPause || paused < mostPaused * seconds.rollout) return undefined;
    return `the host ${host} was paused for ${duration(paused)} of ${duration(seconds.rollout)}`;
  },
};

export const manyLeftOut: Condition = {
  title: "Many trajectories fail",
  when: `In two steps in a row, failures other than overload left out at least ${percent(mostLeftOut, 0)} of the trajectories, or in one step half of them.`,
  consequence: "Steps train on fewer trajectories, and not on a fair sample of the tasks.",
  remedies: [
    "Fix the tool, reward or agent that is named. `npx everturn trajectories RUN --where \"outcome = 'left-out'\"` lists the trajectories.",
  ],
  find: (evidence) => {
    const isSo = (record: StepRecord) => leftOutFor(record, false) >= mostLeftOut;
    const last = lastStep(evidence);
    if (leftOutFor(last, false) < 0.5 && lastSteps(evidence, 2, isSo) === undefined) return undefined;
    return `${percent(leftOutFor(last, false), 0)} of the trajectories were left out, most often because of: ${commonReason(last, false)}`;
  },
};

export const lostGroups: Condition = {
  title: "Many groups are lost",
  when: "In two steps in a row, at least half of the groups had fewer finished trajectories than rollout.minGroup.",
  consequence: "Steps train on few groups.",
  remedies: ["Find out why trajectories are left out, or lower `rollout.minGroup`."],
  find: (evidence) => {
    const { batchSize, groupSize } = evidence.plan.rollout;
    const groups = batchSize / groupSize;
    if (lastSteps(evidence, 2, ({ groupsLost = 0 }) => groupsLost >= groups / 2) === undefined)
      return undefined;
    return `${lastStep(evidence).groupsLost ?? 0} groups were lost; a step has ${groups}`;
  },
};
