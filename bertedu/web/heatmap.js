/**
 * A matrix as a grid of coloured cells, with the tokens of its rows and columns; a canvas, so that 128 × 128 is quick.
 */

import { color, fill } from "./colors.js";
import { element } from "./dom.js";

const SMALLEST = 7; // pixels of a cell's width
const LOWEST = 15; // and of its height, so that a row has room for its name, where there are not very many rows
const LARGEST = 30;
const FONT = 12;
const SMALL = { willReadFrequently: true }; // drawn by the processor: sooner done than a graphics card is asked

/**
 * @param {{rows: string[], columns: string[], data: ArrayLike<number>, scale?: number, label: string, width?: number,
 *     smallest?: number, told?: (row: number, column: number) => string, hint?: boolean,
 *     chosen?: (row: number, column: number) => void}} given
 *     data: row by row; scale: the value that gets the full colour; label: what a screen reader says of the picture;
 *     smallest: pixels of a cell's width, at least; told: the sentence for the cell under the pointer;
 *     hint: whether one is told to point
 */
export function heatmap({ rows, columns, data, scale = 1, label, width = 560, told, chosen, ...more }) {
  const { smallest = SMALLEST, hint = true } = more;
  width = Math.min(width, room());
  const margin = (names) => Math.min(110, 16 + Math.max(0, ...names.map((name) => name.length)) * FONT * 0.62);
  const [left, top] = [margin(rows), columns.some(Boolean) ? margin(columns) : 4];
  const cell = Math.max(smallest, Math.min(LARGEST, Math.floor((width - left) / Math.max(1, columns.length))));
  const high = rows.length > 64 ? cell : Math.max(LOWEST, cell);
  const canvas = element("canvas", { role: "img", "aria-label": label, class: "heatmap" });
  const size = [left + cell * columns.length, top + high * rows.length];
  const caption = element(
    "p",
    { class: "cell", "aria-hidden": "true" },
    told && hint ? "Point at a cell, or tap it, to read its value." : "",
  );
  const pen = sized(canvas, ...size);
  draw(pen, { rows, columns, data, scale, left, top, cell, high });
  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    const column = Math.floor((((event.clientX - box.left) / box.width) * size[0] - left) / cell);
    const row = Math.floor((((event.clientY - box.top) / box.height) * size[1] - top) / high);
    return row >= 0 && row < rows.length && column >= 0 && column < columns.length ? [row, column] : null;
  };
  if (told) {
    canvas.addEventListener("pointermove", (event) => {
      const found = place(event);
      if (found) caption.textContent = told(...found);
    });
  }
  if (chosen) canvas.addEventListener("click", (event) => place(event) && chosen(...place(event)));
  return element(
    "div",
    { class: "heat" },
    element("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": label }, canvas),
    caption,
  );
}

let measured = null;

/**
 * Pixels that the page has for a picture. They are measured anew only after the window has changed: a browser lays out
 * the whole page to say it, and at each key that would take longer than the picture.
 */
function room() {
  if (measured === null) addEventListener("resize", () => (measured = null), { once: true });
  measured ??= document.documentElement.clientWidth - 40;
  return measured;
}

/** A small picture of a matrix [T, T] without words, for choosing among many: one pixel a cell, stretched. */
export function thumbnail(data, size, pixels = 56) {
  const canvas = element("canvas", { "aria-hidden": "true", width: size, height: size });
  Object.assign(canvas.style, { width: `${pixels}px`, height: `${pixels}px` });
  const image = new ImageData(size, size);
  for (let index = 0; index < size * size; index++) image.data.set(color(data[index]), 4 * index);
  canvas.getContext("2d", SMALL).putImageData(image, 0, 0);
  return canvas;
}

function sized(canvas, width, height) {
  const sharp = Math.min(2, globalThis.devicePixelRatio || 1);
  Object.assign(canvas, { width: Math.round(width * sharp), height: Math.round(height * sharp) });
  Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` });
  const pen = canvas.getContext("2d", SMALL);
  pen.scale(sharp, sharp);
  return pen;
}

function draw(pen, { rows, columns, data, scale, left, top, cell, high }) {
  const styles = getComputedStyle(document.documentElement);
  pen.font = `${FONT}px ui-monospace, Menlo, Consolas, monospace`;
  pen.textBaseline = "middle";
  pen.fillStyle = styles.getPropertyValue("--ink");
  const every = (pixels) => Math.ceil(13 / pixels); // small cells: not every name has room
  rows.forEach((name, row) => {
    pen.textAlign = "right";
    if (row % every(high) === 0) pen.fillText(name, left - 6, top + (row + 0.5) * high, left - 6);
  });
  columns.forEach((name, column) => {
    if (column % every(cell)) return;
    pen.save();
    pen.translate(left + (column + 0.5) * cell, top - 6);
    pen.rotate(-Math.PI / 2);
    pen.textAlign = "left";
    pen.fillText(name, 0, 0, top - 6);
    pen.restore();
  });
  pen.fillStyle = styles.getPropertyValue("--cell");
  pen.fillRect(left, top, cell * columns.length, high * rows.length);
  const gap = cell > 10 ? 1 : 0;
  for (let index = 0; index < data.length; index++) {
    pen.fillStyle = fill(data[index] / scale);
    const column = index % columns.length;
    pen.fillRect(left + column * cell, top + Math.floor(index / columns.length) * high, cell - gap, high - gap);
  }
}
