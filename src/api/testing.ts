// `everturn/testing`: whether a plugin keeps its promises, for tests of any runner.
export type { LoopCase, PluginCase, PluginCheckOptions, RewardCase, ToolCase } from "../conformance/cases.ts";
export { pluginChecks } from "../conformance/plugin-checks.ts";
export type { PluginCheck, PromiseName } from "../conformance/promise.ts";
export { parseAction } from "../formats/parse-action.ts";
