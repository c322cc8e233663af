import type { GoogleGenAI } from '@google/genai/web';
import type { ModelFacts } from '../../chat/model.js';
import { askVendor } from '../common/answer/stream.js';
import type { FailureContext } from '../common/failure/failure-text.js';
import { factsOf, type ListedModel, listedModel } from '../common/models/listed-model.js';

/** See `ProviderMember.listModels`. Lists chat models only. */
export async function listModels(
  client: GoogleGenAI,
  context: FailureContext,
  signal: AbortSignal,
): Promise<readonly ListedModel[]> {
  const list = async () => {
    const found: ListedModel[] = [];
    for await (const model of await client.models.list({ config: { pageSize: 1000, abortSignal: signal } })) {
      if (model.supportedActions?.includes('generateContent') ?? true)
        found.push(listedModel((model.name ?? '').replace(/^models\//, ''), model));
    }
    return found;
  };
  return await askVendor(list, context, signal);
}

/** See `ProviderMember.askFacts`. */
export async function askFacts(
  client: GoogleGenAI,
  context: FailureContext,
  model: string,
  signal: AbortSignal,
): Promise<ModelFacts> {
  const ask = async () => factsOf(await client.models.get({ model, config: { abortSignal: signal } }));
  return await askVendor(ask, context, signal);
}
