/** The length in characters from which a message is probably pasted text. Its first and last sentences then contain the request. */
const PASTED = 1500;

/** The request in a message: its text without code, quoted lines and pasted text. */
export function askedIn(message: string): string {
  const plain = message
    .replace(/```[\s\S]*?(?:```|$)/g, ' ')
    .replace(/^ *>.*$/gm, ' ')
    .replace(/["“”„«»]/g, ' ');
  if (plain.length <= PASTED) return plain.trim();
  const sentences = plain.split(/[.!?。？！\n]+/).filter((sentence) => sentence.trim() !== '');
  return `${sentences[0]?.slice(0, PASTED / 2) ?? ''} ${sentences.at(-1)?.slice(0, PASTED / 2) ?? ''}`.trim();
}

/** Phrases that refer to an earlier message: whole words, and prefixes, which end with a hyphen here. */
const CUES = [
  ...[
    'remember',
    'last time',
    'again',
    'as usual',
    'earlier',
    'before',
    'my',
    'our',
    'did i',
    'did we',
    'did you',
    'when did',
  ],
  ...['we decided', 'we agreed', 'we said', 'i told', 'i said', 'i mentioned'],
  ...[
    'erinner-',
    'letztes mal',
    'wieder',
    'wie immer',
    'mein',
    'meine',
    'meinem',
    'meinen',
    'meiner',
    'meines',
    'unser',
    'unsere',
    'hatten wir',
  ],
  ...[
    'souviens',
    'rappel-',
    'encore',
    'dernière fois',
    'mon',
    'mes',
    'notre',
    'mijn',
    'onze',
    'mój',
    'moja',
    'moje',
    'pamiętasz',
  ],
  ...[
    'recuerda',
    'otra vez',
    'última vez',
    'mi',
    'mis',
    'nuestro',
    'nuestra',
    'dijiste',
    'meu',
    'minha',
    'lembra-',
    'mio',
    'ricord-',
  ],
  ...[
    'мой',
    'моя',
    'моё',
    'мои',
    'мою',
    'моего',
    'моей',
    'наш-',
    'помнишь',
    'прошлый раз',
    'benim',
    'hatırl-',
    'geçen sefer',
  ],
].map((cue) => ` ${cue.replace('-', '')}${cue.endsWith('-') ? '' : ' '}`);

/** The same in scripts that are written without spaces, and in Korean, which writes endings to its words. */
const JOINED_CUES = [
  '记得',
  '上次',
  '我的',
  '我们',
  '之前',
  '記得',
  '我們',
  '覚えて',
  '前回',
  '私の',
  '기억',
  '지난번',
  '우리',
  '저번에',
];

/** Everyday words, which do not make a message worth a search, in addition to the stop words. */
const COMMON = new Set(
  `about after again also always another anything around ask away back because been before being best better both cannot check come could course
  create currently day days different does doing done down each else enough even ever every everything example explain file files fine first found from
  function give glad goes going good great happen happy hard have having hello help here hope idea into just keep kind know last later less little long
  look looks made make makes many maybe mean more morning most much must need needs never next nice night nothing okay once only open other over people
  please point possible problem question quite really right same should show since some someone something soon sorry start still stop such sure take talk
  tell text than thank thanks that their them then there these they thing things think this those time times today together tomorrow tonight true under
  understand until used using very want wants week well were what whatever when where which while will with without word words work works would write wrong
  yeah year years yesterday your yours code error line lines list name news number read answer
  aber auch bitte danke dass dein deine dies diese doch eine einen einer etwas ganz gehen geht guten haben hallo heute hier immer kann kannst kein keine
  können machen mache mein meine mich morgen nein nicht nichts noch oder schon sehr sein sich sind über unser viel vielleicht warum weil wenn werden wieder
  würde avec bien bonjour cette comme dans elle encore être faire merci mais nous pour plus pourquoi quand quel quelle sans suis sont tout très votre vous
  buenas buenos cómo como cuando donde esta este estoy favor gracias hacer hola muchas nada para pero porque puede puedes qué quiero también tiene todo`.split(
    /\s+/,
  ),
);

const WORDS = /[\p{L}\p{N}_]+/gu;
const UNSPACED = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]+$/u;

/** A name of three letters with an accent, within a sentence. Plain ones, such as Ann, are too often not worth a search. */
const SHORT_NAME = /(?<=\p{Ll}[,;]? )\p{Lu}\p{Ll}{2}(?![\p{L}\p{N}])/gu;

const PLAIN = /^[\0-\x7f]*$/;

/** Whether a message may refer to earlier ones: it has two words that are not everyday words, or one and a cue. */
export function mayAsk(asked: string): boolean {
  const rare = new Set<string>();
  const names = new Set(
    (asked.match(SHORT_NAME) ?? []).filter((name) => !PLAIN.test(name)).map((name) => name.toLowerCase()),
  );
  for (const [word] of asked.toLowerCase().matchAll(WORDS)) {
    if (UNSPACED.test(word)) for (let at = 0; at + 1 < word.length; at += 2) rare.add(word.slice(at, at + 2));
    else if (!COMMON.has(word) && (word.length >= 4 || /\d/.test(word) || names.has(word))) rare.add(word);
  }
  return rare.size >= 2 || (rare.size === 1 && hasCue(asked));
}

function hasCue(asked: string): boolean {
  const words = ` ${(asked.toLowerCase().match(WORDS) ?? []).join(' ')} `;
  return CUES.some((cue) => words.includes(cue)) || JOINED_CUES.some((cue) => asked.includes(cue));
}
