import { asHiError, type HiError } from '../../errors.js';
import type { ProviderMember, ProviderSettings } from '../../providers/common/provider.js';
import { textModel } from '../../session/metered-model.js';
import { printError } from './choose-settings.js';
import type { Prompts } from './prompts.js';

/** One small call, to see that key, address and model work together. Tells the result; resolves to what went wrong, or null. */
export async function testCall(
  member: ProviderMember,
  settings: ProviderSettings,
  model: string,
  prompts: Prompts,
  signal: AbortSignal,
): Promise<HiError | null> {
  prompts.say(`Asking ${model} for a word …`);
  const one = textModel({
    provider: member.name,
    model,
    context_window: 8192,
    connect: () => member.create(settings),
    spent() {},
  });
  try {
    const prompt = { system: 'You answer in one word.', user: 'Say hello.', max_output_tokens: 256 };
    const { text } = await one.write(prompt, () => undefined, AbortSignal.any([signal, AbortSignal.timeout(60_000)]));
    prompts.say(`It answers: ${text.trim().slice(0, 80)}`);
    return null;
  } catch (thrown) {
    signal.throwIfAborted();
    const error = asHiError(thrown);
    printError(error, prompts);
    return error;
  }
}
