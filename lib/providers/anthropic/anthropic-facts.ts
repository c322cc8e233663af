import type Anthropic from '@anthropic-ai/sdk';
import type { ModelFacts } from '../../chat/model.js';
import { askVendor } from '../common/answer/stream.js';
import type { FailureContext } from '../common/failure/failure-text.js';
import { factsOf, type ListedModel, listedModel } from '../common/models/listed-model.js';

/** See `ProviderMember.listModels`. */
export async function listModels(
  client: Anthropic,
  context: FailureContext,
  signal: AbortSignal,
): Promise<readonly ListedModel[]> {
  const list = async () => {
    const { data } = await client.models.list({ limit: 1000 }, { signal });
    return data.map((model) => listedModel(model.id, model));
  };
  return await askVendor(list, context, signal);
}

/** See `ProviderMember.askFacts`. */
export async function askFacts(
  client: Anthropic,
  context: FailureContext,
  model: string,
  signal: AbortSignal,
): Promise<ModelFacts> {
  const ask = async () => factsOf(await client.models.retrieve(model, undefined, { signal }));
  return await askVendor(ask, context, signal);
}
