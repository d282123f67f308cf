import { writeFileSync } from "node:fs";
import { join } from "node:path";

const pipeline = join(import.meta.dirname, "..", "pipelines", "small.yaml");

/**
 * Writes a study of a program, a warm start, two seeds from it, and an evaluation; its file. Rewards differ by the calls. The
 * evaluation has more trajectories than run at once: one that has begun is not about to end.
 */
export function writeStudy(folder: string): string {
  const reward = { plugin: "reward-tool-use", config: { called: 1, invalid: -0.25 } };
  const few = { "evaluation.tasks": 6, reward };
  const study = {
    name: `\${NAME:-first}`,
    jobs: {
      data: { command: [process.execPath, "make.mjs"], makes: ["held-out.jsonl"] },
      warm: { train: pipeline, set: { ...few, steps: 0, "warmStart.steps": 8 } },
      rl: {
        train: pipeline,
        from: "warm",
        set: { ...few, warmStart: null, steps: 1 },
        matrix: { seed: [1, 2] },
      },
      "held-out": { evaluate: "rl", tasks: "held-out.jsonl", samples: 4, versions: [0, "newest"] },
      policy: { export: "rl", to: `\${NAME:-first}-policy` },
    },
  };
  const file = join(folder, "study.yaml");
  writeFileSync(file, JSON.stringify(study));
  const tasks = join(import.meta.dirname, "..", "..", "pipelines", "calculator", "chain-sum-small.val.jsonl");
  writeFileSync(
    join(folder, "make.mjs"),
    `import { readFileSync, writeFileSync } from "node:fs";
writeFileSync("held-out.jsonl", readFileSync(${JSON.stringify(tasks)}, "utf8").split("\\n").slice(0, 20).join("\\n"));`,
  );
  return file;
}
