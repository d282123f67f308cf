import { Command } from "commander";
import { commands } from "../../src/apps/cli/command-table.ts";

/** The parts of a command line after `everturn` that Everturn does not know: its command, or options of it. */
export async function unknownParts([name = "", ...parameters]: readonly string[]): Promise<string[]> {
  const load = Object.entries(commands).find(([command]) => command === name)?.[1];
  if (load === undefined) return [name];
  const program = new Command();
  (await load())(program);
  const known = program.commands.flatMap(({ options }) => options.map(({ long }) => long));
  const given = parameters.flatMap((one) => /^--[a-z-]+/.exec(one)?.[0] ?? []);
  return given.filter((option) => !known.includes(option));
}
