import { defineTool } from "everturn/plugin";

/** Ends its process, as native code does that crashes. */
export default defineTool({
  name: "crashing",
  description: "Ends its process.",
  parameters: { type: "object" },
  retry: { maximumAttempts: 2 },
  execute: (): Promise<string> => {
    process.kill(process.pid, "SIGABRT");
    return new Promise(() => {});
  },
});
