import type { Task } from "../../contracts/generated/task.ts";
import { isObject, type JsonObject } from "../../contracts/json.ts";

/** What verl's stages of a tool are called with. */
export interface ToolKwargs {
  create_kwargs: JsonObject;
  execute_kwargs: JsonObject;
  calc_reward_kwargs: JsonObject;
  release_kwargs: JsonObject;
}

/** What a row in verl's form has for a tool, in `extra_info.tools_kwargs.<name>`; `{}` where it has nothing. */
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
