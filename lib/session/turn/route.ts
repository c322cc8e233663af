import { isMessage } from '../../chat/entry.js';
import type { ChatEvent, TurnReport } from '../../chat/event.js';
import { estimateParts } from '../../chat/media.js';
import { HiError, isAbort } from '../../errors.js';
import type { Provider } from '../../providers/common/provider.js';
import { isOfTheServer } from '../../servers/server-states.js';
import { triggerOf } from '../../view/size.js';
import type { Fallback, SessionDeps, Target } from '../common/deps.js';
import { warning } from './failed-request.js';
import type { AskedServer } from './turn.js';

/** The name of a server for the user. */
export const nameOf = ({ server, provider, model }: Target): string => server ?? `${provider}/${model}`;

const keyOf = ({ server, provider, model, api_base = '' }: Target): string =>
  [server ?? provider, model, api_base].join(' ');

/** What a turn asks of a server. */
interface AskedOf {
  readonly tools: boolean;
  readonly schema: boolean;
}

type RouteDeps = Pick<SessionDeps, 'models' | 'history' | 'settings'>;

/**
 * The way of one turn through the servers: the first that is not passed over is asked, and after a failure of the
 * server, before anything of the answer was shown, the next one. A server that failed is tried again after a while,
 * once.
 */
export class Route {
  readonly #deps: RouteDeps;
  readonly #first: Target;
  readonly #fallback: Fallback | null;
  readonly #asked: AskedOf;
  readonly #signal: AbortSignal;
  readonly #tried: Target[];
  #left: readonly string[];
  #target: Target;
  /** What the first server that was asked failed with. */
  #failure: HiError | null = null;
  /** The turn, once it has called tools. */
  #turn: number | null = null;

  constructor(first: Target, deps: RouteDeps, asked: AskedOf, signal: AbortSignal) {
    this.#deps = deps;
    this.#first = first;
    this.#fallback = deps.models.fallback ?? null;
    this.#asked = asked;
    this.#signal = signal;
    this.#left = this.#fallback?.names ?? [];
    this.#target = first;
    this.#tried = [first];
  }

  /** The server that answers. */
  get target(): Target {
    return this.#target;
  }

  /** The same as a report names it, with the one that should have answered. */
  get answeredBy(): Pick<TurnReport, 'provider' | 'server' | 'fallback_from'> {
    const { provider, server } = this.#target;
    return {
      provider,
      ...(server !== undefined && { server }),
      ...(this.#target !== this.#first && { fallback_from: nameOf(this.#first) }),
    };
  }

  /** The server that is asked next; null if this is the last. */
  get next(): string | null {
    return this.#left[0] ?? null;
  }

  /** Whether the server is asked only once, because it failed before and there are others. */
  get isTrial(): boolean {
    return this.#left.length > 0 && this.#fallback?.states.of(keyOf(this.#target)) === 'trial';
  }

  /**
   * Connects with the first server that can be asked: with that of the user's choice, unless it failed lately and is
   * the usual one.
   */
  async *connect(): AsyncGenerator<ChatEvent, Provider> {
    if (this.#first === this.#deps.models.target && !this.#fallback?.isChosen) yield* this.#passOver();
    for (;;) {
      try {
        return await this.#target.connect(this.#signal);
      } catch (thrown) {
        if ((yield* this.#next(thrown)) === null) throw yield* this.failure(thrown);
      }
    }
  }

  /**
   * Goes on with the next server after this failure; `turn` if it has called tools. Null if none can, or if another
   * would fail too.
   */
  async *goOn(
    failure: unknown,
    turn: number | null,
    changed: () => Promise<void>,
  ): AsyncGenerator<ChatEvent, AskedServer | null> {
    this.#turn = turn;
    const next = yield* this.#next(failure);
    if (next === null) return null;
    await changed();
    const { model, api_base, server, memory } = next;
    const provider = await next.connect(this.#signal);
    return { provider, model, api_base, server, memory, ...(this.isTrial && { attempts: 1 }) };
  }

  /** What to throw when no server is left: what the first one failed with. */
  *failure(thrown: unknown): Generator<ChatEvent, unknown> {
    if (this.#failure === null || this.#failure === thrown || !(thrown instanceof HiError)) return thrown;
    yield warning(`'${nameOf(this.#target)}' does not answer either: ${thrown.message}`);
    return this.#failure;
  }

  answered(): void {
    this.#fallback?.states.answered(keyOf(this.#target));
  }

  /** Begins with another server if the first one failed lately and the other did not. */
  async *#passOver(): AsyncGenerator<ChatEvent> {
    if (this.#fallback?.states.of(keyOf(this.#first)) !== 'open') return;
    const [left, tried] = [this.#left, this.#tried.length];
    const next = yield* this.#usable(false);
    if (next === null) {
      this.#left = left;
      this.#tried.length = tried;
      return;
    }
    const text = `'${nameOf(next)}' answers, because '${nameOf(this.#first)}' failed lately.`;
    yield { type: 'notice', level: 'info', text };
    this.#target = next;
  }

  async *#next(thrown: unknown): AsyncGenerator<ChatEvent, Target | null> {
    if (this.#fallback === null || !isOfTheServer(thrown)) return null;
    this.#failure ??= thrown;
    this.#fallback.states.failed(keyOf(this.#target), thrown);
    const next = yield* this.#usable(true);
    if (next === null) return null;
    yield warning(`'${nameOf(this.#target)}' does not answer: ${thrown.message} Going on with '${nameOf(next)}'.`);
    this.#target = next;
    return next;
  }

  /** The next server that can take the turn; with `any` also one that failed lately, once no other is left. */
  async *#usable(any: boolean): AsyncGenerator<ChatEvent, Target | null> {
    const passedOver: Target[] = [];
    for (;;) {
      const [name, ...left] = this.#left;
      if (name === undefined) return any ? (passedOver[0] ?? null) : null;
      this.#left = left;
      const target = yield* this.#find(name);
      if (target === null) continue;
      if (this.#fallback?.states.of(keyOf(target)) !== 'open') return target;
      passedOver.push(target);
    }
  }

  async *#find(name: string): AsyncGenerator<ChatEvent, Target | null> {
    try {
      const target = await this.#fallback?.find(name, this.#signal);
      if (target === undefined || this.#tried.some((one) => keyOf(one) === keyOf(target))) return null;
      this.#tried.push(target);
      const reason = await this.#unfit(target);
      if (reason === null) return target;
      yield warning(`'${name}' is left out: ${reason}.`);
    } catch (thrown) {
      if (isAbort(thrown) || !(thrown instanceof HiError)) throw thrown;
      yield warning(`'${name}' is left out: ${thrown.message}`);
    }
    return null;
  }

  /**
   * Why a server cannot take over; null if it can. A script gets what it asked for or nothing. A turn that has called
   * tools goes on only where all of it is read as it was, so that nothing is done twice.
   */
  async #unfit(target: Target): Promise<string | null> {
    await target.ask?.(this.#signal);
    const { takes = {}, token_ratio = 1 } = target.memory.facts;
    const { history, settings } = this.#deps;
    if (this.#asked.schema && takes.schema === false) return 'it takes no schema for the answer';
    const needsTools = this.#turn !== null || (this.#asked.tools && settings.via === 'script');
    if (needsTools && takes.tools === false) return 'it takes no tools';
    if (this.#turn === null) return null;
    const said = history.entries.filter(isMessage).filter(({ turn }) => turn === this.#turn);
    const size = estimateParts(said.flatMap(({ content }) => content)) * token_ratio;
    const room = triggerOf({ ...settings.compaction, context_window: target.context_window }) / 2;
    return size > room ? 'what this turn has done does not fit its window' : null;
  }
}
