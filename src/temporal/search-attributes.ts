import type { Connection } from "@temporalio/client";
import proto from "@temporalio/proto";
import type { SearchAttributeName } from "../contracts/run.ts";

const { INDEXED_VALUE_TYPE_DOUBLE, INDEXED_VALUE_TYPE_INT, INDEXED_VALUE_TYPE_KEYWORD } =
  proto.temporal.api.enums.v1.IndexedValueType;
const { INDEXED_VALUE_TYPE_KEYWORD_LIST } = proto.temporal.api.enums.v1.IndexedValueType;

const types: Record<SearchAttributeName, proto.temporal.api.enums.v1.IndexedValueType> = {
  EverturnRun: INDEXED_VALUE_TYPE_KEYWORD,
  EverturnStage: INDEXED_VALUE_TYPE_KEYWORD,
  EverturnStep: INDEXED_VALUE_TYPE_INT,
  EverturnPolicyVersion: INDEXED_VALUE_TYPE_INT,
  EverturnTask: INDEXED_VALUE_TYPE_KEYWORD,
  EverturnOutcome: INDEXED_VALUE_TYPE_KEYWORD,
  EverturnReward: INDEXED_VALUE_TYPE_DOUBLE,
  EverturnTools: INDEXED_VALUE_TYPE_KEYWORD_LIST,
};

/** Registers the search attributes that are not there yet, so that trajectories can be searched in the UI. */
export async function registerSearchAttributes(connection: Connection, namespace: string): Promise<void> {
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  const missing = Object.entries(types).filter(([name]) => !(name in customAttributes));
  if (missing.length === 0) return;
  await connection.operatorService.addSearchAttributes({
    namespace,
    searchAttributes: Object.fromEntries(missing),
  });
}
