import HONG_KONG from 'opencc-js/dict/HKVariants';
import JAPANESE from 'opencc-js/dict/JPShinjitaiCharacters';
import SIMPLIFIED from 'opencc-js/dict/TSCharacters';
import TAIWANESE from 'opencc-js/dict/TWVariants';

const pairsIn = (table: string): readonly (readonly [string, string])[] =>
  table.split('|').map((pair) => [pair.split(' ')[0] ?? '', pair.split(' ')[1] ?? '']);

/** The characters of GB 2312, which are in use in China. */
function inUseInChina(): ReadonlySet<string> {
  const bytes: number[] = [];
  for (let row = 0xb0; row <= 0xf7; row += 1) for (let cell = 0xa1; cell <= 0xfe; cell += 1) bytes.push(row, cell);
  return new Set(new TextDecoder('gbk').decode(Uint8Array.from(bytes)));
}

/**
 * Japanese forms, without those that are other words in Chinese, such as 欠 for 缺. Most of the rest are simplified in
 * the same way.
 */
function japanesePairs(): readonly (readonly [string, string])[] {
  const chinese = inUseInChina();
  return pairsIn(JAPANESE).filter(([japanese]) => !chinese.has(japanese));
}

/**
 * The forms of each character, as one string each: the simplified one, then those of tradition, Taiwan, Hong Kong and
 * Japan.
 */
function variants(): readonly string[] {
  const groups = new Map<string, string>();
  const traditional = new Set(pairsIn(SIMPLIFIED).map(([one]) => one));
  const simplified = new Set(
    pairsIn(SIMPLIFIED)
      .map(([, other]) => other)
      .filter((one) => !traditional.has(one)),
  );
  for (const [one, other] of [SIMPLIFIED, TAIWANESE, HONG_KONG].flatMap(pairsIn).concat(japanesePairs())) {
    // Surrogate pairs are rare characters.
    if (one.length !== 1 || other.length !== 1) continue;
    const group = [...new Set((groups.get(one) ?? one) + (groups.get(other) ?? other))].join('');
    for (const character of group) groups.set(character, group);
  }
  const order = (one: string, other: string): number =>
    Number(simplified.has(other)) - Number(simplified.has(one)) || (one < other ? -1 : 1);
  return [...new Set(groups.values())].map((group) => [...group].sort(order).join(''));
}

/**
 * The groups of Chinese characters that are forms of one another, separated by spaces, from the maintained tables of
 * OpenCC. The build evaluates this file and keeps only the groups.
 */
export const HAN_VARIANTS: string = variants().join(' ');
