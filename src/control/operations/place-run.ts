import { resolve } from "node:path";
import { checkTelemetry, telemetryIsOn } from "../../base/telemetry/telemetry.ts";
import type { Plan } from "../../contracts/plan.ts";
import { createRunFolder, type workerLayouts } from "../../run/folder/create-run-folder.ts";
import type { RunReference } from "../../run/folder/run-reference.ts";
import { locationFromEnvironment } from "../temporal/client.ts";

/** Where a new run is kept, and what it runs on. */
export interface RunPlace {
  /** The folder of runs; default: `runs`. */
  runs?: string | undefined;
  /** host:port of a Temporal server to join; default: that of TEMPORAL_ADDRESS, else a server of the run's own. */
  address?: string | undefined;
  /** Namespace on the joined server. */
  namespace?: string | undefined;
  /** Its id; default: the pipeline's name and the time. */
  run?: string | undefined;
  /** One process for rollouts and one for the trainer, or one for each role; default: `separate` on a joined server. */
  workers?: (typeof workerLayouts)[number] | undefined;
}

/** Makes the folder of a new run, with its plan in it, in the store that EVERTURN_STORE names. Throws TELEMETRY_PACKAGES_MISSING. */
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
