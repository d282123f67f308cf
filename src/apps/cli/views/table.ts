/** A column of a text table. */
export interface Column {
  title: string;
  align?: "left" | "right";
}

/** The lines of a table whose columns are as wide as their widest cell. The first line contains the titles. */
export function tableLines(columns: readonly Column[], rows: readonly (readonly string[])[]): string[] {
  const widths = columns.map(({ title }, index) =>
    rows.reduce((width, row) => Math.max(width, row[index]?.length ?? 0), title.length),
  );
  const layOut = (cells: readonly string[]) =>
    columns
      .map(({ align }, index) => {
        const cell = cells[index] ?? "";
        return align === "right" ? cell.padStart(widths[index] ?? 0) : cell.padEnd(widths[index] ?? 0);
      })
      .join("  ")
      .trimEnd();
  return [columns.map(({ title }) => title), ...rows].map(layOut);
}
