import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Finding, TrainedStep } from "../contracts/ledger.ts";
import { namesIn } from "../files/names-in.ts";
import { firstVersion } from "../runs/first-version.ts";
import type { OpenRun } from "../runs/open-runs.ts";
import { isKept } from "./kept-versions.ts";

/**
 * Whether the versions that a run keeps (checkpoints and the newest ones) are on disk, policy and trainer state, with
 * the files that their step committed. `current`: the newest recorded version before the look and after it, since
 * versions are deleted while a run goes on.
 */
export async function checkVersions(
  { folder, plan }: OpenRun,
  trained: ReadonlyMap<number, TrainedStep>,
  current: () => Promise<number | undefined>,
): Promise<Finding[]> {
  const before = await current();
  if (before === undefined) return [];
  const findings: Finding[] = [];
  const first = firstVersion(plan);
  const records = new Map([...trained.values()].map((record) => [record.policyVersion, record]));
  const looked: { version: number; finding: Finding }[] = [];
  for (let version = 0; version <= before; version++) {
    if (!isKept(plan, version, before)) continue;
    for (const path of version > first
      ? [folder.policy(version), folder.trainer(version)]
      : [folder.policy(version)]) {
      const problem = await problemOf(path, records.get(version)?.files ?? {});
      if (problem !== undefined) {
        looked.push({ version, finding: { check: "version", subject: path, problem } });
      }
    }
  }
  const after = (await current()) ?? before;
  findings.push(
    ...looked.filter(({ version }) => isKept(plan, version, after)).map(({ finding }) => finding),
  );
  return findings;
}

async function problemOf(path: string, files: Record<string, number>): Promise<string | undefined> {
  if (!existsSync(path)) return "it is missing";
  if ((await namesIn(path)).length === 0) return "it is empty";
  const prefix = `${basename(join(path, ".."))}/${basename(path)}/`;
  for (const [name, size] of Object.entries(files)) {
    if (!name.startsWith(prefix)) continue;
    const file = join(path, name.slice(prefix.length));
    if (!existsSync(file)) return `${basename(file)} is missing`;
    const is = (await stat(file)).size;
    if (is !== size) return `${basename(file)} has ${is} bytes, ${size} were committed`;
  }
  return undefined;
}
