import { EverturnError } from "../../../../base/errors/everturn-error.ts";
import { refusal } from "../../../../base/validation/problem.ts";
import type { JsonObject } from "../../../../contracts/json.ts";
import type { ResolvedTool } from "../../../../contracts/plan.ts";
import { openSubject } from "../../../../control/conformance/open-subject.ts";
import { loadPlan } from "../../../../plan/pipeline/load-plan.ts";
import { plainObservations } from "../../../../plan/pipeline/read/plain-observations.ts";
import { callSettings } from "../../../../plan/pipeline/resolve/call-settings.ts";
import { toolFunctions, toolName } from "../../../../plugin/registry/tool-functions.ts";
import type { ServedPlan } from "../../../serve/served-tools.ts";

/**
 * The tools of a pipeline as configured there, or named tools, with `config` for a single one. Throws the errors of
 * `validate`, PLUGIN_NOT_FOUND and COMMAND_INVALID.
 */
export async function servedPlan(what: readonly string[], config?: JsonObject): Promise<ServedPlan> {
  const pipelines = what.filter((one) => /\.ya?ml$/.test(one));
  const [pipeline] = pipelines;
  if (pipeline !== undefined) {
    if (what.length > 1 || config !== undefined)
      throw invalid("a pipeline says all of its tools: name it alone, without --config");
    const { tools, hosts, rollout } = await loadPlan(pipeline);
    if (tools.length === 0) throw invalid(`${pipeline} has no tools`);
    return { tools, hosts, observations: rollout.observations };
  }
  if (what.length > 1 && config !== undefined)
    throw invalid("--config is for one tool; use a pipeline to configure several");
  const tools: ResolvedTool[] = [];
  for (const one of what) tools.push(await namedTool(one, config));
  const names = tools.flatMap((tool) => toolFunctions(tool).map(({ name }) => name));
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined)
    throw invalid(`two of the tools have a function ${twice}; a pipeline can rename one`);
  return { tools, hosts: {}, observations: plainObservations };
}

async function namedTool(reference: string, config: JsonObject | undefined): Promise<ResolvedTool> {
  const subject = await openSubject(reference, process.cwd(), config);
  if ("problems" in subject) throw refusal(reference, subject.problems);
  const { plugin } = subject;
  const { tool } = plugin.manifest;
  if (tool === undefined) throw invalid(`${reference} is a ${plugin.manifest.kind}, and no tool`);
  return { ...plugin, ...callSettings(toolName(plugin), tool, {}) };
}

function invalid(reason: string): EverturnError {
  return new EverturnError("COMMAND_INVALID", { reason });
}
