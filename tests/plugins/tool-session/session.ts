import { createInterface } from "node:readline";

/** A session in a process of its own: variables, changed by lines of JSON. It goes on without who started it. */
const variables: Record<string, number> = {};
setInterval(() => {}, 60_000);

for await (const line of createInterface({ input: process.stdin })) {
  const { load, variable, add } = JSON.parse(line);
  if (load !== undefined) Object.assign(variables, load);
  else if (variable !== undefined) variables[variable] = (variables[variable] ?? 0) + add;
  process.stdout.write(`${JSON.stringify(variables)}\n`);
}
