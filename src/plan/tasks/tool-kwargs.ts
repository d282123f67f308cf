import type { Task } from "../../contracts/generated/task.ts";
import { isObject, type JsonObject } from "../../contracts/json.ts";

/** The arguments of the stages of a tool in verl. */
export interface ToolKwargs {
  create_kwargs: JsonObject;
  execute_kwargs: JsonObject;
  calc_reward_kwargs: JsonObject;
  release_kwargs: JsonObject;
}

/** A row's settings for a tool in verl's form, from `extra_info.tools_kwargs.<name>`. `{}` if it has none. */
export function toolKwargs({ extra_info }: Task, name: string): ToolKwargs {
  const all = extra_info?.tools_kwargs ?? {};
  const own = objectOf(Object.hasOwn(all, name) ? all[name] : undefined);
  return {
    create_kwargs: objectOf(own.create_kwargs),
    execute_kwargs: objectOf(own.execute_kwargs),
    calc_reward_kwargs: objectOf(own.calc_reward_kwargs),
    release_kwargs: objectOf(own.release_kwargs),
  };
}

function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}
