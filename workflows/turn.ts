import { CancellationScope } from "@temporalio/workflow";
import { defined } from "../src/base/records/defined.ts";
import type { Call, Turn } from "../src/contracts/generated/trajectory.ts";
import type { Observation } from "../src/contracts/loop.ts";
import type { ToolDefinition } from "../src/contracts/message.ts";
import type { ReadAction } from "../src/contracts/parsed-action.ts";
import type { ToolBinding, TrajectoryInput, Unrecorded } from "../src/contracts/trajectory.ts";
import type { AgentSession, WaitingRequest } from "./agent-session.ts";
import { callSlots, type Slots } from "./call-slots.ts";
import type { ChosenLoop } from "./chosen-loop.ts";
import { failure } from "./failure.ts";
import type { LiveOrders } from "./orders.ts";
import type { TrajectoryEvent, TrajectoryState } from "./trajectory-state.ts";
import type { TaskReader } from "./trajectory-task.ts";
import type { Spans } from "./turn-spans.ts";
import { turnTime, type WorkTime } from "./turn-time.ts";

/**
 * The maximum number of characters of all observations in one turn. They are sent as one payload, which is
 * limited to 2 MiB.
 */
const observationLimit = 300_000;

/** A trajectory's state, and the only way to change it. */
export interface LiveState {
  now(): TrajectoryState;
  apply(event: TrajectoryEvent): void;
}

/** The parts that a turn works with. */
export interface Parts {
  readonly input: TrajectoryInput;
  readonly trajectory: LiveState;
  readonly loop: ChosenLoop;
  readonly task: TaskReader;
  readonly spans: Spans;
  readonly orders: LiveOrders;
  readonly session: AgentSession;
}

/** A turn in progress. `state` is all that changes in it; the trajectory's own state is in `trajectory`. */
export interface LiveTurn extends Parts {
  /** From 1. */
  readonly number: number;
  /** The tools that the policy may call. */
  readonly tools: ToolDefinition[];
  /** The turn is a fork's copy of another trajectory's turn, for which people already decided. */
  readonly isCopied: boolean;
  readonly time: WorkTime;
  readonly scope: CancellationScope;
  readonly state: Progress;
  /** Reports that `state.record` has changed. */
  readonly onChange: (record: Turn) => void;
}

interface Progress {
  /** The turn as people read it. */
  readonly record: Turn;
  readonly slots: Slots;
  /** The request of the trajectory's agent that waits for the turn's action. */
  request: WaitingRequest | undefined;
  /** The loop has generated the turn's action, or is about to. */
  hasAction: boolean;
  /** What the policy, or the run's expression, read in the action. */
  readAction: ReadAction | undefined;
  /** Characters left for the turn's observations. */
  observationRoom: number;
  /** The newest call of each tool that holds state: the next one waits for it. */
  readonly newestCalls: Map<string, Promise<unknown>>;
  /** Generation, calls and waits in progress. */
  readonly underWay: Set<Promise<unknown>>;
}

/** A call with a place in the turn. `answer` records the result and returns what the loop sees of it. */
export interface Slot {
  /** From 0 within the turn. */
  number: number;
  answer(record: Call): Observation;
}

/** The turn that follows the trajectory's state. It may work for `bound` milliseconds, and is cancelled after that. */
export function beginTurn(
  parts: Parts,
  bound: number | undefined,
  onChange: (record: Turn) => void,
): LiveTurn {
  const { input, trajectory, loop } = parts;
  const number = trajectory.now().progress.turns + 1;
  const record: Turn = { action: "", toolCalls: [] };
  const scope = new CancellationScope();
  return {
    ...parts,
    number,
    tools: offeredTools(input.tools, loop.tools),
    isCopied: number <= (input.origin?.turns ?? 0),
    time: turnTime(bound, () => scope.cancel()),
    scope,
    state: {
      record,
      slots: callSlots(record),
      request: undefined,
      hasAction: false,
      readAction: undefined,
      observationRoom: observationLimit,
      newestCalls: new Map(),
      underWay: new Set(),
    },
    onChange,
  };
}

/** The tools that the policy may call: those `named`, or by default all but those for loops. */
export function offeredTools(
  bindings: readonly ToolBinding[],
  named: readonly string[] | undefined,
): ToolDefinition[] {
  return bindings
    .filter(({ definition, forLoops = false }) => named?.includes(definition.name) ?? !forLoops)
    .map(({ definition }) => definition);
}

/** Starts a part of the turn within the turn's span. `allSettled` waits for it. */
export function track<Result>(
  { spans, state: { underWay } }: LiveTurn,
  work: () => Promise<Result>,
): Promise<Result> {
  const doing = spans.within(work);
  underWay.add(doing);
  const remove = () => void underWay.delete(doing);
  doing.then(remove, remove);
  return doing;
}

/** Waits until every part of the turn has ended, however it ends. */
export async function allSettled({ state }: LiveTurn): Promise<void> {
  await Promise.allSettled(state.underWay);
}

/** Takes the next place among the turn's calls. */
export function openCall({ state, onChange }: LiveTurn): Slot {
  const { call: number, fill } = state.slots.take();
  return {
    number,
    answer: (record) => {
      fill(record);
      onChange(state.record);
      const { tool, observation: text, valid, done } = record;
      return defined({ tool, text, valid, done });
    },
  };
}

/** Answers a call that reaches no tool: it is unreadable, or names an unknown tool. */
export function refuseCall(
  turn: LiveTurn,
  call: Pick<Unrecorded, "tool" | "arguments" | "observation">,
): Observation {
  const { number, answer } = openCall(turn);
  turn.trajectory.apply({ type: "refused", call: { turn: turn.number, call: number, ...call } });
  return answer({ ...call, valid: false, attempts: 0 });
}

/** The failure of a loop that does not generate one action a turn. */
export function loopMisused({ loop, number }: LiveTurn, count: string): Error {
  return failure("LOOP_TURN_INVALID", { loop: loop.plugin, turn: number, count });
}
