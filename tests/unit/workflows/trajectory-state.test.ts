import { describe, expect, test } from "vitest";
import type { GenerateTurnResult } from "../../../src/contracts/generate-turn.ts";
import type { Call } from "../../../src/contracts/generated/trajectory.ts";
import { conversationOf, saidByOthers } from "../../../workflows/conversations.ts";
import {
  begun,
  carriedState,
  nextState,
  stateOf,
  type TrajectoryEvent,
  type TrajectoryState,
} from "../../../workflows/trajectory-state.ts";

const generated = (policyVersion: number): GenerateTurnResult => ({
  action: "go",
  finishReason: "stop",
  head: "h".repeat(64),
  policyVersion,
  seconds: 0.5,
  workSeconds: 0.5,
  tokens: { prompt: 3, action: 2, observation: 1 },
});
const call = (valid: boolean): Call => ({
  tool: "search",
  arguments: {},
  observation: "none",
  valid,
  attempts: 1,
});

function after(...events: TrajectoryEvent[]): TrajectoryState {
  return events.reduce(
    (state, event) => {
      const before = structuredClone(state);
      const next = nextState(state, event);
      expect(state, `${event.type} leaves the state before as it was`).toEqual(before);
      return next;
    },
    stateOf(begun(1000)),
  );
}

const turn = (number: number, calls: Call[]): TrajectoryEvent[] => [
  { type: "generated", turn: number, result: generated(4 + number) },
  ...calls.map((one): TrajectoryEvent => ({ type: "called", tool: one.tool })),
  {
    type: "turn-ended",
    turn: number,
    ended: {
      record: { action: "go", toolCalls: calls },
      calls: calls.length,
      workedMs: 250,
      loopState: { notes: number },
      invalidLimit: undefined,
    },
  },
];

describe("what the next action follows", () => {
  const seen = { role: "tool", name: "search", content: "4" } as const;
  const hint = { role: "user", content: "Take your time." } as const;
  const own = { role: "system", content: "Of the original." } as const;
  const asked = after(
    { type: "observed", messages: [seen] },
    { type: "told", message: hint },
    { type: "said", own: [own] },
  );

  test("is what was observed and what people said", () => {
    expect(asked.progress.pending).toEqual([seen, own, hint]);
    expect(asked.orders.messages).toEqual([]);
  });

  test("waits no longer once the action is there", () => {
    const refused = { turn: 1, call: 0, tool: "x", arguments: "?", observation: "no" };
    const answered = [{ type: "refused", call: refused }, ...turn(1, [])] as TrajectoryEvent[];
    const next = answered.reduce(nextState, asked);
    expect(next.progress).toMatchObject({ pending: [], refused: [], turns: 1 });
  });
});

test("turns are added up: tokens, versions, calls, names of tools once, the time of work", () => {
  const { progress } = after(...turn(1, [call(true), call(false)]), ...turn(2, [call(false)]));
  expect(progress).toMatchObject({
    startedAt: 1000,
    workedMs: 500,
    turns: 2,
    generationSeconds: 1,
    loopState: { notes: 2 },
    tokens: { prompt: 6, action: 4, observation: 2 },
    policyVersions: { oldest: 5, newest: 6 },
    toolCalls: 3,
    validCalls: 1,
    invalidInARow: 2,
    toolsUsed: ["search"],
    toolsHolding: [],
  });
  expect(progress.shown.first).toHaveLength(2);
});

test("a turn without an action costs its time, and changes nothing else", () => {
  const [, ended] = turn(1, [call(true)]).filter(({ type }) => type !== "called");
  if (ended === undefined) throw new Error("the turn ends");
  expect(after(ended).progress).toEqual({ ...begun(1000), workedMs: 250 });
});

test("what is carried over is the progress with what was ordered and not done yet", () => {
  const message = { role: "user", content: "Hello." } as const;
  const state = after({ type: "paused", reason: "lunch" }, { type: "told", message });
  expect(carriedState(state).orders).toEqual({ paused: { reason: "lunch" }, messages: [message] });
  expect(stateOf(carriedState(state)).orders).toEqual(state.orders);
});

test("a sub-agent's conversation stands by itself: its head, what waits in it, and the calls that templates number answers by", () => {
  const seen = (content: string) => ({ role: "tool", name: "search", content }) as const;
  const critic = (number: number, calls: Call[]): TrajectoryEvent[] => {
    const own = { ...generated(4), head: `critic ${number}` };
    const [, ...rest] = turn(number, calls);
    const named = rest.map((event) =>
      event.type === "turn-ended"
        ? { ...event, ended: { ...event.ended, record: { ...event.ended.record, agent: "critic" } } }
        : event,
    );
    return [{ type: "generated", turn: number, result: own, agent: "critic" }, ...named];
  };
  const events: TrajectoryEvent[] = [
    ...turn(1, [call(true), call(true)]),
    { type: "observed", messages: [seen("main")] },
    ...critic(2, [call(true)]),
    { type: "observed", messages: [seen("critic")], agent: "critic" },
  ];
  const { progress } = after(...events);
  expect(progress.head).toBe("critic 2");
  expect(conversationOf(progress, undefined)).toEqual({
    head: "h".repeat(64),
    pending: [seen("main")],
    calls: 2,
    newest: { turn: 1, calls: 2 },
  });
  expect(conversationOf(progress, "critic")).toEqual({
    head: "critic 2",
    pending: [seen("critic")],
    calls: 3,
    newest: { turn: 2, calls: 1 },
  });
  expect(conversationOf(progress, "constructor")).toEqual({ head: null, pending: [], calls: 0 });
  const { progress: later } = after(...events, ...turn(3, [call(false)]));
  expect(conversationOf(later, undefined)).toEqual({
    head: "h".repeat(64),
    pending: [],
    calls: 4,
    newest: { turn: 3, calls: 1 },
  });
  expect(conversationOf(later, "critic")).toEqual(conversationOf(progress, "critic"));
});

test("what a loop called for itself is none of the policy's calls", () => {
  const { progress } = after(...turn(1, [{ ...call(false), byLoop: true }, call(true)]));
  expect(progress).toMatchObject({ toolCalls: 1, validCalls: 1, invalidInARow: 0, calls: 2 });
});

test("what the loop said to a fork's original it says to the fork itself, once", () => {
  const loop = { role: "user", content: "A critic says: no." } as const;
  const person = { role: "user", content: "Hurry." } as const;
  expect(saidByOthers([loop, person], [loop])).toEqual([person]);
  expect(saidByOthers([person], [])).toEqual([person]);
});
