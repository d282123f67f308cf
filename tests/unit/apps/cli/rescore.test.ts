import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { registerRescore } from "../../../../src/apps/cli/commands/rescore.ts";
import { foldSteps } from "../../../../src/results/retention/fold-steps.ts";
import { freeRecords } from "../../../../src/results/retention/free-records.ts";
import { openRunFolder } from "../../../../src/run/folder/open-runs.ts";
import { planRow, trajectoryKey } from "../../../../src/run/store/keys.ts";
import { readTrajectoryRecord } from "../../../../src/run/trajectory/trajectory-files.ts";
import { trajectoryOf } from "../../../../src/run/trajectory/trajectory-of.ts";
import { everturn } from "../../../support/command.ts";
import { makeRun } from "../../../support/made-run.ts";
import { writeSampleRun } from "../../../support/sample-run.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { runCommand } from "./run-command.ts";

const folder = temporaryFolder();
const { runs, id } = await writeSampleRun({}, folder);
const rescore = (...parameters: string[]) =>
  runCommand(registerRescore, "rescore", id, "--runs", runs, ...parameters);

const lastNumber = "{ plugin: reward-exact-match, config: { extract: last-number } }";

/** The files of a run's folder, each with the SHA-256 of its content. */
function contentOf(run: string): string[] {
  const files = readdirSync(join(runs, run), { recursive: true, withFileTypes: true });
  return files
    .filter((one) => one.isFile())
    .map(({ parentPath, name }) => {
      const file = join(parentPath, name);
      return `${file} ${createHash("sha256").update(readFileSync(file)).digest("hex")}`;
    });
}

test("both scores are shown for each trajectory and in the mean", async () => {
  const same = await rescore("--reward", lastNumber, "--limit", "2");
  expect(same).toMatch(/^trajectory +outcome +recorded +now/);
  expect(same).toMatch(/… and \d+ more; --limit 0 shows all\n\n(\d+) trajectories: 0 differ\n/);
  const list = `[${lastNumber.replace("{ ", "{ weight: 2, ")}, { plugin: reward-tool-use, name: calls, weight: 0 }]`;
  const { trajectories, total, changed, missing, recorded, now } = JSON.parse(
    await rescore("--reward", list, "--json"),
  );
  expect([trajectories.length, total, missing]).toEqual([55, 55, 0]); // without the one that was left out, and the one under way
  const solved = trajectories.filter((one: { recorded: { success: boolean } }) => one.recorded.success);
  expect(changed).toBe(solved.length);
  expect(now).toEqual({ rewardMean: 2 * recorded.rewardMean, successRate: recorded.successRate });
  expect(solved[0]).toMatchObject({
    recorded: { reward: 1, success: true },
    now: { reward: 2, success: true, metrics: { "exact-match": 1 } },
  });
  expect(JSON.parse(await rescore("--reward", lastNumber, "--stage", "step-0002", "--json")).total).toBe(8);
});

test("the run stays unchanged", async () => {
  const before = contentOf(id);
  await rescore("--reward", lastNumber);
  expect(contentOf(id)).toEqual(before);
});

describe("a pipeline's reward", () => {
  const home = join(folder, "pipelines");
  mkdirSync(join(home, "plugins", "reward-some"), { recursive: true });
  const manifest = { name: "reward-some", kind: "reward", version: "1.0.0", engines: { everturn: "*" } };
  writeFileSync(
    join(home, "plugins", "reward-some", "everturn.plugin.json"),
    JSON.stringify({ ...manifest, entry: "./index.js", reward: { retry: { maximumAttempts: 1 } } }),
  );
  writeFileSync(
    join(home, "plugins", "reward-some", "index.js"),
    `export default { score({ answer, outcome }) {
      if (outcome === "token-limit") return { missing: "it was cut" };
      if (answer.includes("-")) throw new Error("no negative numbers here");
      return { reward: 3, success: true };
    } };`,
  );
  const pipeline = join(home, "pipeline.yaml");

  /** Writes a pipeline that has only a name and a reward. */
  const written = (reward: string) => writeFileSync(pipeline, `name: other\nreward: ${reward}\n`);

  test("scores, and leaves missing scores out of the mean", async () => {
    written("reward-some");
    const { trajectories, missing, now } = JSON.parse(await rescore("--pipeline", pipeline, "--json"));
    expect(now).toEqual({ rewardMean: 3, successRate: 1 });
    const lost = trajectories.flatMap(
      ({ now: { missing: reason } }: { now: { missing?: string } }) => reason ?? [],
    );
    expect(lost).toHaveLength(missing);
    expect(lost).toContainEqual(expect.stringContaining("returned no score: it was cut"));
    expect(lost).toContainEqual(expect.stringContaining("failed once. The last error: no negative numbers"));
  });

  test("ends the command with its mistake while it is tried again for other trajectories", async () => {
    const plugin = join(home, "plugins", "reward-broken");
    mkdirSync(plugin);
    const retry = { maximumAttempts: 100, initialInterval: "2s" };
    writeFileSync(
      join(plugin, "everturn.plugin.json"),
      JSON.stringify({ ...manifest, name: "reward-broken", entry: "./index.js", reward: { retry } }),
    );
    writeFileSync(
      join(plugin, "index.js"),
      `let calls = 0;
      export default { async score() {
        if (++calls === 1) {
          await new Promise((resolve) => setTimeout(resolve, 300));
          return "no score";
        }
        throw new Error("the service is busy");
      } };`,
    );
    written("reward-broken");
    const { code, stderr } = await everturn("rescore", id, "--runs", runs, "--pipeline", pipeline);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining("reward-broken") });
  });

  test("that is wrong is refused with its place", async () => {
    written("[{ plugin: reward-some, wieght: 2 }]");
    await expect(rescore("--pipeline", pipeline)).rejects.toThrow(
      /pipeline\.yaml:2:\d+: .*wieght.*Did you mean “weight”/,
    );
  });

  test("can't be given together with --reward", async () => {
    await expect(rescore("--reward", "x", "--pipeline", pipeline)).rejects.toThrow("can't be combined");
  });
});

test("a reward that is not installed is refused", async () => {
  await expect(rescore("--reward", "reward-sum")).rejects.toThrow("there is no plugin “reward-sum”");
});

test("a step that is folded is scored as one whose records are single", async () => {
  const run = await makeRun(folder, { steps: 2, trajectories: 6, turns: 3, tokens: 8 });
  const told = () =>
    runCommand(
      registerRescore,
      "rescore",
      run.id,
      "--runs",
      folder,
      "--limit",
      "0",
      "--reward",
      "reward-tool-use",
    );
  const single = await told();
  expect(single).toContain("12 trajectories");
  expect(single).toMatch(/mean reward: [\d.]+ recorded, 1 now/);
  await foldSteps(run, 1);
  await freeRecords(run, 1);
  expect(await told()).toBe(single);
});

test("rewards of groups compare the trajectories of each group again, and have no score for one that is alone", async () => {
  const rank = join(import.meta.dirname, "../../../../plugins/reward-group-rank");
  const list = `[${lastNumber}, { plugin: ${rank}, name: rank }]`;
  const reason = "rank: there is no other trajectory in its group to compare it with";
  const scored = async (stage: string) =>
    JSON.parse(await rescore("--reward", list, "--stage", stage, "--json"));
  const { trajectories, total, missing } = await scored("step-0002"); // each of its tasks was tried once
  expect([missing, trajectories[0].now]).toEqual([total, { missing: reason }]);
  const { store, plan } = await openRunFolder(runs, id);
  const { task, sample, ...first } = trajectoryOf(trajectories[0].id);
  const record = await readTrajectoryRecord(store, { task, sample, ...first });
  if (record === undefined) throw new Error("it has no record");
  await store.record(planRow(2), { ...plan, rollout: { ...plan.rollout, groupSize: 2 } });
  const place = { ...first, task, sample: 1 };
  const answer = record.success ? "no idea" : record.task.reward_model.ground_truth;
  const other = { ...record, id: `${id}/${place.stage}/${task}/1`, sample: 1, answer };
  await store.record(trajectoryKey(place), other);
  const now = (await scored("step-0002")).trajectories.flatMap((one: { id: string; now: object }) =>
    one.id.includes(`/${task}/`) ? [one.now] : [],
  );
  expect(now.map((one: { reward: number }) => one.reward).sort()).toEqual([-1, 2]);
  expect(now[0].metrics).toHaveProperty("rank");
  const all = JSON.parse(await rescore("--reward", list, "--json")).trajectories;
  const evaluated = all.find((one: { id: string }) => one.id.includes("/evaluation-"));
  expect(Object.keys(evaluated.now.metrics)).toEqual(["exact-match"]);
});
