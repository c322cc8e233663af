import { isAudio, type Part } from '../../chat/message.js';
import { type Feature, goesInWords, nextThinking, optionName, type ThinkingLevel } from '../../chat/model.js';
import type { ChatRequest } from '../../chat/request.js';

/** Whether the request, as it was sent, has a feature. */
export function contains(request: ChatRequest, feature: Feature): boolean {
  if (request.facts?.takes?.[feature] === false) return false;
  const { messages } = request;
  const has = (test: (part: Part) => boolean) => messages.some(({ content }) => content.some(test));
  switch (feature) {
    case 'tools':
      return request.tools.length > 0 || has(({ type }) => type === 'tool_call');
    case 'parallel_calls':
      return messages.some(({ content }) => content.filter(({ type }) => type === 'tool_call').length > 1);
    case 'calls':
    case 'call_ids':
      return has(({ type }) => type === 'tool_call');
    case 'images':
      return has(({ type }) => type === 'image');
    case 'documents':
      return has((part) => part.type === 'document' && !isAudio(part));
    case 'audio':
      return has((part) => part.type === 'document' && isAudio(part));
    case 'opaque':
    case 'thoughts':
      return has(isOpaque);
    case 'system':
      return request.system.length > 0;
    case 'summaries':
      return request.thinking !== null && request.thinking !== 'off';
    case 'schema':
      return request.schema !== undefined;
    case 'output_limit':
      return request.max_output_tokens !== null;
    case 'chat':
    case 'responses':
    case 'stream':
    case 'extras':
      return true;
    case 'web':
      return request.web === 'on' || request.web === 'auto';
  }
}

const isOpaque = (part: Part): boolean => part.type === 'thinking' || ('opaque' in part && part.opaque !== undefined);

/** Whether a part is sent to vendors as something other than text. */
const isToldOtherwise = ({ type }: Part): boolean => type !== 'text' && type !== 'thinking' && type !== 'vendor';

/** Whether earlier messages, as sent, contain anything but text. */
export function holdsOldParts(request: ChatRequest): boolean {
  const { messages, facts = {} } = request;
  const asked = messages.findLastIndex(({ role }) => role === 'user');
  return messages.some((message, at) => {
    if (at === asked || goesInWords(message, facts)) return false;
    return message.content.some((part) => isToldOtherwise(part) || (message.model === request.model && isOpaque(part)));
  });
}

/** The thinking level that is sent. */
export const thinkingOf = ({ thinking, facts }: ChatRequest): ThinkingLevel | null =>
  thinking === null ? null : nextThinking(thinking, facts?.refused_thinking ?? []);

/** The options of the user that are sent, as `optionName` writes them. */
export const sentOptions = ({ options = {}, facts }: ChatRequest): readonly string[] =>
  Object.entries(options)
    .map(optionName)
    .filter((option) => !facts?.refused_options?.includes(option));

/** The SHA-256 of the files before the newest message of the user, and of those in it. */
export function attachmentsOf({ messages }: ChatRequest): { earlier: readonly string[]; newest: readonly string[] } {
  const asked = messages.findLastIndex(({ role }) => role === 'user');
  const filesOf = (some: ChatRequest['messages']) =>
    some.flatMap(({ content }) =>
      content.flatMap((part) => (part.type === 'image' || part.type === 'document' ? [part.sha256] : [])),
    );
  return { earlier: filesOf(messages.slice(0, asked)), newest: filesOf(messages.slice(asked)) };
}
