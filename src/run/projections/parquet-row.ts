import type { callColumns, segmentColumns, trajectoryColumns } from "./parquet-columns.ts";

/** The value type of each column type. */
interface Values {
  text: string;
  integer: number;
  number: number;
  truth: boolean;
  time: Date;
  integers: number[];
  numbers: number[];
  calls: ToolStructure[];
}

type RowOf<Columns extends Record<string, { type: keyof Values }>> = {
  [Name in keyof Columns]: Values[Columns[Name]["type"]] | null;
};

/** A row's values about its trajectory. */
export type SharedColumns = RowOf<typeof trajectoryColumns>;

/** A row's values about its own segment. */
export type SegmentPart = RowOf<typeof segmentColumns>;

/** A row of a step's file. */
export type Row = SharedColumns & SegmentPart;

/** A tool call in a row. */
export type ToolStructure = RowOf<typeof callColumns>;

type Present<Object> = {
  [Name in keyof Object as null extends Object[Name] ? never : Name]: Object[Name];
} & { [Name in keyof Object as null extends Object[Name] ? Name : never]?: NonNullable<Object[Name]> };

/** The object without its null entries. */
export function present<Value extends object>(object: Value): Present<Value>;
export function present(object: object): object {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null));
}
