import { HiError } from '../../../errors.js';

/** Models without vision, according to the model pages of OpenAI, Anthropic and DeepSeek. For all others only a request will show it. */
const WITHOUT_VISION = [
  /^gpt-3\.5/,
  /^gpt-4(?:-0314|-0613|-32k.*|-0125-preview|-1106-preview|-turbo-preview)?$/,
  /^o1-(?:mini|preview)/,
  /^o3-mini/,
  /^(?:babbage|davinci)-002/,
  /^deepseek-(?:chat|reasoner)/,
  /^claude-(?:2|instant)/,
];

/** True if a model is known to have no vision. */
export function isTextOnly(model: string): boolean {
  const name = model.slice(model.lastIndexOf('/') + 1);
  return WITHOUT_VISION.some((pattern) => pattern.test(name));
}

/** The error for an image sent to a model without vision. `how` says in parentheses how to find a suitable model. */
export function noImageSupport(model: string, how = ''): HiError {
  return new HiError('request', `The model '${model}' cannot see images.`, {
    hint: `Use a model with vision${how}. The conversation goes on without this message.`,
  });
}

/** The error for a document sent to a model that cannot read documents. */
export function noDocumentSupport(model: string): HiError {
  return new HiError('request', `The model '${model}' cannot read documents such as PDF files.`, {
    hint: 'Send the text instead (pdftotext extracts it), or use another model. The conversation goes on without this message.',
  });
}
