import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

/** What the store and the journal of a run hold, and what is wrong with them. */
export interface StoreFindings {
  lostTrajectories: string[];
  lostTurns: string[];
  trainedTwice: string[];
  trajectories: number;
  leftOut: number;
  turns: number;
  calls: number;
  /** Segments by content address: what each follows, and its origin. */
  segments: Map<string, { previous: string | null; origin: string }>;
  /** Trajectories that have a record, by id; true where it was left out. */
  records: Map<string, boolean>;
}

/** Reads all files of a run's folder. */
export function readStore(root: string): StoreFindings {
  const findings: StoreFindings = {
    ...{ lostTrajectories: [], lostTurns: [], trainedTwice: [] },
    ...{ trajectories: 0, leftOut: 0, turns: 0, calls: 0 },
    segments: new Map(),
    records: new Map(),
  };
  readSegments(root, findings);
  readTrajectories(root, findings);
  readLedger(root, findings);
  readSteps(root, findings);
  return findings;
}

/** What the machine's `state` still holds of instances that nobody gave back; the numbers of workers are nobody's. */
export function leftLeases(state: string): string[] {
  const left = files(state).filter((name) => !basename(name).startsWith("worker-"));
  return left.map((name) => `lease ${name}`);
}

/** SHA-256 in hex. */
export function hashOf(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

/** The two segments that each turn holds. */
function readSegments(root: string, { segments, lostTurns }: StoreFindings): void {
  const folder = join(root, "trajectories");
  for (const name of files(folder)) {
    if (!/\/turn-\d+\.json$/.test(name)) continue;
    const { sha256, value } = read(join(folder, name));
    if (hashOf(JSON.stringify(value)) !== sha256) lostTurns.push(`${name} is not what its digest says`);
    for (const segment of [value.appended, value.action]) {
      segments.set(hashOf(JSON.stringify(segment)), { previous: segment.previous, origin: segment.origin });
    }
  }
}

function readTrajectories(root: string, findings: StoreFindings): void {
  const { lostTurns, lostTrajectories, records } = findings;
  const run = root.split("/").at(-1);
  const folder = join(root, "trajectories");
  const heads = new Map<string, Map<number, string>>();
  const standing = new Map<string, string>();
  for (const name of files(folder)) {
    const [stage = "", task = "", sample = "", file = ""] = name.split("/");
    const id = `${run}/${stage}/${task}/${sample}`;
    const turn = /^turn-(\d+)\.json$/.exec(file)?.[1];
    if (/^turn-\d+-call-\d+\.json$/.test(file)) {
      findings.calls++;
      const wrong = wrongSession(read(join(folder, name)).value, Number(/\d+/.exec(file)?.[0]));
      if (wrong !== undefined) lostTurns.push(`${id} turn ${file}: ${wrong}`);
    }
    if (turn !== undefined) {
      findings.turns++;
      const { head } = read(join(folder, name)).value;
      const broken = brokenChain(head, findings, Number(turn));
      if (broken !== undefined) lostTurns.push(`${id} turn ${turn}: ${broken}`);
      heads.set(id, (heads.get(id) ?? new Map()).set(Number(turn), head));
    }
    if (/^(trajectory|left-out-\d+)\.json$/.test(file)) standing.set(id, later(standing.get(id), file));
  }
  for (const [id, file] of standing) {
    const { outcome, head } = read(join(folder, ...id.split("/").slice(-3), file)).value;
    records.set(id, outcome === "left-out");
    findings.trajectories++;
    if (outcome === "left-out") findings.leftOut++;
    const turns = heads.get(id);
    if (turns !== undefined && head !== turns.get(Math.max(...turns.keys()))) {
      lostTurns.push(`${id} ends with another turn than its last one`);
    }
  }
  for (const [id, turns] of heads) {
    if (!records.has(id)) lostTrajectories.push(`${id} has ${turns.size} turns and no record`);
    for (let turn = 1; turn <= Math.max(...turns.keys()); turn++) {
      if (!turns.has(turn)) lostTurns.push(`${id} turn ${turn} is missing, a later one is there`);
    }
  }
}

/** Which of two records of a trajectory counts: how it was scored, or that it was left out the last time. */
function later(one: string | undefined, other: string): string {
  const numberOf = (name: string) => Number(/\d+/.exec(name)?.[0] ?? Number.POSITIVE_INFINITY);
  return one === undefined || numberOf(other) > numberOf(one) ? other : one;
}

/** A session adds each turn's number to one variable: what is wrong with its answer if it lost its state. */
function wrongSession({ tool, observation }: { tool?: string; observation: string }, turn: number) {
  const expected = `turns = ${(turn * (turn + 1)) / 2}`;
  if (tool !== "session" || observation === expected) return undefined;
  return `the session answered ${observation} instead of ${expected}`;
}

/** What is wrong with the segments up to `head`, which should hold so many actions. */
function brokenChain(head: string, { segments }: StoreFindings, turns: number): string | undefined {
  let actions = 0;
  for (let ref: string | null = head; ref !== null; ) {
    const segment = segments.get(ref);
    if (segment === undefined) return `segment ${ref} is missing`;
    if (segment.origin === "action") actions++;
    ref = segment.previous;
  }
  return actions === turns ? undefined : `its segments hold ${actions} actions`;
}

/** Every trajectory that was reserved has a record; every step of the plan has its batch. */
function readLedger(root: string, { records, lostTrajectories }: StoreFindings): void {
  const run = root.split("/").at(-1);
  for (const name of files(join(root, "ledger"))) {
    if (!name.endsWith(".json")) continue;
    const { stage, groups } = read(join(root, "ledger", name)).value;
    for (const { task, samples } of groups) {
      for (const sample of samples) {
        const id = `${run}/${stage}/${task}/${sample}`;
        if (!records.has(id)) lostTrajectories.push(`${id} was reserved and has no record`);
      }
    }
  }
  const plans = files(join(root, "plan")).filter((name) => /^\d+\.json$/.test(name));
  const { steps, rollout } = read(join(root, "plan", `${plans.length}.json`)).value;
  for (let step = 1; step <= steps; step++) {
    const stage = `step-${String(step).padStart(4, "0")}`;
    const made = [...records.keys()].filter((id) => id.startsWith(`${run}/${stage}/`)).length;
    const missing = rollout.batchSize - made;
    for (let lost = 1; lost <= missing; lost++)
      lostTrajectories.push(`${run}/${stage}: trajectory ${lost} of ${missing} missing`);
  }
}

/** What each step trained on, as its own record says: each finished trajectory in exactly one step. */
function readSteps(root: string, { records, trainedTwice, lostTrajectories }: StoreFindings): void {
  const consumed = new Map<string, number>();
  const accounted = new Set<string>();
  let hasBatches = false;
  for (const name of files(join(root, "steps"))) {
    if (!/^\d+\/trained\.json$/.test(name)) continue;
    const record = read(join(root, "steps", name)).value.value; // of the tree that the record names
    if (!Array.isArray(record.trajectories)) continue;
    hasBatches = true;
    for (const { trajectory } of record.trajectories)
      consumed.set(trajectory, (consumed.get(trajectory) ?? 0) + 1);
    for (const { trajectory } of record.leftOut ?? []) accounted.add(trajectory);
  }
  for (const [id, times] of consumed)
    if (times > 1) trainedTwice.push(`${id} is in the batches of ${times} steps`);
  if (!hasBatches) return;
  for (const [id, leftOut] of records) {
    if (!/\/step-\d+\//.test(id) || leftOut) continue;
    if (!consumed.has(id) && !accounted.has(id))
      lostTrajectories.push(`${id} was finished and no step trained on it`);
  }
}

/** All files under `folder`, relative to it; none if it is not there. */
function files(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() || entry.isSymbolicLink()) // a link shows an object
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
}

function read(file: string) {
  return JSON.parse(readFileSync(file, "utf8"));
}
