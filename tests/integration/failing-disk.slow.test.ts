import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { expect, test } from "vitest";
import { canFailDisks, faultsIn } from "../chaos/failing-disk.ts";
import { chaos } from "../chaos/run-chaos.ts";
import { scenarios } from "../chaos/scenarios.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const name = "disk errors 3 %";

test("a run whose disk fails 3 % of all calls runs no call again, leaves nothing out, and has the same weights", {
  timeout: 900_000,
}, async ({ skip }) => {
  skip(!canFailDisks, "a failing disk needs Linux and a C compiler, `cc`");
  const work = temporaryFolder();
  const notes: string[] = [];
  const report = await chaos({
    work,
    mark: randomUUID(),
    seed: 7,
    store: "folder",
    strikes: 0,
    scenarios: scenarios.filter((one) => one.name === name),
    note: (line) => void notes.push(line),
  });
  const text = [...notes, report.text].join("\n");
  expect(report.isClean, text).toBe(true);
  const bad = { toolCallsTwice: 0, excluded: 0, different: 0, lostTrajectories: 0, unrecordedCalls: 0 };
  expect(report.counts, text).toMatchObject(bad);
  const { trajectories, calls } = report.findings.seen;
  expect([trajectories, calls > 16 * 4], text).toEqual([22, true]);
  const faults = faultsIn(join(work, name.replaceAll(" ", "-")));
  expect(Object.keys(faults), text).toEqual(
    expect.arrayContaining(["link", "open", "read", "statx", "write"]),
  );
});
