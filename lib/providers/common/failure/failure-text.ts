import type { Vendor } from '../../../chat/model.js';
import type { ErrorCode } from '../../../errors.js';
import { isNothingThere } from './missing-path.js';
import { isBodyTooLarge } from './overflow.js';
import { hasNoReason, isByAFirewall, refusedBy } from './refusals.js';
import { type VendorError, WEB_PAGE } from './vendor-error.js';

/** The model and server of a failed request. */
export interface FailureContext {
  readonly member: Pick<Vendor, 'name' | 'title' | 'keyVariables' | 'keyPage' | 'hints'>;
  /** The model of the request; null if it named none. */
  readonly model: string | null;
  /** Masked wherever a server repeats it. */
  readonly apiKey: string | null;
  /** The estimated size of the request, if known. */
  readonly tokens?: number;
}

export const MINUTE = 60_000;

/** The hint for a long wait. */
export function later(wait: number): string {
  const minutes = Math.ceil(wait / MINUTE);
  const time = minutes <= 120 ? `${minutes} min` : `${Math.ceil(minutes / 60)} h`;
  return `The server asks to wait ${time}. Then try again (/retry in hi chat), or use another model.`;
}

/** The message and the hint. */
export function describe(
  code: ErrorCode,
  error: VendorError,
  context: FailureContext,
): { message: string; hint: string } {
  const { member, model } = context;
  const { title } = member;
  const said =
    error.message === '' ? (error.status === null ? '.' : ` (HTTP ${error.status}).`) : `: ${sentence(error.message)}`;
  switch (code) {
    case 'key':
      return { message: `${title} refused the API key${said}`, hint: keyHint(error, member) };
    case 'model':
      return { message: `${title} has no model '${model ?? '?'}'${said}`, hint: modelHint(member, model) };
    case 'rate':
      return {
        message: `The rate limit of ${title} is reached${said}`,
        hint: 'Wait a moment, then try again (/retry in hi chat).',
      };
    case 'quota':
      return {
        message: `The quota at ${title} is used up${said}`,
        hint: 'Check the plan and billing of the account, or use another model or provider.',
      };
    case 'window':
      if (isBodyTooLarge(error))
        return {
          message: `${title} does not accept a request of this size${said}`,
          hint: 'A server or a proxy before it limits the bytes of a request (nginx: client_max_body_size). Raise that, or send less: /compact, or a smaller attachment.',
        };
      return {
        message: `The request does not fit the context window of '${model ?? '?'}'${said}`,
        hint: 'Shorten the conversation with /compact, or correct context_window in the configuration.',
      };
    case 'overload':
      return {
        message: `${title} had an error${said}`,
        hint: 'Try again later (/retry in hi chat), or use another model.',
      };
    case 'network':
      return { message: `${title} gave up waiting${said}`, hint: 'Try again (/retry in hi chat).' };
    case 'refused':
      return {
        message: `${title} refused the content${said}`,
        hint: 'Rephrase it: the conversation goes on without this message. If an earlier message is the cause, /undo takes back the previous turn.',
      };
    case 'malformed':
      return {
        message: `The model ${MISUSED_TOOL.test(error.kinds.join(' ')) ? 'misused a tool' : 'gave a malformed answer'}${said}`,
        hint: 'Try again (/retry in hi chat).',
      };
    default:
      return { message: `${title} did not accept the request${said}`, hint: requestHint(error, context) };
  }
}

const MISUSED_TOOL = /tool_use_failed/;

function keyHint({ status, message }: VendorError, { hints, keyVariables, keyPage }: FailureContext['member']): string {
  if (hints?.key !== undefined) return hints.key;
  const where = [...keyVariables.slice(0, 1), 'api_key in the configuration'].join(', or ');
  // The key is valid, and the server's message says what is wrong: a region, a project, a model that the key does not include.
  const valid = `Set ${where}, to a valid key${keyPage === null ? '.' : ` (get one at ${keyPage}).`}`;
  if (status === 403 && hasNoReason(message))
    return `${valid} If \`hi config check --live\` passes, the key is valid and the server refuses earlier content: /undo takes back the previous turn.`;
  if (status === 403) return `Fix this in the account, or set ${where}, to another key.`;
  return valid;
}

function modelHint({ hints }: FailureContext['member'], model: string | null): string {
  return hints?.model?.(model ?? 'NAME') ?? 'Choose another with /model or -m; `hi config check --live` tests it.';
}

function requestHint(
  error: VendorError,
  { member: { hints }, model }: Pick<FailureContext, 'member' | 'model'>,
): string {
  const { kinds, message, status } = error;
  if (/system memory/i.test(message)) return 'Set a smaller context_window, or use a smaller model.';
  if (/location is not supported/i.test(message)) return 'Use another provider, or a network in a supported region.';
  if (status === 403 && !kinds.includes(WEB_PAGE) && isByAFirewall(error))
    return 'A firewall seems to be in between. Check api_base, the network, and HTTPS_PROXY if you need one.';
  if (status === 403 && kinds.includes(WEB_PAGE))
    return 'The answer is a web page, perhaps from a firewall. Check api_base, the network, and HTTPS_PROXY if you need one.';
  const refused = refusedBy({ ...error, status: status ?? 400 });
  if (refused?.what === 'files') return 'Make the file smaller, or send it in another format (PNG, JPEG, plain text).';
  if (refused?.what === 'thinking') {
    return 'Choose another level with --think or /think, or change `thinking` in the configuration.';
  }
  const feature = refused?.what === 'features' ? refused.features[0] : undefined;
  if (feature === 'tools') return 'Turn tools off (--no-tools), or use a model that supports them.';
  if (feature === 'images') return 'Use a model with vision for images. The conversation goes on without this message.';
  if (feature === 'documents')
    return 'Send the text of the document instead. The conversation goes on without this message.';
  if (isNothingThere(error)) {
    const path = hints?.path ?? 'Nothing answers at this path: check api_base.';
    if (model === null || status === 405) return path;
    return `${path} If other models answer, there is no '${model}': choose another with /model or -m.`;
  }
  return 'Use another model, or run again with --debug to see what was sent.';
}

/** The text with punctuation at the end. */
export function sentence(text: string): string {
  return /[.!?…]\)?$/.test(text) ? text : `${text}.`;
}
