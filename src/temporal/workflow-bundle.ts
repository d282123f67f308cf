import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundleWorkflowCode, DefaultLogger } from "@temporalio/worker";
import type { ResolvedLoop } from "../contracts/plan.ts";
import { EverturnError } from "../errors/everturn-error.ts";
import { writeWhole } from "../files/whole-files.ts";

const project = join(dirname(fileURLToPath(import.meta.url)), "..", "..");

/**
 * Bundles Everturn's workflows with the run's agent loop into `file`, beside the entry it was made from. A run keeps
 * its bundle: a resumed run goes on with the workflow code it began with. Throws WORKFLOWS_NOT_BUNDLED.
 */
export async function bundleWorkflows(
  file: string,
  loop: Pick<ResolvedLoop, "name" | "workflow">,
  telemetry: boolean,
): Promise<void> {
  const workflowsPath = file.replace(/\.js$/, ".ts");
  await writeWhole(workflowsPath, bundleEntry(loop));
  let output = "";
  const bundling = bundleWorkflowCode({
    workflowsPath,
    logger: new DefaultLogger("WARN", ({ message }) => {
      output += message;
    }),
    workflowInterceptorModules: telemetry ? [telemetryInterceptors()] : [],
    webpackConfigHook: (config) => ({
      ...config,
      resolve: {
        ...config.resolve,
        modules: [...(config.resolve?.modules ?? []), join(project, "node_modules")],
      },
    }),
  });
  const { code } = await bundling.catch((error) => {
    const reason = firstError(output) ?? String(error);
    throw new EverturnError("WORKFLOWS_NOT_BUNDLED", { loop: loop.name, reason }, { cause: error });
  });
  await writeWhole(file, code);
}

/** The module that a bundle starts from: Everturn's workflows, the trajectory workflow with `loop`. */
function bundleEntry(loop: Pick<ResolvedLoop, "name" | "workflow">): string {
  const path = (name: string) => JSON.stringify(join(project, "workflows", name));
  return [
    `import loop from ${JSON.stringify(loop.workflow)};`,
    `import { trajectoryWorkflow } from ${path("trajectory.ts")};`,
    `export { evaluation } from ${path("evaluation.ts")};`,
    `export { shard } from ${path("shard.ts")};`,
    `export { step } from ${path("step.ts")};`,
    `export { training } from ${path("training.ts")};`,
    `export const trajectory = trajectoryWorkflow({ ${JSON.stringify(loop.name)}: loop });`,
    "",
  ].join("\n");
}

/** The first error in webpack's output: its place, and what is wrong there. */
function firstError(output: string): string | undefined {
  return /^ERROR in (.*(?:\n.*){1,2})/m
    .exec(output)?.[1]
    ?.replace(/\s+/g, " ")
    .replace(/[. ]+$/, "");
}

function telemetryInterceptors(): string {
  const require = createRequire(import.meta.url);
  return require.resolve("@temporalio/interceptors-opentelemetry-v2/lib/workflow-interceptors");
}
