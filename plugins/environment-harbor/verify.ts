import { readdir, readFile, stat } from "node:fs/promises";
import { join, posix } from "node:path";
import type { JsonObject, Score, Unscored } from "everturn/plugin";
import { asRoot, openPlace, type Place } from "./place.ts";
import type { HarborTask } from "./task.ts";

interface Verification {
  config: JsonObject;
  /** The files that the agent left. Undefined: it ran no command. */
  snapshot: Uint8Array | undefined;
  signal: AbortSignal;
}

/**
 * Runs a task's tests in a container that the agent never used. A separate verifier sees only the declared artifacts. A
 * shared one sees the files that the agent left, and none of its processes.
 */
export async function verify(task: HarborTask, verification: Verification): Promise<Score | Unscored> {
  const { verifier } = task;
  const { config, snapshot, signal } = verification;
  const opening = { config, instance: `${task.name} (verifier)`, signal };
  const artifacts = verifier.isSeparate ? await collect(task, verification) : {};
  const place = await openPlace(verifier.environment, {
    ...opening,
    from: verifier.isSeparate ? undefined : snapshot,
  });
  try {
    await putFiles(place, artifacts, Object.keys(artifacts), signal);
    if (!verifier.hasTests) {
      const { files, programs } = await testsOf(join(task.folder, "tests"));
      await putFiles(place, files, programs, signal);
    }
    await asRoot(place.session, "rm -rf /logs/verifier && mkdir -p -m 777 /logs/verifier", signal);
    const ran = await place.session.exec({
      command: "/tests/test.sh >/logs/verifier/test-stdout.txt 2>&1",
      environment: { ...place.variables, ...verifier.variables },
      limits: { time: verifier.time },
      signal,
      folder: place.folder,
      user: verifier.user,
    });
    if (ran.outcome !== "finished" && ran.outcome !== "failed")
      return { missing: `the tests of ${task.name} ended with ${ran.outcome}` };
    return scoreOf(task, await place.session.take("/logs/verifier"));
  } finally {
    await place.session.close();
  }
}

/** The declared artifacts from the files that the agent left. */
async function collect(
  task: HarborTask,
  { config, snapshot, signal }: Verification,
): Promise<Record<string, Uint8Array>> {
  const instance = `${task.name} (artifacts)`;
  const { session, variables } = await openPlace(task.environment, {
    config,
    instance,
    from: snapshot,
    signal,
  });
  try {
    for (const { command, user, time } of task.verifier.collect)
      await session.exec({
        command,
        environment: variables,
        limits: { time },
        signal,
        user,
      });
    const artifacts: Record<string, Uint8Array> = {};
    for (const path of task.artifacts) Object.assign(artifacts, await session.take(path));
    return artifacts;
  } finally {
    await session.close();
  }
}

/** Writes files, and lets everybody execute some. */
async function putFiles(
  { session }: Place,
  files: Record<string, Uint8Array>,
  programs: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  if (Object.keys(files).length === 0) return;
  await session.put(files);
  const quoted = programs.map((path) => `'${path.replaceAll("'", `'\\''`)}'`);
  if (quoted.length > 0) await asRoot(session, `chmod 755 ${quoted.join(" ")}`, signal);
}

async function testsOf(folder: string): Promise<{ files: Record<string, Uint8Array>; programs: string[] }> {
  const files: Record<string, Uint8Array> = {};
  const programs: string[] = ["/tests/test.sh"];
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const whole = join(entry.parentPath, entry.name);
    const path = posix.join("/tests", whole.slice(folder.length + 1));
    files[path] = await readFile(whole);
    if (((await stat(whole)).mode & 0o100) !== 0) programs.push(path);
  }
  if (files["/tests/test.sh"] === undefined) throw new Error(`${folder} has no test.sh`);
  return { files, programs };
}

/** Reads the rewards that the tests wrote. */
function scoreOf({ name }: HarborTask, logs: Record<string, Uint8Array>): Score | Unscored {
  const [json, plain] = ["reward.json", "reward.txt"].map((file) => logs[`/logs/verifier/${file}`]);
  const written = Buffer.from(json ?? plain ?? [])
    .toString()
    .trim();
  const rewards = written === "" ? undefined : rewardsIn(written, json !== undefined);
  if (rewards === undefined) {
    const printed = Buffer.from(logs["/logs/verifier/test-stdout.txt"] ?? []).toString();
    return {
      missing: `the tests of ${name} wrote no valid reward: ${written.slice(0, 200)}${printed.slice(-500)}`,
    };
  }
  const { reward = mean(Object.values(rewards)), ...metrics } = rewards;
  return { reward, success: reward >= 1, metrics };
}

/** Undefined if a value is not a finite number. */
function rewardsIn(written: string, isJson: boolean): Record<string, number> | undefined {
  const value: unknown = isJson ? parsed(written) : Number(written);
  const entries = typeof value === "object" && value !== null ? Object.entries(value) : [["reward", value]];
  const rewards = entries.flatMap(([key, one]): [string, number][] =>
    typeof one === "boolean" || (typeof one === "number" && Number.isFinite(one))
      ? [[String(key), Number(one)]]
      : [],
  );
  return rewards.length === entries.length && rewards.length > 0 ? Object.fromEntries(rewards) : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
