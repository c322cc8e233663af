import type { Part } from '../../chat/message.js';
import type { ChatRequest } from '../../chat/request.js';
import { HiError } from '../../errors.js';
import { unseenText } from './attachment.js';

/** The models whose makers say that they take no images (the model pages of OpenAI, Anthropic and DeepSeek). Of all others nothing is known before they are asked. */
const BLIND = [
  /^gpt-3\.5/,
  /^gpt-4(?:-0314|-0613|-32k.*|-0125-preview|-1106-preview|-turbo-preview)?$/,
  /^o1-(?:mini|preview)/,
  /^o3-mini/,
  /^(?:babbage|davinci)-002/,
  /^deepseek-(?:chat|reasoner)/,
  /^claude-(?:2|instant)/,
];

/**
 * The request as a model takes it that is known to see nothing: images of earlier turns are told of in words, for another model was shown them.
 * Throws a `request` error for an image in the newest message, before anything is sent. Other models get the request as it is.
 */
export function stripImages(request: ChatRequest): ChatRequest {
  const { messages, model } = request;
  const name = model.slice(model.lastIndexOf('/') + 1);
  if (!BLIND.some((pattern) => pattern.test(name))) return request;
  const asked = messages.findLastIndex(({ role }) => role === 'user');
  if (messages[asked]?.content.some(isImage)) throw cannotSee(model);
  return { ...request, messages: messages.map(inWords) };
}

/** A model that is shown an image and cannot see it. `how` tells in parentheses how to find one that can. */
export function cannotSee(model: string, how = ''): HiError {
  return new HiError('request', `The model '${model}' cannot see images.`, {
    hint: `Use a model with vision${how}, or take the message back with /undo.`,
  });
}

const isImage = (part: Part): boolean => part.type === 'image';

function inWords(message: ChatRequest['messages'][number]): ChatRequest['messages'][number] {
  if (!message.content.some(isImage)) return message;
  const content = message.content.map(
    (part): Part => (part.type === 'image' ? { type: 'text', text: unseenText(part) } : part),
  );
  return { ...message, content };
}
