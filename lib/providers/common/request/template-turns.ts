import type { Part, TextPart } from '../../../chat/message.js';
import { isNear } from '../../../http/address.js';
import { beginningWithUser, replaceSurrogates, type VendorTurn } from './normalise-history.js';

/** The form of the conversation that a server expects. */
export interface TurnForm {
  /** One system message, and alternating turns that begin with the user's, as every chat template accepts. */
  readonly strict: boolean;
  /** Text next to a tool call stays there; otherwise it is moved to the beginning of the next answer. */
  readonly textBesideCalls: boolean;
}

/** The form for a vendor that accepts any order. */
export const FREE_FORM: TurnForm = { strict: false, textBesideCalls: true };

/** Models whose published chat templates silently drop the text next to a tool call. */
const DROPS_TEXT = /llama-?3|gemma|hermes|mistral-(?:nemo|small)|command-r7b|minimax-m1|phi-3|solar|llm-jp|rwkv/i;

/** The form for a server other than the vendor's own. A nearby server applies an unknown template. */
export function formFor(base: string, model: string): TurnForm {
  return { strict: true, textBesideCalls: !isNear(base) && !DROPS_TEXT.test(model) };
}

/** The system text in one or several messages. */
export function systemTexts(blocks: readonly string[], { strict }: TurnForm): readonly string[] {
  const texts = blocks.map(replaceSurrogates);
  return strict && texts.length > 1 ? [texts.join('\n\n')] : texts;
}

/**
 * Converts turns to a form. The strict one joins neighbours with the same role, and inserts an answer between a result and a user message, as after an
 * interruption. The result for a conversation is always a prefix of the result for a longer one.
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

/** Adds a turn, or joins it with the previous one if that has the same role. */
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

/** The answer without the text next to its calls, and that text. An answer without calls gets the text held back so far. */
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
