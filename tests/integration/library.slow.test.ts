import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, test, vi } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";

vi.setConfig({ testTimeout: 900_000 }); // minutes of computing

const tests = join(import.meta.dirname, "..");

test("a script trains, is interrupted by its signal, goes on, evaluates and reads; it says nothing and ends by itself", async () => {
  const runs = join(temporaryFolder(), "runs");
  const script = join(tests, "library", "train-and-read.ts");
  const child = spawn(process.execPath, [script, join(tests, "pipelines", "tools.yaml"), runs], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [output, errors, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close"),
  ]);
  expect({ code, errors }).toEqual({ code: 0, errors: "" });
  const found = JSON.parse(output);
  expect(found).toMatchObject({
    invalid: "WRONG_CONFIGURATION",
    interrupted: "INTERRUPTED",
    left: [],
    told: ["evaluation", "note", "opened", "progress", "server", "step"],
    result: { steps: 3, trajectories: 12, policyVersion: 3 },
    evaluation: {
      name: expect.stringMatching(/^evaluation-v0003-no-tools-/),
      tasks: 2,
      policyVersion: 3,
    },
    steps: [1, 2, 3],
    trained: 12,
    findings: [],
    first: { outcome: "answered", turns: 2, toolCalls: 1 },
    turns: 2,
    none: [],
    unknown: "TRAJECTORY_NOT_FOUND",
    versions: ["0 there", "1 there", "2 there", "3 there"],
    policy: true,
    missing: "RUN_NOT_FOUND",
    listeners: true,
    processes: [],
  });
  expect(found.toldLater).toEqual(expect.arrayContaining(["evaluation", "progress", "step"]));
  expect(found.evaluated.at(-1)).toBe("evaluation-v0003");
  expect(found.phases).toContain("rolling out trajectories");
});
