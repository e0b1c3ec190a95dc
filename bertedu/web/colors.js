/**
 * The colours of values: purple below zero, nothing at zero, gold above, as in the course's pictures.
 */

const GOLD = [201, 148, 20];
const PURPLE = [122, 66, 160];

/** Red, green, blue and opacity, each up to 255, for a value from -1 to 1. */
export function color(value) {
  return [...(value < 0 ? PURPLE : GOLD), 255 * Math.min(1, Math.abs(value))];
}

/** A CSS colour for a value from -1 to 1; at 0 the paper shows through. */
export function fill(value) {
  const [red, green, blue] = value < 0 ? PURPLE : GOLD;
  return `rgb(${red} ${green} ${blue} / ${Math.min(1, Math.abs(value)).toFixed(3)})`;
}
