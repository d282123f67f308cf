import { setTimeout as sleep } from "node:timers/promises";
import type { JsonObject, JsonValue } from "everturn/plugin";
import { buildImage, type ContainerSession, type ContainerWish, sharedContainers } from "everturn/sandbox";
import { additionsOf } from "./dockerfile.ts";
import type { HarborTask, TaskEnvironment } from "./task.ts";

/** A container with a task's files. */
export interface Place {
  session: ContainerSession;
  /** The working folder of commands. Undefined: the image's own. */
  folder: string | undefined;
  variables: Record<string, string>;
}

/** What a place is opened for. */
interface Opening {
  config: JsonObject;
  instance: string;
  /** A snapshot of an earlier container of the task. */
  from?: Uint8Array | undefined;
  /** Environment variables of the processes on this machine. */
  environment?: Record<string, string> | undefined;
  hold?: ((handle: JsonValue) => void) | undefined;
  signal: AbortSignal;
}

/** The folders that Harbor provides in each container. */
const folders = "/logs/agent /logs/verifier /logs/artifacts";

/** Opens a container for an environment of a task, and waits until it is healthy. */
export async function openPlace(environment: TaskEnvironment, opening: Opening): Promise<Place> {
  const { config, instance, from, hold, signal } = opening;
  const wish = wishOf(config);
  const additions = wish.image === "" ? undefined : await additionsOf(environment);
  const image = wish.image === "" ? await imageOf(wish, environment) : wish.image;
  const containers = await sharedContainers({ ...wish, image });
  const session = await containers.open({
    limits: {
      time: Number(config.time),
      memory: environment.memory ?? Number(config.memory),
      processes: Number(config.processes),
      output: Number(config.output),
      disk: Number(config.disk),
    },
    cpus: environment.cpus,
    labels: { trajectory: instance },
    signal,
    from,
    hold,
    environment: opening.environment,
  });
  const place = {
    session,
    folder: environment.workdir ?? additions?.workdir,
    variables: { ...additions?.variables, ...environment.variables },
  };
  try {
    if (from === undefined) {
      await session.put(additions?.files ?? {});
      const made = `mkdir -p ${folders} ${place.folder ?? ""} && chmod 777 ${folders}`;
      await asRoot(session, made, signal);
    }
    await waitForHealth(place, environment, signal);
    return place;
  } catch (error) {
    await session.close();
    throw error;
  }
}

/** Runs a command of ours. Throws if it fails. */
export async function asRoot(session: ContainerSession, command: string, signal: AbortSignal): Promise<void> {
  const ran = await session.exec({ command, user: "0", folder: "/", signal });
  if (ran.outcome !== "finished") throw new Error(`${command}: ${ran.outcome}: ${ran.stderr.slice(0, 500)}`);
}

/** The kinds that build images of Dockerfiles. */
const builders = ["podman", "docker"];

/** Refuses a task whose environment the configured sandbox can't have. */
export async function checkEnvironments(task: HarborTask, config: JsonObject): Promise<void> {
  const { kind, image } = wishOf(config);
  for (const environment of new Set([task.environment, task.verifier.environment])) {
    if (image !== "") await additionsOf(environment);
    else if (!builders.includes(kind) && !(kind === "daytona" && environment.image !== undefined))
      throw new Error(`${environment.folder}: ${kind} builds no image: set \`sandbox.image\``);
  }
}

function wishOf({ sandbox }: JsonObject): ContainerWish {
  const { kind, image, network, runtime, url, key } =
    typeof sandbox === "object" && sandbox !== null ? Object(sandbox) : {};
  return {
    kind: String(kind),
    image: typeof image === "string" ? image : "",
    network: typeof network === "string" ? network : undefined,
    runtime: typeof runtime === "string" ? runtime : undefined,
    url: typeof url === "string" ? url : undefined,
    key: typeof key === "string" ? key : undefined,
  };
}

function imageOf({ kind }: ContainerWish, { image, folder }: TaskEnvironment): Promise<string> | string {
  return image ?? buildImage(kind, folder);
}

/** Repeats the task's health check, as Docker does. Throws if it does not succeed. */
async function waitForHealth(
  { session, folder, variables }: Place,
  { healthcheck }: TaskEnvironment,
  signal: AbortSignal,
): Promise<void> {
  if (healthcheck === undefined) return;
  const seconds = (name: string, otherwise: number) => Number(healthcheck[name] ?? otherwise);
  const patient = performance.now() + 1000 * seconds("start_period_sec", 0);
  for (let failures = 0; failures < seconds("retries", 3); ) {
    const ran = await session.exec({
      command: String(healthcheck.command),
      environment: variables,
      limits: { time: seconds("timeout_sec", 30) },
      signal,
      folder,
    });
    if (ran.outcome === "finished") return;
    const isStarting = performance.now() < patient;
    if (!isStarting) failures++;
    await sleep(1000 * seconds(isStarting ? "start_interval_sec" : "interval_sec", 5), undefined, { signal });
  }
  throw new Error(`the health check ${String(healthcheck.command)} fails`);
}
