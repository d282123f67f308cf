// `everturn/plugin`: imports for authors of tools, rewards and data sets. It loads none of the engine.

export { InexactNumberError, parseExactJson } from "../base/json/exact-json.ts";
export { parseKeepingDigits } from "../base/json/kept-digits.ts";
export { type AskHelper, type HelperLimits, helperProcesses } from "../base/processes/helper-processes.ts";
export { killProcess, processHandle } from "../base/processes/process-handle.ts";
export { type MarkedAnswer, markedAnswer } from "../base/text/marked-answer.ts";
export { readJsonLines } from "../base/validation/read-json-lines.ts";
export { readText } from "../base/validation/read-text.ts";
export type { ParseOptions } from "../chat/formats/action-format.ts";
export { parseAction } from "../chat/formats/parse-action.ts";
export { readImage, videoFile } from "../chat/images/image-source.ts";
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
export type { EnvironmentPlugin } from "../contracts/environment.ts";
export type { Task } from "../contracts/generated/task.ts";
export type { Call as ToolCallRecord, Turn as TurnRecord } from "../contracts/generated/trajectory.ts";
export { isObject, type JsonObject, type JsonValue } from "../contracts/json.ts";
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
  TrackedHistogram,
  TrackedRun,
  TrackedTable,
  TrackerPlugin,
  TrackerSession,
} from "../contracts/tracker.ts";
export type { Outcome } from "../contracts/trajectory.ts";
export { serverAddress } from "../control/servers/server-address.ts";
export { type ParseTasksOptions, parseTasks } from "../plan/tasks/parse-tasks.ts";
export { type ToolKwargs, toolKwargs } from "../plan/tasks/tool-kwargs.ts";
export { defineDataset, defineReward, defineTool, defineTracker, wrapTool } from "../plugin/define/define.ts";
export { type Agent, type AgentContext, defineAgent } from "../plugin/define/define-agent.ts";
export { defineToolset } from "../plugin/define/define-toolset.ts";
