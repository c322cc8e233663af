/**
 * The length in characters from which a message is probably pasted text. Its first and last sentences then contain the
 * request.
 */
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

/** The same in scripts that are written without spaces, traditional and simplified. */
const JOINED_COMMON = new Set(
  `大家好 早上好 下午好 晚上好 早安 晚安 你好 您好 谢谢 謝謝 感谢 感謝 多谢 多謝 非常 不客气 不客氣 没关系 沒關係 对不起 對不起 不好意思 抱歉 没问题 沒問題 问题 問題 没事 沒事
  没什么 沒什麼 什么时候 什麼時候 为什么 為什麼 什么 什麼 怎么样 怎麼樣 怎么 怎麼 怎样 怎樣 哪里 哪裡 哪儿 哪兒 哪个 哪個 多少 多久 是否 可以 能够 能夠 应该 應該 需要 明白
  知道 再见 再見 拜拜 回头 回頭 加油 辛苦 继续 繼續 今天 明天 昨天 今晚 现在 現在 刚才 剛才 早上 上午 中午 下午 晚上 最近 周末 週末 天气 天氣 觉得 覺得 感觉 感覺 喜欢
  喜歡 开心 開心 高兴 高興 吃饭 吃飯 睡觉 睡覺 睡眠 休息 工作 帮忙 幫忙 帮助 幫助 认识 認識 意思 东西 東西 事情 时间 時間 时候 時候 地方 名字 一样 一樣 一起 一点 一點
  一下 一个 一個 一些 有点 有點 有些 真的 真是 不错 不錯 不行 不是 不用 不要 没有 沒有 挺好 希望 开始 開始 准备 準備 打算 建议 建議 意见 意見 想法 办法 辦法 主意 消息
  新闻 新聞 代码 代碼 文件 错误 錯誤 例子 解释 解釋 翻译 翻譯 这个 這個 那个 那個 这里 這裡 那里 那裡 这样 這樣 那样 那樣 我们 我們 你们 你們 他们 他們 自己 因为 因為
  所以 但是 如果 还是 還是 或者 已经 已經 以后 以後 之前 之後 之后 记得 記得 告诉 告訴 哈 嗯 今日 明日 昨日 何
  的 了 吗 嗎 呢 吧 啊 呀 嘛 哦 喔 么 麼 是 在 有 和 也 都 就 还 還 很 我 你 您 他 她 它 们 們 这 這 那 不 没 沒 去 来 來 说 說 看 听 聽 聊 想 要 会 會
  能 好 真 太 再 见 吃 喝 做 给 給 让 讓 把 被 跟 对 對 到 得 着 著 过 過 请 請 帮 幫 叫 谁 誰 几 幾 个 個 点 點 上 下 里 裡
  おはよう ございます こんにちは こんばんは おやすみ ありがとう すみません ごめん なさい お願い はい いいえ わかり わかる わかった 大丈夫 元気 好き です ます でした ました ください
  どう どこ いつ だれ 안녕 안녕하세요 안녕히 감사합니다 감사해요 고마워 고마워요 미안 미안해요 미안합니다 아니요 좋아요 괜찮아요 오늘 내일 어제 어떻게 무엇 뭐예요 สวัสดี
  ขอบคุณ ขอโทษ ครับ ค่ะ คะ สบายดี ไม่เป็นไร อะไร ที่ไหน เมื่อไหร่ วันนี้ พรุ่งนี้ เมื่อวาน`.split(/\s+/),
);

const LONGEST_JOINED = 12;

const WORDS = /[\p{L}\p{N}_]+/gu;
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]+/gu;

/**
 * A name of three letters with an accent, within a sentence. Plain ones, such as Ann, are too often not worth a search.
 */
const SHORT_NAME = /(?<=\p{Ll}[,;]? )\p{Lu}\p{Ll}{2}(?![\p{L}\p{N}])/gu;

const PLAIN = /^[\0-\x7f]*$/;

/** Whether a message may refer to earlier ones: it has two words that are not everyday words, or one and a cue. */
export function mayAsk(asked: string): boolean {
  const rare = new Set<string>(PLAIN.test(asked) ? [] : joinedWords(asked));
  const names = new Set(
    (asked.match(SHORT_NAME) ?? []).filter((name) => !PLAIN.test(name)).map((name) => name.toLowerCase()),
  );
  for (const [word] of asked.replace(UNSPACED, ' ').toLowerCase().matchAll(WORDS)) {
    if (!COMMON.has(word) && (word.length >= 4 || /\d/.test(word) || names.has(word))) rare.add(word);
  }
  return rare.size >= 2 || (rare.size === 1 && hasCue(asked));
}

/** About the words of scripts that are written without spaces: two characters each. */
function joinedWords(asked: string): readonly string[] {
  return (asked.match(UNSPACED) ?? []).flatMap((run) => withoutCommon(run).match(/[^ ]{1,2}/gu) ?? []);
}

/** A space for each everyday word, the longest first. */
function withoutCommon(run: string): string {
  let left = '';
  for (let at = 0; at < run.length; ) {
    let length = Math.min(LONGEST_JOINED, run.length - at);
    while (length > 0 && !JOINED_COMMON.has(run.slice(at, at + length))) length -= 1;
    left += length > 0 ? ' ' : run.charAt(at);
    at += Math.max(1, length);
  }
  return left;
}

function hasCue(asked: string): boolean {
  const words = ` ${(asked.toLowerCase().match(WORDS) ?? []).join(' ')} `;
  return CUES.some((cue) => words.includes(cue)) || JOINED_CUES.some((cue) => asked.includes(cue));
}
