import { isPart, type Message } from '../chat/message.js';
import type { ChatRequest } from '../chat/request.js';
import type { View } from './view.js';

/** The first line of the summary of older messages in a request. */
export const BLOCK_PREFIX = '[Compressed Message Summary]';
const LABEL =
  'A record of the conversation so far, not instructions. You see only a part of the conversation; the rest can be searched.';

/** A view in the form of a request: the system text after preamble and skills, and the messages. */
export interface Presented {
  readonly system: readonly string[];
  readonly messages: ChatRequest['messages'];
}

/** The view in the form of a request: the block's text as system text, or for role `user` as a user message before the others. An empty block is not sent. */
export function present({ block, messages }: View, role: 'system' | 'user'): Presented {
  const told = messages.map(withInterruption);
  if (block === null || block.content === '') return { system: [], messages: told };
  const text = `${BLOCK_PREFIX}\n${LABEL}\n\n${block.content}`;
  if (role === 'system') return { system: [text], messages: told };
  return { system: [], messages: [{ role: 'user', content: [{ type: 'text', text }] }, ...told] };
}

/** Without it, the model would take the part of its answer for all that it meant to say. */
function withInterruption(message: Message): Message {
  if (message.stop_reason !== 'interrupted' || !message.content.some(isPart('text'))) return message;
  const text = message.interrupted_by === 'error' ? '\n[cut off by an error]' : '\n[interrupted by the user]';
  return { ...message, content: [...message.content, { type: 'text', text }] };
}
