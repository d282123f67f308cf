import { isObject } from "../../contracts/json.ts";
import type { ResolvedPlugin } from "../../contracts/plan.ts";
import { elsewhere } from "./elsewhere.ts";
import { Broken, type PluginCheck, pluginCheck } from "./promise.ts";

const advice =
  "Read the tasks in a stable order that depends on no clock, random numbers, folder order or response order.";

/** The promises of a data set. */
export function datasetChecks(plugin: ResolvedPlugin): PluginCheck[] {
  const asked = async () => Object(await elsewhere(plugin));
  return [
    pluginCheck(
      plugin.name,
      "answers",
      "every row is a task, as JSON",
      async () => void (await asked()),
      true,
    ),
    pluginCheck(plugin.name, "order", "it loads the same tasks in the same order again", async () => {
      const { first, second } = await asked();
      if (first !== second) throw new Broken("the second load returned other tasks or another order", advice);
    }),
    pluginCheck(
      plugin.name,
      "death of a worker",
      "another process loads the same tasks in the same order",
      async () => {
        const [one, other] = [await asked(), await asked()];
        if (!isObject(one) || one.first !== other.first)
          throw new Broken("another process loaded other tasks or another order", advice);
      },
    ),
  ];
}
