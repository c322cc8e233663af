/** What matching needs of a skill. */
export interface MatchableSkill {
  readonly name: string;
  /** The significant words of the skill, in the format of `stemsOf`. */
  readonly stems: string;
}

/** A skill that matches a text, and how well. */
export interface Match {
  readonly name: string;
  readonly score: number;
}

/** The weight of a word in a skill's name, keywords, description and headings. */
const WEIGHTS = [3, 3, 2, 1] as const;

/** The least score of a match: the weights of a description word and a heading word that no other skill has. */
const ENOUGH = 3;

/**
 * Beyond this many significant words a message must share more words with a skill: a long paste has a few words of
 * everything.
 */
const LONG_MESSAGE = 40;

/**
 * The significant words of a skill in the format that `matchWords` reads and the cache keeps: ` name | keywords |
 * description | headings `.
 */
export function stemsOf([name, ...fields]: readonly [string, string, string, string], stems: Stems): string {
  const lists = [nameWords(name, stems), ...fields.map((field) => significantWordsOf(field, stems))];
  return ` ${lists.map((words) => [...firstOfEach(words).keys()].join(' ')).join(' | ')} `;
}

/**
 * The words of a name. Stop words count where it has no others, such as `weather` or `todo`, but function words do not.
 */
function nameWords(name: string, stems: Stems): readonly SignificantWord[] {
  const significant = significantWordsOf(name, stems);
  const isFunctionWords = runsOf(name).every((run) => FUNCTION_WORDS.has(run) || run.length === 1);
  return significant.length > 0 || isFunctionWords ? significant : everyWordOf(name, stems);
}

/** The words of a text in lower case, otherwise unchanged. */
const runsOf = (text: string): readonly string[] => text.toLowerCase().match(/[\p{L}\p{M}\p{N}+#]+/gu) ?? [];

/**
 * The skills that match a text, best first. A skill matches when the text has every significant word of its name, calls
 * it a skill by name, or shares two significant words whose scores reach `ENOUGH`; a word scores less the more skills
 * share it. `bar` scales the threshold.
 */
export function matchWords(skills: readonly MatchableSkill[], text: string, bar = 1): readonly Match[] {
  const ends = endsOf(text);
  const every = everyWordOf(ends);
  const spoken = firstOfEach(every.filter(({ isStopWord }) => !isStopWord));
  const all = new Map([...firstOfEach(every), ...spoken]);
  const isCalled = callsFor(ends);
  const tallies = skills.map((skill) => ({ skill, score: 0, shared: [] as SignificantWord[] }));
  for (const word of all.values()) {
    const weights = skills.map(({ stems }) => (word.isStopWord ? weightInName : weightOf)(word.stem, stems));
    const rarity = rarityOf(weights.filter((weight) => weight > 0).length, skills.length);
    for (const [index, tally] of tallies.entries()) {
      const weight = weights[index] ?? 0;
      if (weight > 0) tally.shared.push(word);
      tally.score += weight * rarity;
    }
  }
  const neededWords = 2 + Math.floor(Math.log2(Math.max(1, spoken.size / LONG_MESSAGE)));
  const isMatch = ({ skill, score, shared }: (typeof tallies)[number]): boolean =>
    isCalled(skill) ||
    (shared.length > 0 && (isNamed(skill, all) || (score >= ENOUGH * bar && countApart(shared) >= neededWords)));
  return tallies
    .filter(isMatch)
    .map(({ skill, score }) => ({ name: skill.name, score }))
    .sort((one, other) => other.score - one.score);
}

/** The first occurrence of each stem. */
function firstOfEach(words: readonly SignificantWord[]): ReadonlyMap<string, SignificantWord> {
  const first = new Map<string, SignificantWord>();
  for (const word of words) if (!first.has(word.stem)) first.set(word.stem, word);
  return first;
}

/** The beginning and the end of a message: the request comes before or after what was pasted into it. */
function endsOf(text: string): string {
  return text.length <= 2 * END ? text : `${text.slice(0, END)}\n${text.slice(-END)}`;
}

const END = 2000;

function weightOf(stem: string, stems: string): number {
  const at = stems.indexOf(` ${stem} `);
  return at === -1 ? 0 : (WEIGHTS[stems.slice(0, at).split('|').length - 1] ?? 0);
}

/** A stop word counts only in a name. */
function weightInName(stem: string, stems: string): number {
  return stems.slice(0, stems.indexOf('|')).includes(` ${stem} `) ? WEIGHTS[0] : 0;
}

/** Whether a text calls a skill one, as in `use the go skill` and `with skill go`. */
function callsFor(text: string): (skill: MatchableSkill) => boolean {
  const said = ` ${runsOf(text).join(' ')} `.replaceAll(' skills ', ' skill ');
  if (!said.includes(' skill ')) return () => false;
  return ({ name }) => {
    const called = runsOf(name).join(' ');
    return called !== '' && (said.includes(` ${called} skill `) || said.includes(` skill ${called} `));
  };
}

/** 1 for a word that one skill has, towards 0 for one that many have. */
function rarityOf(holders: number, skills: number): number {
  return holders === 0 ? 0 : Math.log(1 + skills / holders) / Math.log(1 + skills);
}

function isNamed({ stems }: MatchableSkill, spoken: ReadonlyMap<string, SignificantWord>): boolean {
  const name = stems.slice(1, stems.indexOf('|') - 1);
  return name !== '' && name.split(' ').every((stem) => spoken.has(stem));
}

/** The number of words, counting overlapping pairs of characters once. */
function countApart(words: readonly SignificantWord[]): number {
  let count = 0;
  let end = 0;
  for (const word of [...words].sort((one, other) => one.from - other.from)) {
    if (word.from < end) continue;
    count += 1;
    end = word.to;
  }
  return count;
}

/** A word of a text, as matching uses it. */
export interface SignificantWord {
  /** What words that differ only in their ending have in common. */
  readonly stem: string;
  /** Start and end offsets in the normalised text; neighbouring pairs of one CJK word overlap. */
  readonly from: number;
  readonly to: number;
  /** Says nothing about the subject, unless it is the name of a skill. */
  readonly isStopWord: boolean;
}

/** A cache of stems: the skills of a folder share most of their words. */
export type Stems = Map<string, Pick<SignificantWord, 'stem' | 'isStopWord'>>;

/**
 * The significant words of a text: runs of letters and digits, in lower case and without accents, and every two
 * neighbouring characters in scripts without spaces between words. Stop words are left out.
 */
export function significantWordsOf(text: string, stems: Stems = new Map()): readonly SignificantWord[] {
  return everyWordOf(text, stems).filter(({ isStopWord }) => !isStopWord);
}

/** The same, including stop words. */
export function everyWordOf(text: string, stems: Stems = new Map()): readonly SignificantWord[] {
  const words: SignificantWord[] = [];
  for (const { 0: run, index } of text.normalize('NFKC').toLowerCase().matchAll(RUN)) {
    if (!ASCII.test(run) && UNSPACED.test(run)) addMixed(words, run, index, stems);
    else addWord(words, run, index, stems);
  }
  return words;
}

/** `c++` and `c#` are words too. */
const RUN = /[\p{L}\p{M}\p{N}]+(?:\+\+|#)?/gu;

// Fast path: most words are ASCII, and testing for scripts takes longer than everything else.
const ASCII = /^[\x00-\x7f]*$/;

const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー]+/u;

function addWord(words: SignificantWord[], run: string, from: number, stems: Stems): void {
  const { stem, isStopWord } = read(run, stems);
  words.push({ stem, from, to: from + run.length, isStopWord });
}

/** Splits a run that mixes scripts with and without spaces, as in `用docker部署`. */
function addMixed(words: SignificantWord[], run: string, from: number, stems: Stems): void {
  let at = 0;
  for (const { 0: unspaced, index } of run.matchAll(new RegExp(UNSPACED, 'gu'))) {
    if (index > at) addWord(words, run.slice(at, index), from + at, stems);
    addPairs(words, unspaced, from + index);
    at = index + unspaced.length;
  }
  if (at < run.length) addWord(words, run.slice(at), from + at, stems);
}

function read(run: string, stems: Stems): Pick<SignificantWord, 'stem' | 'isStopWord'> {
  const known = stems.get(run);
  if (known !== undefined) return known;
  const plain = run
    .normalize('NFD')
    .replace(/[\u0300-\u036f]/g, '')
    .normalize('NFC');
  const isStopWord = STOP_WORDS.has(plain) || plain.length === 1 || /^\d{1,2}$/.test(plain);
  const word = { stem: stemOf(plain), isStopWord };
  stems.set(run, word);
  return word;
}

/**
 * Six letters distinguish words of European languages nearly as well as whole words, and match inflected forms far
 * better.
 */
const STEM = 6;

/**
 * Removes English suffixes, then truncates: `cache`, `cached` and `caching` have one stem, and so have `migrate` and
 * `migrations`.
 */
function stemOf(word: string): string {
  const singular = word.length > 3 ? word.replace(/ies$/, 'y').replace(/([^s])s$/, '$1') : word;
  const bare = singular.replace(/(?:ing|ed)$/, '');
  const isWord = bare !== singular && bare.length >= 3 && /[aeiouy]/.test(bare);
  const base = isWord ? bare.replace(/([bdfgmnprt])\1$/, '$1') : singular;
  return (base.length > 3 ? base.replace(/e$/, '') : base).slice(0, STEM);
}

/** Hiragana alone is grammar: the subject of a Japanese sentence is written in kanji and katakana. */
const GRAMMAR = /^[\p{Script=Hiragana}ー]+$/u;

function addPairs(words: SignificantWord[], run: string, from: number): void {
  const characters = [...run];
  characters.slice(1).forEach((character, index) => {
    const stem = `${characters[index]}${character}`;
    const isStopWord = STOP_WORDS.has(stem) || GRAMMAR.test(stem);
    words.push({ stem, from: from + index, to: from + index + 2, isStopWord });
  });
}

/**
 * Stop words, which say nothing about the subject of a message: function words, courtesies, and requests that fit any
 * subject ("write", "explain"). Lower case and without accents for languages with spaces, pairs of characters for the
 * others.
 */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  `
a about above after again against ago all almost alone along already also always am among an and another any anybody anyone anything
anyway are around as ask asked asking at away back bad be became because become been before began begin behind being below best better
between big bit both bring but by bye call called came can cannot case cause change changed changes check choose clear close come
comes coming common complete continue correct could course create created day days did different difference do does doing done
down during each early easy either else end enough even ever every everybody everyone everything exactly example examples explain
explained fact far fast feel few file files find fine first five follow following for found four free friend from full funny further gave
general get gets getting give given gives go goes going gone good got great guess guide had half hand handle happen happened happy hard has
have having he hear hello help helped helper helpful helps her here hers hey hi high him his hold home hope hour hours how however
i idea ideas if important in include including inside instead interesting into is issue it its itself just keep kind knew know known
large last late later learn least leave left less let lets like line list little live long longer look looked looking looks lot
love low made main make makes making many matter may maybe me mean means meant might mind mine minute minutes moment month months more
morning most move much must my name named names need needed needs never new news next nice night no nobody none nor not note
nothing now number of off often oh ok okay old on once one ones only open or order other others our out over own part parts
people perhaps person place plan plans please point possible pretty problem problems put question questions quick quickly quite rather
read ready real really reason remember right run said same saw say says second see seem seems seen send set several shall she short
should show shown shows side simple simply since single six small so some somebody someone something sometimes soon sorry sort start
started starts step steps still stop stuff such suggest suggestion suggests support sure take taken takes taking talk task team tell
ten text than thank thanks that the their them then there these they thing things think this those though thought three through time
times to today together told tomorrow tonight too took tool tools top topic towards tried true try trying turn turned turns two
under understand until up upon us use used useful user users uses using usually various very via want wanted wants was way ways we
week weeks well went were what whatever when where whether which while who whole whom whose why will wish with within without wonder
word words work worked working works world would write writes writing written wrong wrote year years yes yesterday yet you your yours
assistant expert skill skills help answer answers chat using don doesn didn isn won ve ll re im ive dont cant
again funnier worse shorter longer simpler tired sleep weather joke morning evening welcome haha lol sir madam dear
aber alle allem allen aller alles als also am an andere anderen auch auf aus bei beim bin bis bist bitte brauche brauchen da dabei
damit danach dann danke darf das dass dein deine dem den denn der des dessen dich die dies diese diesem diesen dieser dieses dir doch
dort du durch ein eine einem einen einer eines einfach er erklar erklare es etwas euch euer falsch fur gar geben gegen gehen geht
genau gerade gern gibt gut gute guten habe haben hallo hat hatte heute hier hilf hilfe hilfst ich ihm ihn ihnen ihr ihre im immer in
ist ja jede jeden jeder jedes jetzt kann kannst kein keine keinen konnen konnte konntest lange lass ließ mach mache machen macht mal man
mein meine meinem meinen meiner mehr mich mir mit mochte morgen muss mussen nach nein neu neue neuen nicht nichts noch nun nur ob oder
ohne sag sagen sagt schon schreib schreibe schreiben schreibt sehr sein seine seit selbst sich sie sind so soll sollen sollte sonst tag
tipp tipps tun uber um und uns unser unsere unter viel viele vom von vor war waren warum was weg weil weiß weiter welche welchen
welcher welches wenn wer werde werden wie wieder will wir wird wo wollen wurde zeig zeige zu zum zur zwei zwischen zuruck beantwortet
ai aide aider ainsi alors apres as assez au aucun aujourd aussi autre autres aux avant avec avez avoir avons bien bon bonjour bonne
ca ce ceci cela celle celui ces cet cette ceux chaque chez comme comment dans de deja demain depuis des deux dire dis dit dois doit
donc donne dont du elle elles en encore entre es est et etait etes etre eu explique expliquer fais faire fait faut hui il ils je jour la
le les leur leurs lui ma mais me meme merci mes mets moi moins mon ne ni non nos notre nous on ont ou oui par parce pas pendant
peu peut peux plus pour pourquoi pouvez propos quand que quel quelle quelles quelque quelques quels qui quoi raconte rien sa sans se ses si
soit son sont sous suis sur ta te tes toi ton toujours tous tout toute toutes tres trop tu un une va veux vers voici voila vos votre
vous vu redige rediger histoire
ademas ahora al algo alguien algun alguna algunos ante antes aqui asi aun aunque ayuda ayudame bien buena bueno buenos cada casi como con
contra cosa cosas cual cuales cuando cuanto cuantos cuentame da dame de debe deben debo decir del desde despues dia dias dice dime donde
dos el ella ellos en entonces entre era eres es esa ese eso esta estaba estan estar estas este esto estos estoy explica fue gracias ha
hace hacer hacia hago hasta hay he hola hoy igual ir la las le les lo los luego mas me mejor menos mi mientras mis misma mismo mucho muchos
muy nada nadie ni no nos nosotros nuestra nuestro nunca o os otra otro otros para pero poco por porque pregunta puede pueden puedes
puedo pues que quien quiere quiero quieres redacta sabe se sea segun ser si siempre sin sobre solo son soy su sus tal tambien tan
tanto te tengo tener ti tiempo tiene tienen toda todas todo todos tu tus un una uno unos usted va vamos ver vez voy y ya yo necesito
anche che chi ci come con cosa cosi da dei del della delle di dove e ed fare gli ho il io lo ma mi molto nel nella non o ogni
per perche piu poi quando quello questa questo scrivi sei si solo sono su tra tutto un una vorrei grazie ciao
agora ainda ao aos as ate bem com como da das depois do dos e ela ele em entre essa esse esta este eu fazer foi isso isto ja mais mas
meu minha muito na nao nas no nos obrigado oi ola onde ou para pela pelo por porque pra preciso pode posso qual quando que quero quem
sao se sem ser seu sim sobre sua tambem tem tenho tudo um uma voce
een en het ik is je kan met niet of van voor wat wij zijn
я ты он она мы вы они не и в на с по к о из у за что как это так но да нет все еще уже мне меня тебя где когда почему можно
нужно помоги спасибо привет пожалуйста сделай напиши объясни хочу
一下 一个 一些 一点 上午 下午 不是 不要 什么 今天 今日 今晚 他们 你们 你好 你的 使用 再说 写一 出来 分析 别的 到底 前面 功能 包括 可以 可能 各种 后面
告诉 呢我 哪个 哪些 哪里 回答 因为 地方 处理 多少 天气 天聊 如何 如果 学习 完成 对于 就是 工作 已经 帮助 帮忙 帮我 建议 开始 很多 怎么 怎样 您好
情况 想要 意思 我们 我写 我想 我的 或者 所以 所有 排查 提供 明天 昨天 时候 时间 是不 是什 晚上 最后 最近 有什 有没 朋友 检查 没有 注意 现在 生成 的是
知道 确认 笑话 简单 继续 给我 聊天 自己 解决 解释 计划 讲个 说明 说说 谢谢 负责 起来 过得 还是 还有 这个 这些 这周 这样 这段 这里 进行 那个 那些 那么
部分 都是 重要 问题 需要 首先 高兴
人気 何か 元気 内容 出来 制作 助言 午後 午前 可能 名前 問題 場合 必要 意味 手伝 教え 方法 明日 昨日 時間 本当 概要 次回 毎日 確認 結果 自分 話題 説明 質問 面白 頑張 作成 支援
가능 감사 같은 같이 고마 괜찮 그것 그게 그냥 그래 그런 그리 기분 나는 나를 내가 내일 너무 누구 다시 다음 대해 대한 도와 들어 때문 떻게 려줘 많이 매일 모르 무슨 무엇 반가
방법 봐줘 부탁 사용 생각 설명 세요 시간 싶어 써야 아니 안녕 알려 어디 어때 어떤 어떻 언제 없는 없어 여기 오늘 왜요 우리 으로 이거 이것 이게 이런 이야 있는 있어 작성 재미
저는 정말 제가 조금 좋은 좋아 주세 줄래 지금 질문 하나 하는 하자 하지 한다 할까 해야 해요 해줘 혹시 확인
`
    .trim()
    .split(/\s+/),
);

/** English function words. A skill named by nothing else matches only where the message calls it a skill. */
export const FUNCTION_WORDS: ReadonlySet<string> = new Set(
  `
a about after again all also am an and any are as at be been before being both but by can could did do does doing done down for from get gets
getting give go goes going gone got had has have having he her here him his how i if in into is it its just let like made make me more
most much must my no nor not now of off on once one only or other our out over own please put said same say see she should so some such
take than that the their them then there these they thing this those through to too under up us use used using very want was way we
well were what when where which while who whom why will with would you your
`
    .trim()
    .split(/\s+/),
);
