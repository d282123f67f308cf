import { setTimeout as sleep } from "node:timers/promises";
import { type Connection, isGrpcServiceError } from "@temporalio/client";
import proto from "@temporalio/proto";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import type { SearchAttributeName } from "../../contracts/run.ts";
import type { ServerLocation } from "./connection-settings.ts";
import { unauthorized } from "./connection-trouble.ts";
import { grpcCodes } from "./grpc-codes.ts";

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

interface Attribute {
  name: string;
  type: keyof typeof numbers;
}

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

/** How long a server may take to know registered attributes, in ms. */
const patience = 90_000;

/**
 * Registers missing search attributes, so that trajectories can be searched in the UI, and waits until the server
 * knows them. Throws TEMPORAL_REFUSED, TEMPORAL_UNAUTHORIZED, and SEARCH_ATTRIBUTES_MISSING if only an administrator
 * may create them.
 */
export async function registerSearchAttributes(
  connection: Connection,
  location: ServerLocation,
): Promise<void> {
  const { address, namespace } = location;
  try {
    const missing = await missingAttributes(connection, namespace);
    if (missing.length === 0) return;
    const searchAttributes = Object.fromEntries(missing.map(({ name, type }) => [name, numbers[type]]));
    const added = connection.operatorService.addSearchAttributes({ namespace, searchAttributes });
    await added.catch((error: unknown) => {
      if (isForbidden(error)) throw notCreated(location, missing);
      if (codeOf(error) !== grpcCodes.alreadyExists) throw error; // another run registered them meanwhile
    });
    await untilKnown(
      connection,
      namespace,
      missing.map(({ name }) => name),
    );
  } catch (error) {
    if (!isGrpcServiceError(error)) throw error;
    const refused = new EverturnError("TEMPORAL_REFUSED", { address, namespace, reason: error.details });
    throw unauthorized(location, error) ?? refused;
  }
}

/** The attributes that a namespace lacks. Clients that may not list them learn it by searching. */
async function missingAttributes(connection: Connection, namespace: string): Promise<Attribute[]> {
  const all = Object.entries(searchAttributeTypes).map(([name, type]) => ({ name, type }));
  const known = await connection.operatorService.listSearchAttributes({ namespace }).catch((error) => {
    if (isForbidden(error)) return undefined;
    throw error;
  });
  if (known !== undefined) return all.filter(({ name }) => !(name in known.customAttributes));
  const isKnown = await Promise.all(all.map(({ name }) => isSearchable(connection, namespace, [name])));
  return all.filter((_, index) => isKnown[index] === false);
}

/** Whether a call of the operator's interface is closed to this client, as on Temporal Cloud. */
function isForbidden(error: unknown): boolean {
  const code = codeOf(error);
  return code === grpcCodes.permissionDenied || code === grpcCodes.unimplemented;
}

/** The error with the commands for an administrator. */
function notCreated({ address, namespace }: ServerLocation, missing: Attribute[]): EverturnError {
  const flags = missing.map(({ name, type }) => `--name ${name} --type ${type}`).join(" ");
  const pairs = missing.map(({ name, type }) => `--search-attribute ${name}=${type}`).join(" ");
  return new EverturnError("SEARCH_ATTRIBUTES_MISSING", {
    address,
    namespace,
    names: missing.map(({ name }) => name).join(", "),
    command: `  temporal operator search-attribute create --address ${address} --namespace ${namespace} ${flags}`,
    cloud: `  tcld namespace search-attributes add --namespace ${namespace} ${pairs}`,
  });
}

/** Repeats a search until the server no longer calls an attribute unknown: it reloads them every few seconds. */
async function untilKnown(connection: Connection, namespace: string, names: string[]): Promise<void> {
  const from = performance.now();
  while (!(await isSearchable(connection, namespace, names, performance.now() - from > patience)))
    await sleep(200);
}

/** Whether the server knows these attributes. With `isLast`, it throws the server's error if not. */
async function isSearchable(
  connection: Connection,
  namespace: string,
  names: string[],
  isLast = false,
): Promise<boolean> {
  const query = names.map((name) => `${name} IS NOT NULL`).join(" AND ");
  try {
    await connection.workflowService.countWorkflowExecutions({ namespace, query });
    return true;
  } catch (error) {
    if (codeOf(error) !== grpcCodes.invalidArgument || isLast) throw error;
    return false;
  }
}

function codeOf(error: unknown): number | undefined {
  return isGrpcServiceError(error) ? error.code : undefined;
}
