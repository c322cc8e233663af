import type { ContentBlock } from '@agentclientprotocol/sdk';
import { fileBlock } from '../../chat/text/file-block.js';
import { HiError } from '../../errors.js';
import type { Attachment, UserInput } from '../../session/common/deps.js';
import { inputFrom } from '../../session/files.js';

/** Converts an editor's prompt: text, embedded files, and links unchanged. Throws a `HiError` of code `usage` for content that cannot be sent. */
export function promptInput(blocks: readonly ContentBlock[]): UserInput {
  const words: string[] = [];
  const texts: string[] = [];
  const attachments: Attachment[] = [];
  for (const block of blocks) {
    switch (block.type) {
      case 'text':
        words.push(block.text);
        break;
      case 'resource_link':
        words.push(`[${block.title ?? block.name}](${block.uri})`);
        break;
      case 'resource':
        if ('text' in block.resource) texts.push(fileBlock(nameOf(block.resource.uri), block.resource.text));
        else take(block.resource.blob, nameOf(block.resource.uri));
        break;
      case 'image':
        take(block.data, block.uri ? nameOf(block.uri) : 'image');
        break;
      default:
        take(block.data, 'audio');
    }
  }
  function take(data: string, name: string): void {
    const input = inputFrom(Buffer.from(data, 'base64'), name);
    if ('attachment' in input) attachments.push(input.attachment);
    else texts.push(fileBlock(name, input.text));
  }
  const text = words.join('').trim();
  if (text === '' && texts.length === 0 && attachments.length === 0)
    throw new HiError('usage', 'The prompt is empty.', { hint: 'Send some text.' });
  return { text, texts, attachments };
}

/** The path of a file, the address of anything else. */
function nameOf(uri: string): string {
  return uri.startsWith('file://') && URL.canParse(uri) ? decodeURIComponent(new URL(uri).pathname) : uri;
}
