import { beforeAll, test } from "vitest";
import { fetchLlamaCpp } from "../../../support/llama-cpp.ts";
import { expectControlAsText } from "./control-in-texts.ts";

beforeAll(fetchLlamaCpp, 600_000); // the first time it is downloaded

test.each(["qwen2", "llama-bpe"] as const)(
  "control tokens in what users and tools say are text: %s",
  expectControlAsText,
);
