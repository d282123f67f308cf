import type { Trajectory } from "../../src/contracts/generated/trajectory.ts";
import type { JsonObject } from "../../src/contracts/json.ts";

/** What one protocol's runs have shown. */
export interface Counts {
  /** Trajectories of the run without failures. */
  trajectories: number;
  /** How often everything was killed in the middle of episodes. */
  kills: number;
  /** Trajectories that a kill has changed. */
  different: number;
  /** Trajectories that were left out because the environment failed. */
  masked: number;
  /** Trajectories that were scored although their episodes couldn't begin. */
  scoredZero: number;
  /** What is left of sessions, containers and processes. */
  orphans: number;
}

/** Where a protocol's part works, and how it reports. */
export interface Place {
  /** A folder of its own. Processes whose command lines name it count as orphans at the end. */
  folder: string;
  note(text: string): void;
}

/** A protocol's environment, in which `threeRuns` makes its runs. */
export interface Protocol {
  plugin: string;
  /** What the policy says. The first turns of all conversations are calls. */
  conversations: string[][];
  /** Its server drives the agent, whose calls are in the journal only at the end. */
  drivesAgent?: boolean;
  /** The settings of an environment. In one that is failing, ten of eleven tasks can't begin. */
  config(isFailing: boolean): JsonObject;
  /** Starts a server, which works until `kill`. */
  serve?(isFailing: boolean): Promise<void>;
  /** SIGKILL for all that the environment consists of, apart from the run's own processes. */
  kill(): void;
  /** Checks the trajectories of the run without failures. Throws what is wrong with them. */
  check?(records: readonly Trajectory[]): void | Promise<void>;
  /** Ends what is not the runs' own, and counts what they have left behind. */
  left(): number | Promise<number>;
}

/** The number of tasks of each protocol, of which all but the first can't begin in a failing environment. */
export const tasks = 11;

/** The indices of the tasks that can't begin in a failing environment. */
export const failingTasks = Array.from({ length: tasks - 1 }, (_, index) => index + 1).join(",");
