/**
 * From text to pieces: BERT's normalization and WordPiece, equal to the course's BertTokenizer (chapter 01).
 *
 * Devlin et al. 2019; the greedy search is that of Google's code. A position in a text is one of JavaScript's, in units
 * of UTF-16, so that `text.slice(start, end)` is what a piece stands for.
 */

/** @typedef {{id: number, token: string, start: number, end: number, word: number}} Piece */
/** @typedef {{character: string, start: number, end: number}} Traced  a character, and what it came from in the text */

export const SPECIAL_TOKENS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"];
const LONGEST_WORD = 100; // characters; a longer "word" is noise and becomes [UNK]
const REMOVED = /^(?![\t\n\r])[\0\ufffd\p{Cc}\p{Cf}\p{Co}\p{Cs}]$/u; // not Cn: what is not assigned yet is kept
const SPACE = /^[\t\n\r\p{Z}]$/u;
const PUNCTUATION = /^[!-/:-@[-`{-~\p{P}]$/u;
const ACCENT = /^\p{Mn}$/u;
// The sixth range should begin at 2B820; the reference begins it at 2B920, and equal ids matter more here.
const CHINESE = new RegExp(
  "^[\\u4e00-\\u9fff\\u3400-\\u4dbf\\u{20000}-\\u{2a6df}\\u{2a700}-\\u{2b73f}\\u{2b740}-\\u{2b81f}" +
    "\\u{2b920}-\\u{2ceaf}\\uf900-\\ufaff\\u{2f800}-\\u{2fa1f}]$",
  "u",
);

/** A tokenizer: text in, pieces with their ids out. */
export class WordPiece {
  /**
   * @param {string[]} tokens  in the order of their ids
   * @param {{lowercase?: boolean, stripAccents?: boolean | null, separateChinese?: boolean}} switches
   *     stripAccents null: as lowercase says
   * @throws {Error} with a sentence, where the tokens are no vocabulary of BERT
   */
  constructor(tokens, { lowercase = true, stripAccents = null, separateChinese = true } = {}) {
    this.tokens = tokens;
    this.ids = new Map(tokens.map((token, id) => [token, id]));
    Object.assign(this, { lowercase, separateChinese, stripAccents: stripAccents ?? lowercase });
    const twice = tokens.find((token, id) => this.ids.get(token) !== id);
    if (twice !== undefined) throw new Error(`The vocabulary has the token “${twice}” twice: each token has one id.`);
    const missing = SPECIAL_TOKENS.filter((token) => !this.ids.has(token));
    if (missing.length) {
      throw new Error(`The vocabulary lacks ${missing.join(", ")}: this is not the vocabulary of a BERT.`);
    }
  }

  /**
   * The pieces of a text, without special tokens around it. Those spelt out in it, as "[MASK]", stay whole.
   *
   * @param {string} text
   * @returns {Piece[]} each with the characters it came from, and the number of the word to which it belongs
   */
  encode(text) {
    const pieces = [];
    let words = 0;
    let begin = 0;
    for (const stretch of text.split(/(\[(?:PAD|UNK|CLS|SEP|MASK)\])/)) {
      if (SPECIAL_TOKENS.includes(stretch)) {
        pieces.push(this.piece(stretch, begin, begin + stretch.length, words++));
      } else {
        for (const word of splitWords(this.normalize(stretch, begin))) pieces.push(...this.splitWord(word, words++));
      }
      begin += stretch.length;
    }
    return pieces;
  }

  /**
   * A text or a pair as BERT reads it: [CLS] first [SEP], or [CLS] first [SEP] second [SEP].
   *
   * @param {string} first
   * @param {string | null} second
   * @returns {{ids: number[], types: number[], pieces: Piece[]}} types: 0 for the first text, 1 for the second
   */
  sequence(first, second = null) {
    const special = (token, text) => this.piece(token, text.length, text.length, -1);
    const pieces = [this.piece("[CLS]", 0, 0, -1), ...this.encode(first), special("[SEP]", first)];
    const types = pieces.map(() => 0);
    if (second !== null) {
      const more = [...this.encode(second), special("[SEP]", second)];
      pieces.push(...more);
      types.push(...more.map(() => 1));
    }
    return { ids: pieces.map((piece) => piece.id), types, pieces };
  }

  /**
   * The characters after cleaning, with spaces around Chinese ones, without accents and in lower case where the
   * switches say so; each with the stretch of the text that it came from. begin: where the text begins.
   *
   * @returns {Traced[]}
   */
  normalize(text, begin = 0) {
    let characters = [];
    for (const character of text) {
      const [start, end] = [begin, begin + character.length];
      begin = end;
      if (REMOVED.test(character)) continue;
      const apart = this.separateChinese && CHINESE.test(character);
      const spaced = apart ? [" ", character, " "] : [SPACE.test(character) ? " " : character];
      for (const part of spaced) characters.push({ character: part, start, end });
    }
    if (this.stripAccents) characters = decompose(characters).filter(({ character }) => !ACCENT.test(character));
    if (this.lowercase) {
      characters = characters.flatMap((one) =>
        [...one.character.toLowerCase()].map((character) => ({ ...one, character })),
      );
    }
    return characters;
  }

  /** Split a word into pieces, each time taking the longest that is in the vocabulary; [UNK] where there is none. */
  splitWord(word, number) {
    const unknown = () => [this.piece("[UNK]", word[0].start, word.at(-1).end, number)];
    if (word.length > LONGEST_WORD) return unknown();
    const pieces = [];
    let start = 0;
    while (start < word.length) {
      let end = word.length;
      let token;
      for (; end > start; end--) {
        token =
          (start ? "##" : "") +
          word
            .slice(start, end)
            .map(({ character }) => character)
            .join("");
        if (this.ids.has(token)) break;
      }
      if (end === start) return unknown();
      pieces.push(this.piece(token, word[start].start, word[end - 1].end, number));
      start = end;
    }
    return pieces;
  }

  piece(token, start, end, word) {
    return { id: this.ids.get(token), token, start, end, word };
  }
}

/**
 * Unicode's form NFD (é becomes e and an accent), each part with what it came from. Marks after a letter come in the
 * canonical order; as the reference does, originals are counted in the order in which their first parts come out.
 */
function decompose(characters) {
  const parts = characters.flatMap(({ character }) =>
    [...character.normalize("NFD")].map((part, index) => ({ part, opens: index === 0 })),
  );
  const ordered = [
    ...characters
      .map(({ character }) => character)
      .join("")
      .normalize("NFD"),
  ];
  let opened = -1;
  return ordered.map((character, index) => {
    if (parts[index].part !== character) {
      const found = parts.findIndex(({ part }, later) => later > index && part === character);
      parts.splice(index, 0, ...parts.splice(found, 1));
    }
    if (parts[index].opens) opened++;
    return { ...characters[opened], character };
  });
}

/** Split at spaces, and make each punctuation character a word. */
function splitWords(characters) {
  const words = [];
  let word = [];
  for (const one of characters) {
    const space = one.character === " ";
    const apart = space || PUNCTUATION.test(one.character);
    if (apart && word.length) {
      words.push(word);
      word = [];
    }
    if (!apart) word.push(one);
    else if (!space) words.push([one]);
  }
  if (word.length) words.push(word);
  return words;
}
