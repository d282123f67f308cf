// `everturn/sql`: queries for plugins that run a model's SQL on databases, within enforced limits.

export { endsOrdered } from "../base/databases/final-order.ts";
export type { NamedDatabase } from "../base/databases/named-database.ts";
export { namedDatabase } from "../base/databases/named-database.ts";
export type { Databases, QueryOptions } from "../base/databases/open-databases.ts";
export { openDatabases } from "../base/databases/open-databases.ts";
export type {
  DatabaseSource,
  QueryLimits,
  QueryOutcome,
  SqlDecimal,
  SqlValue,
} from "../base/databases/outcome.ts";
