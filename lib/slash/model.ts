import { closest } from 'fastest-levenshtein';
import { HiError } from '../errors.js';
import type { SlashCommand, SlashContext, SlashEvent } from './common/command.js';
import { noneWhenCancelled } from './common/none-when-cancelled.js';

/** `/model`: shows the model in use and offers others, or switches to one for the rest of the chat. */
export const slashModel: SlashCommand = {
  name: 'model',
  usage: '/model [name]',
  summary: 'show the model, or switch to another (also provider/name)',
  complete: async (typed, { models }) => (await models()).filter((name) => name.startsWith(typed)),
  async *run(argument, context, signal) {
    const { session, models, search } = context;
    if (argument !== '') return yield* named(argument, context, signal);
    const { provider, model: name, context_window, model_window = context_window } = session.target;
    yield { type: 'print', text: `${provider}/${name}, window ${model_window} tokens` };
    const known = await listed(models, signal);
    if ('failure' in known) return yield { type: 'notice', level: 'info', text: withoutList(known.failure) };
    const others = known.names.filter((one) => one !== name);
    if (search !== null && others.length > 0) return yield* chosen([name, ...others], context, signal);
    if (others.length > 0) yield { type: 'print', text: `Available: ${others.join(', ')}` };
  },
};

/** Switches to a model by name, and warns if the provider does not list it. */
async function* named(argument: string, context: SlashContext, signal: AbortSignal): AsyncGenerator<SlashEvent> {
  const { session, models } = context;
  const before = session.target;
  await session.useModel(argument, signal);
  const { provider, model: name } = session.target;
  yield { type: 'print', text: `Switched to ${provider}/${name}. The provider's prompt cache starts empty.` };
  const known = await listed(models, signal);
  const names = 'names' in known ? known.names : [];
  if (names.length > 0 && !names.includes(name)) {
    const nearest = closest(name, names);
    const text = `${provider} does not list '${name}', so the next message may fail. The nearest name is '${nearest}'.`;
    yield { type: 'notice', level: 'warning', text };
  }
  const isOther = before.provider !== provider || before.model !== name;
  if (context.search !== null && isOther) yield* kept(context);
}

/** Lets the user choose a model. Cancelling keeps the one in use. */
async function* chosen(
  names: readonly string[],
  context: SlashContext,
  signal: AbortSignal,
): AsyncGenerator<SlashEvent> {
  const { session, search } = context;
  const before = session.target.model;
  const choices = names.map((value) => ({ value, name: value }));
  const name = await search?.('Which model?', choices).catch(noneWhenCancelled);
  if (name === undefined || name === null || name === before)
    return yield { type: 'print', text: `Still ${session.target.provider}/${before}.` };
  await session.useModel(name, signal);
  yield { type: 'print', text: `Switched to ${session.target.provider}/${name}.` };
  yield* kept(context);
}

/** Asks whether to use the model in future chats too. */
async function* kept({ session, keepModel, confirm }: SlashContext): AsyncGenerator<SlashEvent> {
  const keep = keepModel();
  if (keep === null || !(await confirm('Use it in future chats too?', ''))) return;
  await keep();
  yield { type: 'print', text: `Future chats will use ${session.target.model}.` };
}

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

/** Many servers with a single model have no model list. That is not an error. */
function withoutList({ code, message }: HiError): string {
  return code === 'request' || code === 'model'
    ? 'The server lists no models; `/model NAME` takes any name.'
    : `The models cannot be listed: ${message}`;
}
