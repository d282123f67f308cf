import { setTimeout as sleep } from "node:timers/promises";
import { type Connection, isGrpcServiceError } from "@temporalio/client";
import proto from "@temporalio/proto";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import type { SearchAttributeName } from "../../contracts/run.ts";
import type { ServerLocation } from "./client.ts";

const { INDEXED_VALUE_TYPE_DOUBLE, INDEXED_VALUE_TYPE_INT, INDEXED_VALUE_TYPE_KEYWORD } =
  proto.temporal.api.enums.v1.IndexedValueType;
const { INDEXED_VALUE_TYPE_KEYWORD_LIST } = proto.temporal.api.enums.v1.IndexedValueType;

/** The API's numbers of the types, by their common names. */
const numbers = {
  Double: INDEXED_VALUE_TYPE_DOUBLE,
  Int: INDEXED_VALUE_TYPE_INT,
  Keyword: INDEXED_VALUE_TYPE_KEYWORD,
  KeywordList: INDEXED_VALUE_TYPE_KEYWORD_LIST,
};

/** The types of the attributes by which trajectories can be searched. */
export const searchAttributeTypes: Record<SearchAttributeName, keyof typeof numbers> = {
  EverturnRun: "Keyword",
  EverturnStage: "Keyword",
  EverturnStep: "Int",
  EverturnPolicyVersion: "Int",
  EverturnTask: "Keyword",
  EverturnOutcome: "Keyword",
  EverturnReward: "Double",
  EverturnTools: "KeywordList",
  EverturnWaiting: "Keyword",
};

/** gRPC's status codes. */
const [invalidArgument, alreadyExists] = [3, 6];

/** How long a server may take to know registered attributes, in ms. */
const patience = 90_000;

/**
 * Registers missing search attributes, so that trajectories can be searched in the UI, and waits until the server
 * knows them. Throws TEMPORAL_REFUSED.
 */
export async function registerSearchAttributes(
  connection: Connection,
  { address, namespace }: ServerLocation,
): Promise<void> {
  try {
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
    const missing = Object.entries(searchAttributeTypes).filter(([name]) => !(name in customAttributes));
    if (missing.length === 0) return;
    const searchAttributes = Object.fromEntries(missing.map(([name, type]) => [name, numbers[type]]));
    const added = connection.operatorService.addSearchAttributes({ namespace, searchAttributes });
    await added.catch((error: unknown) => {
      if (codeOf(error) !== alreadyExists) throw error; // another run registered them meanwhile
    });
    await untilKnown(connection, namespace, Object.keys(searchAttributes));
  } catch (error) {
    if (!isGrpcServiceError(error)) throw error;
    throw new EverturnError("TEMPORAL_REFUSED", { address, namespace, reason: error.details });
  }
}

/** Repeats a search until the server no longer calls an attribute unknown: it reloads them every few seconds. */
async function untilKnown(connection: Connection, namespace: string, names: string[]): Promise<void> {
  const query = names.map((name) => `${name} IS NOT NULL`).join(" AND ");
  const from = performance.now();
  for (;;) {
    try {
      await connection.workflowService.countWorkflowExecutions({ namespace, query });
      return;
    } catch (error) {
      if (codeOf(error) !== invalidArgument || performance.now() - from > patience) throw error;
    }
    await sleep(200);
  }
}

function codeOf(error: unknown): number | undefined {
  return isGrpcServiceError(error) ? error.code : undefined;
}
