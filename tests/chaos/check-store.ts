import { basename, join } from "node:path";
import { type KeptCall, type KeptTrajectory, readJournal, type Segment } from "./journal.ts";
import { files, read } from "./read-files.ts";

/** What the store and the journal of a run hold, and what is wrong with them. */
export interface StoreFindings {
  lostTrajectories: string[];
  lostTurns: string[];
  trainedTwice: string[];
  leftOut: number;
  turns: number;
  calls: number;
  /** Segments by content address: what each follows, and its origin. */
  segments: Map<string, Segment>;
  /** Trajectories that have a record, by id; true where it was left out. */
  records: Map<string, boolean>;
  /** What is kept of each, by stage/task/sample. */
  kept: Map<string, KeptTrajectory>;
}

/** Reads all files of a run's folder. */
export async function readStore(root: string): Promise<StoreFindings> {
  const { trajectories, wrong } = await readJournal(root);
  const findings: StoreFindings = {
    lostTrajectories: wrong,
    lostTurns: [],
    trainedTwice: [],
    leftOut: 0,
    turns: 0,
    calls: 0,
    segments: new Map(),
    records: new Map(),
    kept: trajectories,
  };
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

function readTrajectories(root: string, findings: StoreFindings): void {
  const { lostTurns, lostTrajectories, records, segments, kept } = findings;
  const run = root.split("/").at(-1);
  for (const [name, { turns, calls, ending, wrong }] of kept) {
    const id = `${run}/${name}`;
    lostTurns.push(...wrong);
    findings.turns += turns.size;
    findings.calls += calls.size;
    for (const [call, answer] of calls) {
      const lost = wrongAnswer(answer, Number.parseInt(call, 10));
      if (lost !== undefined) lostTurns.push(`${id} call ${call}: ${lost}`);
    }
    const own = new Map([...turns.values()].flatMap((turn) => turn.segments).map((one) => [one.ref, one]));
    for (const one of own.values()) segments.set(one.ref, one);
    for (const [turn, { head }] of turns) {
      const broken = brokenChain(head, own, turn);
      if (broken !== undefined) lostTurns.push(`${id} turn ${turn}: ${broken}`);
    }
    const last = Math.max(0, ...turns.keys());
    for (let turn = 1; turn <= last; turn++) {
      if (!turns.has(turn)) lostTurns.push(`${id} turn ${turn} is missing, a later one is there`);
    }
    if (ending === undefined) {
      lostTrajectories.push(`${id} has ${turns.size} turns and no record`);
      continue;
    }
    records.set(id, ending.outcome === "left-out");
    if (ending.outcome === "left-out") findings.leftOut++;
    if (last > 0 && ending.head !== turns.get(last)?.head)
      lostTurns.push(`${id} ends with another turn than its last one`);
  }
}

/** What a tool that keeps something answers in a turn, if it has lost nothing: each adds to one number (tests/plugins/loop-drill). */
const answers: Record<string, (sum: number) => string> = {
  session: (sum) => `turns = ${sum}`,
  code: String,
  sql: (sum) => `turns\n${sum}\n(1 row)`,
  run: String,
};

/** What is wrong with an answer whose tool lost its state. */
function wrongAnswer({ tool, observation }: KeptCall, turn: number) {
  const expected = answers[tool]?.((turn * (turn + 1)) / 2);
  if (expected === undefined || observation === expected) return undefined;
  return `${tool} answered ${JSON.stringify(observation)} instead of ${JSON.stringify(expected)}`;
}

/** What is wrong with a trajectory's segments up to `head`, which should hold so many actions. */
function brokenChain(
  head: string,
  segments: ReadonlyMap<string, Segment>,
  turns: number,
): string | undefined {
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
