import { expect, test } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { runSuite } from "./suite.ts";

const folder = temporaryFolder();

test("five causes of not learning are named, and a run that learns has no diagnosis", {
  timeout: 1_200_000,
}, async () => {
  const only = [
    "reward-is-constant",
    "actions-of-8-tokens",
    "tool-renamed",
    "learning-rate-of-1e-14",
    "tool-demonstrated-differently",
  ];
  const outcomes = await runSuite({ folder, only, tell: () => {} });
  expect(outcomes).toHaveLength(only.length + 1);
  for (const { name, problems, log } of outcomes) expect(problems, `${name}\n${log}`).toEqual([]);
});
