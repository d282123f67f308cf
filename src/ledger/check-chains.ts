import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { GenerateTurnResult } from "../contracts/activities.ts";
import type { Segment } from "../contracts/generated/segment.ts";
import type { Finding } from "../contracts/ledger.ts";
import type { TokenCounts } from "../contracts/trajectory.ts";
import { readRecord } from "../runs/files.ts";
import type { RunFolder } from "../runs/run-folder.ts";
import { isSystemError } from "../store/system-error.ts";
import { trajectoryOf } from "../trajectory/trajectory-of.ts";
import type { FinishedTrajectory } from "./facts.ts";

/** What a chain needs of a segment; the whole of it was read and hashed. */
interface Link {
  previous: string | null;
  origin: Segment["origin"];
  tokens: number;
  policyVersion: number | undefined;
}

/**
 * Whether finished trajectories are whole in the store: every segment up to the head is there with the content that its
 * name says, tokens and versions are those of the record, and every turn is in the journal. Segments are read anew.
 */
export async function checkChains(
  folder: RunFolder,
  finished: Iterable<readonly [string, FinishedTrajectory]>,
): Promise<Finding[]> {
  const links = new Map<string, Link | string>();
  const findings: Finding[] = [];
  for (const [trajectory, record] of finished) {
    const problem = (await chainProblem(record)) ?? (await journalProblem(trajectory, record));
    if (problem !== undefined) findings.push({ check: "segments", subject: trajectory, problem });
  }
  return findings;

  async function chainProblem(record: FinishedTrajectory): Promise<string | undefined> {
    const tokens: TokenCounts = { prompt: 0, action: 0, observation: 0 };
    const versions: (number | undefined)[] = [];
    for (let ref = record.head; ref !== null; ) {
      const link = links.get(ref) ?? (await readLink(folder.store, ref));
      links.set(ref, link);
      if (typeof link === "string") return link;
      tokens[link.origin] += link.tokens;
      if (link.origin === "action") versions.unshift(link.policyVersion);
      ref = link.previous;
    }
    for (const origin of ["prompt", "action", "observation"] as const) {
      const { [origin]: recorded } = record.tokens;
      if (tokens[origin] === recorded) continue;
      return `its segments hold ${tokens[origin]} ${origin} tokens, its record says ${recorded}`;
    }
    if (versions.join() === record.policyVersions.join()) return undefined;
    return `its actions are of versions ${versions.join()}, its record says ${record.policyVersions.join()}`;
  }

  async function journalProblem(id: string, record: FinishedTrajectory): Promise<string | undefined> {
    const place = folder.trajectory(trajectoryOf(id));
    for (let turn = 1; turn <= record.policyVersions.length; turn++) {
      const entry = await readRecord<GenerateTurnResult>(join(place, `turn-${turn}.json`));
      if (entry === undefined) return `turn ${turn} is not in its journal`;
      if (turn === record.policyVersions.length && entry.head !== record.head) {
        return `its last turn ends with ${entry.head}, its record with ${record.head}`;
      }
    }
    return undefined;
  }
}

/** A segment's link, or what is wrong with it. */
async function readLink(store: string, ref: string): Promise<Link | string> {
  let content: string;
  try {
    content = await readFile(join(store, ref.slice(0, 2), `${ref}.json`), "utf8");
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return `the segment ${ref} is missing`;
    throw error;
  }
  if (createHash("sha256").update(content).digest("hex") !== ref) {
    return `the segment ${ref} doesn't have the content that its name says`;
  }
  const { previous, origin, tokens, policyVersion }: Segment = JSON.parse(content);
  return { previous, origin, tokens: tokens.length, policyVersion };
}
