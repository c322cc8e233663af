const DIGITS: Readonly<Record<string, number>> = {
  ...{ 零: 0, 〇: 0, 一: 1, 二: 2, 两: 2, 兩: 2, 三: 3, 四: 4, 五: 5, 六: 6, 七: 7, 八: 8, 九: 9 },
};

const UNITS: Readonly<Record<string, number>> = { 十: 10, 百: 100, 千: 1000, 万: 1e4, 萬: 1e4, 亿: 1e8, 億: 1e8 };

/** Parts of dates and times, each in one form. */
const MEASURES: Readonly<Record<string, string>> = {
  年: '年',
  月: '月',
  日: '日',
  号: '日',
  號: '日',
  点: '点',
  點: '点',
};

const NUMBER = /(?:[零〇一二两兩三四五六七八九十百千万萬亿億]{1,16}|\d{1,9})[年月日号號点點]?/g;

/**
 * The numbers in a text with Chinese or Japanese characters, in digits, and the parts of dates: `350` for 三百五十, `3月` and `5日` for 三月五号, also where they
 * are written in digits.
 */
export function numberWords(text: string): readonly string[] {
  return (text.match(NUMBER) ?? []).flatMap((found) => {
    const measure = MEASURES[found.at(-1) ?? ''] ?? '';
    const numeral = measure === '' ? found : found.slice(0, -1);
    const isInDigits = /^\d/.test(numeral);
    // Words such as 一 and 十 occur in most texts, and digits are words already.
    if (measure === '' && (isInDigits || numeral.length === 1)) return [];
    const value = isInDigits ? String(Number(numeral)) : inDigits(numeral);
    return [value + measure];
  });
}

/** 三百五 and 三百五十 are 350, 一九六八 is 1968. */
function inDigits(numeral: string): string {
  const characters = Array.from(numeral);
  if (characters.every((one) => one in DIGITS)) return characters.map((one) => DIGITS[one]).join('');
  let [sum, part, digit, last] = [0, 0, 0, 1];
  for (const one of characters) {
    const unit = UNITS[one];
    if (unit === undefined) {
      digit = DIGITS[one] ?? 0;
      // A zero says that what follows are not tens of what precedes.
      if (digit === 0) last = 1;
    } else if (unit >= 1e4) {
      const before = unit > 1e4 ? sum + part + digit : part + digit;
      sum = (unit > 1e4 ? 0 : sum) + (before || 1) * unit;
      [part, digit, last] = [0, 0, unit];
    } else {
      part += (digit || 1) * unit;
      [digit, last] = [0, unit];
    }
  }
  return String(sum + part + (last > 10 ? (digit * last) / 10 : digit));
}
