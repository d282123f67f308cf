import { dirname } from "node:path";
import type { ResolvedPlugin } from "../../contracts/plan.ts";
import type { TrackedEnding, TrackedEntry, TrackedRun, TrackerSession } from "../../contracts/tracker.ts";
import { planDocument } from "../../plan/pipeline/read/plan-document.ts";
import { loadTracker } from "../../plugin/registry/registry.ts";
import type { OpenRun } from "../../run/folder/open-runs.ts";
import { readRunFile } from "../../run/folder/run-file.ts";
import { trackedRow } from "../../run/store/keys.ts";
import { readRow } from "../../run/store/row.ts";
import type { TrackedDetails } from "./tracked-details.ts";

/** A step or an evaluation of a run, by its name. */
export interface Told extends Pick<TrackedEntry, "step" | "values"> {
  name: string;
  /** Reads the rest of the entry. It is called when the entry is sent. */
  details(): Promise<TrackedDetails>;
}

/**
 * A run's connection to one of its trackers. Each function throws the tracker's errors, and can be called again
 * then.
 */
export interface TrackerLink {
  /** The names of the entries that any command has sent to the tracker. */
  logged(): Promise<string[]>;
  /** Sends another entry, and records that it was sent. */
  log(told: Told, signal: AbortSignal): Promise<void>;
  close(ending: TrackedEnding, signal: AbortSignal): Promise<void>;
}

/** The link to the tracker at an index of the plan, opened on first use. */
export function trackerLink(run: OpenRun, plugin: ResolvedPlugin, index: number): TrackerLink {
  const row = trackedRow(index);
  let session: TrackerSession | undefined;
  let count: number | undefined;

  async function logged(): Promise<string[]> {
    const names = (await readRow(run.store, row)).map(({ name }) => name);
    count = names.length;
    return names;
  }

  async function opened(signal: AbortSignal): Promise<{ session: TrackerSession; number: number }> {
    const number = count ?? (await logged()).length;
    if (session === undefined) {
      const tracker = await loadTracker(plugin);
      session = await tracker.open(plugin.config, await describedRun(run, number), signal);
    }
    return { session, number };
  }

  return {
    logged,
    async log({ name, step, values, details }, signal) {
      const { session: to, number } = await opened(signal);
      const rest = await details();
      signal.throwIfAborted(); // another attempt sends the entry
      await to.log({ number, step, at: Date.now(), values, ...rest }, signal);
      await run.store.record(row(number + 1), { name });
      count = number + 1;
    },
    async close(ending, signal) {
      const { session: to } = await opened(signal);
      await to.close(ending, signal);
    },
  };
}

async function describedRun({ id, folder, plan }: OpenRun, logged: number): Promise<TrackedRun> {
  const { createdAt } = await readRunFile(dirname(folder.root), id, () => {}); // reported when the run was opened
  const settings: TrackedRun["settings"] = JSON.parse(JSON.stringify(planDocument(plan).value));
  return { run: id, pipeline: plan.name, createdAt, folder: folder.root, settings, logged };
}
