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
      const state = await stateOf(connections, target, signal);
      return { name, text: [described(target), ratesText(target, now), state].join(' · ') };
    } catch (thrown) {
      if (!(thrown instanceof HiError)) throw thrown;
      return { name, text: thrown.message };
    }
  };
  return await Promise.all([
    describe(inUse.server ?? inUse.provider, async () => inUse),
    ...others.map((name) => describe(name, () => connections.server(name))),
  ]);
}

const described = ({ provider, model, model_window, context_window }: Target): string =>
  `${provider}/${model} · window ${shortCount(model_window ?? context_window)}`;

async function stateOf(connections: Connections, target: Target, signal: AbortSignal): Promise<string> {
  try {
    await connections.models(target, PATIENCE, signal);
    return 'answers';
  } catch (thrown) {
    if (!(thrown instanceof HiError)) throw thrown;
    // A server that lists no models answers all the same.
    return thrown.code === 'request' || thrown.code === 'model' ? 'answers' : `does not answer: ${thrown.message}`;
  }
}
