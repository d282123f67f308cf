import type { Task } from "../src/contracts/generated/task.ts";
import type { AgentLoop } from "../src/contracts/loop.ts";
import type { Message } from "../src/contracts/message.ts";
import type {
  Outcome,
  TrajectoryInput,
  TrajectoryProgress,
  TurnRecord,
} from "../src/contracts/trajectory.ts";
import { failure } from "./failure.ts";
import { historyBound } from "./history-bound.ts";
import { openTurn } from "./open-turn.ts";
import { type LiveOrders, type OrderedTrajectory, takeOrders } from "./orders.ts";
import { schedule } from "./schedule.ts";
import { cutTurn } from "./shown-turns.ts";
import { reachedLimit, timeOfTurn } from "./stop-rules.ts";
import { cut, transcript } from "./transcript.ts";
import { turnSpans } from "./turn-spans.ts";

/** A trajectory under way. */
export interface OpenTrajectory {
  /** The orders that people give it. */
  orders: LiveOrders;
  /** What has come of it: what it carries when it continues as new. */
  progress: TrajectoryProgress;
  /** Reads the task. */
  load(): Promise<Task>;
  /** The task as its user words it, cut at a bound. */
  prompt(): string;
  /** Takes the next turn of `task`. Says how the trajectory ended, by its loop or by a limit, or "continue". */
  takeTurn(loop: AgentLoop, task: Task): Promise<Outcome | "continue">;
  /** Whether its history has grown so long that it should continue as new. */
  isHistoryLong(): boolean;
  /** The newest action's text. */
  lastAction(): string;
  /** Releases the tools that hold state for this trajectory. */
  release(): Promise<void>;
}

/** Opens a trajectory where it stands; `show` is told its transcript at first, and after every action and observation. */
export function openTrajectory(input: TrajectoryInput, show: (transcript: string) => void): OpenTrajectory {
  const { place, queues, limits } = input;
  const progress = input.progress ?? begun();
  const spans = turnSpans();
  const history = historyBound();
  let messages: Message[] = [];
  let current: TurnRecord | undefined;
  const orders = takeOrders(
    {
      id: place.id,
      view: () => viewOf(messages, progress, current),
      check: (message) => schedule(queues, "frame-message", { run: place.run, message }),
      onChange,
    },
    progress.orders,
  );
  let lastAction = "";
  onChange();

  function onChange(): void {
    const shown = current === undefined ? undefined : cutTurn(current);
    show(transcript(prompt(), progress, shown, orders.status()));
  }

  function prompt(): string {
    return cut(messages.at(-1)?.content ?? "", 2_000);
  }

  async function load(): Promise<Task> {
    const { source } = input;
    const task = await schedule(
      queues,
      "load-task",
      { place, source },
      { summary: place.task, isQuick: true },
    );
    messages = task.prompt;
    if (input.progress === undefined) progress.pending = [...messages, ...progress.pending];
    onChange();
    return task;
  }

  async function takeTurn(loop: AgentLoop, task: Task): Promise<Outcome | "continue"> {
    if (orders.isPaused()) await orders.gate();
    const bound = timeOfTurn(limits, progress.workedMs);
    const turn = openTurn(input, progress, { task, spans, orders, bound }, (record) => {
      lastAction = record.action;
      current = record;
      onChange();
    });
    try {
      const ended = await turn.take(loop);
      if (ended !== "continue" && !goesOn(ended, turn.number)) return ended;
    } finally {
      history.add(turn.close());
      current = undefined;
      progress.orders = orders.carried();
    }
    if (progress.turns < turn.number) {
      const { plugin } = input.loop;
      throw failure("LOOP_TURN_INVALID", { loop: plugin, turn: turn.number, count: "no action" });
    }
    return reachedLimit(limits, progress, progress.workedMs) ?? "continue";
  }

  /** An answer ends nothing if a person said something meanwhile, or if the turn is a fork's and has a next one. */
  function goesOn(outcome: Outcome, turn: number): boolean {
    return outcome === "answered" && (orders.hasMessages() || turn <= (input.origin?.turns ?? 0));
  }

  return {
    ...{ progress, orders, load, prompt, takeTurn },
    isHistoryLong: history.isReached,
    lastAction: () => lastAction,
    release: async () => {
      spans.end();
      const stateful = input.tools.filter((tool) => tool.stateful).map((tool) => tool.definition.name);
      const tools = progress.toolsUsed.filter((tool) => stateful.includes(tool));
      if (tools.length > 0) await schedule(queues, "release-tools", { place, tools });
    },
  };
}

/** What orders and their answers say of the trajectory. */
function viewOf(
  prompt: Message[],
  { turns, tokens, head, shown }: TrajectoryProgress,
  current: TurnRecord | undefined,
): ReturnType<OrderedTrajectory["view"]> {
  const newest = current === undefined ? shown.newest : [...shown.newest, cutTurn(current)];
  const firstOf = turns - newest.length + 1;
  const numbered = [
    ...shown.first.map((turn, index) => ({ number: index + 1, ...turn })),
    ...newest.map((turn, index) => ({ number: firstOf + index, ...turn })),
  ];
  return { turn: turns, tokens, head, prompt, turns: numbered };
}

function begun(): TrajectoryProgress {
  return {
    ...{ startedAt: Date.now(), workedMs: 0, turns: 0, head: null, generationSeconds: 0 },
    tokens: { prompt: 0, action: 0, observation: 0 },
    policyVersions: null,
    pending: [],
    ...{ toolCalls: 0, validCalls: 0, invalidInARow: 0, refused: [], toolsUsed: [], toolsHolding: [] },
    loopState: {},
    orders: { messages: [] },
    shown: { first: [], newest: [] },
  };
}
