import { closest } from 'fastest-levenshtein';
import { isAbort } from '../errors.js';
import type { SlashCommand, SlashContext } from './command.js';

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
      if (known.length === 0 || known.includes(name)) return;
      const nearest = closest(name, known);
      const text = `${provider} does not list '${name}', so the next message may fail. The nearest name is '${nearest}'.`;
      return yield { type: 'notice', level: 'warning', text };
    }
    const { provider, model: name, context_window } = session.target;
    yield { type: 'print', text: `${provider}/${name}, window ${context_window} tokens` };
    const others = (await models(signal)).filter((one) => one !== name);
    if (others.length > 0) yield { type: 'print', text: `Available: ${others.join(', ')}` };
  },
};

/** The models that the provider lists; none where it lists none. */
async function listed(models: SlashContext['models'], signal: AbortSignal): Promise<readonly string[]> {
  try {
    return await models(signal);
  } catch (thrown) {
    if (isAbort(thrown)) throw thrown;
    return [];
  }
}
