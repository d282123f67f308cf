import type { GenerateTurnInput, GivenTask } from "../src/contracts/activities.ts";
import type { SpokenMessage, ToolDefinition } from "../src/contracts/message.ts";
import type { SessionRequest } from "../src/contracts/session.ts";
import type { TrajectoryInput, TrajectoryProgress } from "../src/contracts/trajectory.ts";
import { conversationOf } from "./conversations.ts";

/** What a turn asks of the policy. */
export interface TurnRequest {
  said: SpokenMessage[];
  /** The task, before the first action. */
  first: GivenTask | undefined;
  timeLimit: number | undefined;
  /** What the policy may call, and so what the prompt names. */
  offered: ToolDefinition[];
  /** The sub-agent whose turn it is, and how its conversation begins. */
  agent?: { name: string; prompt: SpokenMessage[] } | undefined;
  /** The agent's request that it answers. */
  asked?: SessionRequest | undefined;
}

/** The input of the activity that generates the next turn. */
export function generateTurnInput(
  input: TrajectoryInput,
  progress: TrajectoryProgress,
  { said, first, timeLimit, offered, agent, asked }: TurnRequest,
): GenerateTurnInput {
  const { place, policyVersion, sampling, seed, limits, newest } = input;
  const { turns, calls: callsBefore, refused } = progress;
  const conversation = conversationOf(progress, agent?.name);
  const head = asked === undefined ? conversation.head : (asked.follows?.head ?? null);
  const task = first !== undefined && "task" in first ? first.task.prompt : [];
  const prompt = head === null ? (agent?.prompt ?? task) : [];
  const messages = [...prompt, ...conversation.pending];
  const tools = head === null && asked === undefined ? offered : undefined;
  const tokenLimit = limits.tokens;
  const { policyFolder } = input.origin ?? {};
  return {
    place,
    turn: turns + 1,
    policyVersion,
    head,
    messages,
    callsBefore,
    callsSoFar: asked?.callsBefore ?? conversation.calls,
    sampling,
    seed,
    ...(first !== undefined && "source" in first ? { source: first.source } : {}),
    ...(first !== undefined && "task" in first ? { promptOf: input.source } : {}),
    ...(conversation.newest === undefined ? {} : { answers: conversation.newest }),
    ...(tools === undefined ? {} : { tools }),
    ...(asked === undefined ? {} : { request: requestOf(asked) }),
    ...(agent === undefined ? {} : { agent: agent.name }),
    ...(offered.length === input.tools.length ? {} : { offered: offered.map(({ name }) => name) }),
    ...(newest ? { newest } : {}),
    ...(tokenLimit === undefined ? {} : { tokenLimit }),
    ...(timeLimit === undefined ? {} : { timeLimit }),
    ...(refused.length === 0 ? {} : { refused }),
    ...(said.length === 0 ? {} : { said }),
    ...(policyFolder === undefined ? {} : { policyFolder }),
  };
}

function requestOf({
  key,
  follows,
  messages,
  tools,
  takesCalls,
  callIds,
}: SessionRequest): NonNullable<GenerateTurnInput["request"]> {
  return {
    key,
    follows: follows?.turn ?? null,
    messages,
    tools,
    callIds,
    ...(takesCalls === undefined ? {} : { takesCalls }),
  };
}
