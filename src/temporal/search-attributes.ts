import { type Connection, isGrpcServiceError } from "@temporalio/client";
import proto from "@temporalio/proto";
import type { SearchAttributeName } from "../contracts/run.ts";
import { EverturnError } from "../errors/everturn-error.ts";
import type { ServerLocation } from "./client.ts";

const { INDEXED_VALUE_TYPE_DOUBLE, INDEXED_VALUE_TYPE_INT, INDEXED_VALUE_TYPE_KEYWORD } =
  proto.temporal.api.enums.v1.IndexedValueType;
const { INDEXED_VALUE_TYPE_KEYWORD_LIST } = proto.temporal.api.enums.v1.IndexedValueType;

/** gRPC's status code ALREADY_EXISTS. */
const alreadyExists = 6;

const types: Record<SearchAttributeName, proto.temporal.api.enums.v1.IndexedValueType> = {
  EverturnRun: INDEXED_VALUE_TYPE_KEYWORD,
  EverturnStage: INDEXED_VALUE_TYPE_KEYWORD,
  EverturnStep: INDEXED_VALUE_TYPE_INT,
  EverturnPolicyVersion: INDEXED_VALUE_TYPE_INT,
  EverturnTask: INDEXED_VALUE_TYPE_KEYWORD,
  EverturnOutcome: INDEXED_VALUE_TYPE_KEYWORD,
  EverturnReward: INDEXED_VALUE_TYPE_DOUBLE,
  EverturnTools: INDEXED_VALUE_TYPE_KEYWORD_LIST,
  EverturnWaiting: INDEXED_VALUE_TYPE_KEYWORD,
};

/**
 * Registers the search attributes that are not there yet, so that trajectories can be searched in the UI.
 * Throws TEMPORAL_REFUSED.
 */
export async function registerSearchAttributes(
  connection: Connection,
  { address, namespace }: ServerLocation,
): Promise<void> {
  try {
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
    const missing = Object.entries(types).filter(([name]) => !(name in customAttributes));
    if (missing.length === 0) return;
    const searchAttributes = Object.fromEntries(missing);
    await connection.operatorService.addSearchAttributes({ namespace, searchAttributes });
  } catch (error) {
    if (!isGrpcServiceError(error)) throw error;
    if (error.code === alreadyExists) return; // another run registered them since we looked
    throw new EverturnError("TEMPORAL_REFUSED", { address, namespace, reason: error.details });
  }
}
