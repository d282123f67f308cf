import { expect, test } from "vitest";
import type { Turn } from "../../../../src/contracts/generated/trajectory.ts";
import type { Shown } from "../../../../src/contracts/trajectory.ts";
import { cutTurn, withTurn } from "../../../../src/run/projections/shown-turns.ts";
import { transcript } from "../../../../src/run/projections/transcript.ts";

const call = (observation: string) => ({
  tool: "search",
  arguments: { query: "q".repeat(5000) },
  observation,
  valid: true,
  attempts: 1,
});
const none: Shown = { first: [], newest: [] };

function after(turns: Turn[]): Shown {
  return turns.reduce(withTurn, none);
}

test("a short trajectory is shown whole", () => {
  const turns = ["one", "two", "three", "four"].map((action) => ({ action, toolCalls: [] }));
  const { first, newest } = after(turns);
  expect([...first, ...newest]).toEqual(turns);
});

test("of a long one the first turns and the newest are shown, with how many are left out between", () => {
  const turns = Array.from({ length: 1000 }, (_, index) => ({
    action: `action ${index + 1}`,
    toolCalls: [call("語".repeat(4000))],
  }));
  const shown = after(turns);
  expect(JSON.stringify(shown).length).toBeLessThan(25_000);
  expect(shown.first.map(({ action }) => action)).toEqual(["action 1", "action 2", "action 3"]);
  expect(shown.newest.at(-1)?.action).toBe("action 1000");

  const text = transcript("the task", { turns: 1000, shown });
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(20_000);
  const left = 1000 - 3 - shown.newest.length;
  expect(text).toContain(`${left} turns are left out here`);
  expect(text).toContain("**turn 1000**");
});

test("the turn under way is shown last, with its number", () => {
  const shown = after([{ action: "one", toolCalls: [] }]);
  const text = transcript("the task", { turns: 2, shown }, { action: "two", toolCalls: [] });
  expect(text).toMatch(/\*\*turn 1\*\*[\s\S]*one[\s\S]*\*\*turn 2\*\*[\s\S]*two/);
});

test("texts of a turn with very many calls are cut, and the calls too", () => {
  const turn = {
    action: "all at once",
    toolCalls: Array.from({ length: 500 }, () => call("answer".repeat(99))),
  };
  expect(JSON.stringify(cutTurn(turn)).length).toBeLessThan(15_000);
});
