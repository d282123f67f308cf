import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { isObject, type JsonObject, type JsonValue } from "everturn/plugin";
import { parse } from "smol-toml";

/** An environment of a task: where commands run. */
export interface TaskEnvironment {
  /** A prebuilt image. Undefined: the folder has a Dockerfile. */
  image: string | undefined;
  /** The folder of the Dockerfile. */
  folder: string;
  /** Overrides the image's working folder. */
  workdir: string | undefined;
  /** MiB. Undefined: the plugin's own limit. */
  memory: number | undefined;
  /** Cores. Undefined: all. */
  cpus: number | undefined;
  variables: Record<string, string>;
  healthcheck: JsonObject | undefined;
}

/** A task of Harbor's format, version 1.4. */
export interface HarborTask {
  name: string;
  folder: string;
  instruction: string;
  environment: TaskEnvironment;
  agent: { user: string | undefined };
  verifier: {
    /** Whether it sees only the artifacts. */
    isSeparate: boolean;
    environment: TaskEnvironment;
    /** Whether its image has the tests. */
    hasTests: boolean;
    user: string | undefined;
    /** Seconds. */
    time: number;
    variables: Record<string, string>;
    /** Commands that write artifacts when the agent has finished. */
    collect: { command: string; user: string | undefined; time: number }[];
  };
  /** Absolute paths of files and folders that a separate verifier sees. */
  artifacts: string[];
}

/** The artifacts that every task has. */
const usualArtifacts = "/logs/artifacts";

/** Lists the folders of tasks in a folder, which may be a task itself. */
export async function taskFolders(folder: string): Promise<string[]> {
  if (existsSync(join(folder, "task.toml"))) return [folder];
  const names = await readdir(folder);
  return names
    .sort()
    .map((name) => join(folder, name))
    .filter((one) => existsSync(join(one, "task.toml")));
}

/** Reads a task's folder. Throws an error that names what Everturn can't run. */
export async function readTask(folder: string): Promise<HarborTask> {
  const path = join(folder, "task.toml");
  const document = plain(parse(await readFile(path, "utf8")));
  if (document.steps !== undefined) throw new Error(`${path}: tasks of several steps are not supported`);
  const [environment, verifier, agent] = [document.environment, document.verifier, document.agent].map(
    objectOf,
  );
  const own = environmentOf(path, environment ?? {}, join(folder, "environment"));
  const separate = verifier?.environment_mode === "separate" || isObject(verifier?.environment);
  const other = objectOf(verifier?.environment);
  const tests = join(folder, "tests");
  const hasTests = other.docker_image !== undefined || existsSync(join(tests, "Dockerfile"));
  return {
    name: text(objectOf(document.task).name) ?? basename(folder),
    folder,
    instruction: await readFile(join(folder, "instruction.md"), "utf8"),
    environment: own,
    agent: { user: text(agent?.user) },
    verifier: {
      isSeparate: separate,
      environment:
        separate && (hasTests || isObject(verifier?.environment))
          ? { ...environmentOf(path, { ...environment, ...other }, hasTests ? tests : own.folder) }
          : own,
      hasTests: separate && hasTests,
      user: text(verifier?.user),
      time: number(verifier?.timeout_sec) ?? 600,
      variables: variablesOf(verifier?.env),
      collect: list(verifier?.collect).map((one) => {
        const { command, service, user, timeout_sec } = objectOf(one);
        if (service !== undefined && service !== "main")
          throw new Error(`${path}: services are not supported`);
        return { command: String(command), user: text(user), time: number(timeout_sec) ?? 60 };
      }),
    },
    artifacts: [usualArtifacts, ...list(document.artifacts).map((one) => artifactOf(path, one))],
  };
}

function environmentOf(path: string, settings: JsonObject, folder: string): TaskEnvironment {
  const { os, gpus, tpu, docker_image: image } = settings;
  if (text(os)?.toLowerCase() === "windows") throw new Error(`${path}: Windows is not supported`);
  if ((number(gpus) ?? 0) > 0 || tpu !== undefined)
    throw new Error(`${path}: GPUs and TPUs are not supported`);
  if (list(settings.mcp_servers).length > 0) throw new Error(`${path}: MCP servers are not supported`);
  if (existsSync(join(folder, "docker-compose.yaml")))
    throw new Error(`${path}: docker-compose.yaml is not supported`);
  if (image === undefined && !existsSync(join(folder, "Dockerfile")))
    throw new Error(`${path}: there is neither a docker_image nor a Dockerfile`);
  return {
    image: existsSync(join(folder, "Dockerfile")) && image === undefined ? undefined : text(image),
    folder,
    workdir: text(settings.workdir),
    memory: number(settings.memory_mb),
    cpus: number(settings.cpus),
    variables: variablesOf(settings.env),
    healthcheck: isObject(settings.healthcheck) ? settings.healthcheck : undefined,
  };
}

function artifactOf(path: string, entry: JsonValue): string {
  const { source, service, exclude } = typeof entry === "string" ? { source: entry } : objectOf(entry);
  const place = text(source) ?? "";
  if (service !== undefined && service !== "main") throw new Error(`${path}: services are not supported`);
  if (exclude !== undefined && list(exclude).length > 0)
    throw new Error(`${path}: \`exclude\` of artifacts is not supported`);
  if (!place.startsWith("/") || place.split("/").includes(".."))
    throw new Error(`${path}: the artifact ${place} needs an absolute path without “..”`);
  return place.length > 1 ? place.replace(/\/+$/, "") : place;
}

/** Values may name variables of this machine: `${NAME}` and `${NAME:-default}`. */
function variablesOf(settings: JsonValue | undefined): Record<string, string> {
  return Object.fromEntries(
    Object.entries(objectOf(settings)).map(([name, value]) => [
      name,
      String(value).replace(/\$\{(\w+)(?::-([^}]*))?\}/g, (_, variable: string, otherwise?: string) => {
        const found = process.env[variable] ?? otherwise;
        if (found === undefined) throw new Error(`the environment variable ${variable} is not set`);
        return found;
      }),
    ]),
  );
}

/** TOML's dates become texts, and its numbers plain ones. */
function plain(document: object): JsonObject {
  const value: JsonValue = JSON.parse(
    JSON.stringify(document, (_, one: unknown) => (typeof one === "bigint" ? Number(one) : one)),
  );
  return objectOf(value);
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return isObject(value) ? value : {};
}

function list(value: JsonValue | undefined): JsonValue[] {
  return Array.isArray(value) ? value : [];
}

function text(value: JsonValue | undefined): string | undefined {
  return typeof value === "string" || typeof value === "number" ? String(value) : undefined;
}

function number(value: JsonValue | undefined): number | undefined {
  return typeof value === "number" ? value : undefined;
}
