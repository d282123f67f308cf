import { resolve } from "node:path";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import { checkTelemetry, telemetryIsOn } from "../../base/telemetry/telemetry.ts";
import type { Plan } from "../../contracts/plan.ts";
import { planDocument } from "../../plan/pipeline/read/plan-document.ts";
import { createRunFolder, type workerLayouts } from "../../run/folder/create-run-folder.ts";
import { withMovedPlugins } from "../../run/folder/moved-plugins.ts";
import { openRunFolder } from "../../run/folder/open-runs.ts";
import { rejoinRun } from "../../run/folder/rejoin-run.ts";
import type { RunReference } from "../../run/folder/run-reference.ts";
import { storeOf } from "../../run/folder/store-of.ts";
import { folderOfStore } from "../../run/folder/store-runs.ts";
import { planRow } from "../../run/store/keys.ts";
import { keyOfNewRun } from "../encryption/run-encryption.ts";
import { locationFromEnvironment } from "../temporal/connection-settings.ts";

/** Where a new run is stored, and where it runs. */
export interface RunPlace {
  /** The folder of runs; default: `runs`. */
  runs?: string | undefined;
  /** The store of the runs, `s3://bucket/prefix`, instead of a folder. */
  store?: string | undefined;
  /** host:port of a Temporal server to join. Default: TEMPORAL_ADDRESS, else the run gets its own server. */
  address?: string | undefined;
  /** The namespace on the joined server. Default: TEMPORAL_NAMESPACE, else `default`. */
  namespace?: string | undefined;
  /** Its id. Default: the pipeline's name and the time. */
  run?: string | undefined;
  /**
   * `shared`: one process for rollouts and one for the trainer. `separate`: one process per role.
   * `elsewhere`: none, because `everturn worker` starts them. Default: `separate` on a joined server, else `shared`.
   */
  workers?: (typeof workerLayouts)[number] | undefined;
  /** The pool of workers that generates and trains for it, on a joined server. Default: workers of its own. */
  pool?: string | undefined;
  /** Its place among the runs of its pool: 1 comes first, 5 last. Default: 3. */
  priority?: number | undefined;
}

/**
 * Creates the folder of a new run with its plan, in the store of its folder of runs, else in that of EVERTURN_STORE,
 * and with the first key of EVERTURN_CODEC_KEYS. A run that this machine has worked on is rejoined instead. Throws
 * TELEMETRY_PACKAGES_MISSING, CODEC_KEYS_MALFORMED, POOL_NEEDS_SERVER and the errors of `createRunFolder`.
 */
export async function placeRun(plan: Plan, place: RunPlace): Promise<RunReference> {
  const runs = place.store === undefined ? resolve(place.runs ?? "runs") : await folderOfStore(place.store);
  if (place.run !== undefined && (await rejoinRun({ runs, run: place.run }))) return { runs, run: place.run };
  const store = (await storeOf(runs)) ?? process.env.EVERTURN_STORE;
  const telemetry = telemetryIsOn();
  checkTelemetry(telemetry);
  const server = joinedServer(place);
  const { pool, priority } = place;
  if (pool !== undefined && server === undefined) throw new EverturnError("POOL_NEEDS_SERVER", { pool });
  const run = await createRunFolder(plan, {
    runs,
    id: place.run,
    server,
    telemetry,
    workers: place.workers,
    store,
    encryption: keyOfNewRun(),
    pool,
    priority,
  });
  return { runs, run };
}

/** Whether a run was created with this plan, whatever changed in it since. */
export async function isPlanOf({ runs, run }: RunReference, plan: Plan): Promise<boolean> {
  const begun = await (await openRunFolder(runs, run)).store.read(planRow(1));
  const settings = (one: Plan) => JSON.stringify(planDocument(one).value);
  return begun === undefined || settings(withMovedPlugins(begun)) === settings(plan);
}

function joinedServer(place: RunPlace): { address: string; namespace: string } | undefined {
  const environment = locationFromEnvironment();
  const address = place.address ?? environment.address;
  if (address === undefined) return undefined;
  return { address, namespace: place.namespace ?? environment.namespace ?? "default" };
}
