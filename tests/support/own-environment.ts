import { afterAll } from "vitest";

const found = { ...process.env };

/** Files share a process: what one has put into the environment, the next doesn't find. */
afterAll(() => {
  for (const name of Object.keys(process.env)) if (!(name in found)) delete process.env[name];
  Object.assign(process.env, found);
});
