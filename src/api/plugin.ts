// `everturn/plugin`: what authors of tools, rewards and data sets import. It loads none of the engine.
export type { ConfigurationProblem } from "../contracts/configuration-problem.ts";
export type { DatasetPlugin } from "../contracts/dataset.ts";
export type {
  DefinedDataset,
  DefinedFunction,
  DefinedReward,
  DefinedTool,
  DefinedToolset,
  DefinedTracker,
  ObjectSchema,
  StandardSchema,
} from "../contracts/definitions.ts";
export type { Task } from "../contracts/generated/task.ts";
export type { JsonObject, JsonValue } from "../contracts/json.ts";
export type { ParsedAction, ParsedCall } from "../contracts/parsed-action.ts";
export type {
  GroupMember,
  GroupRewardPlugin,
  GroupScore,
  GroupScoreRequest,
  RewardPlugin,
  Score,
  ScoreRequest,
  Unscored,
} from "../contracts/reward.ts";
export type {
  ToldFunction,
  ToolCreation,
  ToolExecution,
  ToolPlugin,
  ToolResponse,
} from "../contracts/tool.ts";
export type {
  TrackedEnding,
  TrackedEntry,
  TrackedRun,
  TrackerPlugin,
  TrackerSession,
} from "../contracts/tracker.ts";
export type { Outcome, ToolCallRecord, TurnRecord } from "../contracts/trajectory.ts";
export { defineDataset, defineReward, defineTool, defineTracker, wrapTool } from "../definitions/define.ts";
export { type Agent, type AgentContext, defineAgent } from "../definitions/define-agent.ts";
export { defineToolset } from "../definitions/define-toolset.ts";
export type { ParseOptions } from "../formats/action-format.ts";
export { parseAction } from "../formats/parse-action.ts";
export { readImage, videoFile } from "../images/image-source.ts";
export { InexactNumberError, parseExactJson } from "../json/exact-json.ts";
export { parseKeepingDigits } from "../json/kept-digits.ts";
export { killProcess, processHandle } from "../processes/process-handle.ts";
export { type ParseTasksOptions, parseTasks } from "../tasks/parse-tasks.ts";
export { type ToolKwargs, toolKwargs } from "../tasks/tool-kwargs.ts";
export { type MarkedAnswer, markedAnswer } from "../text/marked-answer.ts";
export { readText } from "../validation/read-text.ts";
