import { quantity } from '../../chat/text/quantity.js';
import { textBlock } from '../../chat/text/text-block.js';
import { estimateTokens } from '../../chat/tokens.js';
import { shortCount } from '../../chat/transcript.js';
import { HiError } from '../../errors.js';
import type { CallResult } from '../../mcp/calls/read-result.js';
import type { ServerResource, UserCalls } from '../../mcp/user-calls.js';
import { inputFrom, LARGEST } from '../../session/files.js';
import type { AttachedResource } from '../input/mentions.js';

/** A server's content, as attached to a message. Its texts are not the user's words. */
export type ServerInput = Omit<AttachedResource, 'label'>;

/** Reads the resource that a mention names. Throws a `HiError` if it cannot be read or sent. */
export async function attachResource(
  servers: UserCalls,
  resource: ServerResource,
  signal: AbortSignal,
): Promise<AttachedResource> {
  const { typed, server, uri } = resource;
  const result = await servers.read(resource, signal);
  if (result.text === '' && result.files.length === 0)
    throw new HiError('usage', `Cannot attach '@${typed}': It is empty.`, {
      hint: 'Check the address; nothing was sent.',
    });
  const input = serverInput('resource', { server, uri }, typed, result);
  return { ...input, label: `${typed} (${sizeText(result)})` };
}

/** A server's content in a block that names the server. Throws a `HiError` of code `usage` for content that no model supports. */
export function serverInput(
  tag: 'prompt' | 'resource',
  attributes: Readonly<Record<string, string>>,
  name: string,
  { text, files }: CallResult,
): ServerInput {
  for (const size of [Buffer.byteLength(text), ...files.map(({ bytes }) => bytes.length)])
    if (size > LARGEST)
      throw new HiError(
        'usage',
        `Cannot attach '${name}': It has ${(size / 1024 / 1024).toFixed(1)} MB, and the limit is 20 MB.`,
        { hint: 'Nothing was sent.' },
      );
  const inputs = files.map(({ bytes }) => inputFrom(bytes, name));
  const texts = [text, ...inputs.flatMap((input) => ('text' in input ? [input.text] : []))].filter(Boolean);
  return {
    texts: texts.map((one) => textBlock(tag, attributes, one)),
    attachments: inputs.flatMap((input) => ('attachment' in input ? [input.attachment] : [])),
  };
}

/** `12 tokens, 1 file` */
export function sizeText({ text, files }: CallResult): string {
  const tokens = estimateTokens(text.length);
  const words = text === '' ? [] : [`${shortCount(tokens)} ${tokens === 1 ? 'token' : 'tokens'}`];
  return [...words, ...(files.length > 0 ? [quantity(files.length, 'file')] : [])].join(', ');
}
