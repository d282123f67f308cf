import { expect, test } from "vitest";
import { placeOfRun, s3Address, s3Place } from "../../../../../src/run/store/s3/place.ts";

test.each([
  ["s3://runs", { bucket: "runs", prefix: "" }],
  ["s3://runs/", { bucket: "runs", prefix: "" }],
  ["s3://my.runs-1/team/Arithmetic_2/", { bucket: "my.runs-1", prefix: "team/Arithmetic_2/" }],
])("%s is a place, and has one address", (address, place) => {
  expect(s3Place(address)).toEqual(place);
  expect(s3Place(s3Address(place))).toEqual(place);
});

test.each([
  "gs://runs",
  "s3:/runs/a",
  "s3://",
  "s3://UPPER/a",
  "s3://runs//a",
  "s3://runs/../a",
  "s3://runs/a b",
  "s3://runs/a?b",
])("%s is refused", (address) => {
  expect(() => s3Place(address)).toThrow(expect.objectContaining({ code: "STORE_ADDRESS_INVALID" }));
});

test("a run's place is below that of its store", () => {
  expect(s3Address(placeOfRun(s3Place("s3://runs/team"), "calculator-1"))).toBe(
    "s3://runs/team/calculator-1",
  );
});
