import { sharedServer } from "./shared-server.ts";

// Commands that a test file starts, and what it does in its own process, join the shared server.
const { address, namespace } = sharedServer();
process.env.TEMPORAL_ADDRESS = address;
process.env.TEMPORAL_NAMESPACE = namespace;
