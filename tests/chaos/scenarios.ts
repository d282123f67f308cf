/** A way to run the chaos pipeline. */
export interface Scenario {
  name: string;
  /** Pipeline keys that it sets, and their values. */
  settings: Record<string, string | number>;
  /**
   * What it runs: pipeline.yaml; sandboxes.yaml, whose tools hold sandboxes and copies of a database, which are struck,
   * too, with the hosts of the tools' plugins; or images.yaml, whose policy sees what its tool makes.
   */
  pipeline: "usual" | "sandboxes" | "images";
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
  /** The share of the calls for files of the run that fail (failing-disk.c), in its processes and its command; 0 for none. */
  diskErrors: number;
  /** Of every hundred strikes. */
  share: number;
  /** Strikes that a step of it outlasts, more or less. */
  strikesPerStep: number;
}

const plain: Scenario = {
  name: "separate",
  settings: {},
  pipeline: "usual",
  separate: true,
  twoWorkers: false,
  approves: false,
  upgrades: false,
  repeats: true,
  diskErrors: 0,
  share: 16,
  strikesPerStep: 2,
};

/** A short run without strikes, so that whatever goes wrong is the disk's doing. */
function failingDisk(diskErrors: number): Scenario {
  const settings = {
    "warmStart.steps": 4,
    "evaluation.tasks": 2,
    "policy.config.pause": 0,
    "tools.0.config.pause": 0,
  };
  return { ...plain, name: `disk errors ${100 * diskErrors} %`, settings, diskErrors, share: 0 };
}

/** What is struck, and how: each with a run of its own, or several. */
export const scenarios: readonly Scenario[] = [
  plain,
  { ...plain, name: "two workers", twoWorkers: true, share: 20 },
  {
    ...plain,
    name: "default layout",
    settings: { "retention.singleRecords": 0 },
    separate: false,
    share: 16,
  },
  {
    ...plain,
    name: "asynchronous",
    settings: {
      "rollout.staleness": 2,
      "rollout.concurrency": 12,
      "trainer.config.importanceCorrection": "token-truncate",
    },
    separate: false,
    repeats: false,
    share: 14,
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
    approves: true,
    share: 8,
  },
  {
    ...plain,
    name: "large step",
    settings: { "rollout.batchSize": 160, "retention.singleRecords": 0 },
    separate: false,
    share: 8,
    strikesPerStep: 12,
  },
  { ...plain, name: "upgrade", upgrades: true, share: 8 },
  { ...plain, name: "sandboxes", pipeline: "sandboxes", share: 10, strikesPerStep: 4 },
  { ...plain, name: "images", pipeline: "images", share: 8, strikesPerStep: 4 },
  failingDisk(0.01),
  failingDisk(0.03),
  failingDisk(0.05),
];

/** How many of `strikes` each of `among` gets; what is left over goes to the first ones. One whose share is 0 gets none. */
export function shareOut(strikes: number, among: readonly Scenario[]): Map<Scenario, number> {
  const whole = among.reduce((sum, { share }) => sum + share, 0);
  if (whole === 0) return new Map(among.map((one) => [one, 0]));
  const shares = new Map(among.map((one) => [one, Math.floor((strikes * one.share) / whole)]));
  let left = strikes - [...shares.values()].reduce((sum, share) => sum + share, 0);
  for (const [scenario, share] of shares) {
    if (left-- <= 0 || scenario.share === 0) break;
    shares.set(scenario, share + 1);
  }
  return shares;
}
