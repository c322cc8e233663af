import { closest } from 'fastest-levenshtein';
import { HiError } from '../errors.js';
import type { SlashCommand, SlashContext } from './common/command.js';

/** `/model`: shows the model in use, or changes it for the rest of the chat. */
export const slashModel: SlashCommand = {
  name: 'model',
  usage: '/model [name]',
  summary: 'show the model, or switch to another (also provider/name)',
  complete: async (typed, { models }) => (await models()).filter((name) => name.startsWith(typed)),
  async *run(argument, { session, models }, signal) {
    if (argument !== '') {
      await session.useModel(argument, signal);
      const { provider, model: name } = session.target;
      yield { type: 'print', text: `Switched to ${provider}/${name}. The provider's prompt cache starts empty.` };
      const known = await listed(models, signal);
      const names = 'names' in known ? known.names : [];
      if (names.length === 0 || names.includes(name)) return;
      const nearest = closest(name, names);
      const text = `${provider} does not list '${name}', so the next message may fail. The nearest name is '${nearest}'.`;
      return yield { type: 'notice', level: 'warning', text };
    }
    const { provider, model: name, context_window } = session.target;
    yield { type: 'print', text: `${provider}/${name}, window ${context_window} tokens` };
    const known = await listed(models, signal);
    if ('failure' in known) return yield { type: 'notice', level: 'info', text: withoutList(known.failure) };
    const others = known.names.filter((one) => one !== name);
    if (others.length > 0) yield { type: 'print', text: `Available: ${others.join(', ')}` };
  },
};

/** The models that the provider lists, or why there is no list. */
async function listed(
  models: SlashContext['models'],
  signal: AbortSignal,
): Promise<{ readonly names: readonly string[] } | { readonly failure: HiError }> {
  try {
    return { names: await models(signal) };
  } catch (thrown) {
    if (!(thrown instanceof HiError)) throw thrown;
    return { failure: thrown };
  }
}

/** Many servers of one model have no list of them, which is no error. */
function withoutList({ code, message }: HiError): string {
  return code === 'request' || code === 'model'
    ? 'The server lists no models; `/model NAME` takes any name.'
    : `The models cannot be listed: ${message}`;
}
