// `everturn/testing`: whether a plugin keeps its promises, for tests of any runner.

export { parseAction } from "../chat/formats/parse-action.ts";
export type {
  LoopCase,
  PluginCase,
  PluginCheckOptions,
  RewardCase,
  ToolCase,
} from "../control/conformance/cases.ts";
export { pluginChecks } from "../control/conformance/plugin-checks.ts";
export type { PluginCheck, PromiseName } from "../control/conformance/promise.ts";
