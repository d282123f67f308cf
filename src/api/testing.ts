// `everturn/testing`: checks of whether a plugin keeps its promises, for tests with any runner.

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
