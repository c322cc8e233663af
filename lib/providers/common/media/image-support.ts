import { HiError } from '../../../errors.js';

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

/** Whether a model is known to have no vision. */
export function isBlind(model: string): boolean {
  const name = model.slice(model.lastIndexOf('/') + 1);
  return WITHOUT_VISION.some((pattern) => pattern.test(name));
}

/** The error of an image for a model without vision. `how` says in parentheses how to find one that has it. */
export function cannotSee(model: string, how = ''): HiError {
  return new HiError('request', `The model '${model}' cannot see images.`, {
    hint: `Use a model with vision${how}. The conversation goes on without this message.`,
  });
}

/** The error of a document for a model that reads none. */
export function cannotRead(model: string): HiError {
  return new HiError('request', `The model '${model}' cannot read documents such as PDF files.`, {
    hint: 'Send the text instead (pdftotext extracts it), or use another model. The conversation goes on without this message.',
  });
}
