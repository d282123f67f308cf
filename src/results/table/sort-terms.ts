import { EverturnError } from "../../base/errors/everturn-error.ts";
import { queryColumns } from "../../run/projections/query-columns.ts";

/** A column to sort by, possibly of a map: `metrics['format']`. */
export interface SortTerm {
  column: string;
  isDescending: boolean;
}

/** Parses columns separated by commas, each optionally with `asc` or `desc`. Throws QUERY_INVALID. */
export function sortTerms(sort: string): SortTerm[] {
  return sort.split(",").map((term) => {
    const match = /^\s*(\w+|metrics\['[\w.:-]+'\])(?:\s+(asc|desc))?\s*$/i.exec(term);
    const [, column = "", direction = "asc"] = match ?? [];
    if (!column.startsWith("metrics[") && !Object.hasOwn(queryColumns, column))
      throw queryInvalid(
        "order",
        sort,
        `“${term.trim()}” is not a column, optionally followed by asc or desc`,
      );
    return { column, isDescending: direction.toLowerCase() === "desc" };
  });
}

/** The error of a condition or order that can't be used. */
export function queryInvalid(what: string, text: string, reason: string): EverturnError<"QUERY_INVALID"> {
  const columns = Object.keys(queryColumns).join(", ");
  return new EverturnError("QUERY_INVALID", { what, text, reason, columns });
}
