import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { once } from "../../../src/trajectory/journal.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const folder = temporaryFolder();

test("work whose result was recorded is not done again", async () => {
  const file = join(folder, "step-0001", "task-00000", "0", "turn-1.json");
  let done = 0;
  const work = async () => ({ number: ++done });
  expect(await once(file, work)).toEqual({ number: 1 });
  expect(await once(file, work)).toEqual({ number: 1 });
  expect(done).toBe(1);
});

test("of two attempts that race the first to finish wins, and both return its result", async () => {
  const file = join(folder, "race.json");
  let finishLate = (_: string) => {};
  const late = once(file, () => new Promise<string>((resolve) => (finishLate = resolve)));
  expect(await once(file, async () => "early")).toBe("early");
  finishLate("late");
  expect(await late).toBe("early");
});

test("work that fails records nothing, so that it can be tried again", async () => {
  const file = join(folder, "failing.json");
  const failing = once(file, async () => {
    throw new Error("the host is down");
  });
  await expect(failing).rejects.toThrow("the host is down");
  expect(existsSync(file)).toBe(false);
  expect(await once(file, async () => "now")).toBe("now");
});

test("work that looks again after a wait is not done if another attempt recorded it meanwhile", async () => {
  const file = join(folder, "waited.json");
  let hadToWait = () => {};
  const waiting = new Promise<void>((resolve) => (hadToWait = resolve));
  let done = 0;
  const late = once(file, async (lookAgain) => {
    await waiting;
    lookAgain();
    return `late ${++done}`;
  });
  await once(file, async (lookAgain) => {
    lookAgain();
    return "early";
  });
  hadToWait();
  expect(await late).toBe("early");
  expect(done).toBe(0);
});
