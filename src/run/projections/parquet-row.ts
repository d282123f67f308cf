import type { callColumns, segmentColumns, trajectoryColumns } from "./parquet-columns.ts";

/** A value of each type of column. */
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

/** What a row says of its trajectory. */
export type SharedColumns = RowOf<typeof trajectoryColumns>;

/** What a row says of its own. */
export type SegmentPart = RowOf<typeof segmentColumns>;

/** A row of a step's file. */
export type Row = SharedColumns & SegmentPart;

/** A tool call in a row. */
export type ToolStructure = RowOf<typeof callColumns>;

type Present<Object> = {
  [Name in keyof Object as null extends Object[Name] ? never : Name]: Object[Name];
} & { [Name in keyof Object as null extends Object[Name] ? Name : never]?: NonNullable<Object[Name]> };

/** The object without what is null. */
export function present<Value extends object>(object: Value): Present<Value>;
export function present(object: object): object {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null));
}
