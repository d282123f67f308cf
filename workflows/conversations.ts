import { defined } from "../src/base/records/defined.ts";
import type { Message, SpokenMessage } from "../src/contracts/message.ts";
import type { Begun, Conversation, SegmentRef, TrajectoryProgress } from "../src/contracts/trajectory.ts";

/** Returns the state of a trajectory's conversation: of a sub-agent's, or of the one with the task's user. */
export function conversationOf(progress: TrajectoryProgress, agent: string | undefined): Conversation {
  const { head, toolCalls, main = { head, calls: toolCalls }, agents = {}, pending } = progress;
  if (agent === undefined) return { ...main, pending };
  return own(agents, agent) ?? { head: null, pending: [], calls: 0 };
}

/**
 * Returns the messages of people to a fork's original that are not in `messages`, the ones that the fork's
 * loop repeats.
 */
export function saidByOthers(
  original: readonly SpokenMessage[],
  messages: readonly SpokenMessage[],
): SpokenMessage[] {
  return original.filter(
    ({ role, content }) => !messages.some((one) => one.role === role && one.content === content),
  );
}

/** Returns the changes after a conversation gets an action, which follows all its pending messages. */
export function afterAction(
  progress: TrajectoryProgress,
  agent: string | undefined,
  head: SegmentRef,
): Partial<TrajectoryProgress> {
  const { main } = progress;
  if (agent !== undefined) {
    const { head: before, toolCalls: calls, turns, calls: begun } = progress;
    return {
      head,
      main: main ?? { head: before, calls, newest: { turn: turns, calls: begun } },
      ...withConversation(progress, agent, { head, pending: [] }),
    };
  }
  return defined({ head, pending: [], main: main && { ...main, head } });
}

/** Returns the changes after messages are added to a conversation. */
export function afterMessages(
  progress: TrajectoryProgress,
  agent: string | undefined,
  messages: readonly Message[],
): Partial<TrajectoryProgress> {
  const pending = [...conversationOf(progress, agent).pending, ...messages];
  return agent === undefined ? { pending } : withConversation(progress, agent, { pending });
}

/**
 * Returns the changes after a turn of a conversation has ended. `calls` counts the trajectory's calls so far.
 */
export function afterTurn(
  progress: TrajectoryProgress,
  agent: string | undefined,
  calls: number,
  newest: Begun,
): Partial<TrajectoryProgress> {
  const { main } = progress;
  if (agent !== undefined) return withConversation(progress, agent, { calls, newest });
  return main === undefined ? {} : { main: { ...main, calls, newest } };
}

function withConversation(
  progress: TrajectoryProgress,
  agent: string,
  changed: Partial<Conversation>,
): Pick<TrajectoryProgress, "agents"> {
  return { agents: { ...progress.agents, [agent]: { ...conversationOf(progress, agent), ...changed } } };
}

function own<Value>(all: Record<string, Value>, name: string): Value | undefined {
  return Object.hasOwn(all, name) ? all[name] : undefined;
}
