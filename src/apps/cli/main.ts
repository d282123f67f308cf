#!/usr/bin/env node
import { enableCompileCache } from "node:module";

// Before anything else is loaded. Through the environment it applies to this process's threads and workers from
// their start.
const { directory } = enableCompileCache();
if (directory !== undefined) process.env.NODE_COMPILE_CACHE ??= directory;
await import("./program.ts");
