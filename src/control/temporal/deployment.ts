import { setTimeout as sleep } from "node:timers/promises";
import { type Client, isGrpcServiceError } from "@temporalio/client";
import proto from "@temporalio/proto";
import type { NativeConnection, WorkerOptions } from "@temporalio/worker";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import type { RunFolder } from "../../run/folder/run-folder.ts";
import { reasonOf, type ServerLocation } from "./connection-settings.ts";
import { unauthorized } from "./connection-trouble.ts";
import { grpcCodes } from "./grpc-codes.ts";
import { bundleOf, readBuilds } from "./workflow-builds.ts";

const { WORKER_DEPLOYMENT_VERSION_STATUS_DRAINED: drained } =
  proto.temporal.api.enums.v1.WorkerDeploymentVersionStatus;

/** How long the server's own workers, which keep deployments, may take to start, in ms. */
const patience = 30_000;

/**
 * Makes `build` the code with which the workflows of `run` begin and to which the training workflow moves. The run
 * is a worker deployment of the same name (https://docs.temporal.io/worker-versioning). Retries for half a minute
 * unless `closing` aborts. Throws TEMPORAL_TOO_OLD, TEMPORAL_UNAUTHORIZED and TEMPORAL_NOT_READY.
 */
export async function makeCurrent(
  client: Client,
  location: ServerLocation,
  run: string,
  build: string,
  closing: AbortSignal,
): Promise<void> {
  const { address, namespace } = location;
  for (const from = performance.now(); ; ) {
    try {
      await client.workflowService.setWorkerDeploymentCurrentVersion({
        namespace,
        deploymentName: run,
        buildId: build,
        identity: `everturn@${process.pid}`,
        ignoreMissingTaskQueues: true,
        allowNoPollers: true, // its worker is about to start
      });
      return;
    } catch (error) {
      if (!isGrpcServiceError(error)) throw error;
      const reason = reasonOf(error);
      if (error.code === grpcCodes.unimplemented)
        throw new EverturnError("TEMPORAL_TOO_OLD", { address, reason });
      const refused = unauthorized(location, error);
      if (refused !== undefined) throw refused;
      if (closing.aborted || performance.now() - from > patience)
        throw new EverturnError("TEMPORAL_NOT_READY", { address, run, reason }, { cause: error });
      await sleep(500, undefined, { signal: closing }).catch(() => {}); // the next attempt is the last
    }
  }
}

/**
 * An orchestration worker's options for each build that has workflows: its bundle, and the version that its
 * workflows stay on. Without a `deployment`, only the current build, without a version.
 */
export async function workflowOptions(
  connection: NativeConnection,
  namespace: string,
  folder: RunFolder,
  deployment: string | undefined,
): Promise<Partial<WorkerOptions>[]> {
  const builds = await readBuilds(folder);
  const current = builds.at(-1);
  if (deployment === undefined) {
    return builds.slice(-1).map((build) => ({ workflowBundle: { codePath: bundleOf(folder, build) } }));
  }
  const unused = await drainedBuilds(connection, namespace, deployment);
  const needed = builds.filter((build) => build === current || !unused.has(build));
  return needed.map((build) => ({
    workflowBundle: { codePath: bundleOf(folder, build) },
    workerDeploymentOptions: {
      version: { deploymentName: deployment, buildId: build },
      useWorkerVersioning: true,
      defaultVersioningBehavior: "PINNED",
    },
  }));
}

/** The builds that no open workflow is pinned to. Empty if the server fails to report them. */
async function drainedBuilds(
  connection: NativeConnection,
  namespace: string,
  deploymentName: string,
): Promise<Set<string>> {
  try {
    const request = { namespace, deploymentName };
    const { workerDeploymentInfo } = await connection.workflowService.describeWorkerDeployment(request);
    const versions = workerDeploymentInfo?.versionSummaries ?? [];
    return new Set(
      versions.flatMap(({ status, deploymentVersion }) =>
        status === drained ? (deploymentVersion?.buildId ?? []) : [],
      ),
    );
  } catch (error) {
    if (isGrpcServiceError(error)) return new Set(); // usually NOT_FOUND: the deployment is new
    throw error;
  }
}
