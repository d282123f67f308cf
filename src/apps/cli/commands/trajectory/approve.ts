import type { Client } from "@temporalio/client";
import type { Command } from "commander";
import { defined } from "../../../../base/records/defined.ts";
import type { JsonObject } from "../../../../contracts/json.ts";
import { checkArguments } from "../../../../control/operations/check-arguments.ts";
import { askTranscript } from "../../../../control/temporal/live-trajectories.ts";
import { openRunFolder } from "../../../../run/folder/open-runs.ts";
import type { RunReference } from "../../../../run/folder/run-reference.ts";
import { jsonObject } from "../../terminal/option-values.ts";
import { type LiveOptions, liveCommand, order } from "../live-trajectory.ts";

interface Options extends LiveOptions {
  call?: string;
  arguments?: JsonObject;
}

/** `everturn trajectory approve <trajectory>`: allows a waiting call, optionally with other arguments. */
export function registerApprove(parent: Command): void {
  liveCommand(parent, "approve", "approve a waiting tool call")
    .option("--call <turn/call>", "the tool call, for example 2/0; optional if only one is waiting")
    .option("--arguments <json>", "call the tool with these arguments instead of the model's", jsonObject)
    .action(approve);
}

function approve(trajectory: string, options: Options): Promise<void> {
  const { call, arguments: given } = options;
  const said = defined<object>({ call, arguments: given });
  return order(trajectory, options, "approve", said, (client, id, run) => checked(client, id, run, options));
}

/** Throws ORDER_REFUSED. */
async function checked(
  client: Client,
  id: string,
  { runs, run }: RunReference,
  options: Options,
): Promise<void> {
  const given = options.arguments;
  if (given === undefined) return;
  const { waiting } = await askTranscript(client, id);
  const { plan } = await openRunFolder(runs, run);
  checkArguments(plan, id, waiting, { ...options, arguments: given });
}
