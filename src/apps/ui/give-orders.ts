import { EverturnError } from "../../base/errors/everturn-error.ts";
import { parseExactJson } from "../../base/json/exact-json.ts";
import { isObject, type JsonObject } from "../../contracts/json.ts";
import type { OrderName } from "../../contracts/orders.ts";
import { checkArguments } from "../../control/operations/check-arguments.ts";
import { withLiveRun } from "../../control/supervision/run-client.ts";
import { askTranscript, giveOrder } from "../../control/temporal/live-trajectories.ts";
import type { ShownRun, UiContext } from "./ui-context.ts";

/** The fields of a submitted form by name. */
export type Fields = ReadonlyMap<string, string>;

const fieldsOf: Record<OrderName, readonly string[]> = {
  pause: ["reason"],
  resume: [],
  cancel: ["reason"],
  say: ["text", "role"],
  approve: ["call"],
  deny: ["call", "reason"],
  answer: ["call", "text"],
};

/** Gives a live trajectory the order in a form. Throws ORDER_REFUSED, and the errors of giving an order. */
export async function orderByForm(
  { runs }: UiContext,
  run: ShownRun,
  trajectory: string,
  fields: Fields,
): Promise<void> {
  const order = fields.get("order") ?? "";
  const refused = (reason: string) => new EverturnError("ORDER_REFUSED", { order, trajectory, reason });
  if (!isOrder(order)) throw refused("there is no such order");
  const given: Record<string, string> = {};
  for (const name of fieldsOf[order]) {
    const value = fields.get(name) ?? "";
    if (value !== "") given[name] = value;
  }
  const written = order === "approve" ? (fields.get("arguments") ?? "").trim() : "";
  const changed = written === "" ? undefined : jsonObject(written);
  if (written !== "" && changed === undefined) throw refused("its arguments are not a JSON object");
  await withLiveRun({ runs, run: run.id }, async (client) => {
    if (changed === undefined) return giveOrder(client, trajectory, order, given);
    const { waiting } = await askTranscript(client, trajectory);
    checkArguments(run.plan, trajectory, waiting, { ...given, arguments: changed });
    return giveOrder(client, trajectory, order, { ...given, arguments: changed });
  });
}

function isOrder(name: string): name is OrderName {
  return Object.hasOwn(fieldsOf, name);
}

function jsonObject(text: string): JsonObject | undefined {
  try {
    const value = parseExactJson(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
