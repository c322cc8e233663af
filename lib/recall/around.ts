import { type Entry, isMessage, type Message } from '../chat/message.js';
import type { Archive } from './index/archive.js';

/** So many messages before and after the one with that id, and it, oldest first. Throws what reading throws. */
export function messagesAround(archive: Archive, id: number, before: number, after: number): readonly Message[] {
  const { pieces } = archive;
  const messagesOf = (index: number): readonly Message[] => {
    const piece = pieces[index];
    const entries: readonly Entry[] =
      piece === undefined ? archive.rest() : archive.read(piece).map(({ entry }) => entry);
    return entries.filter(isMessage);
  };
  const idAt = (index: number): number => {
    const piece = pieces[index];
    return (piece === undefined ? archive.rest()[0]?.id : archive.readAt(piece, 0).id) ?? Number.POSITIVE_INFINITY;
  };
  let [low, high] = [0, pieces.length];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (idAt(middle) <= id) low = middle;
    else high = middle - 1;
  }
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
