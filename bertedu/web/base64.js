/** Bytes that stand in a page as text. */

/**
 * @param {string} text  base64
 * @returns {ArrayBuffer} what it stands for
 */
export function fromBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text).buffer; // where the browser has it: ten times as fast
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let index = 0; index < binary.length; index++) bytes[index] = binary.charCodeAt(index);
  return bytes.buffer;
}
