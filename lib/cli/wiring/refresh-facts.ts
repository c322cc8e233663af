import { isOwnAddress, type ModelFacts, type ModelMemory } from '../../chat/model.js';
import { publishedWindow } from '../../config/resolve.js';
import type { ModelSettings } from '../../config/setting.js';
import { HiError } from '../../errors.js';
import type { ProviderMember, ProviderSettings } from '../../providers/common/provider.js';
import { providers } from '../../providers/index.js';

/** How long a server may take to describe a model, in milliseconds. */
const TIME_LIMIT = 2000;

/** How long its answer is valid, and how long a server that was too slow is not asked again, in milliseconds. */
const VALID_FOR = 7 * 24 * 3_600_000;
const PAUSE = 600_000;

/** Failures of servers that do not support the request. */
const UNKNOWN_QUESTION: readonly string[] = ['model', 'request', 'malformed'];

/**
 * Asks the server about a model that is not in its vendor's table, or whose server is not its vendor's, unless it
 * answered in the last days; `again` ignores that answer. Never fails: a server that does not answer costs at most two
 * seconds every ten minutes.
 */
export async function refreshFacts(
  member: ProviderMember,
  { model, api_base }: ModelSettings,
  memory: ModelMemory,
  access: () => Promise<ProviderSettings>,
  { now, signal, again }: { readonly now: number; readonly signal: AbortSignal; readonly again: boolean },
): Promise<void> {
  const { facts } = memory;
  if (isOwnAddress(member, api_base) && publishedWindow(model) !== null) return;
  if (!again && facts.asked_at !== undefined && Math.abs(now - facts.asked_at) < VALID_FOR) return;
  const expired = AbortSignal.timeout(TIME_LIMIT);
  try {
    const [given, both] = [await access(), AbortSignal.any([signal, expired])];
    const [learnt, fast] = await Promise.all([
      member.askFacts(given, { model, known: facts }, both),
      isOwnAddress(member, api_base) ? {} : askFast(member, given, model, both),
    ]);
    memory.learn({ ...learnt, ...fast, asked_at: now });
  } catch (thrown) {
    if (signal.aborted) return;
    const knows = !(thrown instanceof HiError) || !UNKNOWN_QUESTION.includes(thrown.code);
    if (!knows) memory.learn({ asked_at: now });
    else if (expired.aborted) memory.learn({ asked_at: now - VALID_FOR + PAUSE });
  }
}

/**
 * A model's name without its maker, in which gateways may write points: `anthropic/claude-haiku-5.5` for
 * `claude-haiku-5-5`.
 */
const bareName = (model: string): string =>
  model
    .replace(/^(?:.*\/|[a-z]+\.(?=[a-z]))/, '')
    .replaceAll('.', '-')
    .toLowerCase();

/**
 * The fast model of the same maker, if the server lists it. Only that of a vendor in the registry is known, and nothing
 * is asked for others.
 */
async function askFast(
  member: ProviderMember,
  access: ProviderSettings,
  model: string,
  signal: AbortSignal,
): Promise<ModelFacts> {
  const own = bareName(model);
  const fast = bareName(providers.find(({ ownNames }) => ownNames?.test(own))?.fastModel ?? '');
  if (fast === '' || fast === own) return {};
  const listed = await member.listModels(access, signal).catch(() => []);
  const fast_model = listed.find(({ name }) => bareName(name) === fast)?.name;
  return fast_model === undefined ? {} : { server: { fast_model } };
}
