import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type ErrorEntry, errorTable } from "../../../../src/base/errors/table.ts";

const root = join(import.meta.dirname, "..", "..", "..", "..");
const entries: [string, ErrorEntry][] = Object.entries(errorTable);

describe("the error table", () => {
  it("has a heading in docs/errors.md for each code, and no other", () => {
    const page = readFileSync(join(root, "docs", "errors.md"), "utf8");
    const headings = [...page.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading);
    expect(headings).toEqual(entries.map(([code]) => code));
  });

  it("quotes each message in docs/errors.md as it is", () => {
    const page = readFileSync(join(root, "docs", "errors.md"), "utf8");
    const missing = entries.filter(([, { message }]) => !page.includes(`> ${message.replaceAll("\n", " ")}`));
    expect(missing).toEqual([]);
  });

  it("is readable in workflow code: it imports nothing", () => {
    expect(readFileSync(join(root, "src", "base", "errors", "table.ts"), "utf8")).not.toMatch(
      /\bimport\b.*\bfrom\b/,
    );
  });

  it("says that finished work is kept only in errors that end a command, which are no reason of RUN_FAILED", () => {
    const kept = entries.filter(([, { help }]) => help.includes("Finished work is kept"));
    const direct = /^(TEMPORAL_|WORKER_|RUN_FAILED$|RUN_TAKEN_OVER$|INTERRUPTED$)/;
    expect(kept.length).toBeGreaterThan(0);
    expect(kept.filter(([code]) => !direct.test(code))).toEqual([]);
  });

  it.each(entries)("%s is upper snake case and has a message", (code, { message }) => {
    expect(code).toMatch(/^[A-Z]+(_[A-Z]+)*$/);
    expect(message.length).toBeGreaterThan(5);
  });
});
