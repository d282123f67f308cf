import type { GivenTask } from "../src/contracts/activities.ts";
import type { GenerateTurnInput } from "../src/contracts/generate-turn.ts";
import type { SubAgentOptions } from "../src/contracts/loop.ts";
import type { SpokenMessage, ToolDefinition } from "../src/contracts/message.ts";
import type { RecordedRequest, SessionRequest } from "../src/contracts/session.ts";
import type { TrajectoryInput, TrajectoryProgress } from "../src/contracts/trajectory.ts";
import { conversationOf } from "./conversations.ts";

/** A sub-agent of the loop, and the prompt of its conversation. */
export interface NamedSubAgent extends SubAgentOptions {
  name: string;
}

/** A turn's request to the policy. */
export interface PolicyRequest {
  /** The request of the trajectory's agent that the action answers. */
  request: SessionRequest | undefined;
  /** The sub-agent whose turn it is. */
  subAgent: NamedSubAgent | undefined;
  /** The task, before the first action in the conversation with the task's user. */
  givenTask: GivenTask | undefined;
  /** People's messages since the last action. */
  said: SpokenMessage[];
  /** The tools that the policy may call. The first prompt lists them. */
  tools: ToolDefinition[];
  /** The remaining milliseconds. */
  timeLimit: number | undefined;
}

/** The input of the activity that generates the next turn. */
export function generateTurnInput(
  input: TrajectoryInput,
  progress: TrajectoryProgress,
  { request, subAgent, givenTask, said, tools, timeLimit }: PolicyRequest,
): GenerateTurnInput {
  const { head, pending, calls, newest } = conversationOf(progress, subAgent?.name);
  const common = {
    place: input.place,
    turn: progress.turns + 1,
    policyVersion: input.policyVersion,
    newest: input.newest ? true : undefined,
    policyFolder: input.origin?.policyFolder,
    sampling: input.sampling,
    seed: input.seed,
    tokenLimit: input.limits.tokens,
    timeLimit,
    callsBefore: progress.calls,
    refused: progress.refused.length === 0 ? undefined : progress.refused,
    messages: pending,
    said: said.length === 0 ? undefined : said,
    agent: subAgent?.name,
    offered: tools.length === input.tools.length ? undefined : tools.map(({ name }) => name),
  };
  if (request !== undefined) {
    return {
      ...common,
      head: request.follows?.head ?? null,
      callsSoFar: request.callsBefore,
      request: framedRequest(request),
    };
  }
  if (head !== null) return { ...common, head, callsSoFar: calls, answers: newest };
  if (subAgent !== undefined) return { ...common, head, tools, messages: [...subAgent.prompt, ...pending] };
  if (givenTask === undefined || "source" in givenTask)
    return { ...common, head, tools, source: input.source };
  const { prompt } = givenTask.task;
  return { ...common, head, tools, promptOf: input.source, messages: [...prompt, ...pending] };
}

/** The part of an agent's request that the policy reads and the journal keeps. */
function framedRequest({
  key,
  follows,
  messages,
  tools,
  takesCalls,
  callIds,
}: SessionRequest): RecordedRequest & Pick<SessionRequest, "callIds" | "tools"> {
  return { key, follows: follows?.turn ?? null, messages, tools, callIds, takesCalls };
}
