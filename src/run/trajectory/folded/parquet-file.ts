import { join } from "node:path";
import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import {
  asyncBufferFromFile,
  type ParquetRow,
  parquetMetadataAsync,
  parquetReadObjects,
  type SchemaElement,
} from "hyparquet";
import { type ColumnSource, fileWriter, ParquetWriter } from "hyparquet-writer";
import { persistently } from "../../../base/files/persistently.ts";
import type { RowsPlace } from "../../../contracts/folded-step.ts";
import { type Column, callColumns, columns } from "../../projections/parquet-columns.ts";
import type { Row } from "../../projections/parquet-row.ts";

/** The only file of the tree. */
const fileName = "trajectories.parquet";

/** The path of the rows in a tree's folder. */
export function rowsFile(folder: string): string {
  return join(folder, fileName);
}

/** The most rows that are buffered for writing or read at once. Tokens and characters are limited too. */
const mostRows = 1000;
const mostContent = 2 ** 21;

const lists = Object.entries(columns).flatMap(([column, { type }]) =>
  type === "integers" || type === "numbers" || type === "calls" ? [column] : [],
);

/** Columns that a row lacks if they are null: lists, and columns that older files don't have. */
const mayLack = [...lists, "cut_observations"];

/** A file of rows that is being written. */
export interface RowWriter {
  /** Adds the rows of a trajectory, which stay together. Returns their place. */
  add(rows: readonly Row[]): RowsPlace;
  finish(): void;
}

/**
 * Writes the file in a folder as Parquet, compressed by Zstandard. Its memory does not grow with the number of rows.
 */
export function writeRows(folder: string): RowWriter {
  const writer = new ParquetWriter({
    writer: fileWriter(rowsFile(folder)),
    schema: parquetSchema(),
    codec: "ZSTD",
    compressors: { ZSTD: (bytes) => zstdCompressSync(bytes) },
    createdBy: "everturn",
  });
  let held: Row[] = [];
  let content = 0;
  let parts = 0;

  function flush(): void {
    if (held.length === 0) return;
    writer.write({ columnData: columnData(held), rowGroupSize: held.length });
    held = [];
    content = 0;
    parts++;
  }

  return {
    add: (rows) => {
      const place = { part: parts, from: held.length, rows: rows.length };
      held.push(...rows);
      for (const { text, tokens } of rows) content += (text?.length ?? 0) + (tokens?.length ?? 0);
      if (held.length >= mostRows || content >= mostContent) flush();
      return place;
    },
    finish: () => {
      flush();
      writer.finish();
    },
  };
}

function columnData(rows: readonly Row[]): ColumnSource[] {
  const values = new Map<string, unknown[]>(Object.keys(columns).map((column) => [column, []]));
  for (const row of rows) {
    for (const [column, value] of Object.entries(row)) values.get(column)?.push(value);
  }
  return [...values].map(([column, data]) => {
    const source = { name: column, data, statistics: !lists.includes(column) };
    return columns[column]?.type === "numbers" ? { ...source, encoding: "BYTE_STREAM_SPLIT" } : source;
  });
}

/** The file in a folder, and its metadata. */
async function openFile(folder: string) {
  const file = await persistently(() => asyncBufferFromFile(rowsFile(folder)));
  const slices = {
    ...file,
    slice: (start: number, end?: number) => persistently(() => file.slice(start, end)),
  };
  return { file: slices, metadata: await parquetMetadataAsync(slices), compressors };
}

const compressors = { ZSTD: (bytes: Uint8Array) => zstdDecompressSync(bytes) };

/** The text of a segment, and where it is. */
type SegmentText = { [Name in (typeof textColumns)[number]]: NonNullable<Row[Name]> };

const textColumns = ["stage", "task", "sample", "turn", "origin", "text"] as const satisfies (keyof Row)[];

/** The texts of all segments of the file in a folder. Columns with tokens, which take longer to read, are skipped. */
export async function* readTexts(folder: string): AsyncGenerator<SegmentText> {
  const { metadata, ...opened } = await openFile(folder);
  let rowStart = 0;
  for (const { num_rows: rows } of metadata.row_groups) {
    const rowEnd = rowStart + Number(rows);
    const read = await parquetReadObjects({
      ...opened,
      metadata,
      rowStart,
      rowEnd,
      columns: [...textColumns],
    });
    yield* read.filter(isSegmentText);
    rowStart = rowEnd;
  }
}

/** A trajectory without turns has a row without a text. */
function isSegmentText(row: ParquetRow): row is ParquetRow & SegmentText {
  return textColumns.every((column) => row[column] !== undefined && row[column] !== null);
}

/** Opens the rows of the file in a folder by parts, each read on demand. */
export async function openRows(
  folder: string,
): Promise<{ parts: number; read(part: number): Promise<Row[]> }> {
  const opened = await openFile(folder);
  const { metadata } = opened;
  const sizes = metadata.row_groups.map(({ num_rows }) => Number(num_rows));
  return {
    parts: sizes.length,
    read: async (part) => {
      const rowStart = sizes.slice(0, part).reduce((total, size) => total + size, 0);
      const rowEnd = rowStart + (sizes[part] ?? 0);
      return (await parquetReadObjects({ ...opened, rowStart, rowEnd })).map(rowOf);
    },
  };
}

function rowOf(read: ParquetRow): Row {
  for (const column of mayLack) read[column] ??= null;
  if (isRow(read)) return read;
  throw new Error("A step's file lacks columns.");
}

function isRow(row: ParquetRow): row is ParquetRow & Row {
  return Object.keys(columns).every((column) => row[column] !== undefined);
}

/** The columns declared in Parquet's form. All of them are nullable. */
function parquetSchema(): SchemaElement[] {
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
