import * as engine from "everturn/engine";
import * as plugin from "everturn/plugin";
import * as workflow from "everturn/workflow";
import { expect, test } from "vitest";

test("everturn/plugin has what tools, rewards and data sets need, and nothing of the engine", () => {
  const functions = [
    "InexactNumberError",
    "defineAgent",
    "defineDataset",
    "defineReward",
    "defineTool",
    "defineToolset",
    "defineTracker",
    "helperProcesses",
    "isObject",
    "killProcess",
    "markedAnswer",
    "parseAction",
    "parseExactJson",
    "parseKeepingDigits",
    "parseTasks",
    "processHandle",
    "readImage",
    "readJsonLines",
    "readText",
    "serverAddress",
    "toolKwargs",
    "videoFile",
    "wrapTool",
  ];
  expect(Object.keys(plugin).sort()).toEqual(functions);
  expect(Object.keys(engine)).toEqual(
    expect.arrayContaining(["createSampler", "createTrainer", "loadTokenizer", "softplus"]),
  );
});

test("everturn/workflow has types, and nothing that workflow code could not hold", () => {
  expect(Object.keys(workflow)).toEqual(["defineLoop"]);
});
