// `everturn/sql`: what plugins ask databases with: queries that a model wrote, within limits that hold.

export type { NamedDatabase } from "../databases/named-database.ts";
export { namedDatabase } from "../databases/named-database.ts";
export type { Databases, QueryOptions } from "../databases/open-databases.ts";
export { openDatabases } from "../databases/open-databases.ts";
export type { DatabaseSource, QueryLimits, QueryOutcome, SqlValue } from "../databases/outcome.ts";
