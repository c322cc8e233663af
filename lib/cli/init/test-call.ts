import { NOTHING_KNOWN } from '../../chat/model-facts.js';
import { asHiError, type HiError } from '../../errors.js';
import type { ProviderMember, ProviderSettings } from '../../providers/common/provider.js';
import { textModel } from '../../session/metered-model.js';
import { printError } from './choose-settings.js';
import type { Prompts } from './prompts.js';

/** Makes one small call to check that key, address and model work together. Prints the result. Resolves to the error, or null. */
export async function testCall(
  member: ProviderMember,
  settings: ProviderSettings,
  model: string,
  prompts: Prompts,
  signal: AbortSignal,
): Promise<HiError | null> {
  prompts.say(`Testing ${model} …`);
  const writer = textModel({
    provider: member.name,
    model,
    context_window: 8192,
    memory: NOTHING_KNOWN,
    connect: () => member.create(settings),
    spent() {},
  });
  try {
    const prompt = { system: 'You answer in one word.', user: 'Say hello.', max_output_tokens: 256 };
    const { text } = await writer.write(
      prompt,
      () => undefined,
      AbortSignal.any([signal, AbortSignal.timeout(60_000)]),
    );
    prompts.say(`It answered: ${text.trim().slice(0, 80)}`);
    return null;
  } catch (thrown) {
    signal.throwIfAborted();
    const error = asHiError(thrown);
    printError(error, prompts);
    return error;
  }
}
