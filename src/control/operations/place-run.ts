import { resolve } from "node:path";
import { checkTelemetry, telemetryIsOn } from "../../base/telemetry/telemetry.ts";
import type { Plan } from "../../contracts/plan.ts";
import { createRunFolder, type workerLayouts } from "../../run/folder/create-run-folder.ts";
import type { RunReference } from "../../run/folder/run-reference.ts";
import { keyOfNewRun } from "../encryption/run-encryption.ts";
import { locationFromEnvironment } from "../temporal/client.ts";

/** Where a new run is stored, and where it runs. */
export interface RunPlace {
  /** The folder of runs; default: `runs`. */
  runs?: string | undefined;
  /** host:port of a Temporal server to join. Default: TEMPORAL_ADDRESS, else the run gets its own server. */
  address?: string | undefined;
  /** The namespace on the joined server. */
  namespace?: string | undefined;
  /** Its id. Default: the pipeline's name and the time. */
  run?: string | undefined;
  /**
   * `shared`: one process for rollouts and one for the trainer. `separate`: one process per role. Default:
   * `separate` on a joined server, else `shared`.
   */
  workers?: (typeof workerLayouts)[number] | undefined;
}

/**
 * Creates the folder of a new run with its plan, in the store of EVERTURN_STORE and with the first key of
 * EVERTURN_CODEC_KEYS. Throws TELEMETRY_PACKAGES_MISSING and CODEC_KEYS_MALFORMED.
 */
export async function placeRun(plan: Plan, place: RunPlace): Promise<RunReference> {
  const { EVERTURN_STORE: store } = process.env;
  const runs = resolve(place.runs ?? "runs");
  const telemetry = telemetryIsOn();
  checkTelemetry(telemetry);
  const run = await createRunFolder(
    plan,
    runs,
    joinedServer(place),
    telemetry,
    place.workers,
    store,
    place.run,
    keyOfNewRun(),
  );
  return { runs, run };
}

function joinedServer({ address, namespace }: RunPlace): { address: string; namespace: string } | undefined {
  const environment = locationFromEnvironment();
  if (address === undefined && environment === undefined) return undefined;
  return {
    address: address ?? environment?.address ?? "",
    namespace: namespace ?? environment?.namespace ?? "default",
  };
}
