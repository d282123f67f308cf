// `everturn/workflow`: imports for agent loops. It contains types and a helper without dependencies, because a loop
// is bundled into a run's workflow code.
export type { DefinedLoop } from "../contracts/definitions.ts";
export type { Task } from "../contracts/generated/task.ts";
export type { JsonObject, JsonValue } from "../contracts/json.ts";
export type {
  Action,
  AgentLoop,
  LoopContext,
  Observation,
  SubAgent,
  SubAgentOptions,
} from "../contracts/loop.ts";
export type { SpokenMessage, ToolCall, ToolDefinition } from "../contracts/message.ts";
export type { ParsedAction, ParsedCall } from "../contracts/parsed-action.ts";
export type { Outcome } from "../contracts/trajectory.ts";
export { defineLoop } from "../plugin/define/define-loop.ts";
