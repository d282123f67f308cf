import type { SchemaElement } from "hyparquet";
import { type Column, callColumns, columns } from "./columns.ts";

/** The columns as Parquet declares them. Everything may be null. */
export function parquetSchema(): SchemaElement[] {
  const names = Object.entries(columns);
  return [{ name: "root", num_children: names.length }, ...names.flatMap(elementsOf)];
}

function elementsOf([name, { type }]: [string, Column]): SchemaElement[] {
  const optional = { name, repetition_type: "OPTIONAL" } as const;
  switch (type) {
    case "text":
      return [{ ...optional, type: "BYTE_ARRAY", converted_type: "UTF8" }];
    case "integer":
      return [{ ...optional, type: "INT32" }];
    case "number":
      return [{ ...optional, type: "DOUBLE" }];
    case "truth":
      return [{ ...optional, type: "BOOLEAN" }];
    case "time":
      return [{ ...optional, type: "INT64", converted_type: "TIMESTAMP_MILLIS" }];
    case "integers":
      return listOf(name, [{ name: "element", repetition_type: "OPTIONAL", type: "INT32" }]);
    case "numbers":
      return listOf(name, [{ name: "element", repetition_type: "OPTIONAL", type: "DOUBLE" }]);
    case "calls": {
      const fields = Object.entries(callColumns);
      const element = { name: "element", repetition_type: "OPTIONAL", num_children: fields.length } as const;
      return listOf(name, [element, ...fields.flatMap(elementsOf)]);
    }
  }
}

function listOf(name: string, element: SchemaElement[]): SchemaElement[] {
  return [
    { name, repetition_type: "OPTIONAL", num_children: 1, converted_type: "LIST" },
    { name: "list", repetition_type: "REPEATED", num_children: 1 },
    ...element,
  ];
}
