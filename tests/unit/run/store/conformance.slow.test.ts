import { describeStore } from "./store-promises.ts";

describeStore("objects");
