import { test } from "vitest";
import { keepSwiftShader } from "../../../support/kept-swiftshader.ts";
import { expectSameChoices, mixture } from "./tied-routers.ts";

keepSwiftShader();

test("a trainer that is told the ties of routers chooses as the sampler chose, on WebGPU", () =>
  expectSameChoices(mixture(16, 2), "webgpu"));
