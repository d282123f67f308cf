import { basename, resolve } from "node:path";
import { EverturnError, isEverturnError } from "../../../base/errors/everturn-error.ts";
import { refusal } from "../../../base/validation/problem.ts";
import type { FormatExpression, FormatName } from "../../../contracts/format-name.ts";
import type { JsonObject } from "../../../contracts/json.ts";
import type { Plan, ResolvedPlugin } from "../../../contracts/plan.ts";
import { openSubject } from "../../../control/conformance/open-subject.ts";
import { versionFolder } from "../../../control/operations/find-version.ts";
import { openRunFolder } from "../../../run/folder/open-runs.ts";
import { isRun } from "../../../run/folder/run-file.ts";
import { runReference } from "../../../run/folder/run-reference.ts";
import { newestVersion } from "../../../run/versions/newest-version.ts";

/** A policy, and how requests use it. */
export interface NamedPolicy {
  /** Its name in `GET /models`. */
  name: string;
  plugin: ResolvedPlugin;
  /** The folder that the policy is opened on, and the folder of the version that answers. */
  base: string;
  folder: string;
  version: number;
  maxTokens: number;
  format?: FormatName | undefined;
  expression?: FormatExpression | undefined;
  /** For a run's policy: the run's plan. */
  plan?: Plan;
}

/** A person's settings for it. */
interface Options {
  runs: string;
  policyVersion?: string;
  config: JsonObject;
}

/**
 * The policy that a person names: a run's, or one in a folder. Throws POLICY_NOT_FOUND, FILES_GONE and
 * COMMAND_INVALID.
 */
export async function namedPolicy(
  named: string,
  { runs: folder, policyVersion, config }: Options,
): Promise<NamedPolicy> {
  const { runs, run } = runReference(named, folder);
  if (policyVersion === undefined && !isRun(runs, run)) return policyIn(named, config);
  const opened = await openRunFolder(runs, run);
  const { policy, rollout } = opened.plan;
  const version = policyVersion === undefined ? await newestVersion(opened) : Number(policyVersion);
  const path = await versionFolder(opened, version ?? "newest");
  return {
    name: `${run}/${version}`,
    plugin: policy,
    base: await versionFolder(opened, 0),
    folder: path,
    version: version ?? 0,
    maxTokens: rollout.maxActionTokens,
    format: rollout.format,
    expression: rollout.expression,
    plan: opened.plan,
  };
}

async function policyIn(named: string, config: JsonObject): Promise<NamedPolicy> {
  const folder = resolve(named);
  const plugin = await onnxPolicy(named, { ...config, model: folder });
  return { name: basename(folder), plugin, base: folder, folder, version: 0, maxTokens: 1024 };
}

async function onnxPolicy(named: string, config: JsonObject): Promise<ResolvedPlugin> {
  try {
    const subject = await openSubject("policy-onnx", process.cwd(), config);
    if ("problems" in subject) throw refusal("policy-onnx", subject.problems);
    return subject.plugin;
  } catch (error) {
    if (!isEverturnError(error) || error.code !== "PLUGIN_CASE_INVALID") throw error;
    const reason = `${named} is neither a run nor a folder with a policy: ${error.params.reason}`;
    throw new EverturnError("COMMAND_INVALID", { reason });
  }
}
