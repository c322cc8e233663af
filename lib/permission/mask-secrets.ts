import { isJsonObject, type JsonObject, type JsonValue } from '../chat/json.js';
import { replaceLogins } from './paths/address-logins.js';
import { cutSecretPattern, cutSecretSigns, secretPattern } from './secret-forms.js';

/** The text that replaces a secret. A call that contains it is refused, or the secret would be overwritten with it. */
export const MASK = '[secret hidden by hi]';

/** Shapes that only keys have, each as its vendor documents it. */
export const SHAPES: readonly string[] = [
  // OpenAI, Anthropic, OpenRouter, DeepSeek
  'sk-[A-Za-z0-9_-]{20,}',
  // Google
  'AIza[A-Za-z0-9_-]{35}',
  'ya29\\.[A-Za-z0-9_-]{20,}',
  // GitHub, GitLab
  'gh[pousr]_[A-Za-z0-9]{36,}',
  'github_pat_[A-Za-z0-9_]{50,}',
  'glpat-[A-Za-z0-9_-]{20,}',
  // AWS
  '(?:AKIA|ASIA)[A-Z0-9]{16}',
  // Slack, Hugging Face, npm, PyPI, Stripe, SendGrid, Groq, xAI, age
  'xox[abprs]-[A-Za-z0-9-]{10,}',
  'hf_[A-Za-z0-9]{30,}',
  'npm_[A-Za-z0-9]{36}',
  'pypi-[A-Za-z0-9_-]{50,}',
  '[rs]k_live_[A-Za-z0-9]{20,}',
  'SG\\.[A-Za-z0-9_-]{16,}\\.[A-Za-z0-9_-]{16,}',
  'gsk_[A-Za-z0-9]{40,}',
  'xai-[A-Za-z0-9]{40,}',
  'AGE-SECRET-KEY-1[A-Z0-9]{50,}',
  // JSON Web Tokens. The first part ends where another token may begin, or a text of many beginnings would take quadratic time.
  'eyJ(?:[A-Za-z0-9_-](?<![_-]eyJ)){10,}\\.eyJ[A-Za-z0-9_-]{10,}\\.[A-Za-z0-9_-]{10,}',
  // Private keys in PEM
  '-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----[\\s\\S]*?(?:-----END [A-Z ]*PRIVATE KEY(?: BLOCK)?-----|$)',
];

/** Every text of such a shape has one of these in it. */
const SHAPE_SIGNS: readonly string[] =
  'sk- AIza ya29. ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ glpat- AKIA ASIA xox hf_ npm_ pypi- k_live_ SG. gsk_ xai- AGE-SECRET-KEY- eyJ -----BEGIN'.split(
    ' ',
  );

/** Whether a key is distinctive enough to be replaced wherever it occurs. Servers without keys are configured with words such as `ollama` and `not-needed`, which occur in ordinary text. */
export function isDistinctiveSecret(secret: string): boolean {
  return secret.length >= 6 && !/^[a-z_-]{1,15}$/i.test(secret);
}

/** A function that masks the given secrets in every form (`secretForms`), what truncation leaves of them, every text of a known shape of key, and credentials in URLs. */
export function secretMask(secrets: readonly string[]): (text: string) => string {
  const own = distinctive(secrets);
  const whole = own.map(secretPattern);
  const cut = { patterns: own.map(cutSecretPattern), signs: own.flatMap(cutSecretSigns) };
  const shape = { patterns: [ANY_SHAPE], signs: SHAPE_SIGNS };
  // What cannot match is not looked for at each character: in long texts that takes ten times as long.
  const masks = [[], [cut], [shape], [cut, shape]].map((parts) =>
    masking([...whole, ...parts.flatMap(({ patterns }) => patterns)]),
  );
  return (text) => {
    const mask = masks[(hasOne(text, cut.signs) ? 1 : 0) + (hasOne(text, shape.signs) ? 2 : 0)];
    return replaceLogins(mask?.(text) ?? '', () => MASK);
  };
}

const hasOne = (text: string, signs: readonly string[]): boolean => signs.some((sign) => text.includes(sign));

/** A function that masks the given secrets, and nothing else, in every form. */
export function ownSecretMask(secrets: readonly string[]): (text: string) => string {
  return masking(distinctive(secrets).map(secretPattern));
}

const ANY_SHAPE = `(?<![A-Za-z0-9])(?:${SHAPES.join('|')})`;

/** The longest first, because one may be the beginning of another. */
export const distinctive = (secrets: readonly string[]): readonly string[] =>
  [...new Set(secrets)].filter(isDistinctiveSecret).sort((one, other) => other.length - one.length);

function masking(patterns: readonly string[]): (text: string) => string {
  if (patterns.length === 0) return (text) => text;
  const pattern = new RegExp(patterns.join('|'), 'g');
  return (text) => text.replace(pattern, MASK);
}

/** Masks every text in an object. */
export function maskObject(object: JsonObject, mask: (text: string) => string): JsonObject {
  return Object.fromEntries(
    Object.entries(object).map(([key, value]) => [key, value === undefined ? undefined : maskValue(value, mask)]),
  );
}

function maskValue(value: JsonValue, mask: (text: string) => string): JsonValue {
  if (typeof value === 'string') return mask(value);
  if (Array.isArray(value)) return value.map((element: JsonValue) => maskValue(element, mask));
  return isJsonObject(value) ? maskObject(value, mask) : value;
}
