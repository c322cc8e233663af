import { citedIn } from '../chat/marked-text.js';
import type { Message } from '../chat/message.js';
import type { ToolEffects } from '../chat/request.js';
import { quantity } from '../chat/text.js';
import { type Artifacts, type BlockState, type Fact, type Skipped, stateOf } from '../view/block-state.js';
import { artifactRoom, type LimitSettings } from '../view/limit.js';
import { collectArtifacts, describeArtifacts } from './artifacts.js';
import { type Ledger, listed } from './ledger.js';
import type { Plan } from './strategy.js';

/** The text of a block, and the fields it is generated from. */
export interface Content {
  readonly content: string;
  readonly state: Partial<BlockState>;
}

/** The example has no brackets, because it would be read as a citation. */
const CITED = 'A number in brackets, such as #12, is the id of an older message that the words before it rest on.';

/** The summary's prose, followed by what code has kept: the facts, what tools did, and the user's language. */
export function fixedContentOf(
  plan: Plan,
  summary: { readonly prose: string; readonly ledger: Ledger },
  language: string | null,
  settings: LimitSettings,
  effects: ToolEffects,
  skipped: Skipped | null,
): Content {
  const known: Artifacts = stateOf(plan.basis.block).artifacts;
  const artifacts = collectArtifacts(known, plan.compacted, effects, artifactRoom(settings));
  const { facts, forgotten } = summary.ledger;
  const sections = [
    summary.prose,
    facts.length > 0 ? `Facts on record:\n${listed(facts)}` : '',
    describeArtifacts(artifacts),
    citedLine(summary.prose, facts),
    skippedLine(skipped),
    languageLine(language),
  ];
  return {
    content: sections.filter(Boolean).join('\n\n'),
    state: { facts, forgotten, artifacts, language, prose: summary.prose.length, skipped },
  };
}

/** The line that explains citations; empty if the prose and the facts have none. */
export function citedLine(prose: string, facts: readonly Fact[]): string {
  return citedIn(prose).length > 0 || facts.some(({ ids }) => ids !== undefined) ? CITED : '';
}

/** The line about the user's language; empty for none. Models drift towards English, never away from it. */
export function languageLine(language: string | null): string {
  return language === null || language === 'English' ? '' : `The user writes in ${language}.`;
}

/** The line about messages that no summary covers; empty if there are none. */
export function skippedLine(skipped: Skipped | null): string {
  if (skipped === null) return '';
  const [from, until] = [skipped.from.slice(0, 10), skipped.until.slice(0, 10)];
  const when = from === until ? `of ${until}` : from === '' ? `until ${until}` : `from ${from} to ${until}`;
  return `${quantity(skipped.messages, 'message')} ${when} ${skipped.messages === 1 ? 'is' : 'are'} neither in this summary nor below, but can be searched.`;
}

/** Messages that no summary covers, and more of them. Nothing is known of `unloaded` ones, which are the oldest. */
export function together(before: Skipped | null, more: readonly Message[], unloaded: number): Skipped | null {
  const messages = (before?.messages ?? 0) + more.length + unloaded;
  if (messages === 0) return null;
  const from = unloaded > 0 ? '' : (before?.from ?? more[0]?.at ?? '');
  return { messages, from, until: more.at(-1)?.at ?? before?.until ?? '' };
}
