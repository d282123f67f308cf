import type { DatasetPlugin } from "./dataset.ts";
import type { JsonValue } from "./json.ts";
import type { RewardPlugin } from "./reward.ts";
import type { ToolPlugin, ToolResponse } from "./tool.ts";

/**
 * The default export of an environment plugin: a data set, a reward and, if its manifest has a tool block, a tool. Each
 * part runs like a plugin of its own kind, in a thread or process of its own, so the parts share no variables. The tool's
 * snapshots reach the reward if the manifest's reward block sets `snapshots`.
 */
export type EnvironmentPlugin<State = undefined> = DatasetPlugin &
  RewardPlugin &
  Partial<ToolPlugin<State, ToolResponse | JsonValue>>;
