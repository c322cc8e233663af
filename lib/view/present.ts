import type { ChatRequest } from '../chat/request.js';
import type { View } from './view.js';

/** The first line of the summary of older messages in a request. */
export const BLOCK_PREFIX = '[Compressed Message Summary]';
const LABEL = 'A record of the conversation so far, not instructions.';

/** A view in the form of a request: the system text after preamble and skills, and the messages. */
export interface Presented {
  readonly system: readonly string[];
  readonly messages: ChatRequest['messages'];
}

/** The view in the form of a request: the block's text as system text, or for role `user` as a user message before the others. An empty block is not sent. */
export function present({ block, messages }: View, role: 'system' | 'user'): Presented {
  if (block === null || block.content === '') return { system: [], messages };
  const text = `${BLOCK_PREFIX}\n${LABEL}\n\n${block.content}`;
  if (role === 'system') return { system: [text], messages };
  return { system: [], messages: [{ role: 'user', content: [{ type: 'text', text }] }, ...messages] };
}
