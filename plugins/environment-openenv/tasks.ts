import { isObject, type JsonObject, type Task } from "everturn/plugin";
import { request } from "./server.ts";
import type { Settings } from "./settings.ts";

/** Makes a row for each task of the server's task API, or for each seed. Throws if the server has neither. */
export async function tasksOf(settings: Settings): Promise<Task[]> {
  const { url, seeds, split, limit, environment = await firstEnvironment(url) } = settings;
  if (seeds !== undefined) {
    const { first, count } = seeds;
    return Array.from({ length: count }, (_, index) =>
      row(settings, environment ?? "openenv", index, { seed: first + index }),
    );
  }
  if (environment === undefined)
    throw new Error(`the server ${url} has no task API: give \`seeds\`, by which its tasks differ`);
  const answer = await request(url, `/${encodeURIComponent(environment)}/tasks`, { split });
  const tasks = isObject(answer) && Array.isArray(answer.tasks) ? answer.tasks : undefined;
  if (tasks === undefined) throw new Error(`the server ${url} has no tasks of “${environment}”`);
  return tasks.slice(0, limit).map((task, index) => {
    const place = isObject(task) && typeof task.index === "number" ? task.index : index;
    return row(settings, environment, index, { split, index: place });
  });
}

/** The data of a task's reset. */
export function resetOf({ extra_info: { openenv } = {} }: Task): JsonObject {
  return isObject(openenv) ? openenv : {};
}

async function firstEnvironment(url: string): Promise<string | undefined> {
  const names = await request(url, "/list_environments");
  const [first] = Array.isArray(names) ? names : [];
  return typeof first === "string" ? first : undefined;
}

function row({ instruction, reset }: Settings, environment: string, index: number, own: JsonObject): Task {
  return {
    data_source: `openenv/${environment}`,
    prompt: [{ role: "system", content: instruction }],
    reward_model: { ground_truth: "" },
    extra_info: { index, openenv: { ...reset, ...own } },
  };
}
