import { Client, Connection } from "@temporalio/client";
import type { ReplayHistoriesIterable } from "@temporalio/worker";
import type { RunFolder } from "../../src/runs/run-folder.ts";
import { startDevServer } from "../../src/temporal/dev-server.ts";
import { findServerBinary } from "../../src/temporal/server-binary.ts";
