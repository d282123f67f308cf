import { type Client, isGrpcServiceError } from "@temporalio/client";
import proto from "@temporalio/proto";
import type { NativeConnection, WorkerOptions } from "@temporalio/worker";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import type { RunFolder } from "../../run/folder/run-folder.ts";
import { reasonOf, type ServerLocation } from "./connection-settings.ts";
import { grpcCodes } from "./grpc-codes.ts";
import { bundleOf, readBuilds } from "./workflow-builds.ts";

const { WORKER_DEPLOYMENT_VERSION_STATUS_DRAINED: drained } =
  proto.temporal.api.enums.v1.WorkerDeploymentVersionStatus;

/**
 * Makes `build` the code with which the workflows of `run` begin and to which the training workflow moves. The run
 * is a worker deployment of the same name (https://docs.temporal.io/worker-versioning). Throws TEMPORAL_TOO_OLD.
 */
export async function makeCurrent(
  client: Client,
  { address, namespace }: ServerLocation,
  run: string,
  build: string,
): Promise<void> {
  try {
    await client.workflowService.setWorkerDeploymentCurrentVersion({
      namespace,
      deploymentName: run,
      buildId: build,
      identity: `everturn@${process.pid}`,
      ignoreMissingTaskQueues: true,
      allowNoPollers: true, // its worker is about to start
    });
  } catch (error) {
    if (!isGrpcServiceError(error) || error.code !== grpcCodes.unimplemented) throw error;
    throw new EverturnError("TEMPORAL_TOO_OLD", { address, reason: reasonOf(error) });
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

/** The builds that no open workflow is pinned to. */
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
    if (isGrpcServiceError(error) && error.code === grpcCodes.notFound) return new Set();
    throw error;
  }
}
