import type { Message } from '../../lib/chat/message.js';
import type { CompactionInput, CompactionSettings } from '../../lib/compaction/strategy.js';
import { measure } from '../../lib/view/measure.js';
import { present, type View, view } from '../../lib/view/view.js';
import { memoryCache, pass, SETTINGS } from './compaction.js';
import { Log } from './log.js';
import { partsOf, type ScriptedModel, scripted } from './summarisers.js';

/** What a long conversation came to. */
export interface Outcome {
  /** How many of the planted facts are in the last request. */
  readonly facts: number;
  readonly passes: number;
  readonly requests: number;
  /** How full the window was on average. */
  readonly fullness: number;
  /**
   * The share of prompt tokens that a provider's prompt cache cannot have held: what is behind the first byte that
   * differs from the request before.
   */
  readonly uncached: number;
  /** How many requests did not begin with the one before although no pass lay between them. */
  readonly broken: number;
}

const FACTS = 60;
const TURNS = 600;
const PREAMBLE_TOKENS = 1500;

/**
 * A tool-heavy conversation of 600 turns in a 32k window, in which sixty facts are mentioned by the way, compacted
 * whenever it is due.
 */
export async function sixtyFacts(change: Partial<CompactionSettings> = {}, proseOnly = false): Promise<Outcome> {
  const settings = { ...SETTINGS, ...change };
  const log = new Log();
  const cache = memoryCache();
  const model = forgetful(proseOnly);
  const tally = new Tally();
  for (let turn = 0; turn < TURNS; turn++) {
    const running = log.user(
      turn % 10 === 5 ? mention((turn - 5) / 10) : `Please go on with step ${turn} of the work.`,
    ).id;
    for (let round = 0; round <= turn % 4; round++) {
      const sent = view(log.entries, running);
      const { due, context_tokens } = measure(sent, log.entries, PREAMBLE_TOKENS, settings, 'main');
      if (due) {
        const input: CompactionInput = {
          entries: log.entries,
          running,
          fixed_tokens: PREAMBLE_TOKENS,
          context_tokens,
          settings,
          reason: 'auto',
          focus: null,
        };
        const { block } = await pass(input, [model], cache);
        if (block) log.block(block);
        tally.passes += block ? 1 : 0;
      }
      tally.request(view(log.entries, running), settings.context_window);
      if (round < turn % 4)
        log.tools(`output of step ${turn}.${round} ${'line of output\n'.repeat(20 + ((turn * 37) % 150))}`);
      else log.answer(`Step ${turn} is done. ${'It went as planned. '.repeat(5 + (turn % 7))}`);
    }
  }
  return tally.outcome(view(log.entries, null));
}

const mention = (fact: number): string =>
  `By the way, service-${fact} listens on port ${7000 + fact * 7}, go on please.`;

/** Extracts every fact it is shown, but copies each sentence of its old prose with a chance of nine in ten only. */
function forgetful(proseOnly: boolean): ScriptedModel {
  let dice = 0;
  return scripted(
    (prompt) => {
      const { earlier, conversation } = partsOf(prompt);
      const found = conversation.match(/service-\d+ listens on port \d+/g) ?? [];
      const copied = earlier.split('\n').filter(() => ++dice % 10 !== 0);
      const prose = proseOnly
        ? [...copied, ...found].join('\n')
        : ['They worked step by step.', ...copied.slice(1, 20)].join('\n');
      const facts = proseOnly ? '' : found.map((fact) => `- fact: ${fact}`).join('\n');
      return `=== SUMMARY ===\n${prose || 'They worked.'}\n=== NEW FACTS ===\n${facts}`;
    },
    { context_window: 32_000 },
  );
}

class Tally {
  passes = 0;
  #requests = 0;
  #tokens = 0;
  #uncached = 0;
  #fullness = 0;
  #broken = 0;
  #before: { readonly view: View; readonly texts: readonly string[] } | null = null;

  request(sent: View, context_window: number): void {
    const { system, messages } = present(sent, 'system');
    const texts = ['x'.repeat(PREAMBLE_TOKENS * 4), ...system, ...messages.map(written)];
    const tokens = lengthOf(texts) / 4;
    const shared = this.#before === null ? 0 : lengthOf(commonStart(this.#before.texts, texts)) / 4;
    this.#requests += 1;
    this.#tokens += tokens;
    this.#uncached += tokens - shared;
    this.#fullness += tokens / context_window;
    const { view: old, texts: before } = this.#before ?? { view: sent, texts: [] };
    if (old.block === sent.block && commonStart(before, texts).length < before.length) this.#broken += 1;
    this.#before = { view: sent, texts };
  }

  outcome(last: View): Outcome {
    const { system, messages } = present(last, 'system');
    const text = [...system, ...messages.map(written)].join('\n');
    return {
      facts: Array.from({ length: FACTS }, (_, fact) => `service-${fact} listens on port ${7000 + fact * 7}`).filter(
        (fact) => new RegExp(`\\b${fact}\\b`).test(text),
      ).length,
      passes: this.passes,
      requests: this.#requests,
      fullness: this.#fullness / this.#requests,
      uncached: this.#uncached / this.#tokens,
      broken: this.#broken,
    };
  }
}

const written = ({ role, content }: Pick<Message, 'role' | 'content'>): string => JSON.stringify({ role, content });

const lengthOf = (texts: readonly string[]): number => texts.reduce((sum, text) => sum + text.length, 0);

function commonStart(one: readonly string[], other: readonly string[]): readonly string[] {
  const end = one.findIndex((text, index) => text !== other[index]);
  return end < 0 ? one : one.slice(0, end);
}
