/**
 * Reads the file format of weights, safetensors: eight bytes that say how long the header is, the header in JSON (for
 * each tensor its type, its shape and where its bytes begin and end), and the numbers.
 */

/** @typedef {{shape: number[], data: Float32Array}} Tensor  the numbers row by row */

const READERS = { F32: readFloat32, F16: readFloat16, BF16: readBfloat16, F64: readFloat64 };
const BYTES = { F32: 4, F16: 2, BF16: 2, F64: 8 };
const LONGEST_HEADER = 100_000_000; // the limit of the format's own reader

/**
 * @param {ArrayBuffer} buffer  the whole file
 * @returns {Map<string, Tensor>} the tensors of numbers with a fraction, by name; others (ids, booleans) are left out
 * @throws {Error} with a sentence that says what is wrong with the file
 */
export function readSafetensors(buffer) {
  const { header, start } = readHeader(buffer);
  const tensors = new Map();
  for (const [name, entry] of Object.entries(header)) {
    if (name === "__metadata__" || !(entry?.dtype in READERS)) continue;
    tensors.set(name, readTensor(buffer, start, name, entry));
  }
  if (!tensors.size) throw new Error("The file of weights holds no numbers: choose a model's safetensors file.");
  return tensors;
}

function readHeader(buffer) {
  const noSafetensors = new Error("The weights are not in the format safetensors: choose a file model.safetensors.");
  if (buffer.byteLength < 8) throw noSafetensors;
  const length = Number(new DataView(buffer).getBigUint64(0, true));
  if (length > LONGEST_HEADER || 8 + length > buffer.byteLength) throw noSafetensors;
  try {
    const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length)));
    if (typeof header !== "object" || header === null) throw noSafetensors;
    return { header, start: 8 + length };
  } catch {
    throw noSafetensors;
  }
}

function readTensor(buffer, start, name, { dtype, shape, data_offsets: offsets }) {
  const whole = (values) => Array.isArray(values) && values.every((value) => Number.isSafeInteger(value) && value >= 0);
  const count = whole(shape) ? shape.reduce((product, size) => product * size, 1) : NaN;
  const fits = whole(offsets) && offsets.length === 2 && offsets[1] - offsets[0] === count * BYTES[dtype];
  if (!fits || start + offsets[1] > buffer.byteLength) {
    throw new Error(`The file of weights is cut off or damaged at the tensor ${name}: copy it again.`);
  }
  const bytes = buffer.slice(start + offsets[0], start + offsets[1]); // a copy begins where typed arrays may begin
  return { shape, data: READERS[dtype](bytes) };
}

function readFloat32(bytes) {
  return new Float32Array(bytes);
}

function readFloat64(bytes) {
  return Float32Array.from(new Float64Array(bytes));
}

/** A bfloat16 is the upper half of a float32. */
function readBfloat16(bytes) {
  return new Float32Array(Uint32Array.from(new Uint16Array(bytes), (half) => half << 16).buffer);
}

let halves; // the number that each of the 65,536 patterns of a float16 stands for

function readFloat16(bytes) {
  if (globalThis.Float16Array) return new Float32Array(new Float16Array(bytes)); // where the browser has it
  halves ??= Float32Array.from({ length: 65536 }, (_, bits) => fromFloat16(bits));
  const patterns = new Uint16Array(bytes);
  const numbers = new Float32Array(patterns.length);
  for (let index = 0; index < patterns.length; index++) numbers[index] = halves[patterns[index]];
  return numbers;
}

/** One bit of sign, five of exponent, ten of fraction (IEEE 754, binary16). */
function fromFloat16(bits) {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}
