/**
 * A word without its endings, so that `painting`, `painted` and `paints` are equal. It is deliberately rough: texts and queries only have to be treated alike.
 */
export function stem(word: string): string {
  if (word.length < 4) return word;
  if (/^[a-z]+$/.test(word)) return latin(word);
  if (/^[а-яіїє]+$/.test(word)) return cyrillic(word);
  // Removes the article, prefixes that are written together with it, and the feminine ending.
  if (/^[\u0621-\u064a]+$/.test(word)) return word.replace(/^(?:[وبكف]?ال|لل)(?=...)/, '').replace(/(?<=...)[ةه]$/, '');
  return /^[\u05d0-\u05ea]+$/.test(word) ? word.replace(/^ה(?=...)/, '') : word;
}

function latin(word: string): string {
  let cut = word.endsWith('s') ? withoutPlural(word) : word;
  const shorter = /[gdy]$/.test(cut) ? cut.replace(/(?:ing|ed)(?:ly)?$/, '') : cut;
  if (shorter !== cut && shorter.length > 2 && /[aeiouy]/.test(shorter))
    cut = shorter.replace(/([bdfgmnprt])\1$/, '$1');
  if (/[stl]$/.test(cut)) cut = cut.replace(/(?<=.{4})(?:fulness|ness|ment|ful)$/, '');
  if (cut.endsWith('ly')) cut = cut.replace(/(?<=.{3})ly$/, '');
  if (cut.endsWith('ion')) cut = cut.replace(/(?<=.{3})(?:at|it|t|s)ion$/, 't');
  if (cut.endsWith('e')) cut = cut.replace(/(?<=..)e$/, '');
  return cut.endsWith('y') ? cut.replace(/(?<=..)y$/, 'i') : cut;
}

function withoutPlural(word: string): string {
  return word
    .replace(/(?<=..)ies$/, 'y')
    .replace(/(?<=ch|sh|ss|x|z)es$/, '')
    .replace(/(?<=[^su])s$/, '');
}

/** The endings of Russian and Ukrainian nouns, adjectives and verbs, longest first. */
const ENDINGS =
  /(?<=...)(?:иями|ями|ами|ого|его|ому|ему|ыми|ими|ешь|ете|ать|ять|ить|еть|ала|али|ило|или|ла|ло|ли|ая|яя|ое|ее|ые|ие|ии|ию|ия|ой|ей|ом|ем|ам|ям|ах|ях|ов|ев|ый|ий|ую|юю|ет|ит|ут|ют|ть|[аеиоуыьюяйіїє])$/;

function cyrillic(word: string): string {
  return word.replace(ENDINGS, '');
}
