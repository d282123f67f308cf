type Version = readonly [major: number, minor: number, patch: number];

/** Whether `version` (x.y.z) lies in `range`: ^, ~, comparisons, *, spaces for “and”, || for “or”, as npm has them. */
export function inRange(version: string, range: string): boolean {
  const numbers = parse(version);
  return range.split("||").some((part) => {
    const terms = part.trim().split(/\s+/);
    return terms.every((term) => fits(numbers, term));
  });
}

function fits(version: Version, term: string): boolean {
  if (term === "*") return true;
  const [, operator = "", bound = ""] = /^(\^|~|>=|<=|>|<|=)?(.+)$/.exec(term) ?? [];
  const limit = parse(bound);
  const order = compare(version, limit);
  switch (operator) {
    case "^":
      return order >= 0 && compare(version, nextIncompatible(limit)) < 0;
    case "~":
      return order >= 0 && compare(version, [limit[0], limit[1] + 1, 0]) < 0;
    case ">=":
      return order >= 0;
    case "<=":
      return order <= 0;
    case ">":
      return order > 0;
    case "<":
      return order < 0;
    default:
      return order === 0;
  }
}

/** The first version that ^limit excludes: the leftmost number that isn't 0 goes up. */
function nextIncompatible([major, minor, patch]: Version): Version {
  if (major > 0) return [major + 1, 0, 0];
  return minor > 0 ? [0, minor + 1, 0] : [0, 0, patch + 1];
}

function parse(version: string): Version {
  const [major = 0, minor = 0, patch = 0] = version.replace(/-.*/, "").split(".").map(Number);
  return [major, minor, patch];
}

function compare(a: Version, b: Version): number {
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2];
}
