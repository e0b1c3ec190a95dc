/** Addresses, moved masks and maps, as a test asks for them. */

import { leading } from "../../bertedu/web/projection.js";
import { fitState, movedMasks, readAddress, writeAddress } from "../../bertedu/web/state.js";

/** For each state its address, and what is read from that. */
export function addresses(files, rows) {
  return rows.map(({ start, state }) => {
    const address = writeAddress(state, start);
    return { address, ...readAddress(address, start) };
  });
}

/** For each address what is read from it, fitted to a model of two layers of two heads. */
export function readings(files, rows) {
  return rows.map(({ start, address }) => {
    const read = readAddress(address, start);
    const fitted = fitState(read.state, { layers: 2, heads: 2 });
    return { state: fitted.state, faults: [...read.faults, ...fitted.faults] };
  });
}

/** For each pair of texts the numbers of the hidden words after the change. */
export function masks(files, rows) {
  return rows.map(({ before, after, hidden }) => movedMasks(before.split(" "), after.split(" "), hidden));
}

/** For each set of vectors their points on the map. */
export function maps(files, rows) {
  return rows.map((vectors) => leading(vectors.map((vector) => Float32Array.from(vector))));
}
