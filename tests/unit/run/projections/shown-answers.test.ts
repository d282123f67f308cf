import { expect, test } from "vitest";
import type { Call, Trajectory } from "../../../../src/contracts/generated/trajectory.ts";
import { shownAnswers } from "../../../../src/run/projections/shown-answers.ts";

type Told = Pick<Trajectory, "task" | "turns" | "answer" | "success">;

/** A trajectory that calls a tool, reads `observation` and answers. */
function told(truth: string, observation: string, answer: string, change: Partial<Call> = {}): Told {
  const call: Call = { tool: "look", arguments: {}, observation, valid: true, attempts: 1, ...change };
  return {
    task: {
      data_source: "facts",
      prompt: [{ role: "user", content: "What do 5 lamps cost?" }],
      reward_model: { ground_truth: truth },
    },
    turns: [
      { action: "…", toolCalls: [call] },
      { action: answer, toolCalls: [] },
    ],
    answer,
    success: false,
  };
}

const sharesOf = (...trajectories: Told[]) => {
  const { shownAnswerShare: shown, givenAnswerShare: given } = shownAnswers(trajectories);
  return [shown, given];
};

test("counts trajectories that read the right answer, and those of them that gave it", () => {
  expect(
    sharesOf(
      told("57", "The lamp weighs 57 g.", "It is 57."),
      told("57", "lamp 57, chair 12", "12"),
      told("57", "chair 12", "12"),
      told("57", "lamp: 57.", "75"),
    ),
  ).toEqual([0.75, 1 / 3]);
  expect(sharesOf({ ...told("57", "57", "57.0"), success: true })).toEqual([1, 1]);
});

test.each(["157", "57.5", "1,057", "0.57", "x57", "-57", "57th"])("57 is not a part of %s", (observation) => {
  expect(shownAnswers([told("57", observation, "57")])).toEqual({});
});

test.each(["57", "57.", "(57)", "57 g", "price=57, size=2", "2 x 57", "12 - 57 + 3", "**57**", "2\n57\n"])(
  "57 is a part of %j",
  (observation) => {
    expect(sharesOf(told("57", observation, "3"))).toEqual([1, 0]);
  },
);

test("an answer does not count as read if chance, the prompt or nobody showed it", () => {
  expect(shownAnswers([told("5", "12 of 5", "7")])).toEqual({}); // the prompt contains it
  expect(shownAnswers([told("57", "57", "7", { valid: false })])).toEqual({});
  expect(shownAnswers([told("57", "57", "7", { byLoop: true })])).toEqual({});
  expect(shownAnswers([told("", "anything", "7")])).toEqual({});
  const { answer: _, ...cut } = told("57", "57", "7");
  expect(shownAnswers([cut])).toEqual({}); // a limit ended it
  const submitted = told("57", "57", "7");
  expect(shownAnswers([{ ...submitted, turns: submitted.turns.slice(0, 1) }])).toEqual({});
  expect(shownAnswers([])).toEqual({});
});
