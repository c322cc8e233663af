import { foldHan } from './fold-han.js';

const STOPPED: ReadonlySet<string> = new Set(
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
 * The words of a run of characters of scripts that are written without spaces, without stop words. A single character stays with what precedes it, because
 * the dictionary lacks many names and compounds.
 */
export function wordsApart(run: string): readonly string[] {
  segmenter ??= new Intl.Segmenter('zh', { granularity: 'word' });
  const found: string[] = [];
  let last = '';
  for (const { segment } of segmenter.segment(run)) {
    const folded = foldHan(segment);
    const isStopped = STOPPED.has(folded) || Array.from(folded).every((character) => STOPPED.has(character));
    if (!isStopped && segment.length === 1) {
      last += segment;
      continue;
    }
    if (last !== '') found.push(last);
    last = isStopped ? '' : segment;
  }
  return last === '' ? found : [...found, last];
}
