import { isMarked, type Piece, pieceOf } from './buffer.js';

/** True while a text that begins with `"""` has not been closed by a `"""` at its end. Quotes that were pasted open and close nothing. */
export function isOpenBlock(piece: Piece): boolean {
  const start = piece.text.search(/\S/);
  const end = piece.text.trimEnd().length;
  if (!piece.text.startsWith('"""', start) || isMarked(piece, start)) return false;
  return end - start < 6 || !piece.text.startsWith('"""', end - 3) || isMarked(piece, end - 1);
}

/** What stands between the quotes of a block, without the newlines next to them; any other text as it is. */
export function blockText(piece: Piece): Piece {
  const block = /^(\s*"""(?:\r?\n)?)(.*?)(?:\r?\n)?"""\s*$/s.exec(piece.text);
  if (block === null || isOpenBlock(piece) || isMarked(piece, piece.text.indexOf('"'))) return piece;
  const [, opening = '', inside = ''] = block;
  return pieceOf(piece, opening.length, opening.length + inside.length);
}
