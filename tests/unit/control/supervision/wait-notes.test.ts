import { expect, test } from "vitest";
import { waitNotes } from "../../../../src/control/supervision/wait-notes.ts";
import { grouped, shortReason, type Wait, waitLine } from "../../../../src/control/temporal/waits.ts";

/** A call that fails, since the beginning. */
const failing: Wait = {
  what: "search",
  role: "tools",
  workflow: "step-0001/task-00000/0",
  count: 1,
  since: 0,
  attempt: 2,
  isUnclaimed: false,
  reason: "The tool search failed: 503",
};
const training: Wait = {
  what: "train-step",
  role: "trainer",
  workflow: "step-0001",
  count: 1,
  since: 0,
  attempt: 1,
  isUnclaimed: false,
};

/** The seconds at which something is said, of looks each three seconds until `end`. */
function saidAt(end: number, wait: (seconds: number) => Wait[], isStill = true): [number, string][] {
  const notes = waitNotes();
  const said: [number, string][] = [];
  for (let seconds = 0; seconds <= end; seconds += 3) {
    for (const note of notes.see(wait(seconds), isStill, seconds * 1000).notes) said.push([seconds, note]);
  }
  return said;
}

test("a call that fails is named within ten seconds, then ten times as late and at its tenth attempt", () => {
  const said = saidAt(1200, (seconds) => [{ ...failing, attempt: 2 + Math.floor(seconds / 10) }]);
  expect(said).toEqual([
    [
      6,
      "waiting for search (tools) of step-0001/task-00000/0: attempt 2 after 6 s; The tool search failed: 503",
    ],
    [81, expect.stringContaining("attempt 10 after 1 min 21 s")],
    [102, expect.stringContaining("attempt 12 after 1 min 42 s")],
    [981, expect.stringContaining("attempt 100 after 16 min 21 s")],
    [1002, expect.stringContaining("attempt 102 after 16 min 42 s")],
  ]);
});

test("a new reason is said, one with other numbers is none, and reasons that take turns are no flood", () => {
  const reasons = (seconds: number) => (seconds < 60 ? `port ${seconds} refuses` : `it hangs at ${seconds}`);
  const said = saidAt(95, (seconds) => [{ ...failing, reason: reasons(seconds) }]);
  expect(said.map(([seconds]) => seconds)).toEqual([6, 60]);
  const turns = saidAt(95, (seconds) => [
    { ...failing, reason: ["refused", "reset", "hung"][(seconds % 9) / 3] },
  ]);
  expect(turns.length).toBeLessThanOrEqual(3);
});

test("when it goes on, that is said once; a pause of a moment is no end", () => {
  const said = saidAt(60, (seconds) => (seconds === 24 || seconds > 40 ? [] : [failing]));
  expect(said.map(([seconds]) => seconds)).toEqual([6, 45]);
  expect(said[1]?.[1]).toBe("search (tools) continued after a wait of 39 s");
});

test("what only takes its time is said where nothing else moves, and again when it takes ten times as long", () => {
  expect(saidAt(60, () => [training], false)).toEqual([]);
  const steps = (seconds: number) => [{ ...training, since: 1000 * (seconds - (seconds % 30)) }];
  expect(
    saidAt(300, steps).map(([seconds]) => seconds),
    "each step takes 30 s",
  ).toEqual([9]);
  expect(saidAt(130, () => [training]).map(([seconds]) => seconds)).toEqual([9, 102]);
});

test("it names the time at which the next wait has lasted long enough, so that nobody looks too late", () => {
  const nextAt = (waits: Wait[], now: number) => waitNotes().see(waits, true, now).nextAt;
  expect(nextAt([training, failing], 3000)).toBe(4000);
  expect(nextAt([training, failing], 5000)).toBe(7000);
  expect(nextAt([training, failing], 8000)).toBe(Number.POSITIVE_INFINITY);
});

test("an attempt that no worker takes is trouble, also where others move", () => {
  const [said] = saidAt(20, () => [{ ...training, isUnclaimed: true }], false);
  expect(said).toEqual([
    6,
    "waiting for train-step (trainer) of step-0001: no trainer worker has taken it for 6 s",
  ]);
});

test("those that wait for the same are one line, with the oldest as the example", () => {
  const others = Array.from({ length: 7 }, (_, index) => ({
    ...failing,
    workflow: `step-0001/task-00001/${index}`,
    since: 1000,
    attempt: index,
    reason: `The tool search failed: 50${index}`,
  }));
  const waits = grouped([...others, failing, training]);
  expect(waits.map((wait) => waitLine(wait, 20_000))).toEqual([
    "waiting for search (tools) of step-0001/task-00000/0 and 5 more: attempt 6 after 20 s; The tool search failed: 503",
    "waiting for train-step (trainer) of step-0001: running for 20 s",
    expect.stringContaining("and 1 more: running for 19 s"),
  ]);
  const [sample] = grouped([failing, ...others.map((wait) => ({ ...wait, isSample: true }))]);
  expect(sample && waitLine(sample, 20_000)).toContain("task-00000/0 and at least 5 more: attempt 6");
});

test("a reason is what happened, not what to do about it", () => {
  const message = "The tool a failed: host x.y:1 refuses.\nIt is v1.2. It is retried.";
  expect(shortReason(message)).toBe("The tool a failed: host x.y:1 refuses");
});

test("a long reason is whole", () => {
  const reason = `The tool a failed: ${"its server answered with a long page, ".repeat(30)}and refuses`;
  expect(shortReason(`${reason}. It is retried.`)).toBe(reason);
});
