import type { Part, TextPart } from '../../../chat/message.js';
import { isNear } from '../../../http/near-address.js';
import { beginningWithUser, replaceSurrogates, type VendorTurn } from './normalise-history.js';

/** How a server wants the conversation. */
export interface TurnForm {
  /** One system message, and turns that begin with the user's and alternate: the form that every chat template takes. */
  readonly strict: boolean;
  /** Words beside a tool call stay where they are; otherwise they go before the next answer. */
  readonly textBesideCalls: boolean;
}

/** The form of a vendor that takes everything as it was said. */
export const FREE_FORM: TurnForm = { strict: false, textBesideCalls: true };

/** The models whose chat templates drop the words beside a tool call without telling anybody, by the templates that their makers publish. */
const DROPS_TEXT = /llama-?3|gemma|hermes|mistral-(?:nemo|small)|command-r7b|minimax-m1|phi-3|solar|llm-jp|rwkv/i;

/** The form for another server than the vendor's own. Whatever runs near by applies a template that nobody here knows. */
export function formFor(base: string, model: string): TurnForm {
  return { strict: true, textBesideCalls: !isNear(base) && !DROPS_TEXT.test(model) };
}

/** The system text in as many messages as the form has. */
export function systemTexts(blocks: readonly string[], { strict }: TurnForm): readonly string[] {
  const texts = blocks.map(replaceSurrogates);
  return strict && texts.length > 1 ? [texts.join('\n\n')] : texts;
}

/**
 * The turns in a form. In the strict one neighbours of one role are joined, and where a user speaks after a result, as after an interruption, an answer
 * stands between them. What is sent of a conversation is the beginning of what is sent of a longer one.
 */
export function formTurns(turns: readonly VendorTurn[], form: TurnForm): readonly VendorTurn[] {
  if (!form.strict) return turns;
  const formed: VendorTurn[] = [];
  let held: readonly TextPart[] = [];
  for (const turn of beginningWithUser(turns)) {
    const last = formed.at(-1);
    if (turn.role === 'user') {
      if (last?.role === 'tool') formed.push(unfinished(held));
      held = [];
      append(formed, turn);
    } else if (turn.role === 'assistant') {
      const { now, later } = form.textBesideCalls ? { now: turn, later: [] } : apart(turn, held);
      held = later;
      const isBehindWords = last?.role === 'assistant' && now.content.some(isCall);
      if (isBehindWords && !form.textBesideCalls) formed.push({ role: 'user', content: [SILENCE] });
      append(formed, now);
    } else formed.push(turn);
  }
  return formed;
}

type UserTurn = Extract<VendorTurn, { role: 'user' }>;
type AnswerTurn = Extract<VendorTurn, { role: 'assistant' }>;

/** Adds a turn, as part of the one before where that is of the same role. */
function append(formed: VendorTurn[], turn: UserTurn | AnswerTurn): void {
  const last = formed.at(-1);
  if (last?.role === 'user' && turn.role === 'user') {
    formed[formed.length - 1] = { role: 'user', content: [...last.content, ...turn.content] };
  } else if (last?.role === 'assistant' && turn.role === 'assistant') {
    const content = [...last.content, BREAK, ...turn.content];
    formed[formed.length - 1] = { role: 'assistant', own: last.own && turn.own, content };
  } else formed.push(turn);
}

const SILENCE: TextPart = { type: 'text', text: '(Nothing was said.)' };
const BREAK: TextPart = { type: 'text', text: '\n\n' };

/** The answer without the words beside its calls, and those words; an answer without calls gets the words that were held back for it. */
function apart(turn: AnswerTurn, held: readonly TextPart[]): { now: AnswerTurn; later: readonly TextPart[] } {
  if (!turn.content.some(isCall)) {
    return { now: held.length === 0 ? turn : { ...turn, content: [...held, ...turn.content] }, later: [] };
  }
  const texts = turn.content.filter((part) => part.type === 'text').filter(({ text }) => text.trim() !== '');
  const content = turn.content.filter(({ type }) => type !== 'text');
  return { now: { ...turn, content }, later: [...held, ...texts.flatMap((text) => [text, BREAK])] };
}

const isCall = ({ type }: Part): boolean => type === 'tool_call';

function unfinished(held: readonly TextPart[]): AnswerTurn {
  const content: readonly TextPart[] = held.length > 0 ? held.slice(0, -1) : [{ type: 'text', text: '(No answer.)' }];
  return { role: 'assistant', own: false, content };
}
