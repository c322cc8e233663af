import { type Message, textOf } from '../chat/message.js';

/** Languages whose users are common enough that a short text is more likely theirs than a rarer neighbour's. ISO 639-3, as `franc-min` names them. */
const LANGUAGES: Readonly<Record<string, string>> = {
  arb: 'Arabic',
  ces: 'Czech',
  cmn: 'Chinese',
  deu: 'German',
  ell: 'Greek',
  eng: 'English',
  fra: 'French',
  heb: 'Hebrew',
  hin: 'Hindi',
  hun: 'Hungarian',
  ind: 'Indonesian',
  ita: 'Italian',
  jpn: 'Japanese',
  kor: 'Korean',
  nld: 'Dutch',
  pol: 'Polish',
  por: 'Portuguese',
  ron: 'Romanian',
  rus: 'Russian',
  spa: 'Spanish',
  swe: 'Swedish',
  tha: 'Thai',
  tur: 'Turkish',
  ukr: 'Ukrainian',
  vie: 'Vietnamese',
};

/** How many characters are looked at, and how few are too few to tell. */
const ENOUGH = 1000;
const LEAST = 40;
/** The second best language must be at least this much less likely. */
const MARGIN = 0.95;

/** The language the user writes in, in English, from the newest of what they typed; null when that is uncertain. */
export async function languageOf(messages: readonly Message[]): Promise<string | null> {
  const text = typedText(messages);
  if (text.length < LEAST) return null;
  const { francAll } = await import('franc-min');
  const [best, second] = francAll(text, { only: Object.keys(LANGUAGES), minLength: LEAST });
  if (!best || (second && second[1] > MARGIN)) return null;
  return LANGUAGES[best[0]] ?? null;
}

/** Each word once: what is said again and again would outweigh what tells languages apart. */
function typedText(messages: readonly Message[]): string {
  const words = new Set<string>();
  let characters = 0;
  for (const message of messages.toReversed()) {
    if (message.role !== 'user') continue;
    for (const word of withoutCode(textOf(message.content).slice(0, ENOUGH)).split(/\s+/)) {
      if (words.has(word)) continue;
      words.add(word);
      characters += word.length + 1;
    }
    if (characters >= ENOUGH) break;
  }
  return [...words].join(' ').trim();
}

/** Code and what was piped in say nothing about the language of the one who asks. */
function withoutCode(text: string): string {
  return text.replace(/```[\s\S]*?(?:```|$)|<(stdin|file)\b[\s\S]*?<\/\1>|https?:\S+|[\w./-]*\/[\w./-]+/g, ' ');
}
