/** A word without its endings, so that `painting`, `painted` and `paints` are one. Rough on purpose: what matters is that text and question are cut alike. */
export function stem(word: string): string {
  if (word.length < 4) return word;
  if (/^[a-z]+$/.test(word)) return latin(word);
  return /^[а-яіїє]+$/.test(word) ? cyrillic(word) : word;
}

function latin(word: string): string {
  let cut = word
    .replace(/(?<=..)ies$/, 'y')
    .replace(/(?<=ch|sh|ss|x|z)es$/, '')
    .replace(/(?<=[^su])s$/, '');
  const shorter = cut.replace(/(?:ing|ed)(?:ly)?$/, '');
  if (shorter !== cut && shorter.length > 2 && /[aeiouy]/.test(shorter))
    cut = shorter.replace(/([bdfgmnprt])\1$/, '$1');
  return cut
    .replace(/(?<=.{4})(?:fulness|ness|ment|ful)$/, '')
    .replace(/(?<=.{3})ly$/, '')
    .replace(/(?<=.{3})(?:at|it|t|s)ion$/, 't')
    .replace(/(?<=..)e$/, '')
    .replace(/(?<=..)y$/, 'i');
}

/** The endings of Russian and Ukrainian nouns, adjectives and verbs, the longest first. */
const ENDINGS =
  /(?<=...)(?:иями|ями|ами|ого|его|ому|ему|ыми|ими|ешь|ете|ать|ять|ить|еть|ала|али|ило|или|ла|ло|ли|ая|яя|ое|ее|ые|ие|ии|ию|ия|ой|ей|ом|ем|ам|ям|ах|ях|ов|ев|ый|ий|ую|юю|ет|ит|ут|ют|ть|[аеиоуыьюяйіїє])$/;

function cyrillic(word: string): string {
  return word.replace(ENDINGS, '');
}
