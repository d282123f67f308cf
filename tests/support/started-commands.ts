import { afterAll } from "vitest";
import { killIfRunning, type RunningCommand } from "./command.ts";

/** Returns a function that remembers commands. Those that still run after the file's tests are killed. */
export function startedCommands(): (command: RunningCommand) => RunningCommand {
  const commands: RunningCommand[] = [];
  afterAll(() => commands.forEach(killIfRunning));
  return (command) => {
    commands.push(command);
    return command;
  };
}
