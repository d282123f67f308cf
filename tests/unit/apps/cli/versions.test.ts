import { readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadPlan } from "../../../../src/plan/pipeline/load-plan.ts";
import { createRunFolder } from "../../../../src/run/folder/create-run-folder.ts";
import { openRunFolder } from "../../../../src/run/folder/open-runs.ts";
import { policyPart } from "../../../../src/run/versions/version-parts.ts";
import { everturn } from "../../../support/command.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { folderOf, initializeVersion, writeVersion } from "../../../support/versions.ts";

const runs = temporaryFolder();
const plan = await loadPlan(join(import.meta.dirname, "..", "..", "..", "pipelines", "small.yaml"));
const run = await openRunFolder(runs, await createRunFolder(plan, { runs }));
for (const version of [0, 1]) await initializeVersion(run, version);
for (const version of [2, 3]) await writeVersion(run, version);
const removed = policyPart(plan, 2);
await run.store.free(removed.key, removed.part);
const folder = (version: number) => folderOf(run, version);
const command = (name: string, ...rest: string[]) => everturn(name, run.id, ...rest, "--runs", runs);

test("`everturn versions` says where each version lies, and prints the folder of one", async () => {
  const all = await command("versions");
  expect(all.stderr).toBe("");
  const [, ...lines] = all.stdout.trim().split("\n");
  expect(lines.map((line) => line.trim().split(/ {2,}/))).toEqual([
    ["0", "as built", await folder(0)],
    ["1", "warm start", await folder(1)],
    ["2", "step 1", "removed"],
    ["3", "step 2", await folder(3)],
  ]);
  expect((await command("versions", "1")).stdout).toBe(`${await folder(1)}\n`);
  expect((await command("versions", "newest")).stdout).toBe(`${await folder(3)}\n`);
  const missing = await command("versions", "2");
  expect(missing.code).toBe(1);
  expect(missing.stderr).toContain(`POLICY_NOT_FOUND: The run ${run.id} has no policy version 2.`);
});

test("`everturn export RUN` takes the version asked for, the newest if none is, and no older one for one that is broken", async () => {
  const target = join(runs, "exported");
  const { stderr } = await command("export", target, "--policy-version", "1");
  expect(stderr).toBe("");
  const weights = [target, await folder(1)].map((path) => readFileSync(join(path, "model.safetensors")));
  expect(weights[0]?.equals(weights[1] ?? Buffer.of())).toBe(true);
  truncateSync(join(await folder(3), "weights"));
  const broken = await command("export", join(runs, "broken"));
  expect(broken.code).toBe(1);
  expect(broken.stderr).toContain(
    "FILES_GONE: The files of steps/2/trained, policy, differ from the committed ones: its file policy/weights has 0 bytes, not ",
  );
});

test.each(["model.safetensors", "tokenizer.json", "config.json"])(
  "`everturn export` and `everturn versions` refuse a version in whose %s a bit has flipped, and name the file",
  async (name) => {
    const id = await createRunFolder(plan, { runs });
    const flipped = await openRunFolder(runs, id);
    await initializeVersion(flipped, 0);
    const file = join(await folderOf(flipped, 0), name);
    const content = readFileSync(file);
    const middle = Math.floor(content.length / 2);
    content[middle] = (content[middle] ?? 0) ^ 1;
    writeFileSync(file, content);
    const reason = new RegExp(
      `FILES_GONE: The files of initial, policy, differ from the committed ones: initial/[^ ]*/policy/${name} is not what its tree's record says\\. .*\`npx everturn resume\` rebuilds those`,
    );
    for (const asked of [
      ["versions", id, "0"],
      ["export", id, join(runs, `of-${id}`)],
    ]) {
      const { code, stderr } = await everturn(...asked, "--runs", runs);
      expect([code, asked]).toEqual([1, asked]);
      expect(stderr).toMatch(reason);
    }
  },
);
