/** A way to run the chaos pipeline. */
export interface Scenario {
  name: string;
  /** Pipeline keys that it sets, and their values. */
  settings: Record<string, string | number>;
  /** Its tools hold sandboxes and copies of a database (sandboxes.yaml); these are struck, too, and the hosts of the tools' plugins. */
  sandboxes: boolean;
  /** Each role's queue has a process of its own; else orchestration, policy and tools share one. */
  separate: boolean;
  /** A second worker serves each queue. */
  twoWorkers: boolean;
  /** Somebody approves the calls that wait. */
  approves: boolean;
  /** Each time the command line is started again, the run's workflow code is another and becomes the current one. */
  upgrades: boolean;
  /** The same seed gives the same run: trajectories and weights are held against those of a run left alone. */
  repeats: boolean;
  /** Of every hundred strikes. */
  share: number;
  /** Strikes that a step of it outlasts, more or less. */
  strikesPerStep: number;
}

const plain: Scenario = {
  name: "separate",
  settings: {},
  ...{ sandboxes: false, separate: true, twoWorkers: false, approves: false, upgrades: false, repeats: true },
  share: 16,
  strikesPerStep: 2,
};

/** What is struck, and how: each with a run of its own, or several. */
export const scenarios: readonly Scenario[] = [
  plain,
  { ...plain, name: "two workers", twoWorkers: true, share: 20 },
  {
    ...plain,
    name: "default layout",
    settings: { "retention.singleRecords": 0 },
    ...{ separate: false, share: 16 },
  },
  {
    ...plain,
    name: "asynchronous",
    settings: {
      "rollout.staleness": 2,
      "rollout.concurrency": 12,
      "trainer.config.importanceCorrection": "token-truncate",
    },
    ...{ separate: false, repeats: false, share: 14 },
  },
  {
    ...plain,
    name: "limits",
    // No trajectory comes near the times by itself: whoever reaches one was charged for somebody's death.
    settings: {
      "rollout.limits.time": "20s",
      "rollout.limits.turnTime": "8s",
      "rollout.limits.tokens": 700,
      "rollout.limits.turns": 4,
    },
    share: 10,
  },
  {
    ...plain,
    name: "approvals",
    settings: { "tools.0.approval": "required" },
    ...{ approves: true, share: 8 },
  },
  {
    ...plain,
    name: "large step",
    settings: { "rollout.batchSize": 160, "retention.singleRecords": 0 },
    ...{ separate: false, share: 8, strikesPerStep: 12 },
  },
  { ...plain, name: "upgrade", upgrades: true, share: 8 },
  { ...plain, name: "sandboxes", sandboxes: true, share: 10, strikesPerStep: 4 },
];

/** How many of `strikes` each of `among` gets; what is left over goes to the first ones. */
export function shareOut(strikes: number, among: readonly Scenario[]): Map<Scenario, number> {
  const whole = among.reduce((sum, { share }) => sum + share, 0);
  const shares = new Map(among.map((one) => [one, Math.floor((strikes * one.share) / whole)]));
  let left = strikes - [...shares.values()].reduce((sum, share) => sum + share, 0);
  for (const [scenario, share] of shares) {
    if (left-- <= 0) break;
    shares.set(scenario, share + 1);
  }
  return shares;
}
