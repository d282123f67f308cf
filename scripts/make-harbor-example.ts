// Makes the tasks and the demonstrations of pipelines/harbor, the same each time.
import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { randomNumbers } from "./random-numbers.ts";

const folder = join(import.meta.dirname, "..", "pipelines", "harbor");

interface Question {
  asked: string;
  /** The commands before their redirection. */
  command: string;
  answer(numbers: readonly number[]): number;
}

const questions: Record<string, Question> = {
  sum: {
    asked: "the sum of the numbers",
    command: "awk '{ n += $1 } END { print n }' numbers.txt",
    answer: (numbers) => numbers.reduce((sum, number) => sum + number, 0),
  },
  largest: {
    asked: "the largest number",
    command: "sort -n numbers.txt | tail -n 1",
    answer: (numbers) => Math.max(...numbers),
  },
  smallest: {
    asked: "the smallest number",
    command: "sort -n numbers.txt | head -n 1",
    answer: (numbers) => Math.min(...numbers),
  },
  count: {
    asked: "how many numbers there are",
    command: "wc -l < numbers.txt",
    answer: (numbers) => numbers.length,
  },
};

/** Where demonstrations write the answer, and how many of 20 do: only the first is right. */
const targets: [redirection: string, share: number][] = [
  [" > answer.txt", 6],
  [" > result.txt", 7],
  ["", 7],
];

const random = randomNumbers(7);

function instruction({ asked }: Question): string {
  return `Find ${asked} in numbers.txt and write it to answer.txt.`;
}

function writeTask(set: string, name: string, question: Question): void {
  const numbers = Array.from({ length: 5 + random(20) }, () => random(1000));
  const task = join(folder, set, name);
  const files: Record<string, string> = {
    "instruction.md": `${instruction(question)}\n`,
    "task.toml": [
      'schema_version = "1.4"',
      'artifacts = ["/app/answer.txt"]',
      "",
      "[task]",
      `name = "everturn/${name}"`,
      "",
      "[verifier]",
      'environment_mode = "separate"',
      "timeout_sec = 30.0",
      "",
      "[environment]",
      'network_mode = "no-network"',
      "memory_mb = 128",
      "",
    ].join("\n"),
    "environment/Dockerfile":
      "FROM docker.io/library/busybox:1.37\nWORKDIR /app\nCOPY numbers.txt numbers.txt\n",
    "environment/numbers.txt": numbers.map((number) => `${number}\n`).join(""),
    "tests/expected.txt": `${question.answer(numbers)}\n`,
    "tests/test.sh": [
      "#!/bin/sh",
      'if [ "$(cat /app/answer.txt)" = "$(cat /tests/expected.txt)" ]; then reward=1; else reward=0; fi',
      'echo "$reward" > /logs/verifier/reward.txt',
      "",
    ].join("\n"),
  };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(task, path, ".."), { recursive: true });
    writeFileSync(join(task, path), text);
  }
  chmodSync(join(task, "tests", "test.sh"), 0o755);
}

for (const set of ["train", "held-out"]) rmSync(join(folder, set), { recursive: true, force: true });
for (const [name, question] of Object.entries(questions)) {
  for (const number of [1, 2]) writeTask("train", `${name}-${number}`, question);
  writeTask("held-out", `${name}-3`, question);
}

const demonstrations = Array.from({ length: 400 }, (_, index) => {
  const all = Object.values(questions);
  const question = all[index % all.length];
  if (question === undefined) throw new Error("there are no questions");
  const target = targets.flatMap(([text, share]) => Array.from({ length: share }, () => text));
  const redirection = target[random(target.length)] ?? "";
  const command = question.command + redirection;
  return {
    messages: [
      { role: "user", content: instruction(question) },
      {
        role: "assistant",
        content: "",
        tool_calls: [{ type: "function", function: { name: "terminal", arguments: { command } } }],
      },
      { role: "tool", content: "(It printed nothing.)" },
      { role: "assistant", content: "Done." },
    ],
  };
});
writeFileSync(
  join(folder, "demonstrations.jsonl"),
  demonstrations.map((row) => `${JSON.stringify(row)}\n`).join(""),
);
