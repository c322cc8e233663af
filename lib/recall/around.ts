import { type Entry, isCompressBlock, isMessage } from '../chat/entry.js';
import type { Message } from '../chat/message.js';
import type { Archive, Piece } from './index/archive.js';

/** The message with that id, and up to `before` messages before and `after` messages after it, oldest first. Throws read errors. */
export function messagesAround(archive: Archive, id: number, before: number, after: number): readonly Message[] {
  const { pieces } = archive;
  const messagesOf = (index: number): readonly Message[] => entriesOf(archive, index).filter(isMessage);
  const low = pieceOf(archive, id);
  let found = messagesOf(low);
  for (let index = low - 1; index >= 0 && found.filter((message) => message.id < id).length < before; index -= 1) {
    found = [...messagesOf(index), ...found];
  }
  for (
    let index = low + 1;
    index <= pieces.length && found.filter((message) => message.id > id).length < after;
    index += 1
  ) {
    found = [...found, ...messagesOf(index)];
  }
  const place = found.findLastIndex((message) => message.id <= id);
  return found.slice(Math.max(0, place - before), place + after + 1);
}

/**
 * The message with that id and up to `reach` before and after it; or a compaction, between the messages before and after its place. Empty if there is neither.
 * Throws read errors.
 */
export function entriesAround(archive: Archive, id: number, reach: number): readonly Entry[] {
  const entry = entriesOf(archive, pieceOf(archive, id)).find((one) => one.id === id);
  if (entry === undefined) return [];
  if (isMessage(entry)) return messagesAround(archive, id, reach, reach);
  if (!isCompressBlock(entry)) return [];
  const next = entry.first_kept ?? id;
  const messages = messagesAround(archive, next, reach, reach);
  const place = messages.findIndex((message) => message.id >= next);
  const before = place === -1 ? messages : messages.slice(0, place);
  return [...before, entry, ...messages.slice(before.length)];
}

/** The entries of a piece; after the last piece those that are in none. */
function entriesOf(archive: Archive, index: number): readonly Entry[] {
  const piece = archive.pieces[index];
  return piece === undefined ? archive.rest() : archive.read(piece).map(({ entry }) => entry);
}

/** The index of the piece that has the id, if any has. */
function pieceOf(archive: Archive, id: number): number {
  const idAt = (index: number): number => {
    const piece = archive.pieces[index];
    return (piece === undefined ? archive.rest()[0]?.id : archive.readAt(piece, 0).id) ?? Number.POSITIVE_INFINITY;
  };
  let [low, high] = [0, archive.pieces.length];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (idAt(middle) <= id) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The entries from a position in a piece on, read lazily. Throws read errors. */
export function* entriesFrom(archive: Archive, piece: Pick<Piece, 'offset'>, place: number): Generator<Entry> {
  const first = archive.pieces.findIndex(({ offset }) => offset === piece.offset);
  for (let index = first; index >= 0 && index < archive.pieces.length; index += 1) {
    const next = archive.pieces[index];
    if (next === undefined) break;
    for (const { entry } of archive.readFrom(next, index === first ? place : 0)) yield entry;
  }
  if (first >= 0) yield* archive.rest();
}
