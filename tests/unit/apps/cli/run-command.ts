import { Command } from "commander";
import { vi } from "vitest";

/** Runs one command as main.ts does, and gives back what it wrote to standard output. */
export async function runCommand(
  register: (program: Command) => void,
  ...parameters: string[]
): Promise<string> {
  const program = new Command("everturn").exitOverride().configureOutput({ writeErr: () => {} });
  register(program);
  for (const command of program.commands) command.copyInheritedSettings(program);
  const written: string[] = [];
  const write = vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    written.push(String(text));
    return true;
  });
  try {
    await program.parseAsync(parameters, { from: "user" });
    return written.join("");
  } finally {
    write.mockRestore();
  }
}
