#!/usr/bin/env node
import { enableCompileCache } from "node:module";

// Before anything else is loaded; by way of the environment, before anything at all in this process's threads and workers.
const { directory } = enableCompileCache();
if (directory !== undefined) process.env.NODE_COMPILE_CACHE ??= directory;
await import("./program.ts");
