import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundleWorkflowCode, DefaultLogger } from "@temporalio/worker";
import type { ResolvedLoop } from "../contracts/plan.ts";
import { writeWhole } from "../runs/files.ts";

const project = join(dirname(fileURLToPath(import.meta.url)), "..", "..");

/**
 * Bundles Everturn's workflows with the run's agent loop into `file`, beside the entry it was made from. A run keeps
 * its bundle: a resumed run goes on with the workflow code it began with.
 */
export async function bundleWorkflows(
  file: string,
  loop: Pick<ResolvedLoop, "name" | "workflow">,
  telemetry: boolean,
): Promise<void> {
  const workflowsPath = file.replace(/\.js$/, ".ts");
  await writeWhole(workflowsPath, bundleEntry(loop));
  const { code } = await bundleWorkflowCode({
    workflowsPath,
    logger: new DefaultLogger("WARN"),
    workflowInterceptorModules: telemetry ? [telemetryInterceptors()] : [],
    webpackConfigHook: (config) => ({
      ...config,
      resolve: {
        ...config.resolve,
        modules: [...(config.resolve?.modules ?? []), join(project, "node_modules")],
      },
    }),
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
    `export { step } from ${path("step.ts")};`,
    `export { training } from ${path("training.ts")};`,
    `export const trajectory = trajectoryWorkflow({ ${JSON.stringify(loop.name)}: loop });`,
    "",
  ].join("\n");
}

function telemetryInterceptors(): string {
  const require = createRequire(import.meta.url);
  return require.resolve("@temporalio/interceptors-opentelemetry-v2/lib/workflow-interceptors");
}
