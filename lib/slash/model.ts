import { HiError } from '../errors.js';
import { nearest } from '../registry.js';
import type { ModelServer, SlashCommand, SlashContext, SlashEvent } from './common/command.js';
import { noneWhenCancelled, serverTable } from './common/shown.js';

/** Keeps the model for later chats. */
const SAVE = '--save';

/** `/model`: shows the model in use and offers others, or switches to one for the rest of the chat. */
export const slashModel: SlashCommand = {
  name: 'model',
  usage: '/model [name]',
  summary: 'show the model, or switch to another; --save keeps it',
  takesWords: true,
  complete: async (typed, { models }) =>
    [...models.serverNames, ...(await models.names())].filter((name) => name.startsWith(typed)),
  async *run(argument, context, signal) {
    const words = argument.split(/\s+/).filter((word) => word !== '');
    const names = words.filter((word) => word !== SAVE);
    const [name, another] = names;
    if (another !== undefined || name?.startsWith('--'))
      throw new HiError('usage', `Not one model: '${names.join(' ')}'.`, { hint: 'Type: /model NAME [--save]' });
    if (name !== undefined) return yield* named(name, words.length > names.length, context, signal);
    if (words.length > 0) return yield* kept(context);
    yield* offered(context, signal);
  },
};

/** Shows the model in use, and the others to choose from. */
async function* offered(context: SlashContext, signal: AbortSignal): AsyncGenerator<SlashEvent> {
  const { session, models, ask } = context;
  const { provider, model: name, server, context_window, model_window = context_window } = session.target;
  let list: ModelServer['models'];
  if (models.serverNames.length > 0) {
    yield { type: 'waiting', what: 'asking the servers' };
    const rows = await models.servers(signal);
    yield { type: 'print', text: serverTable(rows) };
    list = rows[0]?.models ?? [];
  } else {
    yield { type: 'print', text: `${provider}/${name}, window ${model_window} tokens` };
    list = await listed(models, signal);
  }
  const elsewhere = models.serverNames.filter((one) => one !== server);
  if (list instanceof HiError) yield { type: 'notice', level: 'info', text: withoutList(list) };
  const others = list instanceof HiError ? elsewhere : [...elsewhere, ...list.filter((one) => one !== name)];
  if (ask.search !== null && others.length > 0) return yield* chosen([name, ...others], context, signal);
  if (others.length > 0) yield { type: 'print', text: `Available: ${others.join(', ')}` };
}

/**
 * Switches to a model by name, and warns if the provider does not list it, or does not answer. A name without its tag
 * is that of the newest.
 */
async function* named(
  argument: string,
  isKept: boolean,
  context: SlashContext,
  signal: AbortSignal,
): AsyncGenerator<SlashEvent> {
  const { session, models } = context;
  await session.useModel(argument, signal);
  const known = await listed(models, signal);
  const names = known instanceof HiError ? [] : known;
  const { provider, model: given } = session.target;
  const isTagless = !names.includes(given) && names.includes(`${given}:latest`);
  if (isTagless) await session.useModel(`${session.target.server ?? provider}/${given}:latest`, signal);
  const name = session.target.model;
  yield { type: 'print', text: `Switched to ${inUse(context)}. The provider's prompt cache starts empty.` };
  const doubt = known instanceof HiError ? silence(known) : doubtAbout(name, names, provider);
  if (doubt !== null) yield { type: 'notice', level: 'warning', text: doubt };
  if (isKept) yield* kept(context);
}

/** Why a model may not answer that its provider does not list; null if it does. */
function doubtAbout(name: string, names: readonly string[], provider: string): string | null {
  if (names.includes(name)) return null;
  if (names.length === 0) return `${provider} lists no models, so the next message may fail.`;
  const near = nearest(name, names);
  const meant = near === null ? '' : ` The nearest name is '${near}'.`;
  return `${provider} does not list '${name}', so the next message may fail.${meant}`;
}

/** What keeps a server from answering; null if it only has no list. */
const silence = (error: HiError): string | null =>
  isWithoutList(error) ? null : [error.message, 'The next message may fail.', error.hint ?? ''].join(' ').trimEnd();

/** Lets the user choose a model. Cancelling keeps the one in use. */
async function* chosen(
  names: readonly string[],
  context: SlashContext,
  signal: AbortSignal,
): AsyncGenerator<SlashEvent> {
  const { session, ask } = context;
  const before = session.target.model;
  const choices = names.map((value) => ({ value, name: value }));
  const choice = await ask.search?.('Which model? (Ctrl-S: in later chats too)', choices).catch(noneWhenCancelled);
  if (!choice || (choice.value === before && !choice.isKept))
    return yield { type: 'print', text: `Still ${inUse(context)}.` };
  if (choice.value !== before) await session.useModel(choice.value, signal);
  yield { type: 'print', text: `Switched to ${inUse(context)}.` };
  if (choice.isKept) yield* kept(context);
}

const inUse = ({ session: { target } }: SlashContext): string => `${target.server ?? target.provider}/${target.model}`;

/** Uses the model in later chats too. */
async function* kept({ session, models }: SlashContext): AsyncGenerator<SlashEvent> {
  const { provider, model, server } = session.target;
  const keep = models.keep();
  if (keep === 'configured') return yield { type: 'print', text: `Later chats use ${model} anyway.` };
  if (keep === 'foreign') {
    const set =
      server === undefined
        ? `provider and model in the configuration: '${provider}', '${model}'`
        : `HI_MODEL=${server}/${model}`;
    const text = `Later chats use another ${server === undefined ? 'provider' : 'server'}. To change that, set ${set}.`;
    return yield { type: 'notice', level: 'warning', text };
  }
  await keep();
  yield { type: 'print', text: `Later chats will use ${model}.` };
}

/** The models that the provider lists, or why there is no list. */
async function listed(models: SlashContext['models'], signal: AbortSignal): Promise<ModelServer['models']> {
  try {
    return await models.names(signal);
  } catch (thrown) {
    if (!(thrown instanceof HiError)) throw thrown;
    return thrown;
  }
}

/** Many servers with a single model have no model list. That is not an error. */
const isWithoutList = ({ code }: HiError): boolean => code === 'request' || code === 'model';

function withoutList(error: HiError): string {
  return isWithoutList(error)
    ? 'The server lists no models; `/model NAME` takes any name.'
    : `The models cannot be listed: ${error.message}`;
}
