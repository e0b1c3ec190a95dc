/**
 * The error function, which GELU needs and JavaScript lacks.
 *
 * erf(x) = 2/√π · e^(-x²) · (x + 2x³/3 + 4x⁵/15 + 8x⁷/105 + …), a series whose terms all have the sign of x, so that
 * nothing cancels (Abramowitz & Stegun 1964, 7.1.6).
 */

const BEYOND = 5; // here erf differs from 1 by less than 2e-12

/**
 * @param {number} x
 * @returns {number} erf(x), with an error below 1e-11
 */
export function erf(x) {
  if (Math.abs(x) > BEYOND) return Math.sign(x);
  let term = x;
  let sum = x;
  for (let n = 3; Math.abs(term) > 1e-12 * Math.abs(sum); n += 2) {
    term *= (2 * x * x) / n;
    sum += term;
  }
  return (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * sum;
}
