import { isPart, type Message } from '../chat/message.js';
import { nameOfImage } from './shorten.js';
import type { Artifacts } from './state.js';

/** What tools did in these messages, added to what is known. Each list has its newest items last and no more than fit into a third of `room` characters. */
export function collect(before: Artifacts, messages: readonly Message[], room: number): Artifacts {
  const parts = messages.flatMap(({ content }) => content);
  const calls = parts.filter(isPart('tool_call'));
  const paths = (name: string) =>
    calls.flatMap((call) => (call.name === name && typeof call.args.path === 'string' ? [call.args.path] : []));
  const images = parts.filter((part) => part.type === 'image' || part.type === 'document');
  return {
    read: newest([...before.read, ...paths('read_file')], room / 3),
    written: newest([...before.written, ...paths('write_file')], room / 3),
    commands: before.commands + calls.filter(({ name }) => name === 'bash').length,
    images: newest([...before.images, ...images.map(nameOfImage)], room / 3),
  };
}

/** The same in words, one line for each kind; empty when nothing was done. */
export function describe({ read, written, commands, images }: Artifacts): string {
  return [
    written.length > 0 ? `Files written: ${written.join(', ')}` : '',
    read.length > 0 ? `Files read: ${read.join(', ')}` : '',
    commands > 0 ? `Commands run: ${commands}` : '',
    images.length > 0 ? `Images seen, no longer in view: ${images.join(', ')}` : '',
  ]
    .filter(Boolean)
    .join('\n');
}

function newest(items: readonly string[], room: number): readonly string[] {
  const kept: string[] = [];
  let left = room;
  for (const item of [...new Set([...items].reverse())]) {
    left -= item.length + 2;
    if (left < 0) break;
    kept.push(item);
  }
  return kept.reverse();
}
