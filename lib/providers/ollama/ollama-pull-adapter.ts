import { Ollama } from 'ollama/browser';
import type { Vendor } from '../../chat/model.js';
import { capitalised } from '../../chat/text.js';
import { HiError } from '../../errors.js';
import { aborted, mask } from '../../http/failures.js';
import type { Fetch } from '../../http/fetch.js';
import type { ProviderSettings, PullProgress } from '../common/provider.js';
import { sdkFetch, withoutVersion } from '../common/sdk.js';

/** See `ProviderMember.pull`: https://docs.ollama.com/api/pull. */
export async function* pull(
  vendor: Vendor,
  settings: ProviderSettings,
  model: string,
  signal: AbortSignal,
): AsyncGenerator<PullProgress> {
  const client = connect(vendor, settings, model, signal);
  const layers = new Map<string, PullProgress>();
  try {
    for await (const { digest, total = 0, completed = 0 } of await client.pull({ model, stream: true })) {
      if (digest) layers.set(digest, { done: completed, all: total });
      yield sumOf([...layers.values()]);
    }
  } catch (thrown) {
    if (signal.aborted) throw aborted();
    throw thrown instanceof HiError ? thrown : failed(vendor, model, thrown, settings);
  }
}

function connect(vendor: Vendor, settings: ProviderSettings, model: string, signal: AbortSignal): Ollama {
  const fetch = sdkFetch(vendor, settings);
  // The SDK sends the model name only under its old key.
  const body = JSON.stringify({ model, name: model, stream: true });
  const asDocumented: Fetch = async (input, init) => await fetch(input, { ...init, body, signal });
  return new Ollama({
    host: withoutVersion(settings.apiBase ?? 'http://127.0.0.1:11434'),
    headers: settings.apiKey === null ? {} : { Authorization: `Bearer ${settings.apiKey}` },
    fetch: asDocumented,
  });
}

/** The sum of all layers. They are downloaded one after the other, the largest first. */
function sumOf(layers: readonly PullProgress[]): PullProgress {
  const sum = (values: readonly (number | null)[]): number =>
    values.reduce<number>((all, value) => all + (value ?? 0), 0);
  const all = sum(layers.map((layer) => layer.all));
  return { done: sum(layers.map((layer) => layer.done)), all: all === 0 ? null : all };
}

function failed({ title }: Vendor, model: string, thrown: unknown, { apiKey }: ProviderSettings): HiError {
  const words = thrown instanceof Error ? thrown.message : String(thrown);
  const isCut = words.startsWith('Did not receive');
  const said = isCut ? 'the connection was cut' : mask(words, apiKey);
  return new HiError('network', `${capitalised(title)} could not download '${model}': ${said.replace(/\.?$/, '.')}`, {
    hint: 'Check the name, and the network of the machine that it runs on. The part downloaded so far is kept.',
    cause: thrown,
  });
}
