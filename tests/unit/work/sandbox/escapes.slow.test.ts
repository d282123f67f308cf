import type { Sandbox } from "everturn/sandbox";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { attempt } from "../../../escapes/attempt.ts";
import { judged } from "../../../escapes/programs/judged.ts";
import { escapes } from "../../../escapes/programs.ts";
import { surround, type Watched } from "../../../escapes/surroundings.ts";
import { bubblewrapHere } from "../../../support/bubblewrap.ts";

const here = await bubblewrapHere();
/** Every third that takes little, a few that take all they can get, and all that turn on their judge and take little. `npm run escapes` tries all. */
const heavy = ["forks without end", "never ends, and heeds no interrupt", "makes files without end"];
const slow = /^(installs|sleeps|waits|calls itself without end, and)/;
const quick = escapes.filter((program, index) => {
  const { name, isHeavy, told } = program;
  if (judged.includes(program)) return isHeavy !== true && told?.[0] !== "time-limit";
  return isHeavy === true ? heavy.includes(name) : index % 3 === 0 && !slow.test(name);
});

describe.runIf(here !== undefined)("programs that try to get out of bubblewrap", () => {
  const sandbox = here as Sandbox;
  let watched: Watched;
  beforeAll(async () => {
    watched = await surround(sandbox);
  });
  afterAll(async () => {
    await watched.close();
    await sandbox.close();
  });

  test.each(quick)("$name", async (program) => {
    if (!sandbox.languages.includes(program.language ?? "python")) return;
    expect(await attempt(sandbox, program, watched.around)).toEqual([]);
  });

  test("nobody else is harmed", async () => {
    expect(await watched.harm()).toEqual([]);
  });
});

test("there are at least eighty programs, each with a name of its own", () => {
  expect(new Set(escapes.map(({ name }) => name)).size).toBe(escapes.length);
  expect(escapes.length).toBeGreaterThanOrEqual(80);
});
