/**
 * Many-dimensional vectors as points on a page: the two directions in which they differ most (principal components).
 */

const ROUNDS = 200;

/**
 * @param {Float32Array[]} vectors  N vectors
 * @returns {{points: [number, number][], share: number}} a point for each, and the share of all variance that they show
 */
export function leading(vectors) {
  if (vectors.length < 2) return { points: vectors.map(() => [0, 0]), share: 1 };
  const centre = vectors[0].map((_, part) => vectors.reduce((sum, one) => sum + one[part], 0) / vectors.length);
  const moved = vectors.map((one) => one.map((number, part) => number - centre[part]));
  const products = moved.map((one) => moved.map((other) => dot(one, other))); // [N, N], as telling as [D, D]
  const total = products.reduce((sum, row, place) => sum + row[place], 0);
  const axes = [];
  for (let axis = 0; axis < 2; axis++) axes.push(strongest(products, axes));
  const share = total ? axes.reduce((sum, { strength }) => sum + strength, 0) / total : 1;
  const points = vectors.map((_, place) => axes.map(({ unit, strength }) => unit[place] * Math.sqrt(strength)));
  return { points, share };
}

/** The eigenvector of the largest eigenvalue that stands at right angles to those found: multiply again and again. */
function strongest(matrix, found) {
  let unit = matrix.map((_, place) => Math.cos(place + 1)); // the same start, the same map each time
  let strength = 0;
  for (let round = 0; round < ROUNDS; round++) {
    let next = matrix.map((row) => dot(row, unit));
    for (const other of found) {
      const part = dot(next, other.unit);
      next = next.map((number, place) => number - part * other.unit[place]);
    }
    strength = Math.sqrt(dot(next, next));
    if (strength < 1e-12) return { unit: unit.map(() => 0), strength: 0 };
    unit = next.map((number) => number / strength);
  }
  const largest = unit.reduce((most, number) => (Math.abs(number) > Math.abs(most) ? number : most), 0);
  return { unit: unit.map((number) => number * Math.sign(largest)), strength };
}

function dot(one, other) {
  return one.reduce((sum, number, place) => sum + number * other[place], 0);
}
