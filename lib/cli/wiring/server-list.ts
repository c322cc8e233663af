import { shortCount } from '../../chat/transcript.js';
import { HiError } from '../../errors.js';
import type { Target } from '../../session/common/deps.js';
import type { ModelServer } from '../../slash/common/command.js';
import type { Connections } from './connections.js';
import { ratesText } from './price.js';

/** How long a server may take to list its models, in milliseconds. */
const PATIENCE = 3000;

/** Asks every server by name, all at once, and the one in use. */
export async function serverList(
  connections: Connections,
  inUse: Target,
  now: Date,
  signal: AbortSignal,
): Promise<readonly ModelServer[]> {
  const others = connections.serverNames.filter((name) => name !== inUse.server);
  const describe = async (name: string, find: () => Promise<Target>): Promise<ModelServer> => {
    try {
      const target = await find();
      const models = await listOf(connections, target, signal);
      return { name, text: [described(target), ratesText(target, now), stateOf(models)].join(' · '), models };
    } catch (thrown) {
      if (!(thrown instanceof HiError)) throw thrown;
      return { name, text: thrown.message, models: thrown };
    }
  };
  return await Promise.all([
    describe(inUse.server ?? inUse.provider, async () => inUse),
    ...others.map((name) => describe(name, () => connections.server(name))),
  ]);
}

const described = ({ provider, model, model_window, context_window }: Target): string =>
  `${provider}/${model} · window ${shortCount(model_window ?? context_window)}`;

async function listOf(connections: Connections, target: Target, signal: AbortSignal): Promise<ModelServer['models']> {
  try {
    return await connections.models(target, PATIENCE, signal);
  } catch (thrown) {
    if (!(thrown instanceof HiError)) throw thrown;
    return thrown;
  }
}

function stateOf(models: ModelServer['models']): string {
  // A server that lists no models answers all the same.
  const isThere = !(models instanceof HiError) || models.code === 'request' || models.code === 'model';
  return isThere ? 'answers' : `does not answer: ${models.message}`;
}
