import { defined } from "../../base/records/defined.ts";
import type { RunFile } from "../../contracts/run.ts";
import { liveRunHolder } from "../../control/supervision/run-holder.ts";
import { type OpenRun, openRunFolder } from "../../run/folder/open-runs.ts";
import { readRunFile, runNotFound } from "../../run/folder/run-file.ts";
import type { Jobs } from "./jobs.ts";
import type { Indexes } from "./open-indexes.ts";
import type { Searches } from "./open-searches.ts";
import type { Tables } from "./open-tables.ts";

/** Data that all pages share. */
export interface UiContext {
  /** The folder of runs. */
  runs: string;
  tables: Tables;
  indexes: Indexes;
  searches: Searches;
  jobs: Jobs;
}

/** A run that a page shows. */
export interface ShownRun extends OpenRun {
  file: RunFile;
  /** Whether somebody works on it now; unknown for a run on a shared server. */
  isLive: boolean;
  /** Files that could not be read while a page was made, so the page lacks their content. */
  unreadable: Set<string>;
  /** The URL of its Temporal UI, if known. */
  temporalUi?: string;
}

/** Opens a run by the name in a page's address. Throws RUN_NOT_FOUND and RECORD_CORRUPT. */
export async function shownRun({ runs }: UiContext, name: string): Promise<ShownRun> {
  if (name.startsWith(".") || /[/\\\0]/.test(name)) throw await runNotFound(runs, name);
  const unreadable = new Set<string>();
  const run = await openRunFolder(runs, name, ({ notice }) => unreadable.add(notice));
  const file = await readRunFile(runs, name, () => {});
  const holder = await liveRunHolder(run.folder);
  const temporalUi = holder?.ui;
  return defined({
    ...run,
    file,
    unreadable,
    isLive: holder !== undefined,
    temporalUi,
  });
}

/** The page of a workflow in the Temporal UI; undefined if that is not up. */
export function temporalPage({ temporalUi, file }: ShownRun, workflow: string): string | undefined {
  if (temporalUi === undefined) return undefined;
  return `${temporalUi}/namespaces/${encodeURIComponent(file.namespace)}/workflows/${encodeURIComponent(workflow)}`;
}
