import { expect, test } from "vitest";
import { parseYaml } from "../../../../src/base/validation/parse-yaml.ts";
import { checkMutated, readMutated } from "./mutated-pipelines.ts";

const deep = (levels: number) => `a: ${"[".repeat(levels)}1${"]".repeat(levels)}\n`;
const laughs = (levels: number) => {
  const lines = Array.from({ length: levels }, (_, level) => {
    const items = level === 0 ? "x" : `*a${level - 1}`;
    return `a${level}: &a${level} [${Array(9).fill(items).join(", ")}]`;
  });
  return `${lines.join("\n")}\n`;
};

test.each([
  ["aliases of aliases", laughs(9), "its aliases stand for more than 200000 values"],
  ["aliases of aliases, many levels", laughs(150), "its aliases stand for more than 200000 values"],
  ["101 levels", deep(101), "it is more than 100 levels deep"],
  ["a million levels", deep(1_000_000), "it is more than 100 levels deep"],
  [
    "2,000 indented levels",
    Array.from({ length: 2000 }, (_, level) => `${" ".repeat(level)}a:`).join("\n"),
    "it is more than 100 levels deep",
  ],
  ["five million characters", `a: ${"x".repeat(5_000_000)}`, "it has more than 4194304 characters"],
])("%s: refused", (_, text, reason) => {
  const { problems } = parseYaml(text, "p.yaml");
  expect(problems.map(({ error }) => error.message).join()).toContain(reason);
});

test("what a large configuration may have is read", () => {
  const rows = Array.from({ length: 20_000 }, (_, index) => `  - { id: ${index}, name: row ${index} }`).join(
    "\n",
  );
  expect(parseYaml(`a:\n${rows}\n`, "p.yaml").problems).toEqual([]);
  expect(parseYaml(deep(90), "p.yaml").problems).toEqual([]);
});

test("500 files that were changed at random are read, or refused with a reason", () => readMutated(500));

test("100 of them are checked whole, with their plugins and tasks", async () => {
  expect(await checkMutated(100)).toBeGreaterThan(0);
});
