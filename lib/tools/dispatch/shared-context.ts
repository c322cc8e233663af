import type { ServerQuestion } from '../../chat/event.js';
import { commandEnvironment } from '../../permission/command-environment.js';
import { secretMask } from '../../permission/mask-secrets.js';
import { SecretStream } from '../../permission/secret-stream.js';
import type { ToolContext } from '../common/tool.js';
import { fitText } from '../shell/fit-text.js';
import type { GivenFiles } from './given-files.js';

/** The context of the session without keys in its environment. */
export function sharedContext(
  { context, secrets }: { readonly context: ToolContext; readonly secrets: readonly string[] },
  outputLimit: () => number,
  atTurnEnd: (end: () => Promise<void>) => void,
  warn: (text: string) => void,
  asked: (question: ServerQuestion) => void,
  files: GivenFiles,
): ToolContext {
  return {
    ...context,
    env: commandEnvironment(context.env, secrets, context.variables),
    maskStream: () => new SecretStream(secretMask(secrets), secrets, true),
    giveFile: (mime, bytes) => files.take(mime, bytes, context.keepsOutput?.() === false ? null : context.spillFolder),
    fitOutput: (text) => fitText(text, outputLimit(), context, secretMask(secrets)),
    atTurnEnd,
    warn,
    asked,
    get outputLimit() {
      return outputLimit();
    },
  };
}
