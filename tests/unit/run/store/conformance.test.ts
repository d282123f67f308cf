import { describeStore } from "./store-promises.ts";

describeStore("folder");
