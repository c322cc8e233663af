import type { JsonObject } from '../../chat/json.js';
import { HiError } from '../../errors.js';
import type { ToolContext } from '../../tools/common/tool.js';
import { harmlessLine, withoutHidden } from '../base/harmless-text.js';
import type { ServerEntry } from '../base/server-entry.js';
import type { CallLimits } from '../connection/client.js';
import { serverQuestion } from '../elicitation/server-question.js';
import { readResult } from './read-result.js';

/** What a call needs to know about its tool. */
interface CallableTool {
  readonly entry: ServerEntry;
  call(args: JsonObject, limits: CallLimits): Promise<unknown>;
}

/** Calls a server's tool and returns its result for the model. Throws a `HiError` if the call failed. */
export async function runServerTool(
  { entry, call }: CallableTool,
  args: JsonObject,
  { fitOutput = (text) => text, giveFile = describe, asked = () => {} }: ToolContext,
  emit: (text: string) => void,
  signal: AbortSignal,
): Promise<JsonObject> {
  const limits: CallLimits = {
    silence: entry.timeout,
    signal,
    progress: (text) => emit(`${harmlessLine(text, 80)}\n`),
    asked: (question, action) => asked(serverQuestion(entry.name, question, action)),
  };
  const { text, files, isError } = readResult(await call(args, limits));
  const named = files.map(({ mime, bytes }) => giveFile(mime, bytes));
  const content = fitOutput([withoutHidden(text), ...named].filter((part) => part !== '').join('\n'));
  if (isError) throw new HiError('usage', content === '' ? 'The tool failed without saying why.' : content);
  return { content };
}

const describe = (mime: string, bytes: Uint8Array): string => `[${mime}, ${bytes.length} bytes]`;
