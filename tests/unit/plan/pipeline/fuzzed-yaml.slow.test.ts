import { expect, test } from "vitest";
import { checkMutated, readMutated } from "./mutated-pipelines.ts";

test("10,000 files that were changed at random are read, or refused with a reason", () =>
  readMutated(10_000));

test("150 of them are checked whole, with their plugins and tasks", async () => {
  expect(await checkMutated(150)).toBeGreaterThan(3); // some changes are harmless, and all is loaded then
});
