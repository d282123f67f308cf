import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { isEverturnError } from "../../../../src/base/errors/everturn-error.ts";
import { placeOf } from "../../../../src/base/validation/source-document.ts";
import { loadPlan } from "../../../../src/plan/pipeline/load-plan.ts";
import { readExtended } from "../../../../src/plan/pipeline/read/read-extended.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const folder = temporaryFolder();
let files = 0;

/** Writes files of one folder; the path of the first. */
function written(...texts: [name: string, text: string][]): string {
  const place = join(folder, String(files++));
  mkdirSync(place);
  for (const [name, text] of texts) writeFileSync(join(place, name), text);
  return join(place, texts[0]?.[0] ?? "");
}

const message = (path: string): string => {
  try {
    readExtended(path);
  } catch (error) {
    if (isEverturnError(error)) return error.message.replaceAll(folder, "");
    throw error;
  }
  return "";
};

test("mappings are merged, lists and texts replaced, null takes away, another plugin replaces", () => {
  const base = `name: base
seed: 1
policy: { plugin: policy-onnx, config: { device: cpu, threads: 2 } }
trainer: { plugin: trainer-onnx, config: { algorithm: grpo } }
tools: [tool-a, tool-b]
rollout: { batchSize: 8, temperature: 1 }
warmStart: { steps: 3 }
`;
  const over = `extends: base.yaml
name: over
policy: { plugin: policy-onnx, config: { threads: 4 } }
trainer: { plugin: other, config: { rate: 1 } }
tools: [tool-c]
rollout: { temperature: 0.7 }
warmStart: null
`;
  const path = written(["over.yaml", over], ["base.yaml", base]);
  const document = readExtended(path);
  expect(document.value).toEqual({
    name: "over",
    seed: 1,
    policy: { plugin: "policy-onnx", config: { device: "cpu", threads: 4 } },
    trainer: { plugin: "other", config: { rate: 1 } },
    tools: [{ plugin: "tool-c" }],
    rollout: { batchSize: 8, temperature: 0.7 },
  });
  expect(placeOf(document, "/rollout/batchSize", "value").text).toMatch(/base\.yaml:6:12$/);
  expect(placeOf(document, "/rollout/temperature", "value").text).toMatch(/over\.yaml:6:25$/);
  expect(placeOf(document, "/trainer/config/rate", "key").text).toMatch(/over\.yaml:4/);
  expect(placeOf(document, "/seed", "key").text).toMatch(/base\.yaml:2:1$/);
});

test("blocks: own keys over them, others used, those of a base; values keep their places", () => {
  const base = `use:
  sum: { plugin: tool-calculator, timeout: 2s, retry: { maximumAttempts: 3 } }
tools: [{ use: sum }]
`;
  const over = `extends: base.yaml
use:
  slow: { use: sum, timeout: 9s }
  small: { batchSize: 8 }
tools:
  - { use: slow, retry: { maximumInterval: 1s } }
  - tool-b
rollout: { use: small, batchSize: 4 }
trainer: { plugin: trainer-onnx, config: { use: mine } }
`;
  const path = written(["over.yaml", over], ["base.yaml", base]);
  const document = readExtended(path);
  expect(document.value).toEqual({
    tools: [
      { plugin: "tool-calculator", timeout: "9s", retry: { maximumAttempts: 3, maximumInterval: "1s" } },
      { plugin: "tool-b" },
    ],
    rollout: { batchSize: 4 },
    trainer: { plugin: "trainer-onnx", config: { use: "mine" } },
  });
  expect(placeOf(document, "/tools/0/plugin", "value").text).toMatch(/base\.yaml:2:10$/);
  expect(placeOf(document, "/tools/0/timeout", "value").text).toMatch(/over\.yaml:3:2\d$/);
  expect(placeOf(document, "/rollout/batchSize", "value").text).toMatch(/over\.yaml:8:\d+$/);
  expect(readExtended(join(path, "..", "base.yaml")).value).toMatchObject({ tools: [{ timeout: "2s" }] });
});

test.each([
  [
    "tools: [{ use: sum }]",
    /1:16: “use” can't be resolved: there is no block “sum”\. The pipeline has no blocks/,
  ],
  ["use: { sum: {} }\ntools: [{ use: smu }]", /2:16: .*no block “smu”\. Did you mean “sum”\?/],
  ["use: { a: { use: b }, b: { use: a } }\nrollout: { use: a }", /“a” refers to itself/],
  ["use: { a: {} }\nrollout: { use: [a] }", /2:17: .*it is a list/],
  ["use: [a]\nname: x", /it is a list/],
])("a block that can't be followed is told with its place: %s", (text, expected) => {
  expect(message(written(["pipeline.yaml", text]))).toMatch(expected);
});

test("a bomb of blocks is refused", () => {
  const names = "abcdefghijklmnopqrst".split("");
  const blocks = names.map((name, index) => {
    const next = names[index + 1];
    return next === undefined
      ? `  ${name}: { x: 1 }`
      : `  ${name}: { x: { use: ${next} }, y: { use: ${next} } }`;
  });
  expect(message(written(["pipeline.yaml", `use:\n${blocks.join("\n")}\nrollout: { use: a }`]))).toContain(
    "its blocks stand for more than 200000 values",
  );
});

test("a base may extend another one", () => {
  const path = written(
    ["c.yaml", "extends: b.yaml\nsteps: 3\n"],
    ["b.yaml", "extends: a.yaml\nseed: 2\n"],
    ["a.yaml", "seed: 1\nname: a\n"],
  );
  const document = readExtended(path);
  expect(document.value).toEqual({ name: "a", seed: 2, steps: 3 });
  expect(placeOf(document, "/name", "value").text).toMatch(/a\.yaml:2:1$/);
});

test.each([
  ["extends: 3\n", "it is 3, not a file name"],
  ["extends: ../base.yaml\n", "“../base.yaml” is not in the folder of this pipeline"],
  ["extends: self.yaml\n", "“self.yaml” refers to itself"],
  ["extends: none.yaml\n", "There is no pipeline /"],
])("%j is refused with its place", (text, reason) => {
  const path = written(["self.yaml", text]);
  expect(message(path)).toContain(reason);
  if (!reason.startsWith("There")) expect(message(path)).toContain("self.yaml:1:10");
});

test("variables of the environment, with defaults; numbers stay numbers unless they are quoted", () => {
  vi.stubEnv("EVERTURN_TEST_STEPS", "40");
  vi.stubEnv("EVERTURN_TEST_EMPTY", "");
  const path = written([
    "p.yaml",
    `steps: \${EVERTURN_TEST_STEPS}
quoted: "\${EVERTURN_TEST_STEPS}"
part: a-\${EVERTURN_TEST_STEPS}-b
list:
  - \${EVERTURN_TEST_NONE:-yes please}
  - \${EVERTURN_TEST_NONE:-true}
empty: \${EVERTURN_TEST_EMPTY:-0.5}
nothing: \${EVERTURN_TEST_NONE:-}
plain: $\${HOME} \${lower} $HOME
"\${EVERTURN_TEST_NONE}": a key stays
`,
  ]);
  expect(readExtended(path).value).toEqual({
    steps: 40,
    quoted: "40",
    part: "a-40-b",
    list: ["yes please", true],
    empty: 0.5,
    nothing: "",
    plain: `\${HOME} \${lower} $HOME`,
    "${EVERTURN_TEST_NONE}": "a key stays",
  });
  vi.unstubAllEnvs();
});

test("each variable that is not set is named with its place", () => {
  const path = written(["p.yaml", `name: \${EVERTURN_TEST_A}\nlist:\n  - x\${EVERTURN_TEST_B}\n`]);
  expect(message(path)).toContain("p.yaml:1:7: the environment variable EVERTURN_TEST_A is not set.");
  expect(message(path)).toContain("p.yaml:3:5: the environment variable EVERTURN_TEST_B");
});

test("what is wrong in the base is told with its place there, also below an override", async () => {
  const calculator = join(import.meta.dirname, "..", "..", "..", "..", "pipelines", "calculator.yaml");
  const path = written(
    ["over.yaml", "extends: base.yaml\nname: over\n"],
    ["base.yaml", `extends: further.yaml\nsteps: many\n`],
    ["further.yaml", "policy: policy-onnx\nrollout: { batchSise: 3 }\n"],
  );
  await expect(loadPlan(path)).rejects.toThrow(/base\.yaml:2:1.*steps[\s\S]*further\.yaml:2:12.*batchSize/);
  await expect(loadPlan(path, { overrides: ["rollout.batchSise=4"] })).rejects.toThrow(
    /override rollout\.batchSise=4/,
  );
  await expect(loadPlan(calculator)).resolves.toMatchObject({ name: "calculator" });
});
