import { vi } from "vitest";

/** Puts this process's clock (`performance.now`) so many milliseconds ahead; `vi.restoreAllMocks` puts it back. */
export function clockAhead(milliseconds: number): void {
  const now = performance.now.bind(performance);
  vi.spyOn(performance, "now").mockImplementation(() => now() + milliseconds);
}
