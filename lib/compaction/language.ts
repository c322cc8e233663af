import { type Message, typedText } from '../chat/message.js';

/** Languages common enough that a short text is more likely in one of them than in a rarer related one. ISO 639-3, as in `franc-min`. */
const LANGUAGES: Readonly<Record<string, string>> = {
  arb: 'Arabic',
  ces: 'Czech',
  cmn: 'Chinese',
  deu: 'German',
  ell: 'Greek',
  eng: 'English',
  fra: 'French',
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

/** The most characters that are examined, and the fewest that suffice. */
const ENOUGH = 1000;
const LEAST = 40;
/** The minimum distance between the best and the second-best score. */
const MARGIN = 0.95;

/** The English name of the language the user writes in, detected from their newest messages; null if uncertain. */
export async function languageOf(messages: readonly Message[]): Promise<string | null> {
  const text = wordsTyped(messages);
  if (text.length < LEAST) return null;
  if (isHebrew(text)) return 'Hebrew';
  const { francAll } = await import('franc-min');
  const [best, second] = francAll(text, { only: Object.keys(LANGUAGES), minLength: LEAST });
  if (!best || (second && second[1] > MARGIN)) return null;
  return LANGUAGES[best[0]] ?? null;
}

/** `franc-min` does not know the script. */
function isHebrew(text: string): boolean {
  const count = (kind: RegExp): number => text.match(kind)?.length ?? 0;
  return count(/\p{Script=Hebrew}/gu) > count(/\p{L}/gu) / 2;
}

/** Each word once, so that repeated words do not dominate. */
function wordsTyped(messages: readonly Message[]): string {
  const words = new Set<string>();
  let characters = 0;
  for (const message of messages.toReversed()) {
    if (message.role !== 'user') continue;
    for (const word of withoutCode(typedText(message.content).slice(0, ENOUGH)).split(/\s+/)) {
      if (words.has(word)) continue;
      words.add(word);
      characters += word.length + 1;
    }
    if (characters >= ENOUGH) break;
  }
  return [...words].join(' ').trim();
}

/** Removes code and piped input, which need not be in the user's language. */
function withoutCode(text: string): string {
  return text
    .replace(/```[\s\S]*?(?:```|$)|<(stdin|file)\b[\s\S]*?(?:<\/\1>|$)|https?:\S+/g, ' ')
    .replace(/[\w./-]+/g, (word) => (word.includes('/') ? ' ' : word));
}
