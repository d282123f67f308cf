import { isAbsolute } from "node:path";
import type { Command } from "commander";
import { defined } from "../../../base/records/defined.ts";
import { displayPath } from "../../../base/validation/place.ts";
import { findVersion } from "../../../control/operations/find-version.ts";
import { type OpenRun, openRunFolder } from "../../../run/folder/open-runs.ts";
import { runReference } from "../../../run/folder/run-reference.ts";
import { isS3Address } from "../../../run/store/s3/place.ts";
import { type ListedVersion, listVersions } from "../../../run/versions/list-versions.ts";
import { tableLines } from "../views/table.ts";

interface Options {
  runs: string;
  json: boolean;
}

/** `everturn versions <run> [version]`: lists the versions of a run's policy with their folders. */
export function registerVersions(program: Command): void {
  program
    .command("versions")
    .description("list the policy versions of a run with their folders, or print the folder of one version")
    .argument("<run>", "id of the run, or path of its folder")
    .argument("[version]", "print only the folder of this version; a number or newest")
    .option("--runs <folder>", "folder that contains the runs", "runs")
    .option("--json", "print one line of JSON", false)
    .action(versions);
}

async function versions(named: string, asked: string | undefined, options: Options): Promise<void> {
  const { runs, run } = runReference(named, options.runs);
  const opened = await openRunFolder(runs, run);
  const all = await listVersions(opened);
  const found = (asked === undefined ? all : [await wholeVersion(opened, all, asked)]).map(shown);
  if (options.json) process.stdout.write(`${JSON.stringify({ run, versions: found })}\n`);
  else if (asked === undefined) process.stdout.write(`${text(found)}\n`);
  else process.stdout.write(`${found[0]?.folder}\n`);
}

/** A version whose files match the commit. In a bucket it has an address there, because local copies are temporary. */
async function wholeVersion(
  run: OpenRun,
  all: readonly ListedVersion[],
  asked: string,
): Promise<ListedVersion> {
  const { folder, ...found } = await findVersion(run, all, asked);
  const address = all.find(({ version }) => version === found.version)?.folder;
  return { ...found, folder: address !== undefined && isS3Address(address) ? address : folder };
}

function shown({ folder, ...version }: ListedVersion): ListedVersion {
  if (folder === undefined || isS3Address(folder)) return defined({ ...version, folder });
  return { ...version, folder: pathInPipeline(displayPath(folder)) };
}

/**
 * A path in the form that a pipeline needs: `model: ./runs/…` is a folder, while `model: runs/…` would be a name.
 */
function pathInPipeline(path: string): string {
  return isAbsolute(path) ? path : `./${path}`;
}

function text(all: readonly ListedVersion[]): string {
  const columns = [{ title: "version", align: "right" as const }, { title: "made by" }, { title: "folder" }];
  const rows = all.map(({ version, step, state, folder }) => [
    String(version),
    step === undefined ? (version === 0 ? "as built" : "warm start") : `step ${step}`,
    folder ?? state,
  ]);
  return tableLines(columns, rows).join("\n");
}
