const units: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** Returns the milliseconds of a duration such as 500ms, 10s, 1.5m or 2h. The schemas allow no other form. */
export function parseDuration(text: string): number {
  const [, number = "", unit = ""] = /^([0-9.]+)(ms|s|m|h)$/.exec(text) ?? [];
  return Math.round(Number(number) * (units[unit] ?? Number.NaN));
}
