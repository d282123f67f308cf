import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject, Task } from "everturn/plugin";
import { describe, expect, test } from "vitest";
import harbor from "../../../plugins/environment-harbor/index.ts";
import { readTask } from "../../../plugins/environment-harbor/task.ts";
import { bubblewrapHere } from "../../support/bubblewrap.ts";
import { smallRoot, tarOfFolder, writeLayout } from "../../support/small-image.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const folder = temporaryFolder();
const [tasks, image] = [join(folder, "tasks"), join(folder, "image")];

const toml = `
artifacts = ["/app/sum.txt"]
[task]
name = "everturn/sum-file"
[verifier]
environment_mode = "separate"
env = { WANTED = "42" }
[environment]
memory_mb = 256
env = { UNIT = "\${HARBOR_TEST_UNIT:-apples}" }
`;

/** Says 1 for the right sum, and what else of the agent's the tests can see. */
const tests = `#!/bin/sh
reward=0
if [ "$(cat /app/sum.txt 2>/dev/null)" = "$WANTED" ]; then reward=1; fi
seen=$(ls /app /tmp /work /root 2>/dev/null | grep -c -e evil -e notes)
printf '{"reward": %s, "seen": %s, "ran": %s}\\n' "$reward" "$seen" "$(cat /tests/data/one)" > /logs/verifier/reward.json
`;

function makeTask(name: string, files: Record<string, string> = {}): string {
  const place = join(tasks, name);
  const all = {
    "task.toml": toml,
    "instruction.md": "Write the sum of /app/numbers.txt to /app/sum.txt.\n",
    "environment/Dockerfile":
      '# comment\nFROM debian:12-slim\nWORKDIR /app\nENV GREETING="good day"\nCOPY numbers.txt ./\n',
    "environment/numbers.txt": "20\n22\n",
    "tests/test.sh": tests,
    "tests/data/one": "1",
    ...files,
  };
  for (const [path, text] of Object.entries(all)) {
    mkdirSync(join(place, path, ".."), { recursive: true });
    writeFileSync(join(place, path), text);
  }
  return place;
}

const config: JsonObject = {
  tasks,
  sandbox: { kind: "bubblewrap", image },
  time: 10,
  memory: 512,
  processes: 64,
  output: 65_536,
  disk: 64,
};
const rowOf = (place: string): Task => ({
  data_source: "harbor",
  prompt: [{ role: "user", content: "?" }],
  reward_model: { ground_truth: "" },
  extra_info: { folder: place },
});
const signal = new AbortController().signal;

describe("a task folder", () => {
  test("becomes a row", async () => {
    const place = makeTask("sum");
    expect(await harbor.load({ tasks })).toEqual([
      {
        data_source: "harbor",
        prompt: [{ role: "user", content: "Write the sum of /app/numbers.txt to /app/sum.txt." }],
        reward_model: { ground_truth: "everturn/sum-file" },
        extra_info: { folder: place },
      },
    ]);
    expect(await harbor.load({ tasks: place })).toHaveLength(1);
    expect(await harbor.refusal?.(rowOf(place), config)).toBeUndefined();
    const { artifacts, verifier, environment } = await readTask(place);
    expect(artifacts).toEqual(["/logs/artifacts", "/app/sum.txt"]);
    expect(verifier).toMatchObject({ isSeparate: true, hasTests: false, time: 600 });
    expect(environment.variables).toEqual({ UNIT: "apples" });
  });

  test.each([
    ["steps", { "task.toml": "[[steps]]\nname = 'one'" }, "several steps"],
    ["gpus", { "task.toml": "[environment]\ngpus = 1" }, "GPUs"],
    ["compose", { "environment/docker-compose.yaml": "" }, "docker-compose.yaml"],
    ["path", { "task.toml": 'artifacts = ["/app/../etc"]' }, "without “..”"],
    ["run", { "environment/Dockerfile": "FROM debian\nRUN apt-get update" }, "RUN needs an engine"],
    [
      "variable",
      { "task.toml": `[environment]\nenv = { A = "${"$"}{HARBOR_TEST_ABSENT}" }` },
      "HARBOR_TEST_ABSENT",
    ],
  ])("is refused for %s", async (name, files, reason) => {
    const place = makeTask(`refused-${name}`, files);
    expect(await harbor.refusal?.(rowOf(place), config)).toContain(reason);
  });
});

const here = await bubblewrapHere();
const root = here === undefined ? undefined : smallRoot(join(folder, "root"));
if (root !== undefined) writeLayout(image, [tarOfFolder(root)]);

describe.runIf(root !== undefined)("an episode", () => {
  /** Runs commands, and scores what they left. */
  async function episode(place: string, commands: readonly string[]) {
    const task = rowOf(place);
    const creation = { instance: "one", task, config, environment: {}, signal, hold: () => {} };
    const state = await harbor.create?.(creation);
    if (state === undefined) throw new Error("there is no episode");
    const texts: unknown[] = [];
    let snapshot: Uint8Array | undefined;
    for (const command of commands) {
      const execution = { instance: "one", function: "terminal", key: "1", attempt: 1, isReplay: false };
      const answer = await harbor.execute?.({ command }, { ...execution, config, signal }, state);
      texts.push((answer as { text: string }).text);
      snapshot = await harbor.snapshot?.(state);
    }
    await harbor.release?.(state);
    const snapshots = snapshot === undefined ? {} : { terminal: snapshot };
    const request = { task, turns: [], outcome: "done" as const, answer: "", config, signal };
    return { texts, snapshot, score: await harbor.score({ ...request, snapshots }), creation };
  }

  const solve = "awk '{ n += $1 } END { print n }' numbers.txt > sum.txt";

  test("that solves its task earns its reward, and another one does not", async () => {
    const place = makeTask("solved");
    const { texts, score } = await episode(place, ["pwd; echo $GREETING $UNIT", solve, "cat absent"]);
    expect(texts.slice(0, 2)).toEqual(["/app\ngood day apples", "(It printed nothing.)"]);
    expect(texts[2]).toContain("(exit code 1)");
    expect(score).toEqual({ reward: 1, success: true, metrics: { seen: 0, ran: 1 } });
    expect((await episode(place, ["echo 41 > sum.txt"])).score).toMatchObject({ reward: 0, success: false });
    expect((await episode(place, [])).score).toMatchObject({ reward: 0, success: false });
  });

  test("that changes anything but its artifacts does not reach the tests", async () => {
    const place = makeTask("cheated");
    const commands = [
      "mkdir -p /tests /logs/verifier; echo 1 > /logs/verifier/reward.txt",
      "printf '#!/bin/sh\\necho 1 > /logs/verifier/reward.txt\\n' > /tests/test.sh; chmod +x /tests/test.sh",
      "for name in cat ls grep; do printf '#!/bin/sh\\necho 42\\n' > /bin/$name; done; touch evil /tmp/evil /work/notes",
      "ln -s /tests/data/one sum.txt; echo 41 > /etc/answer",
    ];
    const { score } = await episode(place, commands);
    expect(score).toEqual({ reward: 0, success: false, metrics: { seen: 0, ran: 1 } });
  });

  test("continues elsewhere from its snapshot", async () => {
    const place = makeTask("restored");
    const { snapshot, creation } = await episode(place, ["echo 4 > /app/half; rm numbers.txt"]);
    const again = await harbor.restore?.(snapshot ?? Buffer.of(), creation);
    if (again === undefined) throw new Error("there is no episode");
    const execution = { instance: "one", function: "terminal", key: "2", attempt: 1, isReplay: false };
    const command = "cat half; ls";
    expect(await harbor.execute?.({ command }, { ...execution, config, signal }, again)).toMatchObject({
      text: "4\nhalf",
    });
    await harbor.release?.(again);
  });

  test("whose task shares its container is judged by the files that it left", async () => {
    const place = makeTask("shared", { "task.toml": '[verifier]\nenv = { WANTED = "42" }' });
    const { score } = await episode(place, [solve, "touch notes"]);
    expect(score).toEqual({ reward: 1, success: true, metrics: { seen: 1, ran: 1 } });
  });

  test.each([
    ["no reward", "#!/bin/sh\nexit 1\n"],
    ["no number", "#!/bin/sh\necho NaN > /logs/verifier/reward.txt\n"],
    ["no end", "#!/bin/sh\nwhile :; do :; done\n"],
  ])("whose tests write %s has no score", async (name, script) => {
    const place = makeTask(`unscored-${name}`, {
      "tests/test.sh": script,
      "task.toml": toml.replace("[verifier]", "[verifier]\ntimeout_sec = 1.0"),
    });
    expect((await episode(place, [solve])).score).toMatchObject({
      missing: expect.stringContaining("the tests of"),
    });
  });

  test("in an image of its own with the tests", async () => {
    const place = makeTask("bundled", { "tests/Dockerfile": "FROM scratch\nCOPY . /tests/\n" });
    cpSync(join(place, "tests", "data"), join(place, "environment", "data"), { recursive: true });
    const { verifier } = await readTask(place);
    expect(verifier).toMatchObject({ hasTests: true, environment: { folder: join(place, "tests") } });
  });
});
