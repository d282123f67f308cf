import { patched } from "@temporalio/workflow";
import type { AgentLoop } from "../src/contracts/loop.ts";
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
import { turnClock } from "./turn-clock.ts";
import { turnSpans } from "./turn-spans.ts";

/** A trajectory under way. */
export interface OpenTrajectory {
  /** The orders that people give it. */
  orders: LiveOrders;
  /** What has come of it: what it carries when it continues as new. */
  progress: TrajectoryProgress;
  /** Takes the next turn. Says how the trajectory ended, by its loop or by a limit, or "continue". */
  takeTurn(loop: AgentLoop): Promise<Outcome | "continue">;
  /** Whether its history has grown so long that it should continue as new. */
  isHistoryLong(): boolean;
  /** The newest action's text. */
  lastAction(): string;
  /** Releases the tools that hold state for this trajectory. */
  release(): Promise<void>;
}

/** Opens a trajectory where it stands; `show` is told its transcript at first, and after every action and observation. */
export function openTrajectory(input: TrajectoryInput, show: (transcript: string) => void): OpenTrajectory {
  const { place, queues, limits = {} } = input;
  const progress = input.progress ?? begun(input);
  const hasTime = limits.time !== undefined || limits.turnTime !== undefined;
  const clock = hasTime && !patched("work-time") ? turnClock(progress) : undefined;
  const hold = clock?.hold ?? ((work) => work());
  const workedMs = () => clock?.elapsed() ?? progress.workedMs;
  const spans = turnSpans();
  const history = historyBound();
  const prompt = promptOf(input);
  let current: TurnRecord | undefined;
  const orders = takeOrders(
    {
      id: place.id,
      view: () => viewOf(input, progress, current),
      check: (message) => schedule(queues, "frame-message", { run: place.run, message }),
      onChange,
    },
    progress.orders,
  );
  let lastAction = "";
  onChange();

  function onChange(): void {
    const shown = current === undefined ? undefined : cutTurn(current);
    show(transcript(prompt, progress, shown, orders.status()));
  }

  async function takeTurn(loop: AgentLoop): Promise<Outcome | "continue"> {
    if (orders.isPaused()) await hold(orders.gate);
    const bound = timeOfTurn(limits, workedMs());
    const turn = openTurn(
      input,
      progress,
      { spans, orders, hold, ...(clock === undefined ? { bound } : {}) },
      (record) => {
        lastAction = record.action;
        current = record;
        onChange();
      },
    );
    try {
      const ended = await (clock?.within(bound, () => turn.take(loop)) ?? turn.take(loop));
      if (ended !== "continue" && !goesOn(ended, turn.number)) return ended;
    } finally {
      history.add(turn.close());
      current = undefined;
      if (clock !== undefined) progress.heldMs = clock.heldMs();
      progress.orders = orders.carried();
    }
    if (progress.turns < turn.number) {
      const { plugin } = input.loop;
      throw failure("LOOP_TURN_INVALID", { loop: plugin, turn: turn.number, count: "no action" });
    }
    return reachedLimit(limits, progress, workedMs()) ?? "continue";
  }

  /** An answer ends nothing if a person said something meanwhile, or if the turn is a fork's and has a next one. */
  function goesOn(outcome: Outcome, turn: number): boolean {
    return outcome === "answered" && (orders.hasMessages() || turn <= (input.origin?.turns ?? 0));
  }

  return {
    ...{ progress, orders },
    takeTurn,
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

/** The task as its user words it, cut at a bound. */
export function promptOf({ task }: TrajectoryInput): string {
  return cut(task.prompt.at(-1)?.content ?? "", 2_000);
}

/** What orders and their answers say of the trajectory. */
function viewOf(
  { task }: TrajectoryInput,
  { turns, tokens, head, shown }: TrajectoryProgress,
  current: TurnRecord | undefined,
): ReturnType<OrderedTrajectory["view"]> {
  const newest = current === undefined ? shown.newest : [...shown.newest, cutTurn(current)];
  const firstOf = turns - newest.length + 1;
  const numbered = [
    ...shown.first.map((turn, index) => ({ number: index + 1, ...turn })),
    ...newest.map((turn, index) => ({ number: firstOf + index, ...turn })),
  ];
  return { turn: turns, tokens, head, prompt: task.prompt, turns: numbered };
}

function begun({ task }: TrajectoryInput): TrajectoryProgress {
  return {
    ...{ startedAt: Date.now(), workedMs: 0, turns: 0, head: null, generationSeconds: 0 },
    tokens: { prompt: 0, action: 0, observation: 0 },
    policyVersions: null,
    pending: [...task.prompt],
    ...{ toolCalls: 0, validCalls: 0, invalidInARow: 0, refused: [], toolsUsed: [], toolsHolding: [] },
    loopState: {},
    shown: { first: [], newest: [] },
  };
}
