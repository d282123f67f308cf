import { once } from "node:events";
import { start } from "../../tests/support/command.ts";

/** `everturn tools serve tool-calculator`, and where it speaks verl-tool's protocol. */
export async function toolServer(): Promise<{ url: string; close(): Promise<void> }> {
  const { child, stdout, stderr, end } = start("tools", "serve", "tool-calculator", "--port", "0");
  const ended = end();
  while (child.stdout && !stdout().includes("Ctrl-C")) {
    const told = await Promise.race([once(child.stdout, "data"), ended]);
    if ("code" in told) throw new Error(`the server of tools did not start: ${stderr()}`);
  }
  return {
    url: /verl-tool: (\S+)/.exec(stdout())?.[1] ?? "",
    close: async () => {
      child.kill("SIGINT");
      await ended;
    },
  };
}
