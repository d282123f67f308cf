/**
 * The run's agent loops by plugin name. The bundler provides this module
 * (src/control/temporal/bundle-workflows.ts).
 */
declare module "@everturn/agent-loops" {
  const loops: Record<string, import("../src/contracts/loop.ts").AgentLoop>;
  export default loops;
}
