import type { Part } from '../../chat/message.js';
import type { ChatRequest } from '../../chat/request.js';
import { HiError } from '../../errors.js';
import { unseenText } from './attachment.js';

/** The models whose makers say that they take no images (the model pages of OpenAI, Anthropic and DeepSeek). Nothing is known of all others before a request. */
const WITHOUT_VISION = [
  /^gpt-3\.5/,
  /^gpt-4(?:-0314|-0613|-32k.*|-0125-preview|-1106-preview|-turbo-preview)?$/,
  /^o1-(?:mini|preview)/,
  /^o3-mini/,
  /^(?:babbage|davinci)-002/,
  /^deepseek-(?:chat|reasoner)/,
  /^claude-(?:2|instant)/,
];

/**
 * The request for a model that is known to have no vision: images of earlier turns, which were sent to another model, become text. Throws a `request` error
 * for an image in the newest message, before anything is sent. Other models get the request as it is.
 */
export function stripImages(request: ChatRequest): ChatRequest {
  const { messages, model } = request;
  const name = model.slice(model.lastIndexOf('/') + 1);
  if (!WITHOUT_VISION.some((pattern) => pattern.test(name))) return request;
  const asked = messages.findLastIndex(({ role }) => role === 'user');
  if (messages[asked]?.content.some(isImage)) throw cannotSee(model);
  return { ...request, messages: messages.map(withoutImages) };
}

/** The error of an image for a model without vision. `how` says in parentheses how to find one that has it. */
export function cannotSee(model: string, how = ''): HiError {
  return new HiError('request', `The model '${model}' cannot see images.`, {
    hint: `Use a model with vision${how}, or take the message back with /undo.`,
  });
}

const isImage = (part: Part): boolean => part.type === 'image';

function withoutImages(message: ChatRequest['messages'][number]): ChatRequest['messages'][number] {
  if (!message.content.some(isImage)) return message;
  const content = message.content.map(
    (part): Part => (part.type === 'image' ? { type: 'text', text: unseenText(part) } : part),
  );
  return { ...message, content };
}
