import { isOwnAddress, type ModelMemory } from '../../chat/model.js';
import { publishedWindow } from '../../config/resolve.js';
import type { ModelSettings } from '../../config/setting.js';
import { HiError } from '../../errors.js';
import type { ProviderMember, ProviderSettings } from '../../providers/common/provider.js';

/** How long a server may take to describe a model, in milliseconds. */
const TIME_LIMIT = 2000;

/** How long its answer is valid, and how long a server that was too slow is not asked again, in milliseconds. */
const VALID_FOR = 7 * 24 * 3_600_000;
const PAUSE = 600_000;

/** Failures of servers that do not support the request. */
const UNKNOWN_QUESTION: readonly string[] = ['model', 'request', 'malformed'];

/**
 * Asks the server about a model that is not in its vendor's table, or whose server is not its vendor's, unless it answered in the last days; `again` ignores
 * that answer. Never fails: a server that does not answer costs at most two seconds every ten minutes.
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
    const question = { model, known: facts };
    const learnt = await member.askFacts(await access(), question, AbortSignal.any([signal, expired]));
    memory.learn({ ...learnt, asked_at: now });
  } catch (thrown) {
    if (signal.aborted) return;
    const knows = !(thrown instanceof HiError) || !UNKNOWN_QUESTION.includes(thrown.code);
    if (!knows) memory.learn({ asked_at: now });
    else if (expired.aborted) memory.learn({ asked_at: now - VALID_FOR + PAUSE });
  }
}
