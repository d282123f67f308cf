import { type Client, isGrpcServiceError, WorkflowNotFoundError } from "@temporalio/client";
import { defined } from "../../base/records/defined.ts";
import { isRun } from "../../run/folder/run-file.ts";
import { runFolder } from "../../run/folder/run-folder.ts";
import { grpcCodes } from "../temporal/grpc-codes.ts";
import { readRunHolder } from "./run-holder.ts";

/**
 * Deletes the worker deployments of runs in the folder `runs` whose training workflow has ended and that nobody
 * works on, except `except`, because a server holds only 100. It can't delete one whose workers polled in the last
 * minutes; a later command does. Returns the runs whose deployments are gone.
 */
export async function deleteDeployments(
  client: Client,
  { runs, except }: { runs: string; except: string },
): Promise<string[]> {
  const { namespace } = client.options;
  const deleted: string[] = [];
  let nextPageToken: Uint8Array | undefined;
  do {
    const page = await client.workflowService.listWorkerDeployments(
      defined({
        namespace,
        pageSize: 100,
        nextPageToken,
      }),
    );
    for (const { name } of page.workerDeployments) {
      if (!name || name === except || !isRun(runs, name)) continue;
      if (!(await isOver(client, name)) || (await readRunHolder(runFolder(runs, name))) !== undefined)
        continue;
      if (await deleteDeployment(client, name)) deleted.push(name);
    }
    nextPageToken = page.nextPageToken.length > 0 ? page.nextPageToken : undefined;
  } while (nextPageToken !== undefined);
  return deleted;
}

/** Whether a run's training workflow has ended or no longer exists. */
async function isOver({ workflow }: Client, run: string): Promise<boolean> {
  try {
    return (await workflow.getHandle(run).describe()).status.name !== "RUNNING";
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return true;
    throw error;
  }
}

/** Deletes a run's deployment with all of its versions. Returns false if that is not possible yet. */
async function deleteDeployment(client: Client, run: string): Promise<boolean> {
  const { workflowService } = client;
  const { namespace } = client.options;
  const identity = `everturn@${process.pid}`;
  const named = { namespace, deploymentName: run };
  try {
    const { workerDeploymentInfo } = await workflowService.describeWorkerDeployment(named);
    const versions = workerDeploymentInfo?.versionSummaries ?? [];
    const unversioned = { ...named, identity, ignoreMissingTaskQueues: true, allowNoPollers: true };
    await workflowService.setWorkerDeploymentCurrentVersion({ ...unversioned, buildId: "" });
    for (const { deploymentVersion } of versions) {
      if (!deploymentVersion) continue;
      const version = { namespace, deploymentVersion, identity, skipDrainage: true };
      await workflowService.deleteWorkerDeploymentVersion(version);
    }
    await workflowService.deleteWorkerDeployment({ ...named, identity });
    return true;
  } catch (error) {
    if (isGrpcServiceError(error) && error.code === grpcCodes.notFound) return true;
    if (isGrpcServiceError(error) && error.code === grpcCodes.failedPrecondition) return false;
    throw error;
  }
}
