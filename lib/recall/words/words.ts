import { fold, foldHan, foldToDigraphs, germanSingulars, numberWords, stem } from './fold.js';

/** Letters and digits, and the characters that join them into one name: `hi.js`, `user_id`, `2024-05-08`, `don't`. */
const CHUNK = /[\p{L}\p{N}\p{M}_]+(?:[.\-:@'’][\p{L}\p{N}\p{M}_]+)*/gu;

/** The same at one position. */
const CHUNK_HERE = /[\p{L}\p{N}\p{M}_]+(?:[.\-:@'’][\p{L}\p{N}\p{M}_]+)*/uy;

/** Scripts that are written without spaces, and Korean, which writes endings to its words. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー々〆]+/gu;

/** The boundaries between the parts of a name: `getUserProfile`, `HTTPRequest`, `user_id`, `utf8`. */
const SEAMS = /_+|(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})|(?<=\p{L})(?=\p{N})|(?<=\p{N})(?=\p{L})/u;

/** Longer names are keys and encoded bytes, which nobody searches for. */
const LONGEST = 64;

/** A word of ASCII letters, like most words, which need not be split. */
const SIMPLE = /^[A-Za-z][a-z]{0,63}$/;

const HAN = /\p{Script=Han}/u;

const PLAIN = /^[\0-\x7f]*$/;

/** The number of chunks in the cache. Most of them occur again. */
const REMEMBERED = 8000;

/** V8 stores a substring of this length as a reference, so caching it would keep the whole text in memory. */
const SHARED = 13;

let known = new Map<string, readonly string[]>();

/** A searchable word of a text. */
export interface IndexTerm {
  readonly word: string;
  /** `whole`: a name whose parts follow; `other`: another spelling of the previous word. */
  readonly as: 'word' | 'whole' | 'other';
}

/**
 * The searchable words of a text, in order: folded, without endings, compound names both as a whole and in parts. Stop
 * words are left out.
 */
export function words(text: string): string[] {
  const found: string[] = [];
  // Not `matchAll`, which is slower.
  for (const chunk of text.match(CHUNK) ?? []) for (const word of wordsOf(chunk)) found.push(word);
  return found;
}

/**
 * The searchable words of a question, each with its role. Scripts without spaces are cut into words, so that no pair
 * reaches from one into the next.
 */
export function askedWords(text: string): readonly IndexTerm[] {
  return Array.from(text.matchAll(CHUNK), ([chunk]) => split(chunk, addWordsApart)).flat();
}

/** The chunks of a text: the position of each, and its words. */
export function* placedWords(
  text: string,
): Generator<{ readonly index: number; readonly length: number; readonly words: readonly string[] }> {
  for (const { 0: chunk, index } of text.matchAll(CHUNK)) yield { index, length: chunk.length, words: wordsOf(chunk) };
}

/** The words of a chunk. */
export function wordsOf(chunk: string): readonly string[] {
  const remembered = known.get(chunk);
  if (remembered !== undefined) return remembered;
  if (chunk.length > LONGEST) return split(chunk).map(({ word }) => word);
  const own = unshared(chunk);
  const found = SIMPLE.test(own) ? simpleWords(own) : split(own).map(({ word }) => word);
  if (known.size >= REMEMBERED) known = new Map();
  known.set(own, found);
  return found;
}

/** A piece of a text, to be remembered without the text. */
export function unshared(chunk: string): string {
  return chunk.length < SHARED ? chunk : Buffer.from(chunk).toString();
}

/** The result of `split` for a word of ASCII letters. */
function simpleWords(chunk: string): readonly string[] {
  const word = plainWord(chunk);
  return word === null ? [] : [word];
}

/** The searchable form of a word of ASCII letters; null for a stop word. */
export function plainWord(chunk: string): string | null {
  const folded = chunk.toLowerCase();
  return STOPPED.has(folded) ? null : stem(folded);
}

/** Adds the words of a run of characters of scripts that are written without spaces. */
type AddRun = (run: string, found: IndexTerm[]) => void;

function split(chunk: string, addRun: AddRun = addPairs): readonly IndexTerm[] {
  const found: IndexTerm[] = [];
  const composed = PLAIN.test(chunk) ? chunk : chunk.normalize('NFKC');
  const pieces = withoutContractions(composed).split(/[.\-:@'’]/);
  if (pieces.length > 1 && /[\d.@_]/.test(composed) && composed.length <= LONGEST) {
    found.push({ word: fold(composed), as: 'whole' });
  }
  for (const piece of pieces) addPiece(piece, found, addRun);
  if (HAN.test(composed)) for (const word of numberWords(composed)) found.push({ word, as: 'whole' });
  return found;
}

/** `Caroline's` becomes Caroline; `don't` and the French `l'` are removed. */
function withoutContractions(text: string): string {
  if (!/['’]/.test(text)) return text;
  return text
    .replace(/n['’]t\b/i, '')
    .replace(/['’](?:s|d|m|re|ve|ll|t)\b/i, '')
    .replace(/^(?:\p{L}|qu)['’]/iu, '');
}

function addPiece(piece: string, found: IndexTerm[], addRun: AddRun): void {
  let at = 0;
  for (const { 0: run, index } of PLAIN.test(piece) ? [] : piece.matchAll(UNSPACED)) {
    addName(piece.slice(at, index), found);
    addRun(run, found);
    at = index + run.length;
  }
  addName(piece.slice(at), found);
}

/**
 * Adds every two neighbouring characters, and the last character: a word of one character is found as the beginning of
 * a pair.
 */
function addPairs(run: string, found: IndexTerm[]): void {
  const characters = Array.from(foldHan(fold(run)));
  characters.forEach((character, index) => {
    const next = characters[index + 1];
    found.push({ word: next === undefined ? character : character + next, as: 'word' });
  });
}

/** Adds the pairs of each word of a run. The last character of a word is the first one of some pair in the text. */
function addWordsApart(run: string, found: IndexTerm[]): void {
  for (const word of wordsApart(run)) {
    const start = found.length;
    addPairs(word, found);
    if (found.length > start + 1) found.pop();
  }
}

function addName(piece: string, found: IndexTerm[]): void {
  const parts = piece.split(SEAMS).filter((part) => part !== '');
  if (parts.length > 1 && piece.length <= LONGEST) addWhole(fold(piece), found);
  // A single letter or digit of a version or a hash has no meaning of its own.
  for (const part of parts) if (parts.length === 1 || part.length > 1) addWord(part, found);
}

function addWhole(whole: string, found: IndexTerm[]): void {
  found.push({ word: whole, as: 'whole' });
  // People usually quote only the beginning of a hash.
  if (/^(?=.*\d)[\da-f]{12,}$/.test(whole)) found.push({ word: whole.slice(0, 7), as: 'other' });
}

function addWord(word: string, found: IndexTerm[]): void {
  if (word === '' || word.length > LONGEST) return;
  const folded = fold(word);
  if (STOPPED.has(folded)) return;
  found.push({ word: stem(folded), as: 'word' });
  const other = foldToDigraphs(word);
  if (other !== null && other !== folded) found.push({ word: stem(other), as: 'other' });
  for (const singular of germanSingulars(word, folded)) found.push({ word: stem(singular), as: 'other' });
}

const UNSPACED_STOPPED: ReadonlySet<string> = new Set(
  [
    // Chinese, in its simplified form
    `的 了 吗 呢 吧 啊 呀 嘛 哦 喔 么 着 过 得 地 们 是 在 有 和 与 跟 对 把 被 给 让 就 都 也 还 又 很 最 更 再 才 只 不 没 没有 这 那 哪 我 你 您 他 她 它 我们
    你们 他们 她们 咱们 自己 我的 你的 他的 她的 什么 甚么 什么时候 怎么 怎样 怎么样 为什么 为何 哪里 哪儿 哪个 哪些 谁 多少 多少钱 几 何时 时候 多久 多长 如何 是否 能
    能够 可以 会 要 想 请 请问 一个 一下 一些 这个 那个 这些 那些 这里 那里 这样 那样 已经 曾经 以前 之前 以后 后来 最后 刚 刚才 正在 因为 所以 但是 不过
    如果 还是 或者 而 及 并 上 下 里 中 内 告诉 说 说过 记得 知道 去 来 到 用 从 向 往 于 以 为 之 其 等 叫 做 嗯 啦 哈 哈哈 真 真的 好 好的 样 些 个 次`,
    // Japanese
    `は が を に で と も の か よ ね へ や な だ です でし ます まし た て ない から まで より けど この その あの どの これ それ あれ どれ ここ そこ あそこ どこ
    いつ 何 なに なん だれ 誰 どう なぜ いくつ いくら どんな する し さ れ い る ある いる こと もの よう 私 僕 俺 あなた ください って という`,
    // Thai
    `ที่ และ ของ ใน เป็น คือ อะไร ไหน เมื่อไหร่ เมื่อไร ไหม มั้ย ครับ ค่ะ คะ นะ ฉัน ผม คุณ เรา มี ได้ ไป มา ให้ กับ ว่า จะ แล้ว ไม่ ก็ นี้ นั้น อยู่ ทำไม อย่างไร ยังไง ใคร กี่ เท่าไหร่ เท่าไร`,
  ].flatMap((words) => words.split(/\s+/).map(foldHan)),
);

/** Created when it is needed, since it loads a dictionary. */
let segmenter: Intl.Segmenter | null = null;

/**
 * The words of a run of characters of scripts that are written without spaces, without stop words. A single character
 * stays with what precedes it, because the dictionary lacks many names and compounds.
 */
function wordsApart(run: string): readonly string[] {
  segmenter ??= new Intl.Segmenter('zh', { granularity: 'word' });
  const found: string[] = [];
  let last = '';
  for (const { segment } of segmenter.segment(run)) {
    const folded = foldHan(segment);
    const isStopped =
      UNSPACED_STOPPED.has(folded) || Array.from(folded).every((character) => UNSPACED_STOPPED.has(character));
    if (!isStopped && segment.length === 1) {
      last += segment;
      continue;
    }
    if (last !== '') found.push(last);
    last = isStopped ? '' : segment;
  }
  return last === '' ? found : [...found, last];
}

/**
 * Words that say nothing about the subject of a text. A word that is significant in another language (German 'die',
 * 'war', 'man', French 'son') is not in the list: a common word only takes space, but a missing one cannot be found.
 */
const LISTS = [
  // English, with words of questions about earlier messages, and parts of contractions.
  `a about above after again all also although always am an and another any anybody anyone anything are aren around as at away be because been before
  being below between both but by came can cannot come could couldn did didn do does doesn doing don done down during each either else ever every few
  for from further get gets getting give given go goes going gone got had hadn has hasn have haven having he her here hers herself him himself his how
  however i if in into is isn it its itself just know let like ll lot made make many may maybe me might mine more most much must my myself never next no
  nor not now of off often oh ok okay on once one only onto or other ought our ours ourselves out over own perhaps please put quite rather re really s
  same say says said see seem seems shall shan she should shouldn since so some somebody someone something still such t tell tells told than thank thanks
  that the their theirs them themselves then there therefore these they thing things this those though through to together too toward towards under until
  up upon us use used using ve very want was wasn way we well went were weren what whatever when where whether which while who whoever whom whose why
  will with within without won would wouldn yeah yes yet you your yours yourself yourselves`,
  // German
  `aber als am auf aus bei beim bis das dass dein deine dem den denn der des dich diese diesem diesen dieser dieses dir doch durch ein eine einem einen
  einer eines er es etwas euch euer eure für haben hatte hatten habe hast ich ihm ihn ihr ihre ihrem ihren ihrer im ist ja jede jedem jeden jeder jedes
  jetzt kann kein keine keinem keinen keiner können machen mein meine meinem meinen meiner mich mir mit muss nach nicht nichts noch nur oder ohne sehr
  seid sein seine seinem seinen seiner sich sie sind soll sollte über um und uns unser unsere unter vom von vor waren warum wegen weil wenn wer werden wie
  wieder wir wird wo wurde wurden zu zum zur zwischen`,
  // French
  `au aux avec ce ces cet cette dans de des du elle elles en est et eux il ils je la le les leur leurs lui ma mais mes moi mon même ne nos notre nous ont
  ou où par pas plus pour qu que quel quelle quelles quels qui sa sans se ses si sommes sont sur ta te tes toi ton très tu un une vos votre vous été être`,
  // Spanish, Portuguese, Italian
  `al algo como con contra cual cuando del desde donde el ella ellas ellos era eran eres esa ese eso esta estaba estado estar este esto estos fue fueron
  ha hay la las le les lo los más mi mis muy nada ni nos nosotros o para pero por porque que quien se si sí sin sobre soy su sus también tengo tiene tu tus
  un una uno unos y ya yo ao aos da das dos e ela ele eles em entre essa esse eu foi foram isso isto já mais mas meu minha muito na nas não nem no nos num
  numa os ou para pela pelo qual quando seu sua são também tem tinha uma você agli alla alle anche che chi ci cosa da dai dal dalla degli dei del della delle
  di dove e gli ho il io lei loro lui ma mi mia mio molto nel nella noi non per perché più questa questo sono sua suo ti tra una uno voi`,
  // Dutch, Swedish, Danish, Norwegian
  `aan bij dat deze die dit een en ik het heb heeft hij hoe hun ik je kan maar mijn naar niet nog ook op te uit van voor waar waren wat wel werd wij zij
  zijn zo att av den det detta du efter eller ett för från här inte jag kan med men mig mitt när och på som till var vi af blev deres ikke jeg og meget
  mit når være`,
  // Polish, Czech, Turkish
  `ale bo być był była było co czy dla do gdy gdzie ich jak jako jest jestem już kiedy który która które lub ma mnie może nad nie oraz po pod przez przy
  się są tak tam tego tej ten to tym tylko był byla bylo jsem jsme jsou který která které nebo není pro proč při také ten tento ve ve že ama bana ben bir
  biz bu bunu çok da daha de değil gibi hem için ile mı mi mu ne nasıl neden o olan olarak sen siz şu ve veya ya`,
  // Russian, Ukrainian
  `а без более был была были было быть в вам вас весь во вот все всё всех вы где да для до его ее её если есть еще ещё же за здесь и из или им их к как
  какая какие какой когда который кто ли либо мне мной мой моя мы на над не него нее неё нет ни них но ну о об он она они оно от очень по под при с
  сам свой себя со так также такой там тебя тем то того тоже той только том ты у уже хотя чего чем что чтобы эта эти это этот я є і ї й та ти ти що як`,
] as const;

/** The stop words in the form of `folded`, see `fold`. */
function stopWords(folded: (word: string) => string): ReadonlySet<string> {
  // 'Also', 'war', 'die', 'made' and others are significant in one language and not in another.
  const content = [
    'die',
    'mit',
    'var',
    'era',
    'sin',
    'con',
    'sur',
    'plus',
    'dos',
    'den',
    'op',
    'af',
    'des',
    'ton',

    'may',
  ];
  const words = LISTS.flatMap((list) => list.split(/\s+/)).map(folded);
  return new Set(words.filter((word) => !content.includes(word)));
}

const STOPPED: ReadonlySet<string> = stopWords(fold);

/**
 * Calls `plain` for each word of ASCII letters with at most its first letter in upper case, and `other` for each other
 * chunk, in order, with the start and end. Most words are plain, and need no string.
 */
export function eachPiece(
  text: string,
  plain: (at: number, end: number) => void,
  other: (at: number, end: number) => void,
): void {
  for (let at = 0; at < text.length; ) {
    if (isSeparator(text.charCodeAt(at))) {
      at += 1;
      continue;
    }
    const end = endOfLetters(text, at);
    if (end > at && end - at <= LONGEST && isEndOfPiece(text, end)) {
      plain(at, end);
      at = end;
      continue;
    }
    // Not `exec`, which creates an object for each match.
    CHUNK_HERE.lastIndex = at;
    if (CHUNK_HERE.test(text)) {
      other(at, CHUNK_HERE.lastIndex);
      at = CHUNK_HERE.lastIndex;
    } else at += 1;
  }
}

/** The end of a run of one ASCII letter of any case and lower-case ones. */
function endOfLetters(text: string, from: number): number {
  const first = text.charCodeAt(from) | 32;
  if (first < 97 || first > 122) return from;
  let end = from + 1;
  while (end < text.length && text.charCodeAt(end) > 96 && text.charCodeAt(end) < 123) end += 1;
  return end;
}

/** Whether a chunk certainly ends there, judging by ASCII characters. */
function isEndOfPiece(text: string, at: number): boolean {
  if (at >= text.length) return true;
  if (!isSeparator(text.charCodeAt(at))) return false;
  return !JOINTS.has(text.charCodeAt(at)) || at + 1 >= text.length || isSeparator(text.charCodeAt(at + 1));
}

/** The characters that join words into one name. */
const JOINTS: ReadonlySet<number> = new Set(Buffer.from(".-:@'"));

/** True for an ASCII character other than a letter, a digit or `_`. */
function isSeparator(code: number): boolean {
  if (code > 127) return false;
  const small = code | 32;
  return !(small > 96 && small < 123) && !(code > 47 && code < 58) && code !== 95;
}

/** The mask of a hash: it has enough bits that no two of a few hundred words collide. */
const HASH = 0x3fffffff;

/** The codes for stop words, and for other words that are not wanted. */
const STOP = -2;
const OTHER = -1;

const STOPPED_HASHES: ReadonlySet<number> = new Set(Array.from(STOPPED, (word) => hashOf(word, 0, word.length)));

/** Finds certain words in texts. Avoids creating strings for other words, which are nearly all words in a search. */
export class WantedWords {
  readonly #numbers: ReadonlyMap<string, number>;
  readonly #beginnings: ReadonlySet<number>;
  /** The code of each plain word, by its hash. */
  readonly #known = new Map<number, number>();

  constructor(wanted: readonly string[]) {
    this.#numbers = new Map(wanted.map((word, number) => [word, number]));
    this.#beginnings = new Set(wanted.map((word) => beginningAt(word, 0, word.length)));
  }

  /** Calls `found` for each word of a text, in order, with its number among the wanted words, or -1. */
  each(text: string, found: (number: number) => void): void {
    eachPiece(
      text,
      (at, end) => {
        const number = this.#numberOf(text, at, end);
        if (number !== STOP) found(number);
      },
      (at, end) => {
        for (const word of wordsOf(text.slice(at, end))) found(this.#numbers.get(word) ?? OTHER);
      },
    );
  }

  /** The code of a plain word. */
  #numberOf(text: string, at: number, end: number): number {
    const hash = hashOf(text, at, end);
    // Stemming does not change the beginning of a word.
    if (!this.#beginnings.has(beginningAt(text, at, end))) return STOPPED_HASHES.has(hash) ? STOP : OTHER;
    const known = this.#known.get(hash);
    if (known !== undefined) return known;
    const word = plainWord(text.slice(at, end));
    const number = word === null ? STOP : (this.#numbers.get(word) ?? OTHER);
    this.#known.set(hash, number);
    return number;
  }
}

/** A code for the first two letters of a plain word, ignoring case. */
function beginningAt(text: string, at: number, end: number): number {
  return ((text.charCodeAt(at) | 32) << 8) | (at + 1 < end ? text.charCodeAt(at + 1) | 32 : 0);
}

function hashOf(text: string, from: number, end: number): number {
  let hash = 0;
  for (let at = from; at < end; at += 1) hash = (Math.imul(hash, 31) + (text.charCodeAt(at) | 32)) & HASH;
  return hash;
}
