const coefficients = [
  676.5203681218851, -1259.1392167224028, 771.3234287776531, -176.6150291621406, 12.507343278686905,
  -0.13857109526572012, 9.984369578019572e-6, 1.5056327351493116e-7,
];

/** The logarithm of the gamma function for `value` ≥ ½ (Lanczos, 1964; g = 7, nine terms: about 15 digits). */
export function logGamma(value: number): number {
  const x = value - 1;
  const sum = coefficients.reduce((total, part, index) => total + part / (x + index + 1), 0.9999999999998099);
  const t = x + 7.5;
  return 0.5 * Math.log(2 * Math.PI) + (x + 0.5) * Math.log(t) - t + Math.log(sum);
}
