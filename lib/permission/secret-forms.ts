/** Shorter forms are not looked for: they would occur in ordinary text. */
const MIN_ENCODED = 12;

/** A secret in plain text and in common encodings: Base64 at any of three offsets, hexadecimal, percent-encoding, JSON. */
export function secretForms(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  const hex = bytes.toString('hex');
  const encoded = [...[0, 1, 2].flatMap((offset) => base64Forms(bytes, offset)), hex, hex.toUpperCase()];
  const quoted = [encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)];
  return [...new Set([secret, ...quoted, ...encoded.filter((form) => form.length >= MIN_ENCODED)])];
}

/** Forms that only a model would ask for: the secret backwards, and with every character percent-encoded. */
function disguises(secret: string): readonly string[] {
  const percent = Buffer.from(secret).toString('hex').toUpperCase().replace(/../g, '%$&');
  return [[...secret].reverse().join(''), percent].filter((form) => form.length >= MIN_ENCODED);
}

/** The Base64 characters that do not depend on the text around the secret, if it begins at the `offset`th of three bytes. */
function base64Forms(bytes: Buffer, offset: number): readonly string[] {
  const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
  const own = text.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
  return [own, own.replaceAll('+', '-').replaceAll('/', '_')];
}

/** Every form that is masked. */
export function maskedForms(secret: string): readonly string[] {
  return [...secretForms(secret), ...disguises(secret)];
}

/** A pattern for the secret in every form. Encoders wrap lines, so an encoded form may have a line break anywhere. */
export function secretPattern(secret: string): string {
  const [plain = '', ...others] = maskedForms(secret);
  return [escaped(plain), ...others.map((form) => [...form].map(escaped).join('(?:\\r?\\n)?'))].join('|');
}

/**
 * A pattern for what truncation leaves of the secret: its beginning at the end of the text or before the line about omitted text, its end at
 * the beginning or after that line. At least a quarter of it, and 8 characters.
 */
export function cutSecretPattern(secret: string): string {
  const least = leastOfCut(secret);
  if (secret.length <= least) return '(?!)';
  const more = [...secret.slice(least)].reduceRight((rest, next) => `(?:${escaped(next)}${rest})?`, '');
  const less = [...secret.slice(0, -least)].reduce((rest, next) => `(?:${rest}${escaped(next)})?`, '');
  return `${escaped(secret.slice(0, least))}${more}(?=$|\\n\\[…)|(?<=^|…\\]\\n)${less}${escaped(secret.slice(-least))}`;
}

/** Every text that the pattern matches contains one of these. */
export function cutSecretSigns(secret: string): readonly string[] {
  const least = leastOfCut(secret);
  return secret.length <= least ? [] : [secret.slice(0, least), secret.slice(-least)];
}

const leastOfCut = (secret: string): number => Math.max(8, Math.ceil(secret.length / 4));

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/-]/g, (character) => `\\u${unit(character)}`);

const unit = (character: string): string => character.charCodeAt(0).toString(16).padStart(4, '0');
