// `everturn/sql`: what plugins ask databases with: queries that a model wrote, within limits that hold.

export { endsOrdered } from "../databases/final-order.ts";
export type { NamedDatabase } from "../databases/named-database.ts";
export { namedDatabase } from "../databases/named-database.ts";
export type { Databases, QueryOptions } from "../databases/open-databases.ts";
export { openDatabases } from "../databases/open-databases.ts";
export type {
  DatabaseSource,
  QueryLimits,
  QueryOutcome,
  SqlDecimal,
  SqlValue,
} from "../databases/outcome.ts";
