import type { SlashCommand } from './command.js';

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
      return yield {
        type: 'print',
        text: `Switched to ${provider}/${name}. The provider's prompt cache starts empty.`,
      };
    }
    const { provider, model: name, context_window } = session.target;
    yield { type: 'print', text: `${provider}/${name}, window ${context_window} tokens` };
    const others = (await models(signal)).filter((one) => one !== name);
    if (others.length > 0) yield { type: 'print', text: `Available: ${others.join(', ')}` };
  },
};
