import type { ModelFormat } from "./action-format.ts";
import { commandA } from "./command-a.ts";
import { commandR } from "./command-r.ts";
import { deepseekV3, deepseekV31 } from "./deepseek.ts";
import { deepseekDsml } from "./deepseek-dsml.ts";
import { fenced } from "./fenced.ts";
import { functionGemma, gemma4 } from "./gemma.ts";
import { glm } from "./glm.ts";
import { granite } from "./granite.ts";
import { harmony } from "./harmony.ts";
import { hermes } from "./hermes.ts";
import { kimiK2 } from "./kimi-k2.ts";
import { llama3Json } from "./llama3-json.ts";
import { minimaxM1 } from "./minimax-m1.ts";
import { minimaxM2 } from "./minimax-m2.ts";
import { mistral, mistralJson } from "./mistral.ts";
import { nemotron } from "./nemotron.ts";
import { gemma3, lfm2, pythonic } from "./pythonic.ts";
import { qwen3Coder } from "./qwen3-coder.ts";
import { react } from "./react.ts";
import { tags } from "./tags.ts";

/** All named formats. */
export const formats: readonly ModelFormat[] = [
  hermes,
  qwen3Coder,
  llama3Json,
  pythonic,
  mistral,
  mistralJson,
  deepseekV3,
  deepseekV31,
  deepseekDsml,
  harmony,
  glm,
  kimiK2,
  minimaxM1,
  minimaxM2,
  granite,
  nemotron,
  commandR,
  commandA,
  gemma4,
  functionGemma,
  gemma3,
  lfm2,
  tags,
  fenced,
  react,
];
