import { type EnvironmentPlugin, killProcess, type Task, type ToolCreation } from "everturn/plugin";
import { observationOf } from "./observation.ts";
import { checkEnvironments, openPlace, type Place } from "./place.ts";
import { type HarborTask, readTask, taskFolders } from "./task.ts";
import { verify } from "./verify.ts";

/** A trajectory's container. */
interface Episode {
  task: HarborTask;
  place: Place;
  creation: ToolCreation;
  /** Its files after the last call. Undefined: before the first. */
  saved: Uint8Array | undefined;
  /** The container does not have these files any more. */
  isBroken: boolean;
}

/** Tasks in Harbor's format, without Harbor: the agent works in a container, and tests in another one judge it. */
const harbor: EnvironmentPlugin<Episode> = {
  async load({ tasks }) {
    const folders = await taskFolders(String(tasks));
    if (folders.length === 0) throw new Error(`${String(tasks)} has no folder with a task.toml`);
    return Promise.all(folders.map(rowOf));
  },

  async refusal(row, config) {
    try {
      await checkEnvironments(await readTask(folderOf(row)), config);
      return undefined;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  },

  create: (creation) => episode(creation, undefined),

  async execute({ command }, { config, signal }, state) {
    if (state.isBroken) await reopen(state);
    const { session, folder, variables } = state.place;
    const { user } = state.task.agent;
    state.isBroken = true; // unless the command ends as it should
    const ran = await session.exec({
      command: String(command),
      environment: variables,
      signal,
      folder,
      user,
    });
    if (ran.lost !== undefined) throw new Error("the task's container was lost");
    const isEnded = ran.outcome === "ended";
    if (isEnded) await reopen(state);
    state.isBroken = false;
    return observationOf(ran, config);
  },

  release: ({ place }) => place.session.close(),

  async snapshot(state) {
    state.isBroken = true; // unless its files can be saved
    state.saved = await state.place.session.snapshot();
    state.isBroken = false;
    return state.saved;
  },

  restore: (snapshot, creation) => episode(creation, snapshot),

  reap: (handle) => killProcess(handle),

  async score({ task, config, snapshots = {}, signal }) {
    return verify(await readTask(folderOf(task)), { config, snapshot: snapshots.terminal, signal });
  },
};

export default harbor;

async function rowOf(folder: string): Promise<Task> {
  const { name, instruction } = await readTask(folder);
  return {
    data_source: "harbor",
    prompt: [{ role: "user", content: instruction.trim() }],
    reward_model: { ground_truth: name },
    extra_info: { folder },
  };
}

function folderOf({ extra_info: info }: Task): string {
  const folder = info?.folder;
  if (typeof folder !== "string") throw new Error("the task has no extra_info.folder");
  return folder;
}

async function episode(creation: ToolCreation, saved: Uint8Array | undefined): Promise<Episode> {
  const task = await readTask(folderOf(creation.task));
  return { task, place: await open(task, creation, saved), creation, saved, isBroken: false };
}

function open(task: HarborTask, creation: ToolCreation, saved: Uint8Array | undefined): Promise<Place> {
  const { instance, config, environment, hold, signal } = creation;
  return openPlace(task.environment, { config, instance, from: saved, environment, hold, signal });
}

/** Gives the trajectory another container with its files after the last call. */
async function reopen(state: Episode): Promise<void> {
  await state.place.session.close();
  state.place = await open(state.task, state.creation, state.saved);
}
