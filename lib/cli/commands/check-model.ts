import { isOwnAddress } from '../../chat/model/own-address.js';
import { quantity } from '../../chat/text/quantity.js';
import type { Config } from '../../config/config.js';
import { publishedWindow } from '../../config/models.js';
import { HiError } from '../../errors.js';
import type { ProviderMember } from '../../providers/common/provider.js';
import { providers } from '../../providers/index.js';
import { pick } from '../../registry.js';
import type { Target } from '../../session/common/deps.js';
import { plainHttpWarnings } from '../base/plain-http.js';
import type { Settings } from '../base/settings.js';
import { TEST_HINT, TEST_LIMIT, withTimeout } from '../base/with-timeout.js';
import type { WiredSession } from '../wiring/wire.js';
import { attempt, checkPart, type Finding } from './check-finding.js';

/** Checks the key, the model and its window; asks the vendor only where `isLive`. */
export async function* modelFindings(
  settings: Settings,
  wired: WiredSession,
  isLive: boolean,
): AsyncGenerator<Finding> {
  const { session, config } = wired;
  const key = await attempt('key', () => session.target.connect());
  if ('failure' in key) return yield key;
  yield { part: 'key', ok: config.api_key === null ? 'not needed' : 'found' };
  for (const note of plainHttpWarnings(config)) yield { part: 'key', note };
  yield { part: 'model', ok: `${config.provider}/${config.model}` };
  if (isLive) await session.target.ask?.(AbortSignal.timeout(FACTS_LIMIT), true);
  yield contextWindow(config, session.target);
  yield* trigger({ ...config, context_window: session.target.context_window });
  yield summaries(settings, config);
  if (isLive) yield* live(wired);
  else yield { part: 'reachability', note: "not checked; 'hi config check --live' makes one small call" };
}

/** How long a server may take to report a model's capabilities, in milliseconds. */
const FACTS_LIMIT = 10_000;

function contextWindow({ model, window_is_set }: Config, { context_window, memory }: Target): Finding {
  const part = 'context window';
  if (window_is_set) return { part, ok: `${context_window} tokens, from the file` };
  if (memory.facts.context_window !== undefined)
    return { part, ok: `${context_window} tokens, as reported by the server` };
  if (publishedWindow(model) === context_window) return { part, ok: `${context_window} tokens` };
  const note = `${context_window} tokens assumed: no published value for '${model}'. Set context_window in config.json, or let 'hi config check --live' ask the server`;
  return { part, note };
}

/** The user chose the number, so nothing lowers it to what the model can take. */
function* trigger({ max_input_tokens, context_window, compaction }: Config): Generator<Finding> {
  if (max_input_tokens === null || max_input_tokens <= context_window) return;
  const text = `max_input_tokens is ${max_input_tokens}, above the context window of ${context_window}, so it has no effect.`;
  const most = Math.floor(compaction.trigger_ratio * context_window);
  const hint = `Set max_input_tokens to ${most} or less, or remove it. If the model has a larger window, set context_window.`;
  yield { part: 'max_input_tokens', failure: new HiError('config', text, { hint }) };
}

/** Which model writes the summaries, and why it is not the vendor's fast one. */
function summaries({ file }: Settings, { provider, model, api_base, small_model }: Config): Finding {
  const part = 'summaries';
  if (small_model !== null) return { part, ok: `${small_model.provider}/${small_model.model} writes them` };
  const { fastModel, ...member }: ProviderMember = pick(providers, provider, 'provider');
  const main = `the main model, ${model}, writes them`;
  if (file?.small_model === null) return { part, ok: `${main}, as config.json says` };
  if (fastModel === model) return { part, ok: main };
  if (fastModel === null || isOwnAddress(member, api_base)) {
    return { part, note: `${main}. Set small_model in config.json to use a faster one` };
  }
  const host = api_base === null ? '' : new URL(api_base).host;
  return {
    part,
    note: `${main}: '${host}' may not have '${fastModel}'. Set small_model in config.json to use a faster one`,
  };
}

async function* live({ session, config, connections }: WiredSession): AsyncGenerator<Finding> {
  const listed = await attempt('reachability', () => connections.models(session.target));
  if ('value' in listed) {
    yield { part: 'reachability', ok: `the server lists ${quantity(listed.value.length, 'model')}` };
    if (!listed.value.includes(config.model)) yield { part: 'model', note: `'${config.model}' is not on that list` };
  } else if (['network', 'key'].includes(listed.failure.code)) return yield listed;
  else
    yield { part: 'reachability', note: `the server answers, but does not list its models: ${listed.failure.message}` };
  const notices: string[] = [];
  connections.forgetRefusals();
  const ask = async (expired: AbortSignal): Promise<string> => {
    for await (const event of session.tryOut('Answer with the one word: ready', expired)) {
      if (event.type === 'notice') notices.push(event.text);
      if (event.type === 'turn-end' && !expired.aborted) return JSON.stringify(event.text.trim().slice(0, 80));
    }
    expired.throwIfAborted();
    return 'nothing';
  };
  const forever = new AbortController().signal;
  yield await checkPart('answer', () => withTimeout(TEST_LIMIT, forever, ask, TEST_HINT));
  for (const note of notices) yield { part: 'answer', note };
  // The call has loaded the model, which may have set its window.
  await session.target.ask?.(AbortSignal.timeout(FACTS_LIMIT), true);
  yield* serverFacts(session.target, config);
}

/** What the server reports about the model. */
function* serverFacts(
  { memory: { facts }, context_window }: Target,
  { provider, model, window_is_set, api_base }: Config,
): Generator<Finding> {
  const member: ProviderMember = pick(providers, provider, 'provider');
  const title = serverTitle(member, api_base);
  const real = window_is_set ? (facts.loaded_window ?? facts.context_window) : facts.context_window;
  if (real !== undefined) yield window(title, real, context_window);
  else if (publishedWindow(model) === null) yield { part: 'real window', note: `${title} does not say` };
  const takes = SHOWN.flatMap((feature) => {
    const can = facts.takes?.[feature];
    return can === undefined ? [] : [`${can ? '' : 'no '}${feature}`];
  });
  if (takes.length > 0) yield { part: 'capabilities', ok: takes.join(', ') };
}

/** The capabilities that matter to users; the others concern the format of requests. */
const SHOWN = ['tools', 'images', 'documents', 'audio'] as const;

/** At a custom address, the provider's name only says which protocol is spoken, unless its servers are always the users' own. */
function serverTitle({ title, ...member }: ProviderMember, address: string | null): string {
  if (address === null || member.ownHosts.length === 0 || isOwnAddress(member, address)) return title;
  return `'${new URL(address).host}'`;
}

/** A model that is sent more than its window silently forgets the oldest part. */
function window(title: string, real: number, configured: number): Finding {
  const part = 'real window';
  if (real >= configured) return { part, ok: `${real} tokens at ${title}` };
  return {
    part,
    failure: new HiError('config', `${title} gives this model ${real} tokens, not ${configured}.`, {
      hint: `Set context_window to ${real} in config.json, or configure ${title} to give the model more.`,
    }),
  };
}
