import { randomUUID } from 'node:crypto';
import type { StreamEvent } from '../../chat/event.js';
import type { Usage } from '../../chat/message.js';
import type { ChatRequest } from '../../chat/request.js';
import { dollarText } from '../../chat/text.js';
import type { Config } from '../../config/config.js';
import { HiError } from '../../errors.js';
import { isUnsent } from '../../http/failures.js';
import type { Provider } from '../../providers/common/provider.js';
import { type Amount, addAmounts, Ledger, NOTHING, type Spending } from '../../servers/ledger.js';
import type { Target } from '../../session/common/deps.js';
import type { Asker } from '../base/options.js';
import { costOf } from './price.js';

/** How long an answer is taken to be before it is known, in tokens, if the request sets no limit. */
const USUAL_ANSWER = 2000;

/**
 * The share of a limit from which the user is warned, and by how much a limit is raised for this process when they
 * agree to go on.
 */
const WARN_AT = 0.8;
const RAISE_BY = 0.25;

const PERIODS = ['turn', 'day', 'month'] as const;
type Period = (typeof PERIODS)[number];

type AskAboveLimit = Asker['aboveLimit'];

type Priced = Pick<Target, 'provider' | 'model' | 'api_base' | 'isNear'>;

/** What one process spends, in its turn and in the ledger that all share. */
class Limits {
  readonly #limit: Config['limit'];
  readonly #ledger: Ledger;
  readonly #now: () => Date;
  readonly #ask: AskAboveLimit | null;
  #turn = NOTHING;
  readonly #warned = new Set<string>();
  readonly #raised = new Map<string, number>();

  constructor(limit: Config['limit'], folder: string, now: () => Date, ask: AskAboveLimit | null) {
    this.#limit = limit;
    this.#ledger = new Ledger(folder, now);
    this.#now = now;
    this.#ask = ask;
  }

  beginTurn(): void {
    this.#turn = NOTHING;
  }

  /** The provider, which sends nothing that would pass a limit. */
  limited(provider: Provider, model: Priced): Provider {
    const stream = (request: ChatRequest, signal: AbortSignal) => this.#stream(provider, model, request, signal);
    return {
      name: provider.name,
      get origin() {
        return provider.origin;
      },
      stream,
    };
  }

  async *#stream(
    provider: Provider,
    model: Priced,
    request: ChatRequest,
    signal: AbortSignal,
  ): AsyncGenerator<StreamEvent> {
    const expected = this.#amountOf(model, expectedUsage(request));
    const id = randomUUID();
    const spending = this.#ledger.enter(id, expected);
    let cost: Amount | null = expected;
    let hasBegun = false;
    try {
      for (const text of await this.#check(spending, expected, model, request, signal)) yield { type: 'notice', text };
      for await (const event of provider.stream(request, signal)) {
        hasBegun = true;
        if (event.type === 'end') {
          const problem = this.#settle(id, event.usage === null ? expected : this.#amountOf(model, event.usage));
          cost = null;
          if (problem !== null) yield { type: 'notice', text: problem };
        }
        yield event;
      }
    } catch (thrown) {
      // What was refused or never sent costs nothing. Of a connection that broke, and of an interruption, nobody knows.
      if (cost !== null && !hasBegun && thrown instanceof HiError && (thrown.code !== 'network' || isUnsent(thrown)))
        cost = NOTHING;
      throw thrown;
    } finally {
      if (cost !== null) this.#settle(id, cost);
    }
  }

  /** Returns why the ledger does not know the cost; the answer is there anyway. */
  #settle(id: string, cost: Amount): string | null {
    this.#turn = addAmounts(this.#turn, cost);
    try {
      this.#ledger.settle(id, cost);
      return null;
    } catch (thrown) {
      if (!(thrown instanceof HiError)) throw thrown;
      return thrown.message;
    }
  }

  /** Dollars where the price is known, else tokens. A server of the user's own costs nothing. */
  #amountOf({ provider, model, api_base, isNear }: Priced, usage: Usage): Amount {
    const record = { provider, model, api_base, at: this.#now(), usage };
    const { dollars, priced } = costOf([record]);
    if (priced > 0) return { dollars, tokens: 0 };
    return isNear ? NOTHING : { dollars: 0, tokens: usage.input_tokens + usage.output_tokens };
  }

  /**
   * Throws a `HiError` of code `limit` if the request would pass one and the user does not agree. Resolves to warnings.
   */
  async #check(
    spending: Spending,
    expected: Amount,
    { model }: Priced,
    request: ChatRequest,
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    const kind = expected.tokens > 0 ? 'tokens' : 'dollars';
    const limits = PERIODS.map((period) => ({ period, most: this.#limit[keyOf(period, kind)] }));
    if (kind === 'tokens' && limits.every(({ most }) => most === null) && this.#hasDollars)
      throw new HiError('limit', `Not sent: the price of '${model}' is unknown, so no limit in dollars can be kept.`, {
        hint: 'Set limit.day_tokens to limit such models by tokens.',
      });
    const warnings: string[] = [];
    for (const { period, most } of limits) {
      if (most === null) continue;
      const before = period === 'turn' ? this.#turn : spending[period];
      const after = before[kind] + expected[kind];
      const key = keyOf(period, kind);
      const allowed = most + (this.#raised.get(key) ?? 0);
      if (after > allowed) await this.#agree(key, most, { before: before[kind], after }, kind, request, signal);
      else if (after >= WARN_AT * most && !this.#warned.has(key)) {
        this.#warned.add(key);
        warnings.push(`${shownAmount(before[kind], kind)} of limit.${key} (${shownAmount(most, kind)}) are spent.`);
      }
    }
    return warnings;
  }

  get #hasDollars(): boolean {
    return PERIODS.some((period) => this.#limit[period] !== null);
  }

  async #agree(
    key: string,
    most: number,
    { before, after }: { readonly before: number; readonly after: number },
    kind: keyof Amount,
    { isInternal }: ChatRequest,
    signal: AbortSignal,
  ): Promise<void> {
    const spent = `${shownAmount(before, kind)} of limit.${key} (${shownAmount(most, kind)}) are spent, and the next request may cost ${shownAmount(after - before, kind)}`;
    const agrees = !isInternal && (await this.#ask?.(`${spent}. Go on?`, signal)) === true;
    if (!agrees)
      throw new HiError('limit', `Not sent: ${spent}.`, { hint: `Wait, or raise limit.${key} in config.json.` });
    this.#raised.set(key, after - most + RAISE_BY * most);
  }
}

const keyOf = (period: Period, kind: keyof Amount) => (kind === 'tokens' ? (`${period}_tokens` as const) : period);

const shownAmount = (amount: number, kind: keyof Amount): string =>
  kind === 'dollars' ? dollarText(amount) : `${Math.ceil(amount)} tokens`;

function expectedUsage({ estimated_tokens, max_output_tokens }: ChatRequest): Usage {
  const output_tokens = Math.min(max_output_tokens ?? USUAL_ANSWER, USUAL_ANSWER);
  return { input_tokens: estimated_tokens, output_tokens, cached_tokens: 0, context_tokens: estimated_tokens };
}

/** Keeps the limits of the configuration, with the ledger in this folder. `ask` is null where nobody can be asked. */
export function keepLimits(limit: Config['limit'], folder: string, now: () => Date, ask: AskAboveLimit | null): Limits {
  return new Limits(limit, folder, now, ask);
}

export type { Limits };

/** What is left of the limits, one line each, for `hi usage`. */
export function limitLines(limit: Config['limit'], folder: string, now: () => Date): readonly string[] {
  if (Object.values(limit).every((most) => most === null)) return [];
  const spent = new Ledger(folder, now).spent();
  return (['day', 'month'] as const).flatMap((period) =>
    (['dollars', 'tokens'] as const).flatMap((kind) => {
      const key = keyOf(period, kind);
      const most = limit[key];
      if (most === null) return [];
      return [`limit.${key}: ${shownAmount(spent[period][kind], kind)} of ${shownAmount(most, kind)}`];
    }),
  );
}
