import type { TextPrompt } from '../../lib/chat/request.js';
import { prose } from './prose.js';
import { partsOf } from './summarisers.js';

/** What is planted in a conversation by the way: what is decided, what is so, what is open and what is done. */
const KINDS = ['decision', 'fact', 'open', 'done'] as const;

/** How a wish is kept: in the memory, pinned, or in the talk alone. */
export type Keeping = 'memory' | 'pin' | 'talk';

/** A thing that was said once and has to be known later. */
export interface Planted {
  readonly kind: (typeof KINDS)[number] | 'pref';
  /** Its words, which nothing else has. */
  readonly text: string;
  /** Who says it. */
  readonly by: 'user' | 'model';
  /** How somebody asks for it later. */
  readonly question: string;
}

/** One turn: what is said in it, and what it plants. */
export interface LifeTurn {
  readonly said: string;
  readonly answered: string;
  readonly fact?: Planted;
  readonly wish?: Planted;
}

/** A conversation of so many turns, with a fact in every tenth, and ten wishes in its first half. */
export function lifeOf(turns: number): readonly LifeTurn[] {
  return Array.from({ length: turns }, (_, turn) => {
    const fact = turn % 10 === 5 ? factAt((turn - 5) / 10) : undefined;
    const every = Math.floor(turns / 20);
    const wish = turn % every === 2 && turn < every * 10 ? wishAt(Math.floor(turn / every)) : undefined;
    const said = [fact?.by === 'user' ? `${fact.text}.` : '', wish === undefined ? '' : `${wish.text}.`];
    return {
      said: `Step ${turn}: ${said.join(' ')} ${prose(2500, turn)}`,
      answered: `Step ${turn} is done. ${fact?.by === 'model' ? `${fact.text}. ` : ''}${prose(4500, turn + 5000)}`,
      ...(fact && { fact }),
      ...(wish && { wish }),
    };
  });
}

function factAt(number: number): Planted {
  const kind = KINDS[number % KINDS.length] ?? 'fact';
  const name = `${NAMES[number % NAMES.length]}${number}`;
  switch (kind) {
    case 'decision':
      return {
        kind,
        by: 'user',
        text: `We decided that ${name} is stored in vault ${number * 13 + 1}`,
        question: `In which vault is ${name} stored?`,
      };
    case 'fact':
      return {
        kind,
        by: 'model',
        text: `The service ${name} listens on port ${7000 + number * 7}`,
        question: `On which port does ${name} listen?`,
      };
    case 'open':
      return {
        kind,
        by: 'user',
        text: `Somebody still has to repair ${name} before day ${number + 100}`,
        question: `Who has to repair ${name}, and when?`,
      };
    case 'done':
      return {
        kind,
        by: 'model',
        text: `The migration of ${name} is finished in release ${number + 300}`,
        question: `In which release is the migration of ${name} finished?`,
      };
  }
}

const NAMES = ['quokka', 'zeppelin', 'marzipan', 'obsidian', 'tamarind', 'bassoon', 'kestrel'];

function wishAt(number: number): Planted {
  const text = `I always want rule R${number} kept, whatever the task: name drawer ${number * 31 + 7} first`;
  return { kind: 'pref', by: 'user', text, question: `What is rule R${number}?` };
}

/** Everything that is planted in a text. */
const PLANTED =
  /We decided that \w+ is stored in vault \d+|The service \w+ listens on port \d+|Somebody still has to repair \w+ before day \d+|The migration of \w+ is finished in release \d+|I always want rule R\d+ kept, whatever the task: name drawer \d+ first/g;

const kindOf = (text: string): Planted['kind'] => {
  if (text.startsWith('We')) return 'decision';
  if (text.startsWith('The service')) return 'fact';
  if (text.startsWith('Some')) return 'open';
  return text.startsWith('I') ? 'pref' : 'done';
};

/**
 * A summariser that loses every second line of its prose each time. It names facts where it is `obedient`, with their
 * ids and one that does not exist; else it only writes prose.
 */
export function losing({ obedient }: { readonly obedient: boolean }): (prompt: TextPrompt) => string {
  let dice = 0;
  return (prompt) => {
    const { earlier, conversation } = partsOf(prompt);
    const found = [...conversation.matchAll(PLANTED)].map(({ 0: text, index }) => ({
      text,
      id: /.*\bid="(\d+)"/s.exec(conversation.slice(0, index))?.[1],
    }));
    const kept = earlier.split('\n').filter(() => ++dice % 2 === 0);
    const lines = ['They went on.', ...kept, ...found.map(({ text, id }) => `${text} [#${id}].`)];
    const facts = obedient ? found.map(({ text, id }) => `- ${kindOf(text)}: ${text} [#${id}, #99999999]`) : [];
    return `=== SUMMARY ===\n${lines.join('\n')}\n=== NEW FACTS ===\n${facts.join('\n')}`;
  };
}
