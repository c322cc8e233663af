import { isPart, type Message, type ToolCallPart } from '../chat/message.js';
import type { ToolEffect, ToolEffects } from '../chat/request.js';
import type { Artifacts } from '../view/block-state.js';
import { nameOfImage } from '../view/shorten.js';

/**
 * The effects of tool calls in these messages, added to those recorded before; failed calls do not count. Each list has its newest items last, and
 * at most a third of `room` characters.
 */
export function collectArtifacts(
  before: Artifacts,
  messages: readonly Message[],
  effects: ToolEffects,
  room: number,
): Artifacts {
  const parts = messages.flatMap(({ content }) => content);
  const failed = new Set(parts.filter(isPart('tool_result')).flatMap(({ call_id, error }) => (error ? [call_id] : [])));
  const calls = parts.filter(isPart('tool_call')).filter(({ call_id }) => !failed.has(call_id));
  const images = parts.filter((part) => part.type === 'image' || part.type === 'document');
  return {
    read: newest([...before.read, ...paths(calls, effects, 'read')], room / 3),
    written: newest([...before.written, ...paths(calls, effects, 'write')], room / 3),
    commands: before.commands + calls.filter(({ name }) => effectOf(name, effects)?.kind === 'command').length,
    images: newest([...before.images, ...images.map(nameOfImage)], room / 3),
  };
}

/** The paths that these calls read or wrote. */
function paths(calls: readonly ToolCallPart[], effects: ToolEffects, kind: 'read' | 'write'): readonly string[] {
  return calls.flatMap(({ name, args }) => {
    const effect = effectOf(name, effects);
    const path = effect?.kind === kind ? args[effect.argument] : undefined;
    return typeof path === 'string' ? [path] : [];
  });
}

/** A model may call a tool by any name, even `constructor`. */
const effectOf = (name: string, effects: ToolEffects): ToolEffect | undefined =>
  Object.hasOwn(effects, name) ? effects[name] : undefined;

/** The artifacts as text, one line for each kind; empty for none. */
export function describeArtifacts({ read, written, commands, images }: Artifacts): string {
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
