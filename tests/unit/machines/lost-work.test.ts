import { expect, test } from "vitest";
import { type GenerationLine, lostWork } from "../../machines/lost-work.ts";

function line(event: GenerationLine["event"], turn: number, time: number, worker: string): GenerationLine {
  return { event, seed: 1, key: `step-0001/task-00000/0/${turn}`, time, worker };
}

const eviction = { time: 10_000, workers: ["one/4", "two/7"] };

test("a turn that a killed worker was generating is in flight, and lost once another worker generates it", () => {
  const lines = [
    line("start", 1, 1000, "one/4"),
    line("finish", 1, 2000, "one/4"),
    line("start", 2, 9000, "one/4"),
    line("start", 3, 9000, "two/7"), // its trajectory was given up: nobody generates it again
    line("start", 4, 9000, "two/8"), // nobody killed it
    line("finish", 4, 11_000, "two/8"),
    line("start", 2, 12_000, "two/8"),
    line("finish", 2, 13_000, "two/8"),
  ];
  expect(lostWork(lines, [eviction])).toEqual({ turns: 4, inFlight: 2, lost: 1, unexplained: [] });
});

test("a turn is in flight until it is recorded, shortly after its generation", () => {
  const lines = [
    line("start", 1, 8000, "one/4"),
    line("finish", 1, 9900, "one/4"),
    line("start", 1, 12_000, "two/8"),
    line("finish", 1, 13_000, "two/8"),
  ];
  expect(lostWork(lines, [eviction])).toEqual({ turns: 1, inFlight: 1, lost: 1, unexplained: [] });
});

test("a repeated turn that no kill explains is named", () => {
  const late = [
    line("start", 1, 1000, "one/4"),
    line("finish", 1, 2000, "one/4"),
    line("start", 1, 12_000, "two/8"),
  ];
  const unharmed = [line("start", 1, 9000, "two/8"), line("start", 1, 12_000, "one/5")];
  for (const lines of [late, unharmed]) {
    const { lost, inFlight, unexplained } = lostWork(lines, [eviction]);
    expect({ lost, inFlight }).toEqual({ lost: 1, inFlight: 0 });
    expect(unexplained).toEqual([expect.stringContaining("1/step-0001/task-00000/0/1 was generated again")]);
  }
});

test("a generation that was given up is not repeated work", () => {
  const lines = [
    line("start", 1, 8000, "one/4"),
    line("finish", 1, 9000, "one/4"),
    line("start", 1, 12_000, "two/8"),
    line("stop", 1, 12_050, "two/8"),
  ];
  expect(lostWork(lines, [eviction])).toMatchObject({ turns: 1, lost: 0, unexplained: [] });
});
