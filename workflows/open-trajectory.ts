import type { Turn } from "../src/contracts/generated/trajectory.ts";
import type { Message } from "../src/contracts/message.ts";
import type { Outcome, TrajectoryInput, TrajectoryProgress } from "../src/contracts/trajectory.ts";
import { cut } from "../src/run/projections/cut.ts";
import { liveView } from "../src/run/projections/live-view.ts";
import { cutTurn } from "../src/run/projections/shown-turns.ts";
import { transcript } from "../src/run/projections/transcript.ts";
import { type AgentSession, agentSession } from "./agent-session.ts";
import type { ChosenLoop } from "./chosen-loop.ts";
import { failure } from "./failure.ts";
import { historyBound } from "./history-bound.ts";
import { openTurn } from "./open-turn.ts";
import { type LiveOrders, takeOrders } from "./orders.ts";
import { schedule } from "./schedule.ts";
import { reachedLimit, timeOfTurn } from "./stop-rules.ts";
import { releaseTools, toolsWithState } from "./tool-activity.ts";
import { begun, carriedState, nextState, stateOf, type TrajectoryEvent } from "./trajectory-state.ts";
import { type TaskReader, trajectoryTask } from "./trajectory-task.ts";
import { turnSpans } from "./turn-spans.ts";

/** A trajectory in progress. */
export interface OpenTrajectory {
  /** People's orders to the trajectory. */
  orders: LiveOrders;
  /** Its progress so far. */
  progress(): TrajectoryProgress;
  /** The progress that it carries over when it continues as new. */
  carried(): TrajectoryProgress;
  task: TaskReader;
  /** The session of its agent, if its loop waits for an agent's requests. */
  session: AgentSession;
  /** The user's words in the task, cut at a limit. The task's id until the task has been read. */
  prompt(): string;
  /** Takes the next turn. Returns how its loop or a limit ended the trajectory, or "continue". */
  takeTurn(loop: ChosenLoop): Promise<Outcome | "continue">;
  /** Whether its history is so long that it should continue as new. */
  isHistoryLong(): boolean;
  /** The newest action's text. */
  lastAction(): string;
  /** Releases the tools that hold state for this trajectory. */
  release(): Promise<void>;
}

/**
 * Opens a trajectory at its current state. Calls `show` with its transcript at first and after every action
 * and observation.
 */
export function openTrajectory(input: TrajectoryInput, show: (transcript: string) => void): OpenTrajectory {
  const { place, queues, limits } = input;
  let state = stateOf(input.progress ?? begun(Date.now()));
  const apply = (event: TrajectoryEvent) => {
    state = nextState(state, event);
  };
  const spans = turnSpans();
  const session = agentSession(input);
  const history = historyBound(session.isBegun);
  let messages: Message[] = [];
  let current: Turn | undefined;
  const orders = takeOrders({
    id: place.id,
    orders: () => state.orders,
    apply,
    view: () => liveView(messages, state.progress, current),
    check: (message) => schedule(queues, "frame-message", { run: place.run, message }),
    onChange,
  });
  const task = trajectoryTask(input, (opening) => {
    messages = opening;
    onChange();
  });
  let lastAction = "";
  onChange();

  function onChange(): void {
    const shown = current === undefined ? undefined : cutTurn(current);
    show(transcript(prompt(), state.progress, shown, orders.status()));
  }

  function prompt(): string {
    return cut(messages.at(-1)?.content ?? place.task, 2_000);
  }

  async function takeTurn(loop: ChosenLoop): Promise<Outcome | "continue"> {
    if (orders.isPaused()) await orders.gate();
    const bound = timeOfTurn(limits, state.progress.workedMs);
    const parts = { input, trajectory: { now: () => state, apply }, loop, task, spans, orders, session };
    const turn = openTurn(parts, bound, (record) => {
      lastAction = record.action;
      current = record;
      onChange();
    });
    try {
      const said = await turn.take();
      const ended = said === "continue" && turn.isDone() ? "done" : said;
      if (ended !== "continue" && !goesOn(ended, turn.number)) return ended;
    } finally {
      history.add(turn.close());
      current = undefined;
    }
    const { progress } = state;
    if (progress.turns < turn.number) {
      throw failure("LOOP_TURN_INVALID", { loop: loop.plugin, turn: turn.number, count: "no action" });
    }
    return reachedLimit(limits, progress, progress.workedMs) ?? "continue";
  }

  /**
   * Whether the trajectory continues after a turn with this outcome. It continues after an answer if a person
   * has sent a message in the meantime. In a fork's copied turns, neither an answer nor a tool ends it.
   */
  function goesOn(outcome: Outcome, turn: number): boolean {
    const isCopied = turn <= (input.origin?.turns ?? 0);
    if (outcome === "answered" && session.ending() !== undefined) return false;
    if (outcome === "answered") return isCopied || state.orders.messages.length > 0;
    return outcome === "done" && isCopied;
  }

  return {
    orders,
    task,
    session,
    prompt,
    takeTurn,
    progress: () => state.progress,
    carried: () => carriedState(state),
    isHistoryLong: history.isReached,
    lastAction: () => lastAction,
    release: async () => {
      spans.end();
      const { toolsUsed, holders } = state.progress;
      const used = toolsUsed.flatMap((name) =>
        input.tools.filter(({ definition }) => definition.name === name),
      );
      const tools = toolsWithState(used);
      await releaseTools(
        queues,
        place,
        tools.map((name) => ({ name, holder: holders?.[name] })),
      );
    },
  };
}
